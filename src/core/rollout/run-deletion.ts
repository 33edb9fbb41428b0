import { deletionStage } from "../model/names.ts";
import type { ClusterEnd, ClusterProgress, DeletionProgress, RunPlan, RunWait } from "../model/update-run.ts";
import type { ClusterName } from "../model/value.ts";
import type { RunBinding, RunScene } from "./run-context.ts";
import { isUnderWay, notStartedCluster, type ProgressByCluster, withChanges, withProgress } from "./run-progress.ts";

/** What comes of the deletion stage in one pass. */
interface DeletionResult {
  readonly progress: DeletionProgress;
  readonly remove: readonly ClusterName[];
  readonly waits: readonly RunWait[];
}

/**
 * Takes the placement off the clusters that were no longer picked when the run was planned
 * (`rollout/README.md#the-deletion-stage`): all at once, and it ends when they have confirmed.
 *
 * One that is picked again keeps what it has. Which run takes it off does not matter: newer runs are not asked for.
 */
export function advanceDeletion(plan: RunPlan, before: DeletionProgress, scene: RunScene): DeletionResult {
  const { clusters, remove } = takeOff(plan.deletions, before.clusters, scene, true);
  const active = underWayIn(plan, clusters);
  const isOver = active.length === 0;
  const startedAt = before.startedAt ?? scene.now;
  const progress = withChanges(before, { clusters, startedAt, endedAt: isOver ? scene.now : null });
  return { progress, remove, waits: isOver ? [] : [waitFor(active)] };
}

/** Nothing more is taken off; what has begun is still seen to its end (`rollout/README.md#b-6`, against `#u32`). */
export function haltDeletion(plan: RunPlan, before: DeletionProgress, scene: RunScene): DeletionResult {
  const { clusters } = takeOff(plan.deletions, before.clusters, scene, false);
  const waits = [{ kind: "stopped", stage: deletionStage, active: underWayIn(plan, clusters) } as const];
  return { progress: withChanges(before, { clusters }), remove: [], waits };
}

function takeOff(
  listed: readonly ClusterName[],
  before: ProgressByCluster,
  scene: RunScene,
  isTheirTurn: boolean,
): { readonly clusters: ProgressByCluster; readonly remove: readonly ClusterName[] } {
  const moved = new Map<ClusterName, ClusterProgress>();
  const remove: ClusterName[] = [];
  for (const cluster of listed) {
    const known = before.get(cluster) ?? notStartedCluster;
    if (known.end !== null || (known.startedAt === null && !isTheirTurn)) continue;
    const binding = scene.bindings.get(cluster);
    const end = endOf(binding, scene);
    if (end === null && binding?.removing === false) remove.push(cluster);
    if (end !== null || known.startedAt === null)
      moved.set(cluster, { ...known, startedAt: known.startedAt ?? scene.now, end });
  }
  return { clusters: withProgress(before, moved, listed), remove };
}

const underWayIn = ({ deletions }: RunPlan, clusters: ProgressByCluster): readonly ClusterName[] =>
  deletions.filter((it) => isUnderWay(clusters.get(it)));

function endOf(binding: RunBinding | undefined, { now }: RunScene): ClusterEnd | null {
  if (binding === undefined) return { kind: "succeeded", at: now };
  return binding.state === "Unscheduled" ? null : { kind: "skipped", at: now, because: "it is picked again" };
}

const waitFor = (active: readonly ClusterName[]): RunWait => ({
  kind: "clusters",
  stage: deletionStage,
  active,
  waiting: [],
  maxConcurrency: active.length,
});
