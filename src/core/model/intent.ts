import type { FleetSpec, MemberCluster, PriceList, Tenant } from "./fleet.ts";
import type { ObjectId, ObjectKey, ScopeTable, SourcedManifest } from "./manifest.ts";
import type { Override } from "./override.ts";
import type { DisruptionBudget, Eviction, Placement } from "./placement.ts";
import type { ApprovalFile, TrustFile } from "./trust.ts";
import type { UpdateRun, UpdateStrategy } from "./update-run.ts";
import type { BlobId, ClusterName, Commit, Digest, PlacementKey, RunKey, StrategyKey } from "./value.ts";

/**
 * Everything one commit asks for, valid by construction; maps are ordered by key. An object whose document cannot be
 * used now is kept as it was last accepted; `holds` names it.
 */
export interface Intent {
  readonly commit: Commit;
  readonly fleet: FleetSpec;
  readonly clusters: ReadonlyMap<ClusterName, MemberCluster>;
  /** The one that `fleet.yaml` names; null without one. */
  readonly prices: PriceList | null;
  readonly placements: ReadonlyMap<PlacementKey, Placement>;
  readonly overrides: readonly Override[];
  readonly runs: ReadonlyMap<RunKey, UpdateRun>;
  readonly strategies: ReadonlyMap<StrategyKey, UpdateStrategy>;
  /** By name. */
  readonly evictions: ReadonlyMap<string, Eviction>;
  readonly budgets: ReadonlyMap<PlacementKey, DisruptionBudget>;
  /** Answers to approval requests: files under `approvals/`, by path. */
  readonly approvals: readonly ApprovalFile[];
  /** There is a `trust/` folder. */
  readonly hasTrust: boolean;
  /** `trust/root.yaml`, whether or not it may come into force; null without one. */
  readonly trust: TrustFile | null;
  /** Every plain Kubernetes object, for placements to select. */
  readonly objects: ReadonlyMap<ObjectKey, SourcedManifest>;
  readonly scopes: ScopeTable;
  /** Digests that files under `approvals/deletions/` confirm (`plan/README.md#d-3`). */
  readonly confirmations: ReadonlySet<Digest>;
  /** What the files of tenants' folders were held against (`intent/README.md#tenants`). */
  readonly tenants: readonly Tenant[];
  readonly holds: readonly Hold[];
  /** Why a held object's absence is no deletion, in words; not of those with an unusable document of their own. */
  readonly suspects: ReadonlyMap<ObjectKey, string>;
  /** Objects with an unusable document and no version in force. Their absence above is not a deletion. */
  readonly unusable: ReadonlySet<ObjectKey>;
  /** Errors, warnings and notes of all files, ordered by path, line, column, code. */
  readonly problems: readonly Problem[];
  /** The files this intent was read from: what the state branch keeps under `accepted/`. Path → blob. */
  readonly files: ReadonlyMap<string, BlobId>;
}

/** An object kept in force at an earlier version because its document, or one that might be it, cannot be read now. */
export interface Hold {
  readonly id: ObjectId;
  /** The version in force: the source commit in which it was last accepted, its file and document. */
  readonly commit: Commit;
  readonly path: string;
  readonly document: number;
  readonly blob: BlobId;
}

/** What is wrong in a file of the repository, where, and what to do. A value, never thrown. */
export interface Problem {
  /** Stable and unique, `FLTnnnn`; the list is `src/core/yaml/problems.ts`. */
  readonly code: string;
  /** Errors discard the document; warnings and notes do not. */
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
