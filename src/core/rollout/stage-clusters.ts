import type { ClusterEnd, ClusterProgress, PlannedStage } from "../model/update-run.ts";
import type { ClusterName } from "../model/value.ts";
import type { Readiness } from "./readiness.ts";
import type { RunBinding, RunScene } from "./run-context.ts";
import {
  isNotStarted,
  isUnderWay,
  notStartedCluster,
  type ProgressByCluster,
  roundedDown,
  withProgress,
} from "./run-progress.ts";

/** How the clusters of a stage stand, in the order of the plan. */
export interface StageCounts {
  /** Under way, and not known to have failed; one that is out of reach as well (`rollout/README.md#i-02`). */
  readonly active: readonly ClusterName[];
  /** Under way and failed, now: nothing of it is latched (`rollout/README.md#b-1`). */
  readonly failed: readonly ClusterName[];
  /**
   * Taken over by a newer run before they were well. Nobody knows whether they would ever have been: they count against
   * what may fail, or a way back would set free the very version that it takes back.
   */
  readonly lost: readonly ClusterName[];
  /** Their turn has not come. */
  readonly waiting: readonly ClusterName[];
  readonly maxConcurrency: number;
  /** How many may fail before nothing new starts (`rollout/README.md#b-13`). */
  readonly maxFailures: number;
}

/** Counts the clusters of a stage, and takes its bounds of them. */
export function stageCounts(stage: PlannedStage, progress: ProgressByCluster, { bindings }: RunScene): StageCounts {
  const clusters = clusterNamesIn(stage);
  const underWay = clusters.filter((it) => isUnderWay(progress.get(it)));
  return {
    active: underWay.filter((it) => !hasFailed(bindings.get(it))),
    failed: underWay.filter((it) => hasFailed(bindings.get(it))),
    lost: clusters.filter((it) => wasLost(progress.get(it))),
    waiting: clusters.filter((it) => isNotStarted(progress.get(it))),
    maxConcurrency: Math.max(1, roundedDown(stage.maxConcurrency, clusters.length)),
    maxFailures: roundedDown(stage.maxFailures, clusters.length),
  };
}

/**
 * Whether nothing of the stage is to come any more.
 *
 * Clusters that failed do not hold the stage up while there are no more of them than it allows: whoever allows failures
 * means to go on without them. They stay listed, and what becomes of them is still recorded. Those that were lost count
 * as well as long as something would follow: behind the last stage that moves anything they hold up nothing.
 */
export const isStageFinished = (
  { active, failed, lost, waiting, maxFailures }: StageCounts,
  isLast: boolean,
): boolean => active.length + waiting.length === 0 && failed.length + (isLast ? 0 : lost.length) <= maxFailures;

/** What starts, and what came of it at once. */
interface StartedClusters {
  readonly progress: ProgressByCluster;
  /** Clusters that get the version of the plan now. */
  readonly start: readonly ClusterName[];
}

/**
 * Starts the next clusters of a stage (`rollout/README.md#through-the-stages`): in order, at most maxConcurrency at a
 * time, the next as soon as one has landed, and none while more have failed than the stage allows (`#b-13`), or while
 * what the plan says of the next one cannot be had (`#i-12`).
 *
 * A cluster that has the version of the plan already needs no write: it is started all the same, so that its failure is
 * seen (`#b-27`), and takes a place only when it is not well (`#u36`). Where something else changed what this run
 * began, and no newer run did, it is begun again. One whose earlier removal is not confirmed lets the others pass
 * (`#b-10`).
 */
