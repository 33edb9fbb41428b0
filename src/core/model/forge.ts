import type { BlobId, Commit } from "./value.ts";

/** What a forge is asked about one approval file that is in nobody's record yet. */
export interface ReviewQuestion {
  readonly path: string;
  readonly blob: BlobId;
  /** The commit that added the file. */
  readonly introducer: Commit;
  /** The commit of the source branch itself that brought it there: a merge, or the introducer after squash and rebase. */
  readonly arrival: Commit;
}

/**
 * A review on a forge that is all of `trust/README.md#merged-pull-requests`: of the pull request that brought the file,
 * of the head that was merged, before it was, not dismissed, by neither who opened it nor whom its last commit names,
 * under rules that ask for just that. Whoever makes the fact vouches for it.
 */
export interface ForgeReview {
  /** As trust files name it: `github`, or `gitea`. */
  readonly forge: string;
  /** The number of the account that reviewed. */
  readonly account: string;
  /** The file as it was reviewed. */
  readonly blob: BlobId;
  /** Where it can be looked up: `review 123 of pull request 45 on git.example/team/fleet`. */
  readonly source: string;
}

/** What a forge says about an approval file. */
export type ForgeFinding =
  /** At least one, everybody's last, in the order of the accounts as the forge lists them. */
  | { readonly kind: "reviewed"; readonly reviews: readonly ForgeReview[] }
  /** Why no review counts, and what to do about it. */
  | { readonly kind: "none"; readonly because: string }
  /** It could not be asked: nothing follows from that, and it is asked again. */
  | { readonly kind: "unavailable"; readonly because: string };
