import type { ObjectId } from "./manifest.ts";
import type { ClusterName, Commit, Digest, PlacementKey, Sequence } from "./value.ts";

/** One object of others: in a namespace that is to go, or of a kind whose definition is to go. */
export interface OtherObject extends ObjectId {
  readonly uid: string;
}

/**
 * Of more objects of others than these, nobody can judge: what holds them has to be emptied first
 * (`plan/README.md#d-3`).
 */
export const mostOthers = 50;

/** What a member found of others in something that is to go, when it last looked. */
export interface OthersFound {
  /** How many there are. */
  readonly count: number;
  /** Ordered by key and uid: all of them, or the first {@link mostOthers}. */
  readonly objects: readonly OtherObject[];
}

/** What of others goes with one object, on one member, if somebody confirms it. */
export interface OthersAlong {
  readonly placement: PlacementKey;
  readonly cluster: ClusterName;
  /** The Namespace or CustomResourceDefinition that holds them. */
  readonly id: ObjectId;
  /** Ordered by key and uid. Nothing else may go along. */
  readonly objects: readonly OtherObject[];
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
