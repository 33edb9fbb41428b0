import type { SignatureFact } from "./commit.ts";
import type { BlobId, Commit, Digest, DurationMs, Instant, Sequence } from "./value.ts";

/** Who may allow what: `trust/root.yaml`, decoded and valid by construction (`trust/README.md#the-trust-file`). */
export interface Trust {
  /** 1, 2, 3 … Every version follows the one before, and is signed by its roots. */
  readonly version: number;
  /** Of the text of this version. */
  readonly digest: Digest;
  /** Of the text of the version before; null in the first. */
  readonly previous: Digest | null;
  /** Closed gates from then on, and nothing else: running workloads are untouched. */
  readonly expires: Instant;
  readonly principals: ReadonlyMap<string, Principal>;
  /** Who may change this file, and how many of them it takes. */
  readonly roots: { readonly principals: readonly string[]; readonly threshold: number };
  /** Who may approve what. Of the rules that match a stage, every one has to be met. */
  readonly approvals: readonly ApprovalRule[];
  readonly protectedTargets: readonly ProtectedTarget[];
  readonly revocations: readonly Revocation[];
}

/** Somebody, with everything that they sign with: several keys of one person are one voice. */
export interface Principal {
  readonly name: string;
  /** Only people approve; a machine's signature never does. */
  readonly isHuman: boolean;
  /** `SHA256:…` of SSH keys, and of the authorities whose certificates name them. */
  readonly sshKeys: readonly string[];
  readonly sshAuthorities: readonly string[];
  /** Armored OpenPGP certificates, by the fingerprint of their primary key. */
  readonly openPgp: ReadonlyMap<string, string>;
  /** Numeric ids, by forge. */
  readonly forgeIds: ReadonlyMap<string, string>;
}

/** How an approval may be given. */
export type Evidence = "commit" | "detached" | "forge";

/** Who may approve the stages that it matches. */
export interface ApprovalRule {
  /** Names, or prefixes that end with `*`. */
  readonly placements: readonly string[];
  readonly stages: readonly string[];
  readonly principals: readonly string[];
  readonly minimum: number;
  /** Nobody approves what they changed themselves. */
  readonly fourEyes: boolean;
  /** What a change that nobody signed means for four eyes. */
  readonly unsignedChanges: "deny" | "oneMore" | "allow";
  readonly accept: readonly Evidence[];
  /** How long a request may stand unanswered. */
  readonly maxAge: DurationMs;
  /** Set where it is not a stage that asks for it, but what is protected. */
  readonly target?: ProtectedTarget;
}

/**
 * Clusters and namespaces in which nothing changes without approval, whatever path the change takes
 * (`trust/README.md#d-17`).
 */
export interface ProtectedTarget {
  /** Names, prefixes that end with `*`, or `name@uid`: what is renamed stays protected by the UID of its `kube-system`. */
  readonly clusters: readonly string[];
  /** Names, or prefixes that end with `*`. */
  readonly namespaces: readonly string[];
  readonly principals: readonly string[];
  readonly minimum: number;
  readonly accept: readonly Evidence[];
  /** UIDs of clusters that `clusters` means no longer by a name that they had before. Absent: none. */
  readonly released?: readonly string[];
}

/** A key that does not count any more. Retired: from now on. Compromised: what it opened and is not over holds, too. */
export interface Revocation {
  /** `SHA256:…` of an SSH key, or the fingerprint of an OpenPGP certificate. */
  readonly key: string;
  readonly kind: "retired" | "compromised";
}

/** A root's signature under a version of the trust file, in a file of its own: its fact is over the bytes of that version. */
export interface DetachedSignature {
  readonly path: string;
  readonly fact: SignatureFact;
}

/** One way in which an approval proves who gave it. */
export interface Proof {
  readonly evidence: Evidence;
  /**
   * The fingerprint of the key that signed, with ` by ` and its authority's where a certificate said whose it is: either
   * may turn out to be compromised. Of a forge, its name and the number of the account.
   */
  readonly key: string;
  /** Where it can be looked up, for people; of a forge alone. */
  readonly source?: string;
}

/** What became of one approval file. Judged once, and kept: a denied file stays denied (`trust/README.md#step-12`). */
export type Judgement =
  | {
      readonly kind: "counts";
      readonly principal: string;
      /** At least one; the strongest first. */
      readonly proofs: readonly Proof[];
      /** When it was first seen, by our clock. */
      readonly at: Instant;
    }
  | Denial;

