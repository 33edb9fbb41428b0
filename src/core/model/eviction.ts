import type { Condition } from "./condition.ts";
import type { Source } from "./manifest.ts";
import type { CountOrPercent } from "./placement.ts";
import type { ClusterName, PlacementKey } from "./value.ts";

/** A ClusterResourcePlacementEviction: take one placement off one cluster, once (`rollout/README.md#evictions`). */
export interface Eviction {
  readonly name: string;
  readonly placement: PlacementKey;
  readonly cluster: ClusterName;
  readonly source: Source;
}

/**
 * A ClusterResourcePlacementDisruptionBudget: how far evictions may go. One that names no bound is refused
 * (`rollout/README.md#b-12`).
 */
export interface DisruptionBudget {
  /** The one placement that it protects: of the same name. */
  readonly placement: PlacementKey;
  readonly bound: "maxUnavailable" | "minAvailable";
  readonly limit: CountOrPercent;
  readonly source: Source;
}

/** What became of an eviction. Judged once: a record is terminal (`rollout/README.md#evictions`). */
export interface EvictionRecord {
  readonly name: string;
  readonly uid: string;
  readonly placement: PlacementKey;
  readonly cluster: ClusterName;
  /** Valid, and Executed where it was valid. */
  readonly conditions: readonly Condition[];
}
