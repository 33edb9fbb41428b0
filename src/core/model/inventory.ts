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
 * What a member records about us, in ConfigMaps of `flotilla-system` (`apply/README.md#inventory-and-claims`).
 *
 * Invariant: it is a superset of what is live. An entry is written before its object, and removed after it.
 */
export interface Inventory {
  /** Empty in a member that was never written to. */
  readonly fleet: string;
  readonly epoch: Epoch;
  readonly placements: ReadonlyMap<PlacementKey, InventoryPlacement>;
}

/**
 * How many removed placements a member records. A reconciler that was suspended for more removals than that is not
 * fenced off.
 */
export const maxTombstones = 200;

/**
 * A removed placement stays as a tombstone without entries, so that its sequence still fences. The newest {@link
 * maxTombstones} are kept.
 */
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
      /**
       * With `NamespaceNotEmpty`: the objects of others in it. Absent in entries of earlier releases, which are then
       * checked again.
       */
      readonly others?: ForeignObjects;
    };

/** The longest delay before a failed write is retried. */
export const maxRetryDelay: DurationMs = minutes(15);

/**
 * Whether the retry of a failed write is still to be waited for. A time beyond the longest delay comes from a clock
 * that was ahead, and does not count.
 */
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
