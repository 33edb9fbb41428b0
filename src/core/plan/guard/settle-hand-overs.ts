import type { Binding, HandOver, PendingRemoval } from "../../model/binding.ts";
import { revised, revisedMap, sameList } from "../../model/identity.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import { type ObjectKey, objectKey } from "../../model/manifest.ts";
import { remembered } from "../../model/memo.ts";
import { targetsReached } from "../../trust/protected.ts";
import { protectedCluster } from "../approval/former-names.ts";
import type { PlanContext } from "../moves/context.ts";
import { nextOwner } from "../moves/hand-over.ts";
import { namespaceOf } from "./protection.ts";

/**
 * The placement with what leaves it as others want it now. What nobody wants any more goes: from then on it counts as a
 * deletion, by the commit under which that is so. The record itself where nothing differs.
 */
export function withHandOvers(record: PlacementRecord, context: PlanContext): PlacementRecord {
  if (!isAnyLeaving(record.bindings)) return record;
  const bindings = revisedMap(record.bindings, (it) =>
    it.leaving.length === 0 ? it : handingOver(it, record, context),
  );
  return revised(record, { bindings });
}

const isAnyLeaving = remembered((bindings: PlacementRecord["bindings"]): boolean =>
  [...bindings.values()].some((it) => it.leaving.length > 0),
);

function handingOver(binding: Binding, { key }: PlacementRecord, context: PlanContext): Binding {
  const owner = { cluster: binding.cluster, placement: key };
  const leaving = binding.leaving.map((it): PendingRemoval => {
    const to = nextOwner(owner, objectKey(it.id), context, it.handOver?.to ?? null);
    if (to === (it.handOver?.to ?? null)) return it;
    const { handOver, ...plain } = it;
    if (to !== null) return { ...plain, handOver: { to, by: handOver?.by ?? null } };
    // Nobody approved that it goes: it stays with who has it, until somebody wants it or takes it away with approval.
    if (isProtected(binding, it, context)) return it;
    return { ...plain, cause: context.world.intent.commit };
  });
  return sameList(leaving, binding.leaving) ? binding : { ...binding, leaving };
}

/** Whether a change of an object has to be approved where it stands. What is protected may not be known yet. */
function isProtected({ cluster }: Binding, { id }: PendingRemoval, { consent, world, ledger }: PlanContext): boolean {
  if (consent.record === null) return world.trustAnchor !== null;
  return targetsReached(consent.record.trust, protectedCluster(cluster, ledger), [namespaceOf(id)]).length > 0;
}

/** What somebody was to take, and nobody wants any more: it goes from now on. */
export function noLongerHandedOver(leaving: Binding["leaving"], before: Binding["leaving"]): readonly PendingRemoval[] {
  const handed = new Map(
    before.flatMap((it): [ObjectKey, HandOver][] =>
      it.handOver === undefined ? [] : [[objectKey(it.id), it.handOver]],
    ),
  );
  return handed.size === 0 ? [] : leaving.filter((it) => it.handOver === undefined && handed.has(objectKey(it.id)));
}
