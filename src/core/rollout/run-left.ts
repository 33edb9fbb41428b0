import type { PlacementRecord } from "../model/ledger.ts";
import type { RunRecord, StageProgress } from "../model/update-run.ts";
import { hasEnded } from "./run-progress.ts";

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
