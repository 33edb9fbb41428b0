import type { CommitFact, PathChange, SignatureFact } from "../../core/model/commit.ts";
import type { ForgeFinding, ReviewQuestion } from "../../core/model/history.ts";
import type { Observation } from "../../core/model/observation.ts";
import type { ClusterActions, World } from "../../core/model/plan.ts";
import type { BlobId, ClusterName, Commit, Digest, DurationMs, Instant } from "../../core/model/value.ts";

/** Everything the shell needs from outside. Adapters implement it. */
export interface Ports {
  readonly repository: Repository;
  readonly fleet: Fleet;
  readonly clock: Clock;
  readonly verifier: Verifier;
  /** Absent: no forge is asked, and what only a forge can tell stays open. */
  readonly forge?: Forge;
  /** 64 unpredictable hexadecimal digits, different at every call. */
  readonly entropy: () => string;
}

/**
 * The hub: a source branch that people write and a state branch that only we write. Methods reject with a {@link Fault}
 * and nothing else; reads name a commit, so what they give never changes.
 */
export interface Repository {
  /** The repository's name for messages: a path, or a URL without credentials. */
  readonly name: string;
  /** Fetches both branches in one exchange and gives their heads. */
  heads(): Promise<Heads>;
  /** The names of the branches, for messages only. Optional for an adapter. */
  branches?(): Promise<BranchNames>;
  /** Every file of a commit, ordered by path; only those under the folder `under` when it is given. */
  files(commit: Commit, under?: string): Promise<readonly TreeFile[]>;
  /**
   * Where `to` has another file than `from`, or none, ordered by path; `from` null: every file of `to`. Folders that
   * `enters` refuses, given their path with a slash at the end, are passed over. Costs what differs. An adapter that
   * cannot tell leaves it out, and is asked for `files` instead.
   */
  changes?(from: Commit | null, to: Commit, enters?: (folder: string) => boolean): Promise<readonly TreeChange[]>;
  /**
   * Contents by id, in bulk. An id that the repository does not hold is a fault, never left out. With a `limit`, only the
   * first `limit` + 1 bytes of what is longer: enough to see that it is, and a huge file costs no memory.
   */
  blobs(ids: readonly BlobId[], limit?: number): Promise<ReadonlyMap<BlobId, Uint8Array>>;
  /** Whether `commit` is `ancestor` or has it among its ancestors. */
  descends(commit: Commit, ancestor: Commit): Promise<boolean>;
  /**
   * Every commit that `head` has and `base` has not (null: all that it has), parents before their children; null when
   * there are more than `limit`. Costs what is between the two.
   */
  history(head: Commit, base: Commit | null, limit: number): Promise<readonly HistoricCommit[] | null>;
  /**
   * A commit and those before it by first parents, the newest first, at most `limit`: their bytes, whatever they changed.
   * An adapter that has nothing of the kind leaves it out, and is asked for `history` instead.
   */
  firstParents?(head: Commit, limit: number): Promise<readonly RawCommit[]>;
  /**
   * Writes a commit on top of `proposal.parent` and moves the state branch from there to it, or not at all.
   * That move is the lock, there is no other: "superseded" means somebody else moved the branch first, and nothing was written.
   * A fault `RepositoryUnreachable` leaves open whether the branch moved; the next `heads` tells.
   */
  commit(proposal: Proposal): Promise<CommitResult>;
  close(): Promise<void>;
}

/** A commit as git stores it, unverified. */
export interface RawCommit {
  readonly commit: Commit;
  /** The content of the commit object; of one that is longer than 64 KiB, the first 64 KiB and one byte. */
  readonly raw: Uint8Array;
}

/** A commit with what it changed. */
export interface HistoricCommit extends RawCommit {
  /** As {@link CommitFact} has them: against the first parent, of a merge against every parent, ordered by path. */
  readonly changes: readonly PathChange[];
  readonly merge: CommitFact["merge"];
}

