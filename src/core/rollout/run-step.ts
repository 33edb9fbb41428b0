import { type Json, sameJson } from "../model/json.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { RunEnd, RunFailure, RunPlan, RunRecord, RunWait, StageProgress } from "../model/update-run.ts";
import type { ClusterName, Instant } from "../model/value.ts";
import type { RunScene } from "./run-context.ts";
import { advanceDeletion, haltDeletion } from "./run-deletion.ts";
import type { StageContext } from "./run-gates.ts";
import { wanted } from "./run-plan.ts";
import { hasEnded, notStartedStage, withChanges } from "./run-progress.ts";
import { advanceStage, haltStage, type StageResult, skipStage } from "./run-stage.ts";
import { recordEnds } from "./stage-clusters.ts";

/** What comes of a run in one pass. */
export interface RunStep {
  /** With its progress; the conditions are not its business. The same one (`===`) when nothing changed. */
  readonly run: RunRecord;
  /** Clusters that get the version of the plan now, in the order of the plan. */
  readonly start: readonly ClusterName[];
  /** Clusters that lose the placement now. */
  readonly remove: readonly ClusterName[];
  readonly waits: readonly RunWait[];
  /** When the same scene would give another step by time alone; null when there is none. */
  readonly wakeAt: Instant | null;
}

/**
 * Takes an initialized run as far as it goes now (`rollout/README.md#through-the-stages`).
 *
 * One call goes through as many stages as are over already. A stage begins when the one before has ended, its after
 * tasks included, and never otherwise (`rollout/README.md#i-01`). What stands in the plan is never changed (`#i-05`),
 * and a run that has ended stays as it is.
 */
export function stepRun(run: RunRecord, scene: RunScene): RunStep {
  const { plan } = run;
  if (plan === null || run.end !== null) return still(run);
  const mismatch = mismatchOf(run, plan, scene.placement);
  if (mismatch !== null) return still(failed(run, mismatch.code, mismatch.message, scene));
  // What a newer run moves in the meantime is out of its hands for good, even when that run is forgotten.
  if (run.spec.state === "Initialize") return still(withStages(run, landed(run, plan, scene)));
  const { stages, turn } = advanceStages(plan, { run, root: plan.root, scene });
  const moved = withStages(run, stages);
  const end = supersededEnd(moved, plan, scene);
  if (end !== null) return still({ ...moved, end });
  if (turn === null) return stepDeletion(moved, plan, scene);
  const { start, waits, wakeAt, rejection } = turn;
  if (rejection !== null) return still(failed(moved, "Rejected", rejection, scene));
  return { run: moved, start, remove: [], waits, wakeAt };
}

const still = (run: RunRecord): RunStep => ({ run, start: [], remove: [], waits: [], wakeAt: null });

const failed = (run: RunRecord, code: RunFailure, message: string, { now }: RunScene): RunRecord => ({
  ...run,
  end: { kind: "failed", at: now, code, message },
});

const withStages = (run: RunRecord, stages: readonly StageProgress[]): RunRecord =>
  stages.every((it, at) => it === run.stages[at]) ? run : { ...run, stages };

interface StagesResult {
  readonly stages: readonly StageProgress[];
  /** Of the stage that is not over; null when all are. */
  readonly turn: StageResult | null;
}

/** What became of clusters in any stage, whether its turn came or not. */
const landed = ({ stages }: RunRecord, plan: RunPlan, scene: RunScene): StageProgress[] =>
  plan.stages.map((stage, at) => {
    const before = stages[at] ?? notStartedStage;
    return withChanges(before, { clusters: recordEnds(stage, before.clusters, scene, false) });
  });

/** Stage by stage, up to the first one that is not over. */
function advanceStages(plan: RunPlan, course: StageContext): StagesResult {
  const { run, scene } = course;
  const stages = landed(run, plan, scene);
  for (const [at, stage] of plan.stages.entries()) {
    const before = stages[at] ?? notStartedStage;
    if (before.endedAt !== null) continue;
    const isStopped = run.spec.state === "Stop";
    if (!isStopped && isEmpty(plan, stages, at, scene)) {
      stages[at] = skipStage(stage, before, course);
      continue;
    }
    const isLast = !isAnyLeft(plan, stages, at + 1, scene);
    const turn = isStopped ? haltStage(stage, before, course, isLast) : advanceStage(stage, before, course, isLast);
    stages[at] = turn.progress;
    if (turn.progress.endedAt === null) return { stages, turn };
  }
  return { stages, turn: null };
}

/**
 * Whether a stage, with its tasks, is for nothing: the plan has no clusters for it (`rollout/README.md#u16`, `#u17`);
 * or newer runs moved all that was to move in it and behind it, so that its gates would guard nothing (`#u26`). While
 * anything is left behind it its gates stand, however few of its own clusters are left.
 */
