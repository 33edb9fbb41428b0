import type { PlannedStage, RunWait, StageProgress } from "../model/update-run.ts";
import { type ClusterName, earliest, type Instant, later, minutes, type RunKey } from "../model/value.ts";
import { readinessChangesAt } from "./readiness.ts";
import type { RunContext, StageContext } from "./run-context.ts";
import { hasEnded, isUnderWay, type ProgressByCluster, updated } from "./run-progress.ts";
import {
  clusterNamesIn,
  isStageFinished,
  recordEnds,
  type StageCounts,
  stageCounts,
  startClusters,
} from "./stage-clusters.ts";
import { advanceTasks, withdrawTasks } from "./tasks/tasks.ts";

/** What one pass changes about a stage. */
export interface StageResult {
  readonly progress: StageProgress;
  readonly start: readonly ClusterName[];
  readonly waits: readonly RunWait[];
  readonly wakeAt: Instant | null;
  /** Why the run has failed; null unless somebody rejected it. */
  readonly rejection: string | null;
}

/** A cluster under way for longer is reported (`rollout/README.md#through-the-stages`, `#b-1`). */
const stuckAfter = minutes(5);

/**
 * Takes a stage as far as it goes now: its before task, its clusters, its after tasks. `isLast`: no later stage has a
 * cluster left to move.
 */
export function advanceStage(
  stage: PlannedStage,
  before: StageProgress,
  context: StageContext,
  isLast: boolean,
): StageResult {
  if (before.finishedAt !== null)
    return before.isPassedOver ? over(before, context) : closeStage(stage, before, before.finishedAt, context);
  const isPassedOver = isUnchanged(before, stage, context) && !isGuarding(stage, context);
  const entry = isPassedOver
    ? { ...nothingLeft, records: withdrawTasks(before.before) }
    : advanceTasks(before.before, { ...context, stage, when: "before", finishedAt: null });
  const entered = updated(before, { before: entry.records, isPassedOver });
  if (entry.waits.length > 0 || entry.rejection !== null) {
    const waits = [...entry.waits, ...supersededIn(stage, entered.clusters)];
    return { ...unchanged(entered), waits, rejection: entry.rejection, wakeAt: entry.wakeAt };
  }
  const ended = recordEnds(stage, entered.clusters, context, true);
  const { progress: clusters, start } = startClusters(stage, ended, context);
  const hasStarted = [...clusters.values()].some((it) => it.startedAt !== null);
  const after = updated(entered, { clusters, startedAt: entered.startedAt ?? (hasStarted ? context.now : null) });
  const counts = stageCounts(stage, after.clusters, context);
  if (isStageFinished(counts, isLast) && isPassedOver) return over(finished(after, context), context);
  if (isStageFinished(counts, isLast)) return closeStage(stage, finished(after, context), context.latest, context);
  return { ...unchanged(after), start, ...watch(stage, after, counts, context) };
}

/**
 * Whether this run changes nothing in the stage and has changed nothing in it: such stages are passed over
 * (`rollout/README.md#passed-over`). Clusters there that are not available still hold up later stages (`#b-27`).
 */
const isUnchanged = (before: StageProgress, { clusters }: PlannedStage, { bindings }: RunContext): boolean =>
  (before.startedAt === null || before.isPassedOver) &&
  clusters.some(({ cluster }) => bindings.get(cluster)?.hasPlannedContent === true) &&
  clusters.every(({ cluster }) => {
    const end = before.clusters.get(cluster)?.end ?? null;
    if (end !== null) return end.kind !== "superseded";
    const binding = bindings.get(cluster);
    return binding === undefined || binding.state === "Unscheduled" || binding.hasPlannedContent;
  });

/**
 * Whether the tasks of the stage still guard later stages: another run brought the version here without passing them,
 * and this run would take it further. Recreating a run does not skip its waits.
 */
function isGuarding(stage: PlannedStage, { run: { plan, stages }, bindings }: StageContext): boolean {
  if (!stage.clusters.some(({ cluster }) => bindings.get(cluster)?.isOnTrial === true)) return false;
  const at = plan?.stages.indexOf(stage) ?? -1;
  return (plan?.stages ?? []).some(
    ({ clusters }, i) =>
      i > at &&
      clusters.some(({ cluster }) => {
        const binding = bindings.get(cluster);
        return binding !== undefined && !binding.hasPlannedContent && !hasEnded(stages[i]?.clusters.get(cluster));
      }),
  );
}

const over = (progress: StageProgress, { now }: RunContext): StageResult => unchanged({ ...progress, endedAt: now });

const nothingLeft = { waits: [], rejection: null, wakeAt: null } as const;

