import type { BlobId, Commit, Instant } from "./value.ts";

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
  | { readonly kind: "rejected"; readonly code: SignatureFlaw; readonly message: string };

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
export type SignatureFlaw =
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
