import { type Json, sameJson } from "../model/json.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { RunEnd, RunFailure, RunPlan, RunRecord, RunWait, StageProgress } from "../model/update-run.ts";
import type { ClusterName, Instant } from "../model/value.ts";
import type { RunContext, StageContext } from "./run-context.ts";
import { advanceDeletion, haltDeletion } from "./run-deletion.ts";
import { wanted } from "./run-plan.ts";
import { hasEnded, notStartedStage, updated } from "./run-progress.ts";
import { advanceStage, haltStage, type StageResult, skipStage } from "./run-stage.ts";
import { recordEnds } from "./stage-clusters.ts";

/** What one pass changes about a run. */
export interface RunStep {
  /** With its progress, without new conditions. The same (`===`) when nothing changed. */
  readonly run: RunRecord;
  /** Clusters that get the version of the plan now, in the order of the plan. */
  readonly start: readonly ClusterName[];
  /** Clusters that lose the placement now. */
  readonly remove: readonly ClusterName[];
  readonly waits: readonly RunWait[];
  /** When time alone would change the result; null when there is no such moment. */
  readonly wakeAt: Instant | null;
}

/**
 * Takes an initialized run as far as it goes now (`rollout/README.md#through-the-stages`).
 *
 * One call passes through all stages that are over. A stage starts only when the one before has ended, after tasks
 * included (`rollout/README.md#i-01`). The plan never changes (`#i-05`), nor does a run that has ended.
 */
export function stepRun(run: RunRecord, context: RunContext): RunStep {
  const { plan } = run;
  if (plan === null || run.end !== null) return unchanged(run);
  const mismatch = mismatchOf(run, plan, context.placement);
  if (mismatch !== null) return unchanged(failed(run, mismatch.code, mismatch.message, context));
  // Clusters that a newer run moves in the meantime are lost to this one for good, even when that run is forgotten.
  if (run.spec.state === "Initialize") return unchanged(withStages(run, ended(run, plan, context)));
  const { stages, current } = advanceStages(plan, { ...context, run, root: plan.root });
  const moved = withStages(run, stages);
  const end = supersededEnd(moved, plan, context);
  if (end !== null) return unchanged({ ...moved, end });
  if (current === null) return stepDeletion(moved, plan, context);
  const { start, waits, wakeAt, rejection } = current;
  if (rejection !== null) return unchanged(failed(moved, "Rejected", rejection, context));
  return { run: moved, start, remove: [], waits, wakeAt };
}

const unchanged = (run: RunRecord): RunStep => ({ run, start: [], remove: [], waits: [], wakeAt: null });

const failed = (run: RunRecord, code: RunFailure, message: string, { now }: RunContext): RunRecord => ({
  ...run,
  end: { kind: "failed", at: now, code, message },
});

const withStages = (run: RunRecord, stages: readonly StageProgress[]): RunRecord =>
  stages.every((it, at) => it === run.stages[at]) ? run : { ...run, stages };

interface StagesResult {
  readonly stages: readonly StageProgress[];
  /** Of the stage that is not over; null when all are. */
  readonly current: StageResult | null;
}

/** The stages with the clusters that have ended, in stages that have not started as well. */
const ended = ({ stages }: RunRecord, plan: RunPlan, context: RunContext): StageProgress[] =>
  plan.stages.map((stage, at) => {
    const before = stages[at] ?? notStartedStage;
    return updated(before, { clusters: recordEnds(stage, before.clusters, context, false) });
  });

