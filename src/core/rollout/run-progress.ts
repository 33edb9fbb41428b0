import type { PlacementRecord } from "../model/ledger.ts";
import type { CountOrPercent } from "../model/placement.ts";
import type { ClusterProgress, DeletionProgress, RunPlan, RunRecord, StageProgress } from "../model/update-run.ts";
import type { ClusterName } from "../model/value.ts";

/** How far the clusters of one stage are. */
export type ProgressByCluster = ReadonlyMap<ClusterName, ClusterProgress>;

/** A cluster of the plan whose turn has not come. */
export const notStartedCluster: ClusterProgress = { startedAt: null, sequence: null, end: null };

/** A stage that nothing has happened in. */
export const notStartedStage: StageProgress = {
  startedAt: null,
  isPassedOver: false,
  clusters: new Map(),
  finishedAt: null,
  before: null,
  after: null,
  endedAt: null,
  conditions: [],
};

/** The deletion stage before its turn. */
export const unbegunDeletion: DeletionProgress = {
  startedAt: null,
  clusters: new Map(),
  endedAt: null,
  conditions: [],
};

/** Gives a run its plan, once and for good (`rollout/README.md#b-22`): nothing of it has begun. */
export const initialized = (run: RunRecord, plan: RunPlan): RunRecord => ({
  ...run,
  plan,
  stages: plan.stages.map(() => notStartedStage),
});

/** Whether it was started and what came of it is not known yet: a failed cluster too, since it may recover. */
export const isUnderWay = (it: ClusterProgress | undefined): boolean =>
  it !== undefined && it.startedAt !== null && it.end === null;

/** Whether its turn has not come. */
export const isNotStarted = (it: ClusterProgress | undefined): boolean =>
  it === undefined || (it.startedAt === null && it.end === null);

/** Whether nothing more comes of it in this run. */
export const hasEnded = (it: ClusterProgress | undefined): boolean => it !== undefined && it.end !== null;

/** What a bound of a stage comes to: percentages round down (`rollout/README.md#u9`). */
export const roundedDown = (bound: CountOrPercent, of: number): number =>
  "count" in bound ? bound.count : Math.floor((bound.percent * of) / 100);

/** The value with `changes`; the value itself when they change nothing. */
export function withChanges<T extends object>(before: T, changes: Partial<T>): T {
  for (const key in changes) if (before[key] !== changes[key]) return { ...before, ...changes };
  return before;
}

/** The progress with `moved`, in the order of the plan; the same one when nothing moved. */
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
 * runs have taken, keeps its stages to itself: no run has to have the same ones (`rollout/README.md#b-4`).
 */
export function hasWorkLeft({ plan, stages, end }: RunRecord, placement: PlacementRecord | null): boolean {
  if (plan === null || end !== null) return false;
  if (plan.deletions.some((it) => placement?.bindings.get(it)?.state === "Unscheduled")) return true;
  return plan.stages.some(({ clusters }, at) => {
    const progress = stages[at];
    return !isDone(progress) && clusters.some(({ cluster }) => !hasEnded(progress?.clusters.get(cluster)));
  });
}

/** What failed in it, and may, holds it up no more. */
const isDone = (progress: StageProgress | undefined): boolean => progress?.finishedAt != null;
