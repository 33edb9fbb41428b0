import type { Binding, PendingRemoval } from "../../model/binding.ts";
import type { Fate, ObjectFate } from "../../model/deletion.ts";
import { revised, revisedMap, sameList } from "../../model/identity.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import { objectKey } from "../../model/manifest.ts";
import { compareText } from "../../model/value.ts";
import { targetsReached } from "../../trust/protected.ts";
import { protectedCluster } from "../approval/former-names.ts";
import { isOutOfQuarantine, type PlanContext } from "../moves/context.ts";
import { nextOwner } from "../moves/hand-over.ts";
import type { Guarded, ProtectedMove } from "../moves/progress.ts";
import { bindingsWithLeaving } from "./others-objects.ts";
import { isApprovedBefore, namespaceOf, requestedContent } from "./protection.ts";

/**
 * The placement with what leaves it as others want it now. What nobody wants any more goes: from then on it counts as a
 * deletion, by the commit under which that is so. So does all that still goes when a quarantine ends: who wanted it
 * meanwhile was not written down (`plan/README.md#d-3`). The record itself where nothing differs.
 */
export function withHandOvers(record: PlacementRecord, context: PlanContext): PlacementRecord {
  if (bindingsWithLeaving(record.bindings).length === 0) return record;
  const bindings = revisedMap(record.bindings, (it) =>
    it.leaving.length === 0 ? it : handingOver(it, record, context),
  );
  return revised(record, { bindings });
}

/**
 * Whether nobody wants any more what a placement still keeps for others, since it is protected. With nothing that could be
 * protected, that never stays so.
 */
export function isEnding({ key, bindings }: PlacementRecord, context: PlanContext): boolean {
  if (context.consent.record === null && context.world.trustAnchor === null) return false;
  return bindingsWithLeaving(bindings).some(({ cluster, leaving }) =>
    leaving.some(
      ({ id, handOver }) =>
        handOver !== undefined && nextOwner({ cluster, placement: key }, objectKey(id), context, handOver.to) === null,
    ),
  );
}

function handingOver(binding: Binding, record: PlacementRecord, context: PlanContext): Binding {
  const owner = { cluster: binding.cluster, placement: record.key };
  const asked = endOf(record, binding, context);
  const leaving = binding.leaving.map((it): PendingRemoval => {
    const to = nextOwner(owner, objectKey(it.id), context, it.handOver?.to ?? null);
    if (to === null && it.handOver === undefined && isOutOfQuarantine(record.key, context))
      return it.cause === context.world.intent.commit ? it : { ...it, cause: context.world.intent.commit };
    if (to === (it.handOver?.to ?? null)) return it;
    const { handOver, ...plain } = it;
    if (to !== null) return { ...plain, handOver: { to, by: handOver?.by ?? null } };
    // That it goes, nobody approved with what it was to become: it stays with who has it until somebody does.
    if (isProtected(binding, it, context) && asked?.isGranted !== true) return it;
    return { ...plain, cause: context.world.intent.commit };
  });
  return sameList(leaving, binding.leaving) ? binding : { ...binding, leaving };
}

/** Whether a change of an object has to be approved where it stands. What is protected may not be known yet. */
function isProtected({ cluster }: Binding, { id }: PendingRemoval, { consent, world, ledger }: PlanContext): boolean {
  if (consent.record === null) return world.trustAnchor !== null;
  return targetsReached(consent.record.trust, protectedCluster(cluster, ledger), [namespaceOf(id)]).length > 0;
}

/**
 * What was said of a placement's moves, with what has to be approved since nobody takes any more what was to be handed over
 * in protected places. Asked where nothing else of the placement is: that comes first, and may change what is there.
 */
export function askForEnds(record: PlacementRecord, before: Guarded, context: PlanContext): Guarded {
  const leaving = bindingsWithLeaving(record.bindings);
  if (leaving.length === 0) return before;
  const asked = new Map(before.asked);
  for (const binding of leaving) {
    const { cluster } = binding;
    const move = asked.has(cluster) ? null : endOf(record, binding, context);
    if (move !== null) asked.set(cluster, move);
  }
  return asked.size === before.asked.size ? before : { ...before, asked };
}

/** What would become of all that nobody takes any more on one cluster; null where that is nothing, or not protected. */
function endOf(record: PlacementRecord, binding: Binding, context: PlanContext): ProtectedMove | null {
  const { cluster, leaving, removal, target } = binding;
  const trust = context.consent.record?.trust ?? null;
  if (trust === null || !leaving.some((it) => it.handOver !== undefined)) return null;
  const owner = { cluster, placement: record.key };
  const ended = leaving.filter(
    ({ id, handOver }) => handOver !== undefined && nextOwner(owner, objectKey(id), context, handOver.to) === null,
  );
  const reached = targetsReached(
    trust,
    protectedCluster(cluster, context.ledger),
    ended.map(({ id }) => namespaceOf(id)),
  );
  if (ended.length === 0 || reached.length === 0) return null;
  const fateOf = ({ released }: PendingRemoval): Fate =>
    released || removal?.propagation === "Abandon" ? "release" : "delete";
  const leaves = ended
    .map((it): ObjectFate => ({ object: it.id, fate: fateOf(it) }))
    .sort((a, b) => compareText(objectKey(a.object), objectKey(b.object)));
  const digest = removal !== null || target === null ? null : requestedContent(target);
  const index = digest === null ? null : (target?.resourceIndex ?? null);
  const wanted = { digest, leaves, others: [], index, targets: reached };
  return { ...wanted, isGranted: isApprovedBefore(record, cluster, wanted, context) };
}