/** Why something proves or allows nothing, and what to do about it. */
export interface Denial {
  readonly kind: "denied";
  /** Stable; the list is `src/core/trust/denial.ts`. */
  readonly code: string;
  readonly because: string;
}

/** `trust/root.yaml` as it stands in a commit. */
export interface TrustFile {
  readonly blob: BlobId;
  readonly text: string;
  /** Null when it cannot be used. */
  readonly trust: Trust | null;
}

/** The trust file that is in force: what came after it was accepted is judged by it. */
export interface TrustRecord {
  readonly trust: Trust;
  /** Of which `trust.digest` is the SHA-256: kept word for word, so that anybody can verify again. */
  readonly text: string;
  /** The sequence in which it was accepted, and the source commit that brought it. */
  readonly since: Sequence;
  readonly from: Commit;
  /** The source commit that brought the first version: nobody looks further back for who changed what. */
  readonly first: Commit;
  /** Who vouched for it: the operator's anchor, or these roots, by name. */
  readonly by: "anchor" | readonly string[];
}

/**
 * An approval file and what became of it: judged once and kept (`trust/README.md#step-12`), as long as the file is
 * there or what it answers is open.
 */
export interface AnswerRecord {
  /** As it was when it was judged. */
  readonly file: ApprovalFile;
  readonly judgement: Judgement;
  /** The commit that brought it; null where none is known to. */
  readonly commit: Commit | null;
  /** When it was first seen, by our clock. */
  readonly at: Instant;
  /** Counts answers in the order in which they were accepted: the newest word of a person has the highest. */
  readonly order: number;
}

/** Who changed what is to be approved: four eyes look at it (`trust/README.md#step-8`). */
export interface Authors {
  /** By signature: who says that they wrote something proves nothing by it. In the order of their names. */
  readonly principals: readonly string[];
  /** How many changes nobody signed. */
  readonly unknown: number;
}

/** Something that people are asked for. Written once: whatever it rests on changes, and it is another request. */
export interface Request {
  readonly requestedAt: Instant;
  /**
   * 32 hexadecimal digits out of the entropy of the pass that asked: nobody can answer before they are asked
   * (`trust/README.md#t-04`).
   */
  readonly nonce: string;
  /** What an answer names: over all that is asked, the nonce, the rules and the authors. */
  readonly digest: Digest;
  /** Of the rules of the trust file that have to be met, and what they protect; null where none is in force. */
  readonly rules: Digest | null;
  readonly authors: Authors;
  /** Null while it is open. Accepted once and for good (`rollout/README.md#u7`). */
  readonly approval: Approval | null;
}

/** An approval that was accepted. */
export interface Approval {
  /** By our clock. */
  readonly at: Instant;
  /** Everybody once, in the order of their names. At least one. */
  readonly by: readonly Approver[];
}

/** Who approved, and how that is known. */
export interface Approver {
  readonly principal: string;
  readonly path: string;
  readonly blob: BlobId;
  /** The commit that brought the file; null where nobody had to sign. */
  readonly commit: Commit | null;
  /** Empty where `fleet.yaml` lets files count that nobody signed. */
  readonly proofs: readonly Proof[];
}

/** What people said to an approval request. */
export type GateAnswer =
  | { readonly kind: "approved"; readonly approval: Approval }
  | { readonly kind: "rejected"; readonly by: string; readonly comment: string; readonly path: string }
  /** There is no answer that counts, or not enough of them: why not, and when that may be otherwise by time alone. */
  | { readonly kind: "void"; readonly because: string; readonly wakeAt: Instant | null }
  | { readonly kind: "none" };

/** An Approval of flotilla.dev/v1alpha1: a person's answer to an approval request, a file under `approvals/`. */
export interface ApprovalFile {
  readonly path: string;
  readonly blob: BlobId;
  /** Of the request that it answers: its annotation `flotilla.dev/request-digest`. */
  readonly digest: Digest;
  readonly decision: "Approve" | "Reject" | "Revoke";
  readonly principal: string;
  readonly comment: string;
  /** An armored signature inside of the file, over what it says; null without one. */
  readonly signature: string | null;
}
