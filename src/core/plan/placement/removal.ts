import { revised, revisedMap } from "../../model/identity.ts";
import type { Intent } from "../../model/intent.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import { objectKey } from "../../model/manifest.ts";
import { placementGroup } from "../../model/names.ts";
import { memberKey } from "../facts/record.ts";
import { guardMoves } from "../guard/protection.ts";
import type { PlanContext } from "../moves/context.ts";
import type { Move } from "../moves/move.ts";
import { begin, type PlacementProgress, unmoved } from "../moves/progress.ts";
import { finished, forgotten, type PlacementResult, still } from "./result.ts";

/** Decides one placement whose file was removed: everything of it is deleted from every member, or released. */
export function removePlacement(before: PlacementRecord, context: PlanContext): PlacementResult {
  const { world } = context;
  // Nothing is deleted from a member that left the fleet (`plan/README.md#d-2`).
  const bindings = revisedMap(before.bindings, (it, cluster) => (world.intent.clusters.has(cluster) ? it : null));
  const progress = leave(unmoved(revised(before, { bindings })), context);
  if (progress.record.bindings.size === 0) return forgotten(progress);
  const deleting = before.deleting ?? { since: world.now, cause: world.intent.commit };
  const record = revised(progress.record, { deleting });
  return finished(before, still({ ...progress, record }), null, context);
}

function leave(before: PlacementProgress, context: PlanContext): PlacementProgress {
  const { record } = before;
  const moves = [...record.bindings.values()]
    .filter((it) => it.removal === null)
    .map((binding): Move => ({ record, cause: "removal", binding, to: null, gate: null }));
  const guarded = guardMoves(moves, before.guarded, context);
  const begun = moves.filter((it) => !guarded.waiting.has(it));
  return begin({ ...before, moves, guarded, counted: begun }, begun, context);
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
