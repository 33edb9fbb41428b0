import type { Binding } from "../model/binding.ts";
import type { CountOrPercent, PlacementPolicy, RollingUpdate } from "../model/placement.ts";
import type { ClusterName } from "../model/value.ts";
import type { Readiness } from "./readiness.ts";

/** The numbers behind every yes and no of a rollout (`rollout/README.md#numbers`, `#b-11`). */
export interface Budget {
  /** How many clusters the policy asks for, whether or not so many exist. */
  readonly wanted: number;
  /** Scheduled or Bound. */
  readonly targeted: number;
  /** Ready, wanted or not, and not on the way out. */
  readonly ready: number;
  readonly readyTargeted: number;
  /** Carrying the placement, or perhaps doing so: everything Bound or Unscheduled that has not failed. */
  readonly holding: number;
  readonly maxUnavailable: Scaled;
  /** The same of the clusters that an update can touch: fewer than wanted, when the fleet is smaller than that. */
  readonly maxUnavailableOfTargeted: Scaled;
  readonly maxSurge: Scaled;
  /** How many more may start now; may be negative. */
  readonly removals: number;
  readonly updates: number;
  readonly additions: number;
}

/** A bound as written, of how many, and what it comes to. */
interface Scaled {
  readonly bound: CountOrPercent;
  readonly of: number;
  readonly count: number;
}

/** Counts the clusters and takes the bounds of them. Removals, updates and additions are bounded independently. */
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

/** Why no more clusters are updated now. */
export const explainUpdates = (
  { readyTargeted, updates, maxUnavailableOfTargeted: bound }: Budget,
  readyTaken: number,
): string =>
  `ready ${readyTargeted}, needed ${needed(bound)} (${bound.of} targeted - maxUnavailable ${boundText(bound)}), ` +
  `budget ${updates}, starting now ${readyTaken}`;

/** Why no more clusters get the placement now. */
export const explainAdditions = ({ holding, wanted, maxSurge, additions }: Budget): string =>
  `holding ${holding}, at most ${wanted + maxSurge.count} (${wanted} wanted + maxSurge ${boundText(maxSurge)}), ` +
  `budget ${additions}`;

/** Why no more clusters lose the placement now. */
export const explainRemovals = ({ ready, wanted, removals, maxUnavailable: bound }: Budget): string =>
  `ready ${ready}, needed ${needed(bound)} (${wanted} wanted - maxUnavailable ${boundText(bound)}), budget ${removals}`;

const needed = ({ of, count }: Scaled): number => Math.max(0, of - count);

const boundText = ({ bound, count }: Scaled): string =>
  "count" in bound ? String(count) : `${bound.percent}% = ${count}`;

/** A binding as rollout sees it. ReportDiff is not known here: a binding either carries its objects or does not. */
export interface RolloutBinding {
  readonly cluster: ClusterName;
  readonly state: Binding["state"];
  /**
   * Removal was admitted and is not confirmed. Together with the state Scheduled: picked again, and waiting until what
   * was there before is gone (`rollout/README.md#b-10`).
   */
  readonly removing: boolean;
  /**
   * Nothing is to be rolled out to it today: the target is the latest version already (resources, overrides and apply
   * strategy, `rollout/README.md#b-9`), or that version cannot be rendered for it. Such a cluster takes no other's
   * turn.
   */
  readonly upToDate: boolean;
  readonly readiness: Readiness;
}

/** The policy wants the placement there. */
export const isTargeted = ({ state }: RolloutBinding): boolean => state !== "Unscheduled";

/** Something may be there. A Scheduled cluster carries nothing, unless it was picked again while being removed. */
export const isHolding = ({ state, removing }: RolloutBinding): boolean => state !== "Scheduled" || removing;

/** It is there, works, and is not on the way out. */
export const isReady = (it: RolloutBinding): boolean =>
  isHolding(it) && !it.removing && it.readiness.kind === "available";
