import { deletionStage } from "../model/names.ts";
import type { ClusterEnd, ClusterProgress, DeletionProgress, RunPlan, RunWait } from "../model/update-run.ts";
import type { ClusterName } from "../model/value.ts";
import type { RunBinding, RunContext } from "./run-context.ts";
import {
  hasEnded,
  isUnderWay,
  notStartedCluster,
  type ProgressByCluster,
  updated,
  withProgress,
} from "./run-progress.ts";

/** What one pass changes about the deletion stage. */
interface DeletionResult {
  readonly progress: DeletionProgress;
  readonly remove: readonly ClusterName[];
  readonly waits: readonly RunWait[];
}

/**
 * Removes the placement from the clusters that were no longer picked when the run was planned
 * (`rollout/README.md#the-deletion-stage`): all at once. The stage ends when they have confirmed.
 *
 * A cluster that is picked again keeps what it has. Newer runs do not supersede a removal.
 */
export function advanceDeletion(plan: RunPlan, before: DeletionProgress, context: RunContext): DeletionResult {
  const { clusters, remove } = takeOff(plan.deletions, before.clusters, context, true);
  const left = plan.deletions.filter((it) => !hasEnded(clusters.get(it)));
  const isOver = left.length === 0;
  const hasBegun = isOver || [...clusters.values()].some((it) => it.startedAt !== null);
  const startedAt = before.startedAt ?? (hasBegun ? context.now : null);
  const progress = updated(before, { clusters, startedAt, endedAt: isOver ? context.now : null });
  return { progress, remove, waits: isOver ? [] : [waitFor(left, clusters)] };
}

/** No further removal starts; those under way are still recorded (`rollout/README.md#b-6`, against `#u32`). */
export function haltDeletion(plan: RunPlan, before: DeletionProgress, context: RunContext): DeletionResult {
  const { clusters } = takeOff(plan.deletions, before.clusters, context, false);
  const waits = [{ kind: "stopped", stage: deletionStage, active: underWayIn(plan, clusters) } as const];
  return { progress: updated(before, { clusters }), remove: [], waits };
}

function takeOff(
  listed: readonly ClusterName[],
  before: ProgressByCluster,
  context: RunContext,
  isTheirTurn: boolean,
): { readonly clusters: ProgressByCluster; readonly remove: readonly ClusterName[] } {
  const moved = new Map<ClusterName, ClusterProgress>();
  const remove: ClusterName[] = [];
  for (const cluster of listed) {
    const known = before.get(cluster) ?? notStartedCluster;
    if (known.end !== null || (known.startedAt === null && !isTheirTurn)) continue;
    const binding = context.bindings.get(cluster);
    const end = endOf(binding, context);
    const isLeaving =
      end === null && isTheirTurn && binding?.removing === false && context.canGetPlannedVersion(cluster);
    if (isLeaving) remove.push(cluster);
    const startedAt = known.startedAt ?? (isLeaving || binding?.removing === true ? context.now : null);
    if (end !== null || startedAt !== known.startedAt) moved.set(cluster, { ...known, startedAt, end });
  }
  return { clusters: withProgress(before, moved, listed), remove };
}

const underWayIn = ({ deletions }: RunPlan, clusters: ProgressByCluster): readonly ClusterName[] =>
  deletions.filter((it) => isUnderWay(clusters.get(it)));

function endOf(binding: RunBinding | undefined, { now }: RunContext): ClusterEnd | null {
  if (binding === undefined) return { kind: "succeeded", at: now };
  return binding.state === "Unscheduled" ? null : { kind: "skipped", at: now, because: "it is picked again" };
}

const waitFor = (left: readonly ClusterName[], clusters: ProgressByCluster): RunWait => ({
  kind: "clusters",
  stage: deletionStage,
  active: left.filter((it) => isUnderWay(clusters.get(it))),
  waiting: left.filter((it) => !isUnderWay(clusters.get(it))),
  maxConcurrency: left.length,
});
