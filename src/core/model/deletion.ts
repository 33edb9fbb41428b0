import type { DeletionBounds } from "./fleet.ts";
import type { ObjectId } from "./manifest.ts";
import type { ClusterName, Commit, Digest, PlacementKey, Sequence } from "./value.ts";

/** One object of others: in a namespace that is to go, or of a kind whose definition is to go. */
export interface ForeignObject extends ObjectId {
  readonly uid: string;
}

/** More objects of others than these nobody can judge: they have to go first (`plan/README.md#d-3`). */
export const maxForeignObjects = 50;

/** What a member found of others in something that is to go, when it last looked. */
export interface ForeignObjects {
  readonly count: number;
  /** Ordered by key and uid: all of them, or the first {@link maxForeignObjects}. */
  readonly objects: readonly ForeignObject[];
}

/** What of others goes with one object, on one member, if somebody confirms it. */
export interface CascadedDeletion {
  readonly placement: PlacementKey;
  readonly cluster: ClusterName;
  /** The Namespace or CustomResourceDefinition that holds them. */
  readonly id: ObjectId;
  /** Ordered by key and uid. Nothing else may go along. */
  readonly objects: readonly ForeignObject[];
}

/** Under which decision a binding carried what a set of deletions names: what is placed again has another sequence. */
export interface DeletionBasis {
  readonly placement: PlacementKey;
  readonly cluster: ClusterName;
  /** UID of the binding. */
  readonly binding: string;
  /** Of its target; 0 without one. */
  readonly sequence: Sequence;
}

/**
 * What came of a confirmation. Each is judged once, in the pass that first reads its file, and never again: a file that
 * stays, or comes back, confirms nothing that is taken away later (`plan/README.md#d-3`).
 *
 * Kept while the file is there, and after that as long as the same digest could be asked for once more.
 */
export interface ConfirmationRecord {
  readonly digest: Digest;
  /** `used`: a set waited under the digest, and may go. `void`: none did. */
  readonly outcome: "used" | "void";
  /** The source commit under which it was judged. */
  readonly commit: Commit;
  /** One of those that the digest is over: it cannot be asked for again once this stands no more. Null of one that is void. */
  readonly basis: DeletionBasis | null;
}

/** What becomes of an object that nobody else wants on a cluster: it is deleted, or let go and left in place. */
export type Fate = "delete" | "release";

/**
 * An object that leaves a placement on a cluster, and what becomes of it: it is deleted, or let go and left in place, or
 * handed over to the placement that wants it there (`plan/README.md#d-11`).
 */
export type ObjectFate =
  | { readonly object: ObjectId; readonly fate: Fate }
  | { readonly object: ObjectId; readonly fate: "handOver"; readonly to: PlacementKey };

/** What a source commit may delete unasked, and what waits; anything else may go (`plan/README.md#d-3`, `#d-4`). */
export interface DeletionLedger {
  /** Null before the first commit was accepted. */
  readonly bounds: AcceptedBounds | null;
  /** The source commit whose deletions `permitted` counts. */
  readonly cause: Commit | null;
  /** Objects permitted so far under `cause`, by cluster. */
  readonly permitted: ReadonlyMap<ClusterName, number>;
  /** Sets that wait for a confirmation, or had to, in the order in which they arose. */
  readonly held: readonly HeldDeletion[];
  /** Confirmations that were judged, by digest. */
  readonly confirmations: ReadonlyMap<Digest, ConfirmationRecord>;
}

/** A bound that loosens counts from the next accepted commit, so that no commit permits itself what it deletes. */
export interface AcceptedBounds {
  /** What `fleet.yaml` says at the commit that was accepted last. */
  readonly declared: DeletionBounds;
  /** What counts for that commit: the stricter of what it says and what was said before. */
  readonly inForce: DeletionBounds;
}

/** Deletions that one source commit caused and that were too many, or too precious, to pass unasked. */
export interface HeldDeletion {
  /**
   * Why it waits: the commit takes away more than the bounds allow; or kinds that carry others' data with them, by an edit;
   * or namespaces that turned out to hold objects of others. `protected`: such a namespace in a protected place, where no
   * file confirms it, but an approval of the placement's change (`plan/README.md#d-3`).
   */
  readonly because: "bounds" | "kind" | "foreign" | "protected";
  readonly cause: Commit;
  /**
   * What a confirmation names (`plan/README.md#d-3`): over the objects with their clusters, why they wait, what of
   * others goes along, and the binding and the target's sequence of every placement and cluster, as all of that was
   * when the set arose. It stays while the set shrinks. No two sets ever have the same one.
   */
  readonly digest: Digest;
  /** A confirmation named the digest: what stands here may go. The set stays until all of it is gone. */
  readonly confirmed: boolean;
  /** Objects that the same clusters lose by the same placement, grouped. */
  readonly groups: readonly DeletionGroup[];
  /** Of a set that waits because of others' objects: which may go along, for everything in `groups`. Otherwise empty. */
  readonly others: readonly CascadedDeletion[];
}

/** Whether a set waits because of objects of others. */
export const takesOthersAlong = ({ because }: Pick<HeldDeletion, "because">): boolean =>
  because === "foreign" || because === "protected";

/** Every one of `objects` is to go from every one of `clusters`. */
export interface DeletionGroup {
  readonly placement: PlacementKey;
  readonly clusters: readonly ClusterName[];
  readonly objects: readonly ObjectId[];
}