function isEmpty(plan: RunPlan, stages: readonly StageProgress[], at: number, { bindings }: RunScene): boolean {
  if (plan.stages[at]?.clusters.length === 0) return true;
  if (stages[at]?.startedAt !== null) return false;
  const isOver = plan.stages.every((stage, i) => {
    const progress = (stages[i] ?? notStartedStage).clusters;
    return i < at || stage.clusters.every(({ cluster }) => hasEnded(progress.get(cluster)));
  });
  return isOver && !plan.deletions.some((it) => bindings.get(it)?.state === "Unscheduled");
}

/**
 * The end of a stopped run that has nothing left, since newer ones took it: it counts as over, and blocks nothing
 * (`rollout/README.md#superseded-runs`). Null while something of it would go on, were its state set back to Run.
 */
function supersededEnd({ spec, stages }: RunRecord, plan: RunPlan, { now, bindings }: RunScene): RunEnd | null {
  if (spec.state !== "Stop" || plan.deletions.some((it) => bindings.get(it)?.state === "Unscheduled")) return null;
  const ends = plan.stages.flatMap(({ clusters }, at) =>
    clusters.map(({ cluster }) => (stages[at] ?? notStartedStage).clusters.get(cluster)?.end ?? null),
  );
  const by = ends.findLast((it) => it?.kind === "superseded")?.by ?? null;
  return by === null || ends.includes(null) ? null : { kind: "superseded", at: now, by };
}

/** Whether a stage from `from` on has a cluster that the run would still move. One that left is none. */
const isAnyLeft = (plan: RunPlan, stages: readonly StageProgress[], from: number, { bindings }: RunScene): boolean =>
  plan.stages.some(
    ({ clusters }, at) =>
      at >= from &&
      clusters.some(({ cluster }) => {
        const state = bindings.get(cluster)?.state ?? "Unscheduled";
        return state !== "Unscheduled" && !hasEnded(stages[at]?.clusters.get(cluster));
      }),
  );

/**
 * The end of a run: once all stages are over, what is no longer picked goes (`rollout/README.md#the-deletion-stage`).
 */
function stepDeletion(run: RunRecord, plan: RunPlan, scene: RunScene): RunStep {
  const isStopped = run.spec.state === "Stop";
  const { progress, remove, waits } = isStopped
    ? haltDeletion(plan, run.deletion, scene)
    : advanceDeletion(plan, run.deletion, scene);
  const end = progress.endedAt === null ? null : ({ kind: "succeeded", at: progress.endedAt } as const);
  return { run: withChanges(run, { deletion: progress, end }), start: [], remove, waits, wakeAt: null };
}

/** Why a run cannot go on, and what to do. */
interface Mismatch {
  readonly code: RunFailure;
  readonly message: string;
}

/**
 * Tells whether the placement still is what the run was planned for; null when it is (`rollout/README.md#b-22`,
 * `#what-ends-a-run`).
 *
 * Only what would make the approved plan another one counts: the policy, its count, the apply strategy, and that the
 * placement is there and External. New content, edited overrides and strategies, joins, leaves, relabels and
 * Scheduled=False do not. A policy that came back to what it was is the same one, whatever its snapshot's index.
 */
function mismatchOf({ spec }: RunRecord, plan: RunPlan, placement: PlacementRecord | null): Mismatch | null {
  const name = spec.placement;
  if (placement === null || placement.deleting !== null)
    return { code: "PlacementNotFound", message: `placement ${name} is gone, or being removed; ${leftAsIs}` };
  if (placement.spec.strategy.type !== "External") {
    const message = `placement ${name} is no longer External; ${leftAsIs}`;
    return { code: "NotExternal", message: `${message}; set it back, then ${anew}` };
  }
  const policy = placement.policySnapshots.at(-1);
  if (policy === undefined || policy.hash !== plan.policyHash)
    return { code: "PolicyChanged", message: `the policy of placement ${name} changed; ${leftAsIs}; ${anew}` };
  const count = wanted(policy);
  if (count !== null && count !== plan.clusterCount) {
    const message = `placement ${name} asks for ${count} clusters, the plan was made for ${plan.clusterCount}`;
    return { code: "CountChanged", message: `${message}; ${leftAsIs}; ${anew}` };
  }
  if (!sameJson(placement.spec.strategy.applyStrategy as unknown as Json, plan.applyStrategy as unknown as Json)) {
    const message = `the apply strategy of placement ${name} changed; ${leftAsIs}; ${anew}`;
    return { code: "ApplyStrategyChanged", message };
  }
  return null;
}

const leftAsIs = "clusters keep what they have";
const anew = "create a new run to go on (flotilla run create)";
