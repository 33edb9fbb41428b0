import type { Source } from "./manifest.ts";
import type { CountOrPercent } from "./placement.ts";
import type { Scope } from "./scope.ts";
import type { LabelSelector } from "./selector.ts";
import type { DurationMs, PlacementKey, RunKey, StrategyKey } from "./value.ts";

/** The key of an update run or of a strategy; a null namespace means the cluster-scoped kind. */
export const runKey = (namespace: string | null, name: string): RunKey => scoped(namespace, name) as RunKey;
export const strategyKey = (namespace: string | null, name: string): StrategyKey =>
  scoped(namespace, name) as StrategyKey;

const scoped = (namespace: string | null, name: string): string => (namespace === null ? name : `${namespace}/${name}`);

/**
 * A ClusterStagedUpdateRun or a StagedUpdateRun: one staged rollout of one version of an External placement
 * (`rollout/README.md#staged-runs`). The placement and the strategy are of the run's own scope, and of its own
 * namespace.
 */
export interface UpdateRun {
  readonly key: RunKey;
  readonly scope: Scope;
  readonly namespace: string | null;
  readonly name: string;
  readonly spec: UpdateRunSpec;
  readonly source: Source;
}

/** What a run asks for. Everything but `state` is immutable. */
export interface UpdateRunSpec {
  readonly placement: PlacementKey;
  /**
   * The text as written, compared with an index as text: `01` names nothing (`rollout/README.md#u19`). Null: what is
   * selected now.
   */
  readonly resourceIndex: string | null;
  readonly strategy: StrategyKey;
  /** `Initialize` only computes the plan. */
  readonly state: "Initialize" | "Run" | "Stop";
}

/** A ClusterStagedUpdateStrategy or a StagedUpdateStrategy (`rollout/README.md#staged-runs`). */
export interface UpdateStrategy {
  readonly key: StrategyKey;
  readonly scope: Scope;
  readonly namespace: string | null;
  readonly name: string;
  readonly stages: readonly Stage[];
  readonly source: Source;
}

/** One stage of a strategy. Names are unique (`rollout/README.md#b-19`). */
export interface Stage {
  readonly name: string;
  /** Over the labels of members. Null selects nothing, an empty one everything. */
  readonly selector: LabelSelector | null;
  /** The label whose integer orders the stage; ties, and null, by cluster name. */
  readonly sortingLabelKey: string | null;
  /** A percentage rounds down, and is at least 1. */
  readonly maxConcurrency: CountOrPercent;
  /** At most one, an Approval. */
  readonly before: readonly StageTask[];
  /** At most one of each kind. All of them run at once, from the end of the last cluster on. */
  readonly after: readonly StageTask[];
  /** How many clusters may fail before nothing new starts; a percentage rounds down (`rollout/README.md#b-13`). */
  readonly maxFailures: CountOrPercent;
}

/** What a stage waits for. */
export type StageTask = { readonly kind: "Approval" } | { readonly kind: "TimedWait"; readonly wait: DurationMs };
