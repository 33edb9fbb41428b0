import type { BlobId, Commit, Instant } from "./value.ts";

/** What a commit's first lines name, each id in small letters. */
export interface CommitLines {
  readonly tree: string;
  /** In the order in which the commit names them. */
  readonly parents: readonly string[];
  /** What stands behind `author ` and `committer `, a character for each byte; null where git finds none there. */
  readonly author: string | null;
  readonly committer: string | null;
}

/**
 * Reads the first lines of a commit object where git's own parser reads them, and nowhere else: the tree in the first
 * line, then parents as long as lines are parents, then author, then committer (git's `parse_commit_buffer` and
 * `parse_commit_date`). What stands further down under the same names is text to git, and so it is here
 * (`trust/README.md#t-35`). Null for what git refuses as a commit.
 */
export function commitLines(raw: Uint8Array): CommitLines | null {
  const tree = idIn(raw, 0, "tree ");
  // Git wants at least one byte behind the tree's line.
  if (tree === null || raw.length <= treeLine) return null;
  const parents: string[] = [];
  let at = treeLine;
  // Git looks for another parent only where a whole line of one would fit.
  while (at + parentLine <= raw.length && startsWith(raw, at, "parent ")) {
    const parent = idIn(raw, at, "parent ");
    // Here, too, it wants one byte more.
    if (parent === null || raw.length <= at + parentLine) return null;
    parents.push(parent);
    at += parentLine;
  }
  const author = lineIn(raw, at, "author ");
  const committer = author === null ? null : lineIn(raw, author.end, "committer ");
  return { tree, parents, author: author?.value ?? null, committer: committer?.value ?? null };
}

const idLength = 40;
const treeLine = "tree ".length + idLength + 1;
const parentLine = "parent ".length + idLength + 1;
const lineFeed = 10;

function startsWith(raw: Uint8Array, at: number, word: string): boolean {
  for (let index = 0; index < word.length; index++) if (raw[at + index] !== word.charCodeAt(index)) return false;
  return true;
}

/** The id in a line of nothing else, in capitals or not, as git reads them both. */
function idIn(raw: Uint8Array, at: number, word: string): string | null {
  const start = at + word.length;
  if (!startsWith(raw, at, word) || raw[start + idLength] !== lineFeed) return null;
  const text = latin1(raw, start, start + idLength);
  return /^[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : null;
}

/** The rest of a line, and where the next one begins; null where it is another line, or does not end. */
function lineIn(raw: Uint8Array, at: number, word: string): { readonly value: string; readonly end: number } | null {
  if (!startsWith(raw, at, word)) return null;
  const end = raw.indexOf(lineFeed, at);
  return end < 0 ? null : { value: latin1(raw, at + word.length, end), end: end + 1 };
}

function latin1(raw: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let at = start; at < end; at++) text += String.fromCharCode(raw[at] ?? 0);
  return text;
}

/**
 * What the signature on some bytes turned out to be: facts, made by `shell/signature`. Whether they allow anything is
 * for `core/trust` to say (`trust/README.md#what-counts`).
 */
export type SignatureFact =
  | { readonly kind: "unsigned" }
  /** It verifies over exactly these bytes. */
  | {
      readonly kind: "ssh";
      /** `SHA256:…`, as ssh-keygen prints it: of the key that signed, not of its certificate. */
      readonly fingerprint: string;
      /** `ssh-ed25519`, `sk-ssh-ed25519@openssh.com` … */
      readonly keyType: string;
      /** What it was made for: `git` on commits. */
      readonly namespace: string;
      /** Somebody touched the key; null where its kind cannot tell. */
      readonly touched: boolean | null;
      /** Set when the key was presented in a certificate whose own signature verifies. */
      readonly certificate: SshCertificate | null;
    }
  /** It verifies by one of the certificates that were given. */
  | {
      readonly kind: "openpgp";
      /** Of the primary key, 40 or 64 upper-case hexadecimal digits. */
      readonly fingerprint: string;
      /** When the signature says that it was made. Proves nothing. */
      readonly claimedAt: Instant | null;
    }
  /** There is one, and it does not verify, or nobody can say. Never counts (`trust/README.md#step-13`). */
  | { readonly kind: "rejected"; readonly code: SignatureFailure; readonly message: string };

/** What an OpenSSH user certificate says, its own signature verified. */
export interface SshCertificate {
  readonly authority: string;
  readonly keyId: string;
  readonly principals: readonly string[];
  readonly validAfter: Instant;
  /** Null: for ever. */
  readonly validBefore: Instant | null;
}

/** Why a signature proves nothing. */
export type SignatureFailure =
  /** The bytes are not what a signature, or a signed commit, is made of. */
  | "Malformed"
  | "Mismatch"
  /** An algorithm, key or hash that is too weak, or that nobody here knows. */
  | "Weak"
  | "Unsupported"
  /** OpenPGP: none of the certificates given made it. */
  | "UnknownKey"
  | "Revoked"
  | "Expired"
  | "Ambiguous";

/** Everything about one commit that decides whether it may say something. */
export interface CommitFact {
  readonly commit: Commit;
  readonly parents: readonly Commit[];
  readonly signature: SignatureFact;
  /** Who wrote it, by its own words: excludes, never includes. */
  readonly claimedAuthor: string;
  /**
   * What differs from the first parent, by path; of a merge, what differs from every parent. Empty where nothing does.
   */
  readonly changes: readonly PathChange[];
  /** Null for a commit with one parent; a merge is clean when merging its parents again gives its tree. */
  readonly merge: "clean" | "unclean" | null;
}

/** One path that a commit changed; null where there is no file. */
export interface PathChange {
  readonly path: string;
  readonly before: BlobId | null;
  readonly after: BlobId | null;
}
