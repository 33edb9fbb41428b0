import type { SignatureFact } from "./commit.ts";
import type { FleetSpec } from "./fleet.ts";
import type { BlobId, Commit, Digest, DurationMs, Instant, Sequence } from "./value.ts";

/** Who may allow what: `trust/root.yaml`, decoded and valid by construction (`trust/README.md#the-trust-file`). */
export interface Trust {
  /** 1, 2, 3 … Every version follows the one before, and is signed by its roots. */
  readonly version: number;
  /** Of the text of this version. */
  readonly digest: Digest;
  /** Of the text of the version before; null in the first. */
  readonly previous: Digest | null;
  /** From then on every gate stays closed; running workloads are untouched. */
  readonly expires: Instant;
  readonly principals: ReadonlyMap<string, Principal>;
  /** Who may change this file, and how many of them it takes. */
  readonly roots: { readonly principals: readonly string[]; readonly threshold: number };
  /** Who may approve what. Of the rules that match a stage, every one has to be met. */
  readonly approvals: readonly ApprovalRule[];
  readonly protectedTargets: readonly ProtectedTarget[];
  readonly revocations: readonly Revocation[];
}

/** A person or machine, with all their keys: several keys of one person are one approver. */
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
  /** People may not approve their own changes. */
  readonly fourEyes: boolean;
  /** How unsigned changes count for four eyes. */
  readonly unsignedChanges: "deny" | "oneMore" | "allow";
  readonly accept: readonly Evidence[];
  /** How long a request may stay open. */
  readonly maxAge: DurationMs;
  /** Set when protection requires the approval, not a stage. */
  readonly target?: ProtectedTarget;
}

/** Clusters and namespaces in which nothing changes without approval, on any path (`trust/README.md#d-17`). */
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

/** A key that no longer counts. Retired: from now on. Compromised: also for what it approved that is not finished. */
export interface Revocation {
  /** `SHA256:…` of an SSH key, or the fingerprint of an OpenPGP certificate. */
  readonly key: string;
  readonly kind: "retired" | "compromised";
}

/** A root's signature over the bytes of a version of the trust file, in a file of its own. */
export interface DetachedSignature {
  readonly path: string;
  readonly fact: SignatureFact;
}

/** One proof of who gave an approval. */
export interface Proof {
  readonly evidence: Evidence;
  /**
   * The fingerprint of the signing key, with ` by ` and its authority's where a certificate identifies the person:
   * either may turn out to be compromised. For a forge, its name and the number of the account.
   */
  readonly key: string;
  /** Where people find it; only for a forge. */
  readonly source?: string;
}

/** The judgement of one approval file. Made once and kept: a denied file stays denied (`trust/README.md#step-12`). */
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

/** Why something does not count, and what to do about it. */
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

/** The trust file in force: whatever came after it was accepted is judged by it. */
export interface TrustRecord {
  readonly trust: Trust;
  /** Kept verbatim, so that anybody can verify it again; `trust.digest` is its SHA-256. */
  readonly text: string;
  /** The sequence in which it was accepted, and the source commit that brought it. */
  readonly since: Sequence;
  readonly from: Commit;
  /** The source commit that brought the first version: authors are not looked up further back. */
  readonly first: Commit;
  /** What vouched for it: the operator's anchor, or these roots, by name. */
  readonly by: "anchor" | readonly string[];
}

/** The approval files at a commit, and whether they count there without a signature, where nobody has to sign. */
export interface StandingAnswers {
  readonly files: readonly ApprovalFile[];
  readonly unsigned: FleetSpec["unsignedApprovals"];
}

/** An approval file and its judgement, kept while the file or its open request is there (`trust/README.md#step-12`). */
export interface AnswerRecord {
  /** As it was when it was judged. */
  readonly file: ApprovalFile;
  readonly judgement: Judgement;
  /** The commit that brought it; null when unknown. */
  readonly commit: Commit | null;
  /** When it was first seen, by our clock. */
  readonly at: Instant;
  /** Numbers answers in the order of acceptance: the newest of a person counts. */
  readonly order: number;
}

/** Who changed what is to be approved, for four eyes (`trust/README.md#step-8`). */
export interface Authors {
  /** By signature, ordered by name: an unsigned author line proves nothing. */
  readonly principals: readonly string[];
  /** The number of unsigned changes. */
  readonly unknown: number;
}

/** A request for approval. Immutable: whenever what it rests on changes, another request replaces it. */
export interface Request {
  readonly requestedAt: Instant;
  /** 32 hexadecimal digits of the pass's entropy: nobody can answer before (`trust/README.md#t-04`). */
  readonly nonce: string;
  /** What an answer names: over the content, the nonce, the rules and the authors. */
  readonly digest: Digest;
  /** Of the rules that have to be met and the targets that they protect; null without a trust file. */
  readonly rules: Digest | null;
  readonly authors: Authors;
  /** Null while it is open. Final once accepted (`rollout/README.md#u7`). */
  readonly approval: Approval | null;
}

/** An approval that was accepted. */
export interface Approval {
  /** By our clock. */
  readonly at: Instant;
  /** Everybody once, ordered by name. At least one. */
  readonly by: readonly Approver[];
}

export interface Approver {
  readonly principal: string;
  readonly path: string;
  readonly blob: BlobId;
  /** The commit that brought the file; null where unsigned approvals count. */
  readonly commit: Commit | null;
  /** Empty where `fleet.yaml` allows unsigned approvals. */
  readonly proofs: readonly Proof[];
}

/** The answer to an approval request. */
export type GateAnswer =
  | { readonly kind: "approved"; readonly approval: Approval }
  | { readonly kind: "rejected"; readonly by: string; readonly comment: string; readonly path: string }
  /** No answer counts, or not enough of them: why, and when time alone may change that. */
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
  /** An armored signature inside the file, over its contents; null without one. */
  readonly signature: string | null;
}

/**
 * Whether a path is that of an approval: YAML under `approvals/`, except for confirmations and in dot-folders.
 *
 * `Approvals/` is another folder: CODEOWNERS for this one do not protect that one.
 */
export const isApprovalPath = (path: string): boolean =>
  /^approvals\/(?!deletions\/)(?:[^./][^/]*\/)*[^/]+\.[yY][aA]?[mM][lL]$/.test(path);

/** Who approved, by which key, and in which file: `ann (SHA256:…, approvals/web/ann.yaml) and bob (…)`. */
export const approversText = ({ by }: Approval): string =>
  by.map(({ principal, path, proofs }) => `${nameOf(principal)} (${keysText(proofs)}${path})`).join(" and ");

const nameOf = (principal: string): string => (principal === "" ? "somebody" : principal);

const keysText = (proofs: Approval["by"][number]["proofs"]): string =>
  [...new Set(proofs.map((it) => it.key))].map((it) => `${it}, `).join("");
