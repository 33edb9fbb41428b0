import type { Gate, PlannedStage, RunWait, StageProgress } from "../model/update-run.ts";
import { type ClusterName, earliest, type Instant, later, minutes, type RunKey } from "../model/value.ts";
import { turnsAt } from "./readiness.ts";
import type { RunScene } from "./run-context.ts";
import { advanceGate, type GateResult, type StageContext, timerOf } from "./run-gates.ts";
import { hasEnded, isUnderWay, type ProgressByCluster, withChanges } from "./run-progress.ts";
import {
  clusterNamesIn,
  isStageFinished,
  recordEnds,
  type StageCounts,
  stageCounts,
  startClusters,
} from "./stage-clusters.ts";

/** What comes of one stage in one pass. */
export interface StageResult {
  readonly progress: StageProgress;
  readonly start: readonly ClusterName[];
  readonly waits: readonly RunWait[];
  readonly wakeAt: Instant | null;
  /** Why the run is over; null when nobody rejected it. */
  readonly rejection: string | null;
}

/** How long a cluster may be under way before it is reported (`rollout/README.md#through-the-stages`, `#b-1`). */
const stuckAfter = minutes(5);

/**
 * Takes a stage as far as it goes now: its before task, its clusters, its after tasks. The last one is that behind which
 * the run moves no cluster any more.
 */
export function advanceStage(
  stage: PlannedStage,
  before: StageProgress,
  course: StageContext,
  isLast: boolean,
): StageResult {
  if (before.finishedAt !== null)
    return before.isPassedOver ? over(before, course.scene) : closeStage(stage, before, before.finishedAt, course);
  const passing = isUnchanged(before, stage, course.scene) && !isGuarding(stage, course);
  const entry = passing ? unasked(before.before) : advanceGate(stage, "before", before, course);
  const entered = withChanges(before, { before: entry.gate, isPassedOver: passing });
  if (entry.wait !== null || entry.rejection !== null) {
    const waits = [...(entry.wait === null ? [] : [entry.wait]), ...supersededIn(stage, entered.clusters)];
    return { ...still(entered), waits, rejection: entry.rejection, wakeAt: entry.wakeAt };
  }
  const { scene } = course;
  const landed = recordEnds(stage, entered.clusters, scene, true);
  const { progress: clusters, start } = startClusters(stage, landed, scene);
  const hasStarted = [...clusters.values()].some((it) => it.startedAt !== null);
  const after = withChanges(entered, { clusters, startedAt: entered.startedAt ?? (hasStarted ? scene.now : null) });
  const standing = stageCounts(stage, after.clusters, scene);
  if (isStageFinished(standing, isLast) && passing) return over(finished(after, scene), scene);
  if (isStageFinished(standing, isLast)) return closeStage(stage, finished(after, scene), scene.latest, course);
  return { ...still(after), start, ...watch(stage, after, standing, scene) };
}

/**
 * Whether nothing of the stage changes, and nothing of it was changed by this run: such stages are passed over
 * (`rollout/README.md#passed-over`). What is not well there still holds up what follows (`#b-27`).
 */
const isUnchanged = (before: StageProgress, { clusters }: PlannedStage, { bindings }: RunScene): boolean =>
  (before.startedAt === null || before.isPassedOver) &&
  clusters.some(({ cluster }) => bindings.get(cluster)?.isAlike === true) &&
  clusters.every(({ cluster }) => {
    const end = before.clusters.get(cluster)?.end ?? null;
    if (end !== null) return end.kind !== "superseded";
    const binding = bindings.get(cluster);
    return binding === undefined || binding.state === "Unscheduled" || binding.isAlike;
  });

/**
 * Whether its tasks are what keeps the version from going further: another run brought it here and was not let out of
 * the stage, and this one would take it on. Whoever creates a run anew has waited for nothing yet.
 */
function isGuarding(stage: PlannedStage, { run: { plan, stages }, scene: { bindings } }: StageContext): boolean {
  if (!stage.clusters.some(({ cluster }) => bindings.get(cluster)?.isOnTrial === true)) return false;
  const at = plan?.stages.indexOf(stage) ?? -1;
  return (plan?.stages ?? []).some(
    ({ clusters }, i) =>
      i > at &&
      clusters.some(({ cluster }) => {
        const binding = bindings.get(cluster);
        return binding !== undefined && !binding.isAlike && !hasEnded(stages[i]?.clusters.get(cluster));
      }),
  );
}

const over = (progress: StageProgress, { now }: RunScene): StageResult => still({ ...progress, endedAt: now });

