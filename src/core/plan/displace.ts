import type { Intent } from "../model/intent.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import { objectKey } from "../model/manifest.ts";
import { placementGroup } from "../model/names.ts";
import type { PlanContext } from "./context.ts";
import { finished, type Placed, still } from "./finish.ts";
import { doomsOf } from "./guard/doom.ts";
import type { Doom } from "./guard/guard.ts";
import { revised, revisedMap } from "./identity.ts";
import { memberKey } from "./record.ts";
import { recordsOf } from "./runs/runs-of.ts";
import { withdrawn } from "./transition.ts";

/** Decides one placement whose file was removed: everything of it goes from every member, or is let go. */
export function displace(before: PlacementRecord, context: PlanContext): Placed {
  const { world } = context;
  const deleting = before.deleting ?? { since: world.now, cause: world.intent.commit };
  const dooms: Doom[] = [];
  const bindings = revisedMap(before.bindings, (binding, cluster) => {
    // A member that left the fleet is nobody's business any more (`plan/README.md#d-2`).
    if (!world.intent.clusters.has(cluster)) return null;
    if (binding.removal === null && !context.protection.permits({ record: before, binding, next: null }))
      return binding;
    const gone = withdrawn(binding, { record: before, context });
    if (gone !== null && gone !== binding) dooms.push(...doomsOf(before, gone));
    return gone;
  });
  if (bindings.size === 0)
    return { ...still(before, context), record: null, runs: null, evictions: [], reasons: () => [] };
  const record = revised(before, { deleting, bindings });
  return finished(before, record, context, { ...still(record, context), dooms });
}

/**
 * Whether nothing may be decided about a placement: its own document or that of a member it is on cannot be used, and
 * there is no earlier version to keep in force. What cannot be read is neither a removal nor a member that left.
 */
export function isSuspended({ scope, namespace, name, bindings }: PlacementRecord, { unusable }: Intent): boolean {
  if (unusable.size === 0) return false;
  const kind = scope === "Cluster" ? "ClusterResourcePlacement" : "ResourcePlacement";
  const isMemberUnusable = [...bindings.keys()].some((it) => unusable.has(memberKey(it)));
  return isMemberUnusable || unusable.has(objectKey({ group: placementGroup, kind, namespace, name }));
}

/** The placement as it was decided last. */
export const suspend = (before: PlacementRecord, context: PlanContext): Placed => ({
  ...finished(before, before, context, { ...still(before, context), isSuspended: true }),
  // What its runs would do rests on what cannot be read now.
  runs: recordsOf(context.ledger, before.key),
});