/** Says which key signed some bytes: facts, never authority. No method rejects. */
export interface Verifier {
  /** The facts in a commit; its signature is rejected where the bytes do not match its id. */
  commit(from: HistoricCommit, certificates: readonly string[], now: Instant): Promise<CommitFact>;
  /** Verifies a detached, armored signature. `certificates` are armored OpenPGP certificates, one each. */
  detached(bytes: Uint8Array, armored: string, certificates: readonly string[], now: Instant): Promise<SignatureFact>;
}

/** A forge on which people review pull requests: facts about reviews, never authority. */
export interface Forge {
  /** The repository there, for messages: no credentials. */
  readonly name: string;
  /** Which reviews there are of an approval file. Bounded in time and size, and never rejects. */
  review(question: ReviewQuestion): Promise<ForgeFinding>;
}

export interface Heads {
  /** Null when the source branch does not exist. */
  readonly source: Commit | null;
  /** Null when the state branch does not exist. */
  readonly state: Commit | null;
}

/** What the two branches are called, and which branches there are. */
export interface BranchNames {
  readonly source: string;
  readonly state: string;
  /** The default branch first where it is there, then the others in order; at most 100. */
  readonly there: readonly string[];
}

export interface TreeFile {
  readonly path: string;
  readonly blob: BlobId;
  /** Bytes of the blob, where the adapter knows without reading it; null otherwise. */
  readonly size: number | null;
  /** Symbolic links and submodules are listed and never followed. */
  readonly kind: "file" | "link" | "submodule";
}

/** A path that differs between two commits. */
export interface TreeChange {
  readonly path: string;
  /** Null when it was removed. */
  readonly file: TreeFile | null;
}

/** A commit to be made. Together with the signing key it determines every byte of the commit. */
export interface Proposal {
  /** The head of the state branch that was read; null to create the branch with an orphan commit. */
  readonly parent: Commit | null;
  /** Ordered by path, each path once. What is not named stays as it is in the parent. */
  readonly edits: readonly Edit[];
  /** Subject, body and trailers. The author and committer are `flotilla`; the date is `at`. */
  readonly message: string;
  readonly at: Instant;
}

export type Edit =
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  /** The blob is already in the repository (it stands in a source commit, or in the parent). */
  | { readonly kind: "link"; readonly path: string; readonly blob: BlobId }
  | { readonly kind: "remove"; readonly path: string };

export type CommitResult = { readonly kind: "committed"; readonly commit: Commit } | { readonly kind: "superseded" };

/**
 * The members, each reached through its own connection. No method rejects: what fails is in the answer. All members may be
 * asked, or acted on, in one go: the fleet sees to it that not too many are at the same time.
 */
export interface Fleet {
  /**
   * Observes one member: its objects and their health. An unreachable member is an observation too; null: the answer is
   * still outstanding. While nothing changes on a member, a fleet that watches gives the same object (`===`).
   */
  observe(member: MemberAddress): Promise<Observation | null>;
  /** Carries out one member's actions, each object by itself; null: still running, and the member is not observed. */
  act(member: MemberAddress, actions: ClusterActions): Promise<Receipt | null>;
  /** By how much our clock is ahead of each member's, in whole seconds; those silent for minutes are left out. */
  clockOffsets(): readonly DurationMs[];
  close(): Promise<void>;
}

/** Which member, and how it is reached. */
export interface MemberAddress {
  readonly name: ClusterName;
  /** The kubeconfig context that leads there. */
  readonly context: string;
  /**
   * Those that placements live in: what becomes of them there is told at once. Where there are any, it is asked for all its
   * namespaces; absent or empty: nobody asks (`members/README.md#namespaces`).
   */
  readonly namespaces?: ReadonlySet<string>;
}

