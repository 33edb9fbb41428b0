import type { Binding, Target } from "../../model/binding.ts";
import { type Json, sameJson } from "../../model/json.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import { remembered } from "../../model/memo.ts";
import type { Reason, RenderedTarget } from "../../model/plan.ts";
import type { PlannedCluster, RunPlan, RunRecord } from "../../model/update-run.ts";
import type { ClusterName } from "../../model/value.ts";
import type { Readiness } from "../../rollout/readiness.ts";
import type { RunBinding } from "../../rollout/run-context.ts";
import type { RunStep } from "../../rollout/run-step.ts";
import type { PlanContext } from "../context.ts";
import { sameList } from "../identity.ts";
import { targetRendering } from "../target-rendering.ts";
import { admitted, withdrawn } from "../transition.ts";
import { readinessIn } from "../when.ts";
import { recordsOf } from "./runs-of.ts";

/** What every cluster of a plan's stages is to carry. */
export const plannedIn: (plan: RunPlan) => ReadonlyMap<ClusterName, PlannedCluster> = remembered(
  ({ stages }) => new Map(stages.flatMap((stage) => stage.clusters.map((it) => [it.cluster, it] as const))),
);

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
      isAlike: plan !== null && planned !== undefined && isLike(binding, planned, plan),
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

interface Moves {
  readonly record: PlacementRecord | null;
  readonly rendered: readonly RenderedTarget[];
  readonly reasons: readonly Reason[];
}

/** Finds what becomes of clusters that get the version of a run's plan. Each is looked at once, when it is first asked. */
export interface Mover {
  readonly moveOf: (cluster: ClusterName) => Move;
  /** Why those that were asked for and cannot get it, cannot. */
  readonly refusals: () => readonly Reason[];
}

/** The mover of an initialized run, over the bindings as they are now. */
export function moverOf({ plan }: RunRecord, record: PlacementRecord | null, context: PlanContext): Mover {
  const moves = new Map<ClusterName, Move>();
  const find = (cluster: ClusterName): Move => {
    const binding = record?.bindings.get(cluster);
    const planned = plan === null ? undefined : plannedIn(plan).get(cluster);
    if (record === null || plan === null || binding === undefined || planned === undefined)
      return { kind: "failed", message: "the plan of the run does not have it" };
    return moved(binding, targetOf(plan, planned, context), { plan, record }, context);
  };
  return {
    moveOf(cluster) {
      const move = moves.get(cluster) ?? find(cluster);
      moves.set(cluster, move);
      return move;
    },
    refusals: () =>
      [...moves].flatMap(([cluster, it]): readonly Reason[] =>
        record === null || it.kind === "moved"
          ? []
          : [{ kind: "renderFailed", placement: record.key, cluster, message: it.message }],
      ),
  };
}

/** Gives clusters the version of the plan, and takes the placement away where the run says so. */
export function carryOutRun(
  { run, start, remove }: RunStep,
  record: PlacementRecord | null,
  { moveOf, refusals }: Mover,
  context: PlanContext,
): Moves {
  if (record === null || run.plan === null || start.length + remove.length === 0)
    return { record, rendered: [], reasons: refusals() };
  const bindings = new Map(record.bindings);
  const rendered: RenderedTarget[] = [];
  const reasons: Reason[] = [...refusals()];
  for (const cluster of start) {
    const move = moveOf(cluster);
    if (move.kind === "failed") continue;
    bindings.set(cluster, move.binding);
    if (move.manifests !== null) rendered.push({ cluster, placement: record.key, manifests: move.manifests });
  }
  for (const cluster of remove) {
    const binding = bindings.get(cluster);
    const gone = binding === undefined ? null : withdrawn(binding, { record, context });
    if (gone === null) bindings.delete(cluster);
    else bindings.set(cluster, gone);
  }
  if (rendered.length > 0) reasons.push(started(run.plan, record, rendered));
  return { record: { ...record, bindings }, rendered, reasons };
}

const started = (
  { resourceIndex }: RunPlan,
  { key }: PlacementRecord,
  rendered: readonly RenderedTarget[],
): Reason => ({
  kind: "started",
  placement: key,
  resourceIndex,
  clusters: rendered.map((it) => it.cluster),
});

const targetOf = (plan: RunPlan, planned: PlannedCluster, { sequence, world }: PlanContext): Target => ({
  resourceIndex: plan.resourceIndex,
  clusterOverrides: planned.clusterOverrides,
  resourceOverrides: planned.resourceOverrides,
  labels: planned.labels,
  applyStrategy: plan.applyStrategy,
  digest: planned.digest,
  sequence,
  startedAt: world.now,
});

/** What becomes of a cluster that gets the version of a plan. */
export type Move =
  | {
      readonly kind: "moved";
      readonly binding: Binding;
      /** Null where nothing is written: the cluster carries just this already. */
      readonly manifests: RenderedTarget["manifests"] | null;
    }
  | { readonly kind: "failed"; readonly message: string };

interface Planned {
  readonly plan: RunPlan;
  readonly record: PlacementRecord;
}

function moved(binding: Binding, target: Target, { plan, record }: Planned, context: PlanContext): Move {
  const { target: before, state, removal } = binding;
  if (before !== null && state === "Bound" && removal === null && isAlike(before, target)) {
    const { sequence, startedAt } = before;
    const renamed = { ...target, sequence, startedAt };
    return {
      kind: "moved",
      binding: { ...binding, generation: binding.generation + 1, target: renamed },
      manifests: null,
    };
  }
  const rendering = targetRendering({ cluster: binding.cluster, target }, record, context);
  if (rendering === null) return { kind: "failed", message: "what the plan names is not kept any more" };
  if (rendering.kind === "failed") return rendering;
  // What was approved is what is sent (`rollout/README.md#i-12`).
  if (rendering.digest !== target.digest)
    return { kind: "failed", message: "it renders to something else than the plan of the run says" };
  const { manifests } = rendering;
  const { deleteAdopted } = plan;
  const admission = { target, manifests, record, deleteAdopted, context };
  return { kind: "moved", binding: admitted(binding, admission), manifests };
}

/** A version that makes no difference here is not written again: the cluster takes its names. */
const isAlike = (a: Target, b: Target): boolean => a.digest === b.digest && sameStrategy(a, b);
