import type { ForeignObjects } from "./deletion.ts";
import type { ObjectKey } from "./manifest.ts";
import {
  type Digest,
  type DurationMs,
  type Epoch,
  type Instant,
  later,
  minutes,
  type PlacementKey,
  type Sequence,
} from "./value.ts";

/**
 * What a member records about us, in ConfigMaps (`apply/README.md#inventory-and-claims`): a superset of what is live,
 * since an entry is written before its object, and removed after it.
 */
export interface Inventory {
  /** Empty in a member that was never written to. */
  readonly fleet: string;
  readonly epoch: Epoch;
  readonly placements: ReadonlyMap<PlacementKey, InventoryPlacement>;
}

/** Removed placements that a member records: who was suspended for more removals is not fenced off. */
export const maxTombstones = 200;

/** A removed placement stays as a tombstone whose sequence fences; the newest {@link maxTombstones} are kept. */
export interface InventoryPlacement {
  /** The sequence of the binding's target that was last claimed here. An action with an older one is refused. */
  readonly sequence: Sequence;
  /** Digest of that target's manifests. */
  readonly digest: Digest;
  readonly entries: ReadonlyMap<ObjectKey, InventoryEntry>;
}

/** One object that we wrote to the member, or are about to write. */
export interface InventoryEntry {
  /** API version in which the object was last written. */
  readonly version: string;
  /** Digest of the manifest that was last applied, or is about to be. */
  readonly digest: Digest;
  /** Null between claim and result: the apply may or may not have happened. */
  readonly uid: string | null;
  /** It existed before us: released, not deleted, when its placement goes. */
  readonly adopted: boolean;
  /** The claim under which the object was last written; without a uid, the first that may have written it. */
  readonly sequence: Sequence;
  /** Of the live values at the paths that we own, from the apply's response; null until applied. */
  readonly fingerprint: Digest | null;
  readonly outcome: Outcome;
  /** Absent without recent repairs. */
  readonly repairs?: Repairs;
}

/** How often we repaired what others had changed. Kept in the member, where every repair is written anyway. */
export interface Repairs {
  readonly count: number;
  /** When the first and the last of them happened. */
  readonly since: Instant;
  readonly last: Instant;
}

/** The result of the last write of an object. Written only when it changes. */
export type Outcome =
  /** Claimed; the result is not known yet. */
  | { readonly kind: "claimed" }
  | { readonly kind: "applied" }
  | {
      readonly kind: "failed";
      readonly code: FailureCode;
      /** At most 512 characters; values of Secrets never occur. */
      readonly message: string;
      readonly attempts: number;
      /** A daemon retries it then; a single run retries at once. */
      readonly retryAt: Instant;
    }
  /** To be deleted, but blocked: by objects of others in a namespace, by a finalizer. */
  | {
      readonly kind: "lingering";
      readonly code: FailureCode;
      readonly message: string;
      /** With `NamespaceNotEmpty`: others' objects in it. Absent in entries of earlier releases: checked again. */
      readonly others?: ForeignObjects;
    };

/** The longest delay before a failed write is retried. */
export const maxRetryDelay: DurationMs = minutes(15);

/** Whether a failed write's retry is still to come; a time beyond the longest delay is of a clock that was ahead. */
export const isRetryPending = (retryAt: Instant, now: Instant): boolean =>
  now < retryAt && retryAt <= later(now, maxRetryDelay);

/** KubeFleet's result types, and ours for what cannot be deleted (`apply/README.md#outcomes`). */
export type FailureCode =
  | "FailedToFindObjInMemberCluster"
  | "FailedToTakeOver"
  | "NotTakenOver"
  | "ManifestApplyFailed"
  | "NamespaceMissing"
  | "KindUnknown"
  | "ScopeDiffers"
  | "NamespaceNotEmpty"
  | "Terminating"
  | "DeletionRefused"
  | "IdentityChanged";

export const emptyInventory: Inventory = { fleet: "", epoch: 0 as Epoch, placements: new Map() };
