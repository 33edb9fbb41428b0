import type { Condition } from "./condition.ts";
import type { Scope, SourcePosition } from "./manifest.ts";
import type { ApplyStrategy, CountOrPercent } from "./placement.ts";
import type { StageTask, TaskRecords, TaskWait } from "./stage-task.ts";
import {
  type ClusterName,
  type Digest,
  type Instant,
  type LabelSelector,
  type Labels,
  type PlacementKey,
  type RunKey,
  type Sequence,
  type StrategyKey,
  scopedKey,
} from "./value.ts";

/** The key of an update run or of a strategy; a null namespace means the cluster-scoped kind. */
export const runKey = (namespace: string | null, name: string): RunKey => scopedKey(namespace, name) as RunKey;
export const strategyKey = (namespace: string | null, name: string): StrategyKey =>
  scopedKey(namespace, name) as StrategyKey;

/**
 * One staged rollout of one version of an External placement (`rollout/README.md#staged-runs`). The placement and the
 * strategy are of the run's own scope and namespace.
 */
export interface UpdateRun {
  readonly key: RunKey;
  readonly scope: Scope;
  readonly namespace: string | null;
  readonly name: string;
  readonly spec: UpdateRunSpec;
  readonly source: SourcePosition;
}

/** The spec of a run. Everything but `state` is immutable. */
export interface UpdateRunSpec {
  readonly placement: PlacementKey;
  /** As written, compared as text: `01` names nothing (`rollout/README.md#u19`). Null: what is selected now. */
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
  readonly source: SourcePosition;
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
  /** At most one of each type; not every type can stand here. */
  readonly before: readonly StageTask[];
  /** At most one of each type. All start when the last cluster has ended. */
  readonly after: readonly StageTask[];
  /** How many clusters may fail before nothing new starts; a percentage rounds down (`rollout/README.md#b-13`). */
  readonly maxFailures: CountOrPercent;
}

export interface RunRecord {
  readonly key: RunKey;
  readonly scope: Scope;
  readonly namespace: string | null;
  readonly name: string;
  /** A recreated run has another one: no approval carries over. */
  readonly uid: string;
  /** Counts changes of the spec. */
  readonly generation: number;
  /** As last accepted. */
  readonly spec: UpdateRunSpec;
  /** When it was first recorded: the run with the higher one is newer (`rollout/README.md#b-4`). */
  readonly since: Sequence;
  /** Frozen when the run is initialized; null before, and for good when that fails. */
  readonly plan: RunPlan | null;
  /** In the order of the plan's stages; empty without a plan. */
  readonly stages: readonly StageProgress[];
  /** The clusters that lose the placement when all stages are done. */
  readonly deletion: DeletionProgress;
  /** How it ended; null before. Final (`rollout/README.md#what-ends-a-run`). */
  readonly end: RunEnd | null;
  /** Initialized, Progressing, Succeeded. */
  readonly conditions: readonly Condition[];
}

export type RunEnd =
  | { readonly kind: "succeeded"; readonly at: Instant }
  /** It was stopped, and newer runs took over all clusters that it had left; `by` is one of those runs. */
  | { readonly kind: "superseded"; readonly at: Instant; readonly by: RunKey }
  /** Without a plan, it never started. */
  | {
      readonly kind: "failed";
      readonly at: Instant;
      readonly code: RunFailure;
      readonly message: string;
    };

/**
 * Why a run cannot start or go on: stable codes for KubeFleet's messages (`rollout/README.md#the-plan-of-a-run`), of
 * which only the policy, its count and the apply strategy are checked again later (`#b-22`).
 */
export type RunFailure =
  | "PlacementNotFound"
  | "NotExternal"
  | "NotFullyScheduled"
  | "NothingToDo"
  | "StrategyNotFound"
  | "ClusterInTwoStages"
  | "BadSortLabel"
  | "ClusterInNoStage"
  | "SnapshotNotFound"
  | "BadSelectors"
  | "OverrideError"
  /** Another run of the placement is under way with other stages (`rollout/README.md#b-4`). */
  | "StrategiesDiffer"
  | "PolicyChanged"
  | "CountChanged"
  | "ApplyStrategyChanged"
  | "Rejected";

