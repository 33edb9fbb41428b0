import type { Binding } from "../model/binding.ts";
import type { CountOrPercent, PlacementPolicy, RollingUpdate } from "../model/placement.ts";
import type { ClusterName } from "../model/value.ts";
import type { Readiness } from "./readiness.ts";

/** The numbers that a rolling update decides by (`rollout/README.md#numbers`, `#b-11`). */
export interface Budget {
  /** How many clusters the policy asks for, even if fewer exist. */
  readonly wanted: number;
  /** Scheduled or Bound. */
  readonly targeted: number;
  /** Ready and not being removed, whether or not the policy wants it there. */
  readonly ready: number;
  readonly readyTargeted: number;
  /** May carry the placement: everything Bound or Unscheduled that has not failed. */
  readonly holding: number;
  readonly maxUnavailable: Scaled;
  /** The same for the targeted clusters: fewer than wanted when the fleet is too small. */
  readonly maxUnavailableOfTargeted: Scaled;
  readonly maxSurge: Scaled;
  /** How many more may start now; can be negative. */
  readonly removals: number;
  readonly updates: number;
  readonly additions: number;
}

/** A limit as written, what its percentage is of, and the resulting number. */
interface Scaled {
  readonly bound: CountOrPercent;
  readonly of: number;
  readonly count: number;
}

/** Counts the clusters and resolves the limits. Removals, updates and additions are limited independently. */
export function budgetOf(
  policy: PlacementPolicy,
  rollingUpdate: RollingUpdate,
  bindings: readonly RolloutBinding[],
): Budget {
  const count = (holds: (it: RolloutBinding) => boolean): number => bindings.filter(holds).length;
  const targeted = count(isTargeted);
  const wanted = wantedBy(policy, targeted);
  const ready = count(isReady);
  const readyTargeted = count((it) => isTargeted(it) && isReady(it));
  const holding = count((it) => isHolding(it) && it.readiness.kind !== "failed");
  const maxUnavailable = scaled(rollingUpdate.maxUnavailable, wanted);
  const maxUnavailableOfTargeted = scaled(rollingUpdate.maxUnavailable, Math.min(wanted, targeted));
  const maxSurge = scaled(rollingUpdate.maxSurge, wanted);
  return {
    wanted,
    targeted,
    ready,
    readyTargeted,
    holding,
    maxUnavailable,
    maxUnavailableOfTargeted,
    maxSurge,
    removals: ready - (wanted - maxUnavailable.count),
    updates: readyTargeted - (maxUnavailableOfTargeted.of - maxUnavailableOfTargeted.count),
    additions: wanted + maxSurge.count - holding,
  };
}

function wantedBy(policy: PlacementPolicy, targeted: number): number {
  switch (policy.kind) {
    case "PickAll":
      return targeted;
    case "PickN":
      return policy.numberOfClusters;
    case "PickFixed":
      return policy.clusterNames.length;
  }
}

/** Percentages round up: small fleets keep moving (`rollout/README.md#numbers`, case `#r6`). */
const scaled = (bound: CountOrPercent, of: number): Scaled => ({
  bound,
  of,
  count: "count" in bound ? bound.count : Math.ceil((bound.percent * of) / 100),
});

/** Why no more clusters are updated now, in numbers. */
export const explainUpdates = (
  { readyTargeted, updates, maxUnavailableOfTargeted: bound }: Budget,
  readyTaken: number,
): string =>
  `ready ${readyTargeted}, needed ${needed(bound)} (${bound.of} targeted - maxUnavailable ${boundText(bound)}), ` +
  `budget ${updates}, starting now ${readyTaken}`;

/** Why no more clusters get the placement now, in numbers. */
export const explainAdditions = ({ holding, wanted, maxSurge, additions }: Budget): string =>
  `holding ${holding}, at most ${wanted + maxSurge.count} (${wanted} wanted + maxSurge ${boundText(maxSurge)}), ` +
  `budget ${additions}`;

/** Why no more clusters lose the placement now, in numbers. */
export const explainRemovals = ({ ready, wanted, removals, maxUnavailable: bound }: Budget): string =>
  `ready ${ready}, needed ${needed(bound)} (${wanted} wanted - maxUnavailable ${boundText(bound)}), budget ${removals}`;

const needed = ({ of, count }: Scaled): number => Math.max(0, of - count);

const boundText = ({ bound, count }: Scaled): string =>
  "count" in bound ? String(count) : `${bound.percent}% = ${count}`;

/** A binding as the rolling update sees it. With ReportDiff, too, a binding either carries its objects or does not. */
export interface RolloutBinding {
  readonly cluster: ClusterName;
  readonly state: Binding["state"];
  /**
   * Removal was admitted and is not confirmed. With the state Scheduled: picked again, and waiting until the earlier
   * objects are gone (`rollout/README.md#b-10`).
   */
  readonly removing: boolean;
  /**
   * Nothing is to be rolled out to it now: its target is the latest version (resources, overrides and apply strategy,
   * `rollout/README.md#b-9`), or that version cannot be rendered for it. Such a cluster blocks no other.
   */
  readonly upToDate: boolean;
  readonly readiness: Readiness;
}

/** The policy wants the placement there. */
export const isTargeted = ({ state }: RolloutBinding): boolean => state !== "Unscheduled";

/** It may carry objects. A Scheduled cluster does only if it was picked again while being removed. */
export const isHolding = ({ state, removing }: RolloutBinding): boolean => state !== "Scheduled" || removing;

/** It carries the placement, is available, and is not being removed. */
export const isReady = (it: RolloutBinding): boolean =>
  isHolding(it) && !it.removing && it.readiness.kind === "available";
