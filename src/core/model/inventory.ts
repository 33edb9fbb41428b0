import type { OthersFound } from "./deletion.ts";
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
 * What a member remembers of us: ConfigMaps in `flotilla-system` (`apply/README.md#inventory-and-claims`).
 *
 * Invariant: it is a superset of what is live. An entry is written before its object and goes after it.
 */
export interface Inventory {
  /** Empty in a member that we never wrote to. */
  readonly fleet: string;
  readonly epoch: Epoch;
  readonly placements: ReadonlyMap<PlacementKey, InventoryPlacement>;
}

/**
 * Removed placements that a member remembers: a reconciler that froze for longer than it takes to remove so many is not
 * fenced off.
 */
export const maxTombstones = 200;

/**
 * A placement that was removed stays as a tombstone without entries: its sequence still fences. The newest
 * {@link maxTombstones} are kept.
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
  /** It existed before we came: released, not deleted, when its placement goes. */
  readonly adopted: boolean;
  /** Of the claim under which the object was last written; without a uid, of the first one that may have written it. */
  readonly sequence: Sequence;
  /** Of the live values at the paths that we own, as the apply's response showed them; null until applied. */
  readonly fingerprint: Digest | null;
  readonly outcome: Outcome;
  /** Absent where nothing had to be put right lately. */
  readonly repairs?: Repairs;
}

/** How often we put right what others had changed. Kept in the member, where every repair is written anyway. */
export interface Repairs {
  readonly count: number;
  /** When the first and the last of them happened. */
  readonly since: Instant;
  readonly last: Instant;
}

/** How the last write of one object ended. Written only when it changes. */
export type Outcome =
  /** Claimed; not known to have been carried out. */
  | { readonly kind: "claimed" }
  | { readonly kind: "applied" }
  | {
      readonly kind: "failed";
      readonly code: FailureCode;
      /** At most 512 characters; values of Secrets never occur. */
      readonly message: string;
      readonly attempts: number;
      /** Not tried again before, by a daemon; a single run tries at once. */
      readonly retryAt: Instant;
    }
  /** Should go, and cannot yet: a namespace that holds objects of others, a finalizer. */
  | {
      readonly kind: "lingering";
      readonly code: FailureCode;
      readonly message: string;
      /** With `NamespaceNotEmpty`: what it holds of others. An earlier release did not write it: then it is looked into again. */
      readonly others?: OthersFound;
    };

/** A failed write is tried again after at most so long. */
export const maxRetryDelay: DurationMs = minutes(15);

/**
 * Whether the next try of a failed write is still to be waited for. A moment further away than any pause was set by a clock
 * that was ahead, and is not waited for.
 */
export const isAwaited = (retryAt: Instant, now: Instant): boolean =>
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

/** What a member that we never wrote to remembers of us. */
export const emptyInventory: Inventory = { fleet: "", epoch: 0 as Epoch, placements: new Map() };