/** What a run will do, written once: `runs/<name>/plan.yaml` (`rollout/README.md#b-22`). */
export interface RunPlan {
  /** SHA-256 over everything below, in order: approvals are bound to it. */
  readonly root: Digest;
  readonly policySnapshot: number;
  readonly policyHash: Digest;
  /** How many clusters the policy asked for; for PickAll how many were picked. */
  readonly clusterCount: number;
  readonly resourceIndex: number;
  readonly applyStrategy: ApplyStrategy;
  /** Whether adopted objects that it removes are deleted, as the placement said; otherwise they are released. */
  readonly deleteAdopted: boolean;
  readonly stages: readonly PlannedStage[];
  /** Clusters that were no longer picked, by name. */
  readonly deletions: readonly ClusterName[];
}

/** A stage as the strategy had it, with its clusters in the order in which they start. */
export interface PlannedStage extends Stage {
  readonly clusters: readonly PlannedCluster[];
}

/** The future target of a cluster: everything that determines its content. */
export interface PlannedCluster {
  readonly cluster: ClusterName;
  readonly clusterOverrides: readonly string[];
  readonly resourceOverrides: readonly string[];
  readonly labels: Labels;
  /** Of the rendered manifests, in order. */
  readonly digest: Digest;
}

/** The progress of a stage. Times are absolute: a stop does not suspend them (`rollout/README.md#b-14`, `#b-15`). */
export interface StageProgress {
  /** The first cluster started, or the stage was skipped. */
  readonly startedAt: Instant | null;
  /** Its clusters had the version of the plan already: no approval is requested, and no wait runs. */
  readonly isPassedOver: boolean;
  /** Only clusters that have started or ended, in the order of the plan. */
  readonly clusters: ReadonlyMap<ClusterName, ClusterProgress>;
  /** All clusters ended: waits run from here. */
  readonly finishedAt: Instant | null;
  readonly before: TaskRecords;
  readonly after: TaskRecords;
  readonly endedAt: Instant | null;
  /** Progressing, Succeeded. */
  readonly conditions: readonly Condition[];
}

export interface ClusterProgress {
  /** Null when it never started. */
  readonly startedAt: Instant | null;
  /** Of the target that the run gave it; null for the deletion stage, and before it is started. */
  readonly sequence: Sequence | null;
  readonly end: ClusterEnd | null;
}

/** How a cluster ended in a run. A failed cluster has not ended: it may recover (`rollout/README.md#b-1`). */
export type ClusterEnd =
  | { readonly kind: "succeeded"; readonly at: Instant }
  /** It left the fleet or the placement (`rollout/README.md#b-22`). */
  | { readonly kind: "skipped"; readonly at: Instant; readonly because: string }
  /** A newer run moved it (`rollout/README.md#b-4`). */
  | { readonly kind: "superseded"; readonly at: Instant; readonly by: RunKey };

export interface DeletionProgress {
  readonly startedAt: Instant | null;
  readonly clusters: ReadonlyMap<ClusterName, ClusterProgress>;
  readonly endedAt: Instant | null;
  readonly conditions: readonly Condition[];
}

/** Why a run is not further. */
export type RunWait =
  /** Something that its plan needs does not exist yet (`rollout/README.md#b-21`). */
  | { readonly kind: "planning"; readonly message: string }
  | TaskWait
  /** Clusters under way, and those that wait for a slot. */
  | {
      readonly kind: "clusters";
      readonly stage: string;
      readonly active: readonly ClusterName[];
      readonly waiting: readonly ClusterName[];
      readonly maxConcurrency: number;
    }
  /** More clusters failed or were taken over than the stage tolerates (`rollout/README.md#b-4`, `#b-13`). */
  | {
      readonly kind: "failures";
      readonly stage: string;
      readonly failed: readonly ClusterName[];
      readonly allowed: number;
    }
  /** Under way for more than five minutes: only reported (`rollout/README.md#b-1`). */
  | { readonly kind: "stuck"; readonly stage: string; readonly clusters: readonly ClusterName[] }
  /** Nothing new starts in spite of an approval: a key that gave it is compromised. */
  | { readonly kind: "held"; readonly because: string }
  | { readonly kind: "stopped"; readonly stage: string | null; readonly active: readonly ClusterName[] }
  /** Picked after the plan was made: not part of this run (`rollout/README.md#b-22`). */
  | { readonly kind: "joined"; readonly clusters: readonly ClusterName[] }
  | {
      readonly kind: "superseded";
      readonly stage: string;
      readonly clusters: readonly ClusterName[];
      readonly by: RunKey;
    };
