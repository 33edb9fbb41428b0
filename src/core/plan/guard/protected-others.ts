import type { CascadedDeletion, HeldDeletion } from "../../model/deletion.ts";
import type { Ledger, PlacementRecord } from "../../model/ledger.ts";
import { objectKey } from "../../model/manifest.ts";
import type { ProtectedTarget } from "../../model/trust.ts";
import { type ClusterName, compareText, type PlacementKey } from "../../model/value.ts";
import { targetsReached } from "../../trust/protected.ts";
import { protectedCluster } from "../approval/former-names.ts";
import type { PlanContext } from "../moves/context.ts";
import type { Guarded, ProtectedMove } from "../moves/progress.ts";
import { isApprovedBefore, namespaceOf, requestedContent } from "./protection.ts";

/** Whether objects of others would be deleted in a protected place, where no confirmation counts (`plan/README.md#d-3`). */
export type ProtectionLookup = (others: CascadedDeletion) => boolean;

/** Looks that up by the trust file in force; while nobody has seen the one that counts, everything is protected. */
export const protectedOthers =
  ({ consent: { record }, world, ledger }: PlanContext): ProtectionLookup =>
  (others) =>
    record === null ? world.trustAnchor !== null : targetsOf(others, record.trust, ledger).length > 0;

const targetsOf = (
  { cluster, id, objects }: CascadedDeletion,
  trust: { readonly protectedTargets: readonly ProtectedTarget[] },
  ledger: PlanContext["ledger"],
): readonly ProtectedTarget[] =>
  targetsReached(trust, protectedCluster(cluster, ledger), [id, ...objects].map(namespaceOf));

/**
 * What was said of a placement's moves, with what has to be approved since objects of others would be deleted in protected
 * places. Asked where nothing else of the placement is: that comes first, and may change what is there.
 */
export function askForOthers(record: PlacementRecord, before: Guarded, context: PlanContext): Guarded {
  if (!context.isNamed(record.key)) return before;
  const asked = new Map(before.asked);
  for (const [cluster, others] of waitingOthers(record.key, context.ledger.deletions.held)) {
    const move = asked.has(cluster) ? null : moveOf(cluster, others, record, context);
    if (move !== null) asked.set(cluster, move);
  }
  return asked.size === before.asked.size ? before : { ...before, asked };
}

/** By cluster, in their order. */
function waitingOthers(
  placement: PlacementKey,
  held: readonly HeldDeletion[],
): ReadonlyMap<ClusterName, readonly CascadedDeletion[]> {
  const all = held
    .filter((it) => it.because === "protected" && !it.confirmed)
    .flatMap((it) => it.others)
    .filter((it) => it.placement === placement)
    .sort((a, b) => compareText(a.cluster, b.cluster) || compareText(objectKey(a.id), objectKey(b.id)));
  const found = new Map<ClusterName, CascadedDeletion[]>();
  for (const it of all) {
    const known = found.get(it.cluster);
    if (known === undefined) found.set(it.cluster, [it]);
    else known.push(it);
  }
  return found;
}

/** Null where nothing of it leaves that cluster any more, or it is not protected by now. */
function moveOf(
  cluster: ClusterName,
  others: readonly CascadedDeletion[],
  record: PlacementRecord,
  context: PlanContext,
): ProtectedMove | null {
  const { consent, ledger } = context;
  const binding = record.bindings.get(cluster);
  if (binding === undefined || consent.record === null) return null;
  const leaving = new Set(binding.leaving.map((it) => objectKey(it.id)));
  if (others.some((it) => !leaving.has(objectKey(it.id)))) return null;
  const { trust } = consent.record;
  const reached = new Set(others.flatMap((it) => targetsOf(it, trust, ledger)));
  const targets = trust.protectedTargets.filter((it) => reached.has(it));
  if (targets.length === 0) return null;
  const { target, removal } = binding;
  const digest = removal !== null || target === null ? null : requestedContent(target);
  const index = digest === null ? null : (target?.resourceIndex ?? null);
  const wanted = { digest, leaves: [], others, index, targets };
  return { ...wanted, isGranted: isApprovedBefore(record, cluster, wanted, context) };
}

/**
 * Says of a set, and of all sets that there are, whether what it takes along was approved before this pass: by a request for
 * just what would go along on its clusters now.
 */
export const approvedOthers =
  ({ placements }: Pick<Ledger, "placements">, context: PlanContext): SetLookup =>
  ({ others }, held) =>
    others.every(({ placement, cluster }) => {
      const record = placements.get(placement);
      if (record === undefined) return false;
      const change = context.ledger.placements.get(placement)?.change ?? null;
      const waiting = waitingOthers(placement, held).get(cluster) ?? [];
      return moveOf(cluster, waiting, { ...record, change }, context)?.isGranted === true;
    });

/** Says something of one of all sets. */
export type SetLookup = (set: HeldDeletion, held: readonly HeldDeletion[]) => boolean;
