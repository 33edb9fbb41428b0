import type { ForgeFinding } from "./forge.ts";
import type { PastDocument } from "./past-document.ts";
import type { CommitFact, SignatureFact } from "./signature.ts";
import type { DetachedSignature } from "./trust.ts";
import type { BlobId, Commit, Instant } from "./value.ts";

/**
 * Verified facts about the source's commits (`trust/README.md#what-counts`): made by
 * `shell/signature`, judged by `core/trust`.
 *
 * The commits are all that the head has beyond any of the commits that a decision looks back to. What is not here is
 * not known, and never counts.
 */
export interface History {
  /** What `commits` leads to. */
  readonly head: Commit;
  /** Beyond what was accepted last: among these, somebody may have brought something new. Parents first. */
  readonly news: readonly Commit[];
  readonly commits: ReadonlyMap<Commit, CommitFact>;
  /** All that the head has beyond any of these is among `commits`; null: all that it has. */
  readonly beyond: ReadonlySet<Commit | null>;
  /**
   * What stood in files that those commits changed, by blob. A file that cannot be taken apart has nothing here: whoever
   * changed it may have changed anything that stands at its path.
   */
  readonly documents: ReadonlyMap<BlobId, readonly PastDocument[]>;
  /** Why some that should be here are not, in words; null when none is missing. */
  readonly gap: string | null;
  /** Under `trust/root.yaml` as the head has it, by path; each over its exact bytes. */
  readonly trustSignatures: readonly DetachedSignature[];
  /** The signatures inside of approval files, by the file's blob; a file without one has none here. */
  readonly detached: ReadonlyMap<BlobId, SignatureFact>;
  /** What a forge says about approval files that are not judged yet, by path; one about which nobody asked has none. */
  readonly reviews: ReadonlyMap<string, ForgeFinding>;
  /** When a forge that could not be asked is worth another try; null when none is waited for. */
  readonly reviewsAt: Instant | null;
}

/** Where nobody set up who may approve: nothing is looked at. */
export const noHistory = (head: Commit): History => ({
  head,
  news: [],
  commits: new Map(),
  beyond: new Set(),
  documents: new Map(),
  gap: null,
  trustSignatures: [],
  detached: new Map(),
  reviews: new Map(),
  reviewsAt: null,
});