/** The result of acting on one member. For people and for the loop; decisions use the next observation instead. */
export interface Receipt {
  readonly cluster: ClusterName;
  /** Mutating requests that changed something: objects created, changed, deleted, released. */
  readonly created: number;
  readonly configured: number;
  readonly deleted: number;
  readonly released: number;
  readonly failed: number;
  /** Why nothing or not everything was tried, null when everything was: unreachable midway, or an inventory newer than the action. */
  readonly interrupted: string | null;
}

export interface Clock {
  now(): Instant;
  /** Resolves at the moment or when the signal aborts, whichever is first. */
  sleepUntil(moment: Instant, signal: AbortSignal): Promise<void>;
}

/** A person's work tree; commits are made as `git commit` there would. Methods reject with a {@link Fault} only. */
export interface Author {
  /** The top of the work tree. */
  readonly name: string;
  /** Null when none is checked out. */
  readonly branch: string | null;
  /** The YAML files as they lie there, by their paths from the top, ordered. */
  files(): readonly { readonly path: string; readonly text: string }[];
  /** Writes the files and commits them and nothing else, or changes nothing; uncommitted changes are refused. */
  commit(change: AuthoredChange): Promise<AuthoredCommit>;
  /** An armored signature over the bytes, as git would sign a commit there; an SSH one is made for `namespace`. */
  sign(bytes: Uint8Array, namespace: string): Promise<string>;
}

export interface AuthoredChange {
  readonly files: readonly AuthoredFile[];
  readonly message: string;
  /** The commit is signed, whatever git is set up to do; otherwise it is signed if the person's git does so. */
  readonly signed?: boolean;
  readonly delivery: Delivery;
}

/** `before` is what was read; null for a file that is new. What is there otherwise is a fault. */
export interface AuthoredFile {
  readonly path: string;
  /** Null: the file goes. */
  readonly text: string | null;
  readonly before: string | null;
}

export type Delivery =
  | { readonly kind: "commit" }
  /**
   * The branch that is checked out goes to the remote that `git push` would choose, or to `origin`. Where others were
   * faster, the commit is brought onto what they pushed, signed as it was, and pushed again, unless `objection` says by
   * then why not.
   */
  | { readonly kind: "push"; readonly objection?: () => Promise<DeliveryObjection | null> }
  /** A branch of its own is pushed, to be merged into `base`; work tree and index stay as they are. */
  | { readonly kind: "pullRequest"; readonly branch: string; readonly base: string };

/** Why a commit should no longer be pushed, and what to do instead. Then nothing is pushed, and the commit is undone. */
export interface DeliveryObjection {
  readonly message: string;
  readonly fix: string;
}

/** What came of it. */
export interface AuthoredCommit {
  readonly commit: string;
  readonly branch: string;
  /** Null when it was not pushed. */
  readonly remote: string | null;
  /** Where a pull request can be opened, where that is known. */
  readonly page: string | null;
  /** How commits that others had pushed were integrated; null when there were none. */
  readonly integrated: "rebased" | "merged" | null;
}

/** How one process reconciles: what the command line says, and nothing that the repository says. */
export interface Settings {
  /** Ask the members, or plan from the record alone. */
  readonly members: "ask" | "record";
  readonly patience: World["patience"];
  /** The one rewrite of history that an operator accepted: from the accepted commit to the new head. */
  readonly acceptRewrite: { readonly from: Commit; readonly to: Commit } | null;
  /** The SHA-256 of the trust file that the operator vouches for, whatever the repository says; null without one. */
  readonly trustAnchor: Digest | null;
  /** Absent: this process does not sign, and takes the state branch as it is. */
  readonly stateSigning?: StateSigning;
}

/** The key with which a process signs its commits, and what the operator accepts. */
export interface StateSigning {
  /** Of its own key: `SHA256:…`. */
  readonly fingerprint: string;
  /** A commit of the state branch that the operator has checked and accepts; null without one. */
  readonly accepted: Commit | null;
}