export function startClusters(stage: PlannedStage, progress: ProgressByCluster, scene: RunScene): StartedClusters {
  const { active, failed, lost, maxConcurrency, maxFailures } = stageCounts(stage, progress, scene);
  let free = maxConcurrency - active.length;
  let failures = failed.length + lost.length;
  const moved = new Map<ClusterName, ClusterProgress>();
  const start: ClusterName[] = [];
  for (const { cluster } of stage.clusters) {
    if (failures > maxFailures) break;
    const before = progress.get(cluster) ?? notStartedCluster;
    const binding = scene.bindings.get(cluster);
    if (before.end !== null || binding === undefined || binding.removing) continue;
    const isNew = before.startedAt === null;
    if (isNew ? free <= 0 : binding.isOn) continue;
    if (!binding.isOn && !scene.isAtHand(cluster)) break;
    const after = begun(before, binding, scene);
    moved.set(cluster, after);
    if (!binding.isOn) start.push(cluster);
    if (!isNew || after.end !== null) continue;
    if (hasFailed(binding)) failures += 1;
    else free -= 1;
  }
  return { progress: withProgress(progress, moved, clusterNamesIn(stage)), start };
}

function begun(before: ClusterProgress, binding: RunBinding, { now, sequence }: RunScene): ClusterProgress {
  return {
    startedAt: before.startedAt ?? now,
    sequence: binding.isAlike ? binding.sequence : sequence,
    end: isAlreadyThere(binding) ? { kind: "succeeded", at: now } : null,
  };
}

const wasLost = (it: ClusterProgress | undefined): boolean => it?.startedAt != null && it.end?.kind === "superseded";

/** What is said of another target says nothing of the one of the plan. */
const hasFailed = (binding: RunBinding | undefined): boolean =>
  binding?.isAlike === true && binding.readiness.kind === "failed";

/**
 * Records what became of the clusters of a stage, starting nothing.
 *
 * What a newer run moved is out of this run's hands at once, whether its turn came or not (`rollout/README.md#b-4`,
 * against `#u25` and `#u26`). A cluster that left is skipped when its turn has come (`#b-22`): until then it may come
 * back.
 */
export function recordEnds(
  stage: PlannedStage,
  progress: ProgressByCluster,
  scene: RunScene,
  isTheirTurn: boolean,
): ProgressByCluster {
  const moved = new Map<ClusterName, ClusterProgress>();
  for (const { cluster } of stage.clusters) {
    const before = progress.get(cluster) ?? notStartedCluster;
    if (before.end !== null) continue;
    const end = endOf(cluster, before, scene, isTheirTurn);
    if (end !== null) moved.set(cluster, { ...before, end });
  }
  return withProgress(progress, moved, clusterNamesIn(stage));
}

function endOf(
  cluster: ClusterName,
  before: ClusterProgress,
  { now, bindings, newerOn }: RunScene,
  isTheirTurn: boolean,
): ClusterEnd | null {
  const by = newerOn(cluster);
  if (by !== null) return { kind: "superseded", at: now, by };
  const binding = bindings.get(cluster);
  if (!isUnderWay(before) && !isTheirTurn) return null;
  if (binding === undefined) return { kind: "skipped", at: now, because: "it left the fleet or the placement" };
  if (binding.state === "Unscheduled") return { kind: "skipped", at: now, because: "the placement no longer picks it" };
  return isUnderWay(before) && hasLanded(binding) ? { kind: "succeeded", at: now } : null;
}

/** Whether the cluster is where the run wants it, and well. */
const hasLanded = ({ isOn, readiness }: RunBinding): boolean => isOn && isWell(readiness);

/** Whether it was there before the run began it, were it under other names. */
const isAlreadyThere = ({ isAlike, readiness }: RunBinding): boolean => isAlike && isWell(readiness);

/** What nobody can see counts at once: runs know no unavailablePeriod (`rollout/README.md#through-the-stages`). */
function isWell({ kind }: Readiness): boolean {
  switch (kind) {
    case "available":
    case "untrackable":
      return true;
    case "progressing":
    case "failed":
    case "unknown":
      return false;
  }
}

/** The clusters of a stage, in the order in which they start. */
export const clusterNamesIn = ({ clusters }: PlannedStage): readonly ClusterName[] => clusters.map((it) => it.cluster);