/** All after tasks run in parallel; the stage ends with the last of them (`rollout/README.md#through-the-stages`). */
function closeStage(
  stage: PlannedStage,
  before: StageProgress,
  finishedAt: Instant,
  context: StageContext,
): StageResult {
  const exit = advanceTasks(before.after, { ...context, stage, when: "after", finishedAt });
  const isOver = exit.waits.length === 0 && exit.rejection === null;
  const progress = updated(before, { after: exit.records, endedAt: isOver ? context.now : null });
  const superseded = isOver ? [] : supersededIn(stage, before.clusters);
  const { rejection, wakeAt } = exit;
  return { ...unchanged(progress), waits: [...exit.waits, ...superseded], wakeAt, rejection };
}

/**
 * A stopped stage starts nothing and requests nothing; clusters under way finish (`rollout/README.md#b-6`, `#i-08`). Its
 * timer starts when the last cluster has finished, stopped or not (`#b-15`).
 */
export function haltStage(
  stage: PlannedStage,
  before: StageProgress,
  context: StageContext,
  isLast: boolean,
): StageResult {
  const counts = stageCounts(stage, before.clusters, context);
  const hasBegun = before.startedAt !== null && before.finishedAt === null;
  const progress = hasBegun && isStageFinished(counts, isLast) ? finished(before, context) : before;
  const active = underWayIn(stage, before.clusters);
  const { stuck, wakeAt } = clocks(stage.name, before.clusters, active, context);
  return { ...unchanged(progress), waits: [{ kind: "stopped", stage: stage.name, active }, ...stuck], wakeAt };
}

/** A stage with nothing to do ends at once, tasks included (`rollout/README.md#u16`, `#u17`). */
export function skipStage(stage: PlannedStage, before: StageProgress, context: StageContext): StageProgress {
  const clusters = recordEnds(stage, before.clusters, context, true);
  return { ...before, clusters, startedAt: context.now, finishedAt: context.now, endedAt: context.now };
}

const unchanged = (progress: StageProgress): StageResult => ({
  progress,
  start: [],
  waits: [],
  wakeAt: null,
  rejection: null,
});

/** A stage whose clusters all ended without being started counts as started when it finishes. */
const finished = (before: StageProgress, { now, latest }: RunContext): StageProgress =>
  updated(before, { startedAt: before.startedAt ?? now, finishedAt: latest });

/** What a stage with clusters under way waits for, and when that may change. */
function watch(
  stage: PlannedStage,
  { clusters }: StageProgress,
  counts: StageCounts,
  context: RunContext,
): Pick<StageResult, "waits" | "wakeAt"> {
  const { active, waiting, maxConcurrency, maxFailures: allowed } = counts;
  const failed = [...counts.failed, ...counts.lost];
  const name = stage.name;
  const { stuck, wakeAt } = clocks(name, clusters, underWayIn(stage, clusters), context);
  const waits: readonly RunWait[] = [
    ...(failed.length > allowed ? [{ kind: "failures", stage: name, failed, allowed } as const] : []),
    ...(active.length + waiting.length > 0
      ? [{ kind: "clusters", stage: name, active, waiting, maxConcurrency } as const]
      : []),
    ...stuck,
    ...supersededIn(stage, clusters),
  ];
  return { waits, wakeAt };
}

/** Which clusters are stuck, and when time alone makes the next one stuck or failed. */
function clocks(
  stage: string,
  progress: ProgressByCluster,
  underWay: readonly ClusterName[],
  { now, bindings }: RunContext,
): { readonly stuck: readonly RunWait[]; readonly wakeAt: Instant | null } {
  const clusters: ClusterName[] = [];
  let wakeAt: Instant | null = null;
  for (const cluster of underWay) {
    const mark = later(progress.get(cluster)?.startedAt ?? now, stuckAfter);
    if (now >= mark) clusters.push(cluster);
    const binding = bindings.get(cluster);
    const turn = binding?.isOn === true ? readinessChangesAt(binding.readiness) : null;
    wakeAt = earliest(wakeAt, now < mark ? mark : null, turn !== null && turn > now ? turn : null);
  }
  return { stuck: clusters.length === 0 ? [] : [{ kind: "stuck", stage, clusters }], wakeAt };
}

const underWayIn = (stage: PlannedStage, progress: ProgressByCluster): readonly ClusterName[] =>
  clusterNamesIn(stage).filter((it) => isUnderWay(progress.get(it)));

/** Grouped by the run that moved them: a newer run usually moves a whole stage. */
function supersededIn({ name, clusters }: PlannedStage, progress: ProgressByCluster): readonly RunWait[] {
  const taken = new Map<RunKey, ClusterName[]>();
  for (const { cluster } of clusters) {
    const end = progress.get(cluster)?.end ?? null;
    if (end?.kind !== "superseded") continue;
    const list = taken.get(end.by);
    if (list === undefined) taken.set(end.by, [cluster]);
    else list.push(cluster);
  }
  return [...taken].map(([by, names]) => ({ kind: "superseded", stage: name, clusters: names, by }));
}
