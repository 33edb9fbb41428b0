import type { Binding } from "../model/binding.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { CountOrPercent, DisruptionBudget, Eviction, PlacementPolicy } from "../model/placement.ts";
import type { ClusterName, RunKey } from "../model/value.ts";
import type { Readiness } from "./readiness.ts";

/** Everything that decides one eviction. */
export interface EvictionInput {
  readonly eviction: Eviction;
  /** Null when there is no such placement. */
  readonly placement: PlacementRecord | null;
  /**
   * Null when there is none; `unusable` when it cannot be read, which protects every cluster
   * (`rollout/README.md#i-54`).
   */
  readonly budget: DisruptionBudget | "unusable" | null;
  readonly readinessOf: (cluster: ClusterName) => Readiness;
  /** Whether this pass brings the placement to the cluster for the first time. */
  readonly isNew: (cluster: ClusterName) => boolean;
  /** The unfinished run with the cluster in its plan; null when there is none (`rollout/README.md#b-17`). */
  readonly runOn: (cluster: ClusterName) => RunKey | null;
}

/** The verdict on an eviction. `evict`: the cluster loses the placement now. */
export type EvictionVerdict =
  | { readonly kind: "invalid"; readonly message: string }
  | { readonly kind: "executed"; readonly evict: boolean; readonly message: string }
  | { readonly kind: "refused"; readonly message: string };

/**
 * Judges an eviction, once (`rollout/README.md#evictions` and `#the-disruption-budget`, as `#b-12` and `#b-17` amend
 * them).
 *
 * Evictions are judged one after the other, after the rollout: the placement given is what the ones before it left
 * (`#e17`).
 */
export function judgeEviction(context: EvictionInput): EvictionVerdict {
  const { placement, eviction } = context;
  const { cluster } = eviction;
  if (placement === null) return invalid(`there is no ClusterResourcePlacement ${eviction.placement}`);
  if (placement.deleting !== null) return invalid(`${placement.key} is being removed from every cluster`);
  if (placement.spec.policy.kind === "PickFixed")
    return invalid(`${placement.key} names its clusters (PickFixed); take ${cluster} off its clusterNames instead`);
  const binding = placement.bindings.get(cluster);
  if (binding === undefined) return invalid(`${placement.key} is not on ${cluster}, nor is it to be`);
  const run = context.runOn(cluster);
  if (run !== null) return invalid(`${cluster} is in the plan of the update run ${run}; evict it when that has ended`);
  if (binding.removal === null) return judgePlaced(context, placement, binding);
  // KubeFleet has two bindings then, and refuses to choose (`rollout/README.md#e21`).
  if (binding.state === "Scheduled") return invalid(`${cluster} was picked again while ${placement.key} is leaving it`);
  return { kind: "executed", evict: false, message: `${placement.key} is leaving ${cluster} already` };
}

/** The eviction is valid. A failed cluster may always be evicted, any other as the budget allows. */
function judgePlaced(
  context: EvictionInput,
  { key, spec, bindings }: PlacementRecord,
  target: Binding,
): EvictionVerdict {
  const { budget } = context;
  const { cluster } = target;
  if (!isPlaced(target) || context.isNew(cluster)) return refused(`nothing of ${key} was placed on ${cluster}`);
  if (context.readinessOf(cluster).kind === "failed")
    return evicted(`${key} has failed on ${cluster}: no budget applies`);
  if (isReporting(target)) return evicted(`${key} only reports the differences of ${cluster}: no budget applies`);
  if (budget === null) return evicted(`${key} has no disruption budget`);
  if (budget === "unusable") return refused(`the disruption budget of ${key} cannot be read; repair it first`);
  const available = [...bindings.values()].filter((it) => isAvailable(context, it));
  const allowed = allowanceOf(budget, spec.policy, { total: bindings.size, available: available.length });
  if (allowed.kind === "misconfigured") return refused(allowed.message);
  return withinAllowance(allowed, cluster, available.includes(target));
}

/** Evicting a cluster that is not available uses none of the allowance (`rollout/README.md#b-12`, `#e14`). */
function withinAllowance(
  { allowance, arithmetic }: Counted,
  cluster: ClusterName,
  isAvailable: boolean,
): EvictionVerdict {
  const which = isAvailable ? `${cluster} is one of the available` : `${cluster} is not one of the available`;
  if (allowance >= (isAvailable ? 1 : 0)) return evicted(`${arithmetic}; ${which}`);
  return refused(`${arithmetic}; ${which}; create the eviction again when more are`);
}

/** Untrackable counts at once, an earlier version counts as well; a removed or unreachable cluster does not. */
function isAvailable({ readinessOf }: EvictionInput, binding: Binding): boolean {
  if (binding.removal !== null || isReporting(binding)) return false;
  const { kind } = readinessOf(binding.cluster);
  return kind === "available" || kind === "untrackable";
}

/** The objects were placed there and their removal is not decided (`rollout/README.md#evictions`). */
const isPlaced = ({ state, previousState }: Binding): boolean =>
  state === "Bound" || (state === "Unscheduled" && previousState === "Bound");

/**
 * The member has reported the differences and is not to change them: KubeFleet's DIFFMODE
 * (`rollout/README.md#evictions`).
 */
const isReporting = ({ target, facts }: Binding): boolean =>
  target !== null && target.applyStrategy.type === "ReportDiff" && facts !== null && facts.sequence === target.sequence;

const invalid = (message: string): EvictionVerdict => ({ kind: "invalid", message });
const refused = (message: string): EvictionVerdict => ({ kind: "refused", message });
const evicted = (message: string): EvictionVerdict => ({ kind: "executed", evict: true, message });

/** How many more clusters a disruption budget lets evictions take down, or why it does not apply to a placement. */
type Allowance = Counted | { readonly kind: "misconfigured"; readonly message: string };

/** The allowance, negative when too few are available already, and how it was computed. */
interface Counted {
  readonly kind: "counted";
  readonly allowance: number;
  readonly arithmetic: string;
}

/** The clusters of a placement as a budget counts them: those with a binding, and the available ones among them. */
interface Headcount {
  readonly total: number;
  readonly available: number;
}

/**
 * Applies a disruption budget to the clusters of a placement (`rollout/README.md#the-disruption-budget`).
 *
 * Either bound gives a number of clusters that must stay available; the allowance is what is available beyond it.
 * Percentages are of `numberOfClusters`, rounded up. PickAll has no such number, so it only takes `minAvailable` as a
 * number (`#e12`).
 */
function allowanceOf(
  { bound, limit }: DisruptionBudget,
  policy: PlacementPolicy,
  { total, available }: Headcount,
): Allowance {
  const written = `${bound} ${"count" in limit ? limit.count : `${limit.percent}%`}`;
  if (policy.kind !== "PickN" && (bound === "maxUnavailable" || "percent" in limit))
    return {
      kind: "misconfigured",
      message: `the disruption budget's ${written} means nothing for ${policy.kind}; give it minAvailable as a number`,
    };
  const count = countOf(limit, policy.kind === "PickN" ? policy.numberOfClusters : 0);
  const needed = bound === "minAvailable" ? count : total - count;
  const taken = "count" in limit ? written : `${written} = ${count}`;
  const allowance = available - needed;
  return {
    kind: "counted",
    allowance,
    arithmetic: `available ${available} of ${total}, needed ${Math.max(0, needed)} (${taken}), allowance ${allowance}`,
  };
}

const countOf = (limit: CountOrPercent, base: number): number =>
  "count" in limit ? limit.count : Math.ceil((limit.percent * base) / 100);
