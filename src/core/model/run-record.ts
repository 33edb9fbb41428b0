import type { Condition } from "./condition.ts";
import type { ApplyStrategy } from "./placement.ts";
import type { Scope } from "./scope.ts";
import type { Request } from "./trust.ts";
import type { Stage, UpdateRunSpec } from "./update-run.ts";
import type { ClusterName, Digest, Instant, Labels, RunKey, Sequence } from "./value.ts";

/** Everything decided about one update run. */
export interface RunRecord {
  readonly key: RunKey;
  readonly scope: Scope;
  readonly namespace: string | null;
  readonly name: string;
  /** A run that is created again under its name has another one: no approval carries over. */
  readonly uid: string;
  /** Counts changes of the spec. */
  readonly generation: number;
  /** As last accepted. */
  readonly spec: UpdateRunSpec;
  /**
   * The sequence in which it was first recorded: of two runs, the one with the higher is newer
   * (`rollout/README.md#b-4`).
   */
  readonly since: Sequence;
  /** Frozen when the run is initialized; null before, and for good when that fails. */
  readonly plan: RunPlan | null;
  /** In the order of the plan's stages; empty without a plan. */
  readonly stages: readonly StageProgress[];
  /** The clusters that lose the placement when all stages are done. */
  readonly deletion: DeletionProgress;
  /** How it ended; null while it has not. Nothing leads back (`rollout/README.md#what-ends-a-run`). */
  readonly end: RunEnd | null;
  /** Initialized, Progressing, Succeeded. */
  readonly conditions: readonly Condition[];
}

/** How a run ended. */
export type RunEnd =
  | { readonly kind: "succeeded"; readonly at: Instant }
  /** It was stopped, and newer runs took over all clusters that it had left; `by` is one of those runs. */
  | { readonly kind: "superseded"; readonly at: Instant; readonly by: RunKey }
  /** Without a plan, it never began. */
  | {
      readonly kind: "failed";
      readonly at: Instant;
      readonly code: RunFailure;
      readonly message: string;
    };

/**
 * Why a run cannot begin or go on: stable codes for KubeFleet's messages (`rollout/README.md#the-plan-of-a-run`), of
 * which the policy, its count and the apply strategy alone are looked at again later (`#b-22`).
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
  /** SHA-256 over all below, in order: what is approved is this. */
  readonly root: Digest;
  readonly policySnapshot: number;
  readonly policyHash: Digest;
  /** How many clusters the policy asked for; for PickAll how many were picked. */
  readonly clusterCount: number;
  readonly resourceIndex: number;
  readonly applyStrategy: ApplyStrategy;
  /** What the placement said of objects that were there before us: whatever of them it drops is deleted, or else let go. */
  readonly deleteAdopted: boolean;
  readonly stages: readonly PlannedStage[];
  /** Clusters that were no longer picked, by name. */
  readonly deletions: readonly ClusterName[];
}

/** A stage as the strategy had it, with its clusters in the order in which they start. */
export interface PlannedStage extends Stage {
  readonly clusters: readonly PlannedCluster[];
}

/** Everything that determines what a cluster will carry: a target that is not admitted yet. */
export interface PlannedCluster {
  readonly cluster: ClusterName;
  readonly clusterOverrides: readonly string[];
  readonly resourceOverrides: readonly string[];
  readonly labels: Labels;
  /** Of the rendered manifests, in order. */
  readonly digest: Digest;
}

/** How far a stage is. All moments are absolute: a stop freezes none of them (`rollout/README.md#b-14`, `#b-15`). */
export interface StageProgress {
  /** The first cluster started, or the stage was skipped. */
  readonly startedAt: Instant | null;
  /** Its clusters carried the version of the plan when their turn came: nobody is asked, and no wait runs. */
  readonly isPassedOver: boolean;
  /** Its clusters, those that have begun or ended only, in the order of the plan. */
  readonly clusters: ReadonlyMap<ClusterName, ClusterProgress>;
  /** All clusters ended: waits run from here. */
  readonly finishedAt: Instant | null;
  readonly before: Gate | null;
  readonly after: Gate | null;
  readonly endedAt: Instant | null;
  /** Progressing, Succeeded. */
  readonly conditions: readonly Condition[];
}

/** How far one cluster is in a run. */
export interface ClusterProgress {
  /** Null when it never started. */
  readonly startedAt: Instant | null;
  /** The target that the run gave it; null for the deletion stage, and where nothing was started. */
  readonly sequence: Sequence | null;
  readonly end: ClusterEnd | null;
}

/** How a cluster ended in a run. A cluster that fails has not ended: it may recover (`rollout/README.md#b-1`). */
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

/**
 * One Approval task: asked for, and perhaps answered. Its request is `approvals/<run>-<before|after>-<stage>.yaml`; the
 * digest is over the fleet, the run's uid, the stage, before or after, and the plan's root.
 */
export type Gate = Request;
