import type { MemberCluster } from "../model/fleet.ts";
import { remembered } from "../model/identity.ts";
import { digestOf, type Json, sameJson } from "../model/json.ts";
import type { PlacementRecord, PolicySnapshot } from "../model/ledger.ts";
import type {
  PlannedCluster,
  PlannedStage,
  RunFailure,
  RunPlan,
  RunRecord,
  Stage,
  UpdateStrategy,
} from "../model/update-run.ts";
import { type ClusterName, compareText, type Digest, type LabelSelector, nameList } from "../model/value.ts";
import { orderStages } from "./stage-order.ts";

/** Everything that the plan of a run is made from. */
interface PlanRequest {
  readonly run: RunRecord;
  /** The placement as scheduled in this pass; null when there is none, or it is being removed. */
  readonly placement: PlacementRecord | null;
  readonly strategy: UpdateStrategy | null;
  /** Labels of the members. */
  readonly members: ReadonlyMap<ClusterName, MemberCluster>;
  /** Runs of the same placement that have a plan and have not ended (`rollout/README.md#b-4`). */
  readonly underWay: readonly RunRecord[];
  /** The resource index to roll out and what each cluster is to carry of it, or why there is none. */
  readonly version: PlanVersion;
}

export type PlanVersion =
  | {
      readonly kind: "found";
      readonly resourceIndex: number;
      readonly clusterOf: (
        cluster: ClusterName,
      ) => PlannedCluster | { readonly kind: "failed"; readonly message: string };
    }
  | {
      readonly kind: "failed";
      readonly code: Extract<RunFailure, "SnapshotNotFound" | "BadSelectors">;
      readonly message: string;
    }
  | Postponement;

/** The plan of a run, why there never will be one, or why there is none yet (`rollout/README.md#b-21`). */
export type Planning = { readonly kind: "planned"; readonly plan: RunPlan } | Refusal | Postponement;

interface Refusal {
  readonly kind: "failed";
  readonly code: RunFailure;
  readonly message: string;
}

interface Postponement {
  readonly kind: "waiting";
  readonly message: string;
}

/**
 * Makes the plan of a run (`rollout/README.md#the-plan-of-a-run`, as `#b-2`, `#b-4`, `#b-19` to `#b-22` amend it).
 *
 * The first check that fails decides, in KubeFleet's order. Whether another run is in the way (`#b-4`) comes last, so
 * that problems of the run itself are reported first.
 */
export function planRun(request: PlanRequest): Planning {
  const subject = subjectOf(request);
  if (subject.kind !== "found") return subject;
  const { run, strategy, members, version, underWay } = request;
  if (strategy === null) {
    return failed(
      "StrategyNotFound",
      `there is no strategy ${run.spec.strategy}; add it or name another one, then create a new run`,
    );
  }
  const order = orderStages(strategy.stages, subject.selected, members);
  if (order.kind === "failed") return order;
  if (version.kind !== "found") return version;
  const { resourceIndex } = version;
  const stages = fillStages(strategy.stages, order.clusters, version.clusterOf);
  if ("kind" in stages) return stages;
  const other = underWay.find((it) => it.plan !== null && !sameStages(it.plan.stages, strategy.stages));
  if (other !== undefined) return strategiesDiffer(run, other);
  const { policy, placement, deletions, clusterCount } = subject;
  const { applyStrategy, deleteAdopted } = placement.spec.strategy;
  const bare = {
    policySnapshot: policy.index,
    policyHash: policy.hash,
    clusterCount,
    resourceIndex,
    applyStrategy,
    deleteAdopted,
    stages,
    deletions,
  };
  return { kind: "planned", plan: { root: planRoot(bare), ...bare } };
}

/**
 * The digest over everything else in a plan: approvals of its stages are bound to it (`rollout/README.md#b-22`).
 */
export const planRoot = (plan: Omit<RunPlan, "root">): Digest => {
  const { policySnapshot, policyHash, clusterCount, resourceIndex, applyStrategy, stages, deletions } = plan;
  // Plans of earlier releases have no such field, and release adopted objects.
  const fates = plan.deleteAdopted ? ["delete-adopted"] : [];
  const all = [policySnapshot, policyHash, clusterCount, resourceIndex, applyStrategy, stages, deletions, ...fates];
  return digestOf(all as unknown as Json);
};

/** What the plan of a run takes from its placement. */
interface Subject {
  readonly kind: "found";
  readonly placement: PlacementRecord;
  readonly policy: PolicySnapshot;
  readonly clusterCount: number;
  /** By name. */
  readonly selected: readonly ClusterName[];
  readonly deletions: readonly ClusterName[];
}