/** Stage by stage, up to the first one that is not over. */
function advanceStages(plan: RunPlan, context: StageContext): StagesResult {
  const { run } = context;
  const stages = ended(run, plan, context);
  for (const [at, stage] of plan.stages.entries()) {
    const before = stages[at] ?? notStartedStage;
    if (before.endedAt !== null) continue;
    const isStopped = run.spec.state === "Stop";
    if (!isStopped && isEmpty(plan, stages, at, context)) {
      stages[at] = skipStage(stage, before, context);
      continue;
    }
    const isLast = !isAnyLeft(plan, stages, at + 1, context);
    const current = isStopped
      ? haltStage(stage, before, context, isLast)
      : advanceStage(stage, before, context, isLast);
    stages[at] = current.progress;
    if (current.progress.endedAt === null) return { stages, current };
  }
  return { stages, current: null };
}

/**
 * Whether a stage and its tasks have no purpose: the plan has no clusters for it (`rollout/README.md#u16`, `#u17`), or
 * newer runs moved everything in it and after it, so that its gates would guard nothing (`#u26`). While a later stage
 * has clusters left the gates hold, even if this one has none.
 */
function isEmpty(plan: RunPlan, stages: readonly StageProgress[], at: number, { bindings }: RunContext): boolean {
  if (plan.stages[at]?.clusters.length === 0) return true;
  if (stages[at]?.startedAt !== null) return false;
  const isOver = plan.stages.every((stage, i) => {
    const progress = (stages[i] ?? notStartedStage).clusters;
    return i < at || stage.clusters.every(({ cluster }) => hasEnded(progress.get(cluster)));
  });
  return isOver && !plan.deletions.some((it) => bindings.get(it)?.state === "Unscheduled");
}

/**
 * The end of a stopped run whose clusters were all taken over by newer runs: it is over and blocks nothing
 * (`rollout/README.md#superseded-runs`). Null while it would still do something if its state were Run.
 */
function supersededEnd({ spec, stages }: RunRecord, plan: RunPlan, { now, bindings }: RunContext): RunEnd | null {
  if (spec.state !== "Stop" || plan.deletions.some((it) => bindings.get(it)?.state === "Unscheduled")) return null;
  const ends = plan.stages.flatMap(({ clusters }, at) =>
    clusters.map(({ cluster }) => (stages[at] ?? notStartedStage).clusters.get(cluster)?.end ?? null),
  );
  const by = ends.findLast((it) => it?.kind === "superseded")?.by ?? null;
  return by === null || ends.includes(null) ? null : { kind: "superseded", at: now, by };
}

/** Whether a stage from `from` on has a cluster that the run would still move. */
const isAnyLeft = (plan: RunPlan, stages: readonly StageProgress[], from: number, { bindings }: RunContext): boolean =>
  plan.stages.some(
    ({ clusters }, at) =>
      at >= from &&
      clusters.some(({ cluster }) => {
        const state = bindings.get(cluster)?.state ?? "Unscheduled";
        return state !== "Unscheduled" && !hasEnded(stages[at]?.clusters.get(cluster));
      }),
  );

/**
 * Once all stages are over, clusters that are no longer picked lose the placement
 * (`rollout/README.md#the-deletion-stage`).
 */
function stepDeletion(run: RunRecord, plan: RunPlan, context: RunContext): RunStep {
  const isStopped = run.spec.state === "Stop";
  const { progress, remove, waits } = isStopped
    ? haltDeletion(plan, run.deletion, context)
    : advanceDeletion(plan, run.deletion, context);
  const end = progress.endedAt === null ? null : ({ kind: "succeeded", at: progress.endedAt } as const);
  return { run: updated(run, { deletion: progress, end }), start: [], remove, waits, wakeAt: null };
}

/** Why a run cannot go on, and what to do. */
interface Mismatch {
  readonly code: RunFailure;
  readonly message: string;
}

/**
 * Why the placement no longer is what the run was planned for; null when it is (`rollout/README.md#b-22`,
 * `#what-ends-a-run`).
 *
 * Only what would change the approved plan counts: the policy, its count, the apply strategy, and that the placement
 * exists and is External. New content, edited overrides and strategies, joins, leaves, relabels and Scheduled=False do
 * not. A policy that was changed back is the same, whatever its snapshot's index.
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
