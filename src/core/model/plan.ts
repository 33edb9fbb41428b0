import type { ForeignObject } from "./deletion.ts";
import type { History } from "./history.ts";
import type { Intent } from "./intent.ts";
import type { Ledger } from "./ledger.ts";
import type { Manifest, ObjectId, ObjectKey, VersionedId } from "./manifest.ts";
import type { Observation } from "./observation.ts";
import type { ApplyStrategy } from "./placement.ts";
import type { Violation } from "./plan-defect.ts";
import type { Reason } from "./reason.ts";
import type { ClusterName, Digest, DurationMs, Epoch, Instant, PlacementKey, Sequence } from "./value.ts";

/** The whole input of a decision. If it is not in here, it cannot influence what we do. */
export interface World {
  readonly intent: Intent;
  readonly ledger: Ledger;
  /** Members that were asked. One that is missing here was not asked: recorded facts stand, no deadline passes. */
  readonly observed: ReadonlyMap<ClusterName, Observation>;
  /** Placements whose first plan of this pass failed its check: they are to stay as recorded (`plan/README.md#d-10`). */
  readonly unsound: ReadonlyMap<PlacementKey, readonly Violation[]>;
  /** Manifests that snapshots of earlier commits name, by digest; those of this commit stand in the intent. */
  readonly archive: ReadonlyMap<Digest, Manifest>;
  readonly history: History;
  /** The SHA-256 of the trust file that the operator vouches for, out of band; null without one. */
  readonly trustAnchor: Digest | null;
  readonly now: Instant;
  /** 64 hexadecimal digits that nobody could know before: for nonces, and nothing else. */
  readonly entropy: string;
  /** By how much our clock is ahead of the members', the median of at least three; null when fewer tell the time. */
  readonly clockOffset: DurationMs | null;
  /** A single run tries failed objects at once; a daemon waits for their `retryAt`. */
  readonly patience: "none" | "retryAt";
}

/** The whole output of a decision. */
export interface Plan {
  /** The world cannot be acted upon: nothing is written, nothing is touched. Null when all is well. */
  readonly refusal: Refusal | null;
  /** Commit this first. If the push is refused, somebody else decided: drop the plan and look again. */
  readonly ledger: Ledger;
  /** Whether `ledger` holds a new decision (true), or only news about members that decides nothing (false). */
  readonly decides: boolean;
  /** Then do these: all clusters at once, each in its order. Every one is idempotent. Ordered by cluster. */
  readonly actions: readonly ClusterActions[];
  /** The targets that this plan sets, rendered: what the state branch shows under `rendered/`. */
  readonly rendered: readonly RenderedTarget[];
  /** The earliest moment at which the same world would give another plan; null when there is none. */
  readonly wakeAt: Instant | null;
  readonly reasons: readonly Reason[];
}

/** What one member is to carry of one placement. */
export interface RenderedTarget {
  readonly cluster: ClusterName;
  readonly placement: PlacementKey;
  /** The same array for every cluster that gets the same content. */
  readonly manifests: readonly RenderedManifest[];
}

/** Why nothing at all may be done (`reconcile/README.md#branches-that-are-not-as-they-were`). */
export interface Refusal {
  readonly code: "StateLost" | "StateRewound";
  readonly message: string;
  readonly fix: string;
}

/** Everything one member is to do in this pass. */
export interface ClusterActions {
  readonly cluster: ClusterName;
  /** The member must still be this one: UID of its kube-system namespace. */
  readonly clusterUid: string;
  readonly fleet: string;
  readonly epoch: Epoch;
  readonly placements: readonly PlacementActions[];
  /**
   * Of what is applied here, which placements are to carry it here or still have to let go of it, where it is not only the
   * one that applies it. What bears the mark of any other one was left behind (`apply/README.md#left-behind`).
   */
  readonly holders: ReadonlyMap<ObjectKey, readonly PlacementKey[]>;
}

/** What one placement changes on one member. A placement that changes nothing there has no entry. */
export interface PlacementActions {
  readonly placement: PlacementKey;
  /** The binding's target sequence, or that of the decision to remove; the inventory refuses an older one. */
  readonly sequence: Sequence;
  /** Of the whole target; null when nothing of the placement is to stay. */
  readonly digest: Digest | null;
  readonly applyStrategy: ApplyStrategy;
  /** Objects to write, in the order in which they were selected. */
  readonly apply: readonly RenderedManifest[];
  /** Objects that go, or that we let go. */
  readonly remove: readonly ObjectRemoval[];
  /** Entries to drop from the inventory: their objects are known to be gone, or are nobody's business any more. */
  readonly forget: readonly ObjectKey[];
  /**
   * All objects that leave. Where the inventory turns out not to know the placement, since somebody deleted it, those
   * that bear our mark are listed again as adopted, and the others are gone (`apply/README.md#f-43`).
   */
  readonly recover: readonly ObjectId[];
  /**
   * Whether the inventory listed the placement, so that `apply` may leave out what is as it is to be. Where somebody deletes
   * that part before the claim, the claim may not vouch for what it does not list (`apply/README.md#f-43`).
   */
  readonly isListed?: boolean;
  /**
   * Objects of `apply` that other placements hand over; absent where there are none. Where several of them list one, it is
   * taken from whose mark it has, and otherwise from the first.
   */
  readonly handOvers?: readonly ObjectHandOver[];
}

/**
 * One object that a placement takes over from another one as it is: its uid stays, our mark and the inventory's entry
 * become the new owner's, and whether it was adopted goes along (`plan/README.md#d-9`).
 */
export interface ObjectHandOver {
  readonly key: ObjectKey;
  readonly from: PlacementKey;
  /** The last decision of `from` about this member: what a later one wrote is not taken. */
  readonly upTo: Sequence;
}

/** One object as one or more members are to carry it. */
export interface RenderedManifest {
  readonly id: VersionedId;
  readonly key: ObjectKey;
  readonly manifest: Manifest;
  readonly digest: Digest;
}

/** One object that leaves a member. */
export interface ObjectRemoval {
  readonly id: VersionedId;
  readonly key: ObjectKey;
  /** Deleted only while the live object still has this UID; null: the claim's is looked up first, one pass before. */
  readonly uid: string | null;
  /** `delete` the object, or `release` it: take our mark and fields' ownership off and leave it. */
  readonly how: "delete" | "release";
  /** A Namespace or a definition goes although it holds these of others, and nothing else of theirs: somebody confirmed just that. */
  readonly cascadesTo: readonly ForeignObject[];
}
