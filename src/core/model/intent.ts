import type { FleetSpec, MemberCluster } from "./fleet.ts";
import type { ObjectId, ObjectKey, ScopeTable, SourcedManifest } from "./manifest.ts";
import type { Override } from "./override.ts";
import type { DisruptionBudget, Eviction, Placement } from "./placement.ts";
import type { ApprovalFile, TrustFile } from "./trust.ts";
import type { UpdateRun, UpdateStrategy } from "./update-run.ts";
import type { BlobId, ClusterName, Commit, Digest, PlacementKey, RunKey, StrategyKey } from "./value.ts";

/**
 * Everything one commit of the repository asks for: decoded, defaulted, cross-checked, valid by construction.
 *
 * An object whose document cannot be used this time stands here as it was last accepted; `holds` names it.
 * Maps iterate in the order of their keys.
 */
export interface Intent {
  readonly commit: Commit;
  readonly fleet: FleetSpec;
  readonly clusters: ReadonlyMap<ClusterName, MemberCluster>;
  readonly placements: ReadonlyMap<PlacementKey, Placement>;
  readonly overrides: readonly Override[];
  readonly runs: ReadonlyMap<RunKey, UpdateRun>;
  readonly strategies: ReadonlyMap<StrategyKey, UpdateStrategy>;
  /** By name. */
  readonly evictions: ReadonlyMap<string, Eviction>;
  readonly budgets: ReadonlyMap<PlacementKey, DisruptionBudget>;
  /** Answers to approval requests: files under `approvals/`, by path. */
  readonly approvals: readonly ApprovalFile[];
  /** There is a `trust/` folder: somebody set up who may approve. */
  readonly hasTrust: boolean;
  /** `trust/root.yaml`, whether or not it may come into force; null when there is none. */
  readonly trust: TrustFile | null;
  /** Every plain Kubernetes object: what placements select. */
  readonly objects: ReadonlyMap<ObjectKey, SourcedManifest>;
  readonly scopes: ScopeTable;
  /** Digests that files under `approvals/deletions/` confirm (`plan/README.md#d-3`). */
  readonly confirmations: ReadonlySet<Digest>;
  readonly holds: readonly Hold[];
  /**
   * Why the absence of a held object is no deletion, in words: which document might be it. One that has a document, which
   * cannot be used, is not in here.
   */
  readonly suspects: ReadonlyMap<ObjectKey, string>;
  /**
   * Objects that have a document which cannot be used, and no earlier version to keep in force: a stricter release may find
   * fault with what an earlier one accepted. Their absence from the maps above is no deletion.
   */
  readonly unusable: ReadonlySet<ObjectKey>;
  /** Errors, warnings and notes of all files, ordered by path, line, column, code. */
  readonly problems: readonly Problem[];
  /** The files this intent was read from: what the state branch keeps under `accepted/`. Path → blob. */
  readonly files: ReadonlyMap<string, BlobId>;
}

/** An object kept in force at an earlier version because its document, or one that might be it, cannot be read now. */
export interface Hold {
  readonly id: ObjectId;
  /** Where the version in force stands: the source commit in which it was last accepted, and the file and document there. */
  readonly commit: Commit;
  readonly path: string;
  readonly document: number;
  readonly blob: BlobId;
}

/** What is wrong in a file of the repository, where, and what to do. A value, never thrown. */
export interface Problem {
  /** Stable and unique, `FLTnnnn`; the list is `src/core/yaml/problems.ts`. */
  readonly code: string;
  /** Errors cost what the document defines; warnings and notes cost nothing. */
  readonly severity: "error" | "warning" | "note";
  readonly path: string;
  /** From 1; 0 when the whole file is meant. */
  readonly line: number;
  readonly column: number;
  /** What is wrong: lower-case start, no full stop, no secret, at most 1 KiB. */
  readonly message: string;
  /** What to do about it, as an order. */
  readonly fix: string;
}
