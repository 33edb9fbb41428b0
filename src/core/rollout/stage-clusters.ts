import type { ClusterEnd, ClusterProgress, PlannedStage } from "../model/update-run.ts";
import type { ClusterName } from "../model/value.ts";
import type { Readiness } from "./readiness.ts";
import type { RunBinding, RunContext } from "./run-context.ts";
import {
  isNotStarted,
  isUnderWay,
  notStartedCluster,
  type ProgressByCluster,
  roundedDown,
  withProgress,
} from "./run-progress.ts";

/** The clusters of a stage by state, in the order of the plan. */
export interface StageCounts {
  /** Under way and not known to have failed, unreachable ones included (`rollout/README.md#i-02`). */
  readonly active: readonly ClusterName[];
  /** Under way and failed at this moment: never latched (`rollout/README.md#b-1`). */
  readonly failed: readonly ClusterName[];
  /**
   * Taken over by a newer run before they were available. They count as failures: otherwise a run that rolls some
   * clusters back would let the faulty version go on elsewhere.
   */
  readonly lost: readonly ClusterName[];
  /** Not started. */
  readonly waiting: readonly ClusterName[];
  readonly maxConcurrency: number;
  /** How many may fail before nothing new starts (`rollout/README.md#b-13`). */
  readonly maxFailures: number;
}

/** Sorts the clusters of a stage by state and resolves its limits. */
export function stageCounts(stage: PlannedStage, progress: ProgressByCluster, { bindings }: RunContext): StageCounts {
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
 * Whether the clusters of a stage are done.
 *
 * Failed clusters do not hold the stage up while there are no more of them than it tolerates; they stay listed, and
 * their recovery is still recorded. Lost ones count as failed unless this is the last stage that moves anything.
 */
export const isStageFinished = (
  { active, failed, lost, waiting, maxFailures }: StageCounts,
  isLast: boolean,
): boolean => active.length + waiting.length === 0 && failed.length + (isLast ? 0 : lost.length) <= maxFailures;

/** The clusters that start now, and the progress after that. */
interface StartedClusters {
  readonly progress: ProgressByCluster;
  /** Clusters that get the version of the plan now. */
  readonly start: readonly ClusterName[];
}

/**
 * Starts the next clusters of a stage (`rollout/README.md#through-the-stages`): in order, at most `maxConcurrency` at a
 * time, the next as soon as one has succeeded; none while more have failed than the stage tolerates (`#b-13`), or while
 * the next one cannot get what the plan says (`#i-12`).
 *
 * A cluster that already has the version of the plan needs no write. It is started all the same, so that its failure is
 * noticed (`#b-27`), and takes a slot only when it is not available (`#u36`). A started cluster whose target was changed
 * by something other than a newer run is started again. One whose earlier removal is not confirmed lets the others pass
 * (`#b-10`).
 */
export function startClusters(stage: PlannedStage, progress: ProgressByCluster, context: RunContext): StartedClusters {
  const { active, failed, lost, maxConcurrency, maxFailures } = stageCounts(stage, progress, context);
  let free = maxConcurrency - active.length;
  let failures = failed.length + lost.length;
  const moved = new Map<ClusterName, ClusterProgress>();
  const start: ClusterName[] = [];
  for (const { cluster } of stage.clusters) {
    if (failures > maxFailures) break;
    const before = progress.get(cluster) ?? notStartedCluster;
    const binding = context.bindings.get(cluster);
    if (before.end !== null || binding === undefined || binding.removing) continue;
    const isNew = before.startedAt === null;
    if (isNew ? free <= 0 : binding.isOn) continue;
    if (!binding.isOn && !context.canGetPlannedVersion(cluster)) break;
    const after = started(before, binding, context);
    moved.set(cluster, after);
    if (!binding.isOn) start.push(cluster);
    if (!isNew || after.end !== null) continue;
    if (hasFailed(binding)) failures += 1;
    else free -= 1;
  }
  return { progress: withProgress(progress, moved, clusterNamesIn(stage)), start };
}

function started(before: ClusterProgress, binding: RunBinding, { now, sequence }: RunContext): ClusterProgress {
  return {
    startedAt: before.startedAt ?? now,
    sequence: binding.hasPlannedContent ? binding.sequence : sequence,
    end: isAlreadyThere(binding) ? { kind: "succeeded", at: now } : null,
  };
}

const wasLost = (it: ClusterProgress | undefined): boolean => it?.startedAt != null && it.end?.kind === "superseded";

/** Readiness with another target does not count. */
const hasFailed = (binding: RunBinding | undefined): boolean =>
  binding?.hasPlannedContent === true && binding.readiness.kind === "failed";

/**
 * Records which clusters of a stage have ended, and starts nothing.
 *
 * A cluster that a newer run moved is superseded at once, started or not (`rollout/README.md#b-4`, against `#u25` and
 * `#u26`). A cluster that left is skipped only when it is its turn (`#b-22`): until then it may come back.
 */
export function recordEnds(
  stage: PlannedStage,
  progress: ProgressByCluster,
  context: RunContext,
  isTheirTurn: boolean,
): ProgressByCluster {
  const moved = new Map<ClusterName, ClusterProgress>();
  for (const { cluster } of stage.clusters) {
    const before = progress.get(cluster) ?? notStartedCluster;
    if (before.end !== null) continue;
    const end = endOf(cluster, before, context, isTheirTurn);
    if (end !== null) moved.set(cluster, { ...before, end });
  }
  return withProgress(progress, moved, clusterNamesIn(stage));
}

function endOf(
  cluster: ClusterName,
  before: ClusterProgress,
  { now, bindings, newerOn }: RunContext,
  isTheirTurn: boolean,
): ClusterEnd | null {
  const by = newerOn(cluster);
  if (by !== null) return { kind: "superseded", at: now, by };
  const binding = bindings.get(cluster);
  if (!isUnderWay(before) && !isTheirTurn) return null;
  if (binding === undefined) return { kind: "skipped", at: now, because: "it left the fleet or the placement" };
  if (binding.state === "Unscheduled") return { kind: "skipped", at: now, because: "the placement no longer picks it" };
  return isUnderWay(before) && hasSucceeded(binding) ? { kind: "succeeded", at: now } : null;
}

/** It has the version of the plan and is available. */
const hasSucceeded = ({ isOn, readiness }: RunBinding): boolean => isOn && isAvailableOrUntrackable(readiness);

/** It had the content of the plan before the run started it, perhaps under other snapshots. */
const isAlreadyThere = ({ hasPlannedContent: isAlike, readiness }: RunBinding): boolean =>
  isAlike && isAvailableOrUntrackable(readiness);

/** Untrackable counts at once: runs have no `unavailablePeriodSeconds` (`rollout/README.md#through-the-stages`). */
function isAvailableOrUntrackable({ kind }: Readiness): boolean {
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
