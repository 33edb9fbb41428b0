import type { CountOrPercent, DisruptionBudget, PlacementPolicy } from "../model/placement.ts";

/** How many more clusters a disruption budget lets evictions take down, or why it says nothing about a placement. */
export type Allowance = Counted | { readonly kind: "misconfigured"; readonly message: string };

/** The allowance, negative when too few are available already, and what it comes from, in numbers. */
export interface Counted {
  readonly kind: "counted";
  readonly allowance: number;
  readonly arithmetic: string;
}

/** The clusters of a placement as a budget counts them: all that have a binding, and those of them that are available. */
export interface Headcount {
  readonly total: number;
  readonly available: number;
}

/**
 * Takes a budget's bound of a placement's clusters (`rollout/README.md#the-disruption-budget`).
 *
 * Both bounds come to a number of clusters that must stay available; the allowance is what is available beyond it.
 * Percentages are of `numberOfClusters` and round up, so PickAll has nothing to take them of; nor does it know which
 * clusters are missing, and so it takes a minimum only (`#e12`).
 */
export function allowanceOf(
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
