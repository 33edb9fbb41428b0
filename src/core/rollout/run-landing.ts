import type { ClusterEnd, ClusterProgress, PlannedStage } from "../model/update-run.ts";
import type { ClusterName } from "../model/value.ts";
import type { Readiness } from "./readiness.ts";
import { isUnderWay, type Progress, unbegunCluster, withMoved } from "./run-progress.ts";
import type { RunBinding, RunScene } from "./run-scene.ts";

/**
 * Records what became of the clusters of a stage, starting nothing.
 *
 * What a newer run moved is out of this run's hands at once, whether its turn came or not (`rollout/README.md#b-4`,
 * against `#u25` and `#u26`). A cluster that left is skipped when its turn has come (`#b-22`): until then it may come
 * back.
 */
export function land(stage: PlannedStage, progress: Progress, scene: RunScene, isTheirTurn: boolean): Progress {
  const moved = new Map<ClusterName, ClusterProgress>();
  for (const { cluster } of stage.clusters) {
    const before = progress.get(cluster) ?? unbegunCluster;
    if (before.end !== null) continue;
    const end = endOf(cluster, before, scene, isTheirTurn);
    if (end !== null) moved.set(cluster, { ...before, end });
  }
  return withMoved(progress, moved, clustersOf(stage));
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
export const isThere = ({ isAlike, readiness }: RunBinding): boolean => isAlike && isWell(readiness);

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
export const clustersOf = ({ clusters }: PlannedStage): readonly ClusterName[] => clusters.map((it) => it.cluster);
