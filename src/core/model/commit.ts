import type { BlobId, Commit, Instant } from "./value.ts";

/** The header lines of a commit; ids in lower case. */
export interface CommitLines {
  readonly tree: string;
  /** In the order in which the commit names them. */
  readonly parents: readonly string[];
  /** The text after `author ` and `committer `, one character per byte; null where git finds none. */
  readonly author: string | null;
  readonly committer: string | null;
}

/**
 * Reads the header of a commit object exactly as git's own parser does: the tree in the first line, then the parents,
 * then author, then committer (git's `parse_commit_buffer` and `parse_commit_date`). Later lines of the same names are
 * mere text, as for git (`trust/README.md#t-35`). Null for what git refuses as a commit.
 */
export function commitLines(raw: Uint8Array): CommitLines | null {
  const tree = idIn(raw, 0, "tree ");
  // Git requires at least one byte after the tree's line.
  if (tree === null || raw.length <= treeLine) return null;
  const parents: string[] = [];
  let at = treeLine;
  // Git looks for a parent only where a whole line fits.
  while (at + parentLine <= raw.length && startsWith(raw, at, "parent ")) {
    const parent = idIn(raw, at, "parent ");
    // One more byte is required here, too.
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

/** The id in a line of its own, in either case, as git reads it. */
function idIn(raw: Uint8Array, at: number, word: string): string | null {
  const start = at + word.length;
  if (!startsWith(raw, at, word) || raw[start + idLength] !== lineFeed) return null;
  const text = latin1(raw, start, start + idLength);
  return /^[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : null;
}

/** The rest of a line and the start of the next one; null where the line is another one or does not end. */
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

/** Facts about a signature, by `shell/signature`; `core/trust` decides by them (`trust/README.md#what-counts`). */
export type SignatureFact =
  | { readonly kind: "unsigned" }
  /** It verifies over exactly these bytes. */
  | {
      readonly kind: "ssh";
      /** `SHA256:…`, as ssh-keygen prints it: of the key that signed, not of its certificate. */
      readonly fingerprint: string;
      /** `ssh-ed25519`, `sk-ssh-ed25519@openssh.com` … */
      readonly keyType: string;
      /** The signature's namespace: `git` on commits. */
      readonly namespace: string;
      /** Somebody touched the key; null where its kind cannot tell. */
      readonly touched: boolean | null;
      /** Set when the key came in a certificate whose own signature is valid. */
      readonly certificate: SshCertificate | null;
    }
  /** It verifies with one of the given certificates. */
  | {
      readonly kind: "openpgp";
      /** Of the primary key, 40 or 64 upper-case hexadecimal digits. */
      readonly fingerprint: string;
      /** The time in the signature, which proves nothing. */
      readonly claimedAt: Instant | null;
    }
  /** It is invalid, or cannot be verified. Never counts (`trust/README.md#step-13`). */
  | { readonly kind: "rejected"; readonly code: SignatureFailure; readonly message: string };

/** An OpenSSH user certificate with a valid signature. */
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
  /** The bytes are no valid signature or signed commit. */
  | "Malformed"
  | "Mismatch"
  /** The algorithm, key or hash is too weak. */
  | "Weak"
  | "Unsupported"
  /** OpenPGP: made by none of the given certificates. */
  | "UnknownKey"
  | "Revoked"
  | "Expired"
  | "Ambiguous";

/** Everything about one commit that decides whether it counts. */
export interface CommitFact {
  readonly commit: Commit;
  readonly parents: readonly Commit[];
  readonly signature: SignatureFact;
  /** The author that the commit claims: used to exclude people, never to admit them. */
  readonly claimedAuthor: string;
  /** Changes against the first parent, by path; for a merge, changes against every parent. */
  readonly changes: readonly PathChange[];
  /** Null for a commit with one parent; a merge is clean when merging its parents again gives the same tree. */
  readonly merge: "clean" | "unclean" | null;
}

/** One path that a commit changed; null where there is no file. */
export interface PathChange {
  readonly path: string;
  readonly before: BlobId | null;
  readonly after: BlobId | null;
}
