import type { PlacementRecord } from "../model/ledger.ts";
import type { CountOrPercent } from "../model/placement.ts";
import { noTaskRecords } from "../model/stage-task.ts";
import type { ClusterProgress, DeletionProgress, RunPlan, RunRecord, StageProgress } from "../model/update-run.ts";
import type { ClusterName } from "../model/value.ts";

/** How far the clusters of one stage are. */
export type ProgressByCluster = ReadonlyMap<ClusterName, ClusterProgress>;

/** A cluster of the plan that the run has not started. */
export const notStartedCluster: ClusterProgress = { startedAt: null, sequence: null, end: null };

/** A stage that the run has not started. */
export const notStartedStage: StageProgress = {
  startedAt: null,
  isPassedOver: false,
  clusters: new Map(),
  finishedAt: null,
  before: noTaskRecords,
  after: noTaskRecords,
  endedAt: null,
  conditions: [],
};

/** The deletion stage before it starts. */
export const notStartedDeletion: DeletionProgress = {
  startedAt: null,
  clusters: new Map(),
  endedAt: null,
  conditions: [],
};

/** The run with its plan, which never changes again (`rollout/README.md#b-22`), and nothing started. */
export const initialized = (run: RunRecord, plan: RunPlan): RunRecord => ({
  ...run,
  plan,
  stages: plan.stages.map(() => notStartedStage),
});

/** Started and not ended. A failed cluster counts, since it may recover. */
export const isUnderWay = (it: ClusterProgress | undefined): boolean =>
  it !== undefined && it.startedAt !== null && it.end === null;

/** Neither started nor ended. */
export const isNotStarted = (it: ClusterProgress | undefined): boolean =>
  it === undefined || (it.startedAt === null && it.end === null);

/** Whether this run is done with it. */
export const hasEnded = (it: ClusterProgress | undefined): boolean => it !== undefined && it.end !== null;

/** A limit of a stage as a number: percentages round down (`rollout/README.md#u9`). */
export const roundedDown = (bound: CountOrPercent, of: number): number =>
  "count" in bound ? bound.count : Math.floor((bound.percent * of) / 100);

/** The value with `changes`; the value itself when they change nothing. */
export function updated<T extends object>(before: T, changes: Partial<T>): T {
  for (const key in changes) if (before[key] !== changes[key]) return { ...before, ...changes };
  return before;
}

/** The progress with `moved`, in the order of the plan; the same (`===`) when nothing moved. */
export function withProgress(
  before: ProgressByCluster,
  moved: ProgressByCluster,
  order: readonly ClusterName[],
): ProgressByCluster {
  if (moved.size === 0) return before;
  const after = new Map<ClusterName, ClusterProgress>();
  for (const cluster of order) {
    const progress = moved.get(cluster) ?? before.get(cluster);
    if (progress !== undefined) after.set(cluster, progress);
  }
  return after;
}

/**
 * Whether a run has anything left to do on a member. One that only waits after its last stage, or whose clusters newer
 * runs have taken over, does not force its stages on other runs (`rollout/README.md#b-4`).
 */
export function hasWorkLeft({ plan, stages, end }: RunRecord, placement: PlacementRecord | null): boolean {
  if (plan === null || end !== null) return false;
  if (plan.deletions.some((it) => placement?.bindings.get(it)?.state === "Unscheduled")) return true;
  return plan.stages.some(({ clusters }, at) => {
    const progress = stages[at];
    return !isDone(progress) && clusters.some(({ cluster }) => !hasEnded(progress?.clusters.get(cluster)));
  });
}

/** Failures that the stage tolerates hold it up no longer. */
const isDone = (progress: StageProgress | undefined): boolean => progress?.finishedAt != null;