/** Nobody is asked. A request that was made before it turned out that nothing changes is withdrawn. */
const unasked = (gate: Gate | null): GateResult => ({
  gate: gate?.approval == null ? null : gate,
  wait: null,
  rejection: null,
  wakeAt: null,
});

/** All after tasks run at once, and the stage ends with the last of them (`rollout/README.md#through-the-stages`). */
function closeStage(
  stage: PlannedStage,
  before: StageProgress,
  finishedAt: Instant,
  course: StageContext,
): StageResult {
  const { scene } = course;
  const exit = advanceGate(stage, "after", before, course);
  const timer = timerOf(stage, finishedAt, scene);
  const waits = [timer, exit.wait].flatMap((it) => it ?? []);
  const isOver = waits.length === 0 && exit.rejection === null;
  const progress = withChanges(before, { after: exit.gate, endedAt: isOver ? scene.now : null });
  const opensAt = timer?.kind === "timer" && timer.until > scene.now ? timer.until : null;
  const superseded = isOver ? [] : supersededIn(stage, before.clusters);
  const wakeAt = earliest(opensAt, exit.wakeAt);
  return { ...still(progress), waits: [...waits, ...superseded], wakeAt, rejection: exit.rejection };
}

/**
 * A stopped stage starts nothing and asks nobody; what is in flight lands (`rollout/README.md#b-6`, `#i-08`). Its timer
 * runs from the moment at which the last cluster landed, stopped or not (`#b-15`).
 */
export function haltStage(
  stage: PlannedStage,
  before: StageProgress,
  { scene }: StageContext,
  isLast: boolean,
): StageResult {
  const standing = stageCounts(stage, before.clusters, scene);
  const hasBegun = before.startedAt !== null && before.finishedAt === null;
  const progress = hasBegun && isStageFinished(standing, isLast) ? finished(before, scene) : before;
  const active = underWayIn(stage, before.clusters);
  const { stuck, wakeAt } = clocks(stage.name, before.clusters, active, scene);
  return { ...still(progress), waits: [{ kind: "stopped", stage: stage.name, active }, ...stuck], wakeAt };
}

/** A stage that nothing is to be done in is over with all its tasks (`rollout/README.md#u16`, `#u17`). */
export function skipStage(stage: PlannedStage, before: StageProgress, { scene }: StageContext): StageProgress {
  const clusters = recordEnds(stage, before.clusters, scene, true);
  return { ...before, clusters, startedAt: scene.now, finishedAt: scene.now, endedAt: scene.now };
}

const still = (progress: StageProgress): StageResult => ({
  progress,
  start: [],
  waits: [],
  wakeAt: null,
  rejection: null,
});

/** A stage whose clusters all went their own way counts as started when the last of them is known to have. */
const finished = (before: StageProgress, { now, latest }: RunScene): StageProgress =>
  withChanges(before, { startedAt: before.startedAt ?? now, finishedAt: latest });

/** Why a stage with its window open is not further, and when it may be. */
function watch(
  stage: PlannedStage,
  { clusters }: StageProgress,
  standing: StageCounts,
  scene: RunScene,
): Pick<StageResult, "waits" | "wakeAt"> {
  const { active, waiting, maxConcurrency, maxFailures: allowed } = standing;
  const failed = [...standing.failed, ...standing.lost];
  const name = stage.name;
  const { stuck, wakeAt } = clocks(name, clusters, underWayIn(stage, clusters), scene);
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

/** Who is stuck, and when time alone tells more: the next one is stuck then, or has failed. */
function clocks(
  stage: string,
  progress: ProgressByCluster,
  underWay: readonly ClusterName[],
  { now, bindings }: RunScene,
): { readonly stuck: readonly RunWait[]; readonly wakeAt: Instant | null } {
  const clusters: ClusterName[] = [];
  let wakeAt: Instant | null = null;
  for (const cluster of underWay) {
    const mark = later(progress.get(cluster)?.startedAt ?? now, stuckAfter);
    if (now >= mark) clusters.push(cluster);
    const binding = bindings.get(cluster);
    const turn = binding?.isOn === true ? turnsAt(binding.readiness) : null;
    wakeAt = earliest(wakeAt, now < mark ? mark : null, turn !== null && turn > now ? turn : null);
  }
  return { stuck: clusters.length === 0 ? [] : [{ kind: "stuck", stage, clusters }], wakeAt };
}

const underWayIn = (stage: PlannedStage, progress: ProgressByCluster): readonly ClusterName[] =>
  clusterNamesIn(stage).filter((it) => isUnderWay(progress.get(it)));

/** Gathered by the run that moved them: a newer one usually moves a whole stage. */
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