/**
 * Checks 1 to 7. Neither the count (7c) nor the policy snapshots of the bindings (7a) are compared: the scheduler ran in
 * the same pass, and its verdict says whether it found enough.
 */
function subjectOf({ run, placement }: PlanRequest): Subject | Refusal | Postponement {
  const name = run.spec.placement;
  if (placement === null || placement.deleting !== null)
    return failed("PlacementNotFound", `there is no placement ${name}, or it is being removed`);
  if (placement.spec.strategy.type !== "External") {
    return failed(
      "NotExternal",
      `placement ${name} rolls out by itself; set its spec.strategy.type to External, then create a new run`,
    );
  }
  const policy = placement.policySnapshots.at(-1);
  const verdict = policy?.verdict ?? null;
  if (policy === undefined || verdict === null || verdict.observedGeneration < placement.generation)
    return { kind: "waiting", message: `waits for placement ${name} to be scheduled as it is now` };
  const { status, message } = verdict.condition;
  if (status !== "True")
    return { kind: "waiting", message: `waits for placement ${name} to be fully scheduled: ${message}` };
  const selected = clustersOf(placement, (state) => state !== "Unscheduled");
  const deletions = clustersOf(placement, (state) => state === "Unscheduled");
  if (selected.length + deletions.length === 0)
    return failed("NothingToDo", `placement ${name} picks no cluster, and none has to lose it`);
  return { kind: "found", placement, policy, clusterCount: wanted(policy) ?? selected.length, selected, deletions };
}

const clustersOf = (
  { bindings }: PlacementRecord,
  holds: (state: "Scheduled" | "Bound" | "Unscheduled") => boolean,
): readonly ClusterName[] =>
  [...bindings.values()].flatMap((it) => (holds(it.state) ? [it.cluster] : [])).sort(compareText);

/** How many clusters a policy asks for by number; null for PickAll. */
export function wanted({ policy }: PolicySnapshot): number | null {
  switch (policy.kind) {
    case "PickAll":
      return null;
    case "PickN":
      return policy.numberOfClusters;
    case "PickFixed":
      return policy.clusterNames.length;
  }
}

/** Check 10: rendering failures are found before anything moves. */
function fillStages(
  stages: readonly Stage[],
  clusters: readonly (readonly ClusterName[])[],
  clusterOf: Extract<PlanVersion, { kind: "found" }>["clusterOf"],
): readonly PlannedStage[] | Refusal {
  const broken: ClusterName[] = [];
  let first = "";
  const filled = stages.map((stage, at): PlannedStage => {
    const planned = (clusters[at] ?? []).flatMap((cluster) => {
      const it = clusterOf(cluster);
      if (!("kind" in it)) return [it];
      if (broken.push(cluster) === 1) first = it.message;
      return [];
    });
    return { ...stage, clusters: planned };
  });
  if (broken.length === 0) return filled;
  const message = `the overrides cannot be applied for ${nameList(broken)}: ${first}`;
  return failed("OverrideError", `${message}; mend them, then create a new run`);
}

/**
 * Whether two strategies have the same stages; the name of the strategy does not matter (`rollout/README.md#b-4`).
 */
const sameStages = (a: readonly Stage[], b: readonly Stage[]): boolean =>
  sameJson(a.map(stageData) as unknown as Json, b.map(stageData) as unknown as Json);

const stageData = (it: Stage): Stage => ({
  name: it.name,
  selector: it.selector === null ? null : selectorData(it.selector),
  sortingLabelKey: it.sortingLabelKey,
  maxConcurrency: it.maxConcurrency,
  before: it.before,
  after: it.after,
  maxFailures: it.maxFailures,
});

const selectorData = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): LabelSelector => ({
  matchLabels,
  matchExpressions: matchExpressions.map((it) => ({ ...it, values: it.values ?? [] })),
});

const strategiesDiffer = (run: RunRecord, other: RunRecord): Refusal =>
  failed(
    "StrategiesDiffer",
    `run ${other.key} of placement ${run.spec.placement} is under way with other stages (strategy ` +
      `${other.spec.strategy}); let it end or remove its file, or use its stages, then create a new run`,
  );

const failed = (code: RunFailure, message: string): Refusal => ({ kind: "failed", code, message });

/** What every cluster of a plan's stages is to carry. */
export const plannedIn: (plan: RunPlan) => ReadonlyMap<ClusterName, PlannedCluster> = remembered(
  ({ stages }) => new Map(stages.flatMap((stage) => stage.clusters.map((it) => [it.cluster, it] as const))),
);
