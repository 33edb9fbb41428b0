import type { Binding, Target } from "../../model/binding.ts";
import { sameList } from "../../model/identity.ts";
import { type Json, sameJson } from "../../model/json.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import type { PlannedCluster, PlannedStage, RunPlan, RunRecord } from "../../model/update-run.ts";
import type { ClusterName } from "../../model/value.ts";
import type { Readiness } from "../../rollout/readiness.ts";
import type { RunBinding } from "../../rollout/run-context.ts";
import { plannedIn } from "../../rollout/run-plan.ts";
import type { PlanContext } from "../moves/context.ts";
import type { Destination, Move } from "../moves/move.ts";
import { readinessIn } from "../moves/readiness.ts";
import { targetRendering } from "../moves/version.ts";
import { recordsOf } from "./runs-of.ts";

/** The placement's bindings as a run sees them. */
export function runBindings(
  run: RunRecord,
  record: PlacementRecord,
  context: PlanContext,
): ReadonlyMap<ClusterName, RunBinding> {
  const { plan } = run;
  const bindings = new Map<ClusterName, RunBinding>();
  const trials = trialsIn(run, context);
  for (const [cluster, binding] of record.bindings) {
    const { state, removal, target } = binding;
    const planned = plan === null ? undefined : plannedIn(plan).get(cluster);
    bindings.set(cluster, {
      cluster,
      state,
      removing: removal !== null,
      sequence: target?.sequence ?? null,
      isOn: plan !== null && planned !== undefined && isOn(binding, planned, plan),
      hasPlannedContent: plan !== null && planned !== undefined && isLike(binding, planned, plan),
      isOnTrial: target !== null && trials.has(`${cluster} ${target.sequence}`),
      readiness: unlessFailed(readinessIn(context, record, binding), binding),
    });
  }
  return bindings;
}

/** For a run, a cluster that had failed before it fell silent has failed until it says otherwise: nobody goes on because of silence. */
const unlessFailed = (readiness: Readiness, { target, facts }: Binding): Readiness =>
  readiness.kind === "unknown" &&
  facts !== null &&
  facts.sequence === target?.sequence &&
  (facts.applied === "failed" || facts.phase === "failed")
    ? { kind: "failed", because: "explicit" }
    : readiness;

/** What runs of the same placement brought in stages that have not ended: `cluster sequence`. */
function trialsIn({ key, spec }: RunRecord, { ledger }: PlanContext): ReadonlySet<string> {
  const others = recordsOf(ledger, spec.placement).filter((it) => it.key !== key);
  const open = others.flatMap(({ stages }) => stages.filter((it) => it.endedAt === null));
  return new Set(open.flatMap(({ clusters }) => [...clusters].map(([cluster, it]) => `${cluster} ${it.sequence}`)));
}

/** Whether a binding carries what the plan says, under whatever names. */
const isLike = ({ state, removal, target }: Binding, { digest }: PlannedCluster, plan: RunPlan): boolean =>
  target !== null && state === "Bound" && removal === null && target.digest === digest && sameStrategy(target, plan);

/** Whether a binding carries what the plan says, under the names that the plan gives it. */
function isOn({ state, removal, target }: Binding, planned: PlannedCluster, plan: RunPlan): boolean {
  if (target === null || state !== "Bound" || removal !== null) return false;
  return (
    target.resourceIndex === plan.resourceIndex &&
    target.digest === planned.digest &&
    sameList(target.clusterOverrides, planned.clusterOverrides) &&
    sameList(target.resourceOverrides, planned.resourceOverrides) &&
    sameJson(target.labels, planned.labels) &&
    sameStrategy(target, plan)
  );
}

const sameStrategy = (a: Pick<Target, "applyStrategy">, b: Pick<Target, "applyStrategy">): boolean =>
  sameJson(a.applyStrategy as unknown as Json, b.applyStrategy as unknown as Json);

/**
 * What an initialized run would still change, now or later, by cluster: its version comes to the clusters of its stages,
 * and those that are no longer picked are left. What is done, or needs no write, is not in it.
 */
export function proposeRun(
  run: RunRecord,
  record: PlacementRecord,
  context: PlanContext,
): ReadonlyMap<ClusterName, Move> {
  const moves = new Map<ClusterName, Move>();
  const { plan, stages } = run;
  if (plan === null || run.end !== null) return moves;
  for (const [at, stage] of plan.stages.entries()) {
    const progress = stages[at];
    if (progress?.endedAt != null) continue;
    const gate = { hasApprovalTask: hasApprovalTask(stage), request: progress?.before.Approval ?? null };
    for (const planned of stage.clusters) {
      const binding = record.bindings.get(planned.cluster);
      const isOver = (progress?.clusters.get(planned.cluster)?.end ?? null) !== null;
      if (binding === undefined || isOver || isLike(binding, planned, plan)) continue;
      const target = { ...plannedTarget(planned, plan), sequence: context.sequence, startedAt: context.world.now };
      const rendering = once(() => renderingOf(binding, target, record, context));
      const to = { target, rendering, deleteAdopted: plan.deleteAdopted };
      moves.set(binding.cluster, { record, cause: "run", binding, to, gate });
    }
  }
  for (const cluster of plan.deletions) {
    const binding = record.bindings.get(cluster);
    if (binding?.state === "Unscheduled" && binding.removal === null)
      moves.set(cluster, { record, cause: "run", binding, to: null, gate: null });
  }
  return moves;
}

const hasApprovalTask = ({ before }: PlannedStage): boolean => before.some((it) => it.kind === "Approval");

/** What a cluster of a plan is to carry: everything of a target but when it is admitted. */
export const plannedTarget = (
  { clusterOverrides, resourceOverrides, labels, digest }: PlannedCluster,
  { resourceIndex, applyStrategy }: Pick<RunPlan, "resourceIndex" | "applyStrategy">,
): Omit<Target, "sequence" | "startedAt"> => ({
  resourceIndex,
  clusterOverrides,
  resourceOverrides,
  labels,
  applyStrategy,
  digest,
});

/** What was approved is what is sent (`rollout/README.md#i-12`). */
function renderingOf(
  { cluster }: Binding,
  target: Target,
  record: PlacementRecord,
  context: PlanContext,
): ReturnType<Destination["rendering"]> {
  const rendering = targetRendering({ cluster, target }, record, context);
  if (rendering === null) return { kind: "failed", message: "what the plan names is not kept any more" };
  return rendering.kind === "failed" || rendering.digest === target.digest
    ? rendering
    : { kind: "failed", message: "it renders to something else than the plan of the run says" };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** A cluster that carries just what the plan says takes the plan's names for it, and nothing is written. */
export function renamedBy(run: RunRecord, binding: Binding): Binding {
  const planned = run.plan === null ? undefined : plannedIn(run.plan).get(binding.cluster);
  if (run.plan === null || planned === undefined || binding.target === null) return binding;
  const { sequence, startedAt } = binding.target;
  const target = { ...plannedTarget(planned, run.plan), sequence, startedAt };
  return { ...binding, generation: binding.generation + 1, target };
}
