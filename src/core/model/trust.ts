import type { SignatureFact } from "./signature.ts";
import type { Digest, DurationMs, Instant, Sequence } from "./value.ts";

/** Who may allow what: `trust/root.yaml`, decoded and valid by construction (`security.md` §2.2). */
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

/** Somebody, with everything that he signs with: several keys of one person are one voice. */
export interface Principal {
  readonly name: string;
  /** Only people approve; a machine's signature never does. */
  readonly isHuman: boolean;
  /** `SHA256:…` of SSH keys, and of the authorities whose certificates name him. */
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
  /** Nobody approves what he changed himself. */
  readonly fourEyes: boolean;
  /** What a change that nobody signed means for four eyes. */
  readonly unsignedChanges: "deny" | "oneMore" | "allow";
  readonly accept: readonly Evidence[];
  /** How long a request may stand unanswered. */
  readonly maxAge: DurationMs;
}

/** Clusters and namespaces in which nothing changes without approval, whatever path the change takes (`security.md` D-17). */
export interface ProtectedTarget {
  /** Names, prefixes that end with `*`, or `name@uid`: who is renamed stays protected by the UID of his `kube-system`. */
  readonly clusters: readonly string[];
  /** Names, or prefixes that end with `*`. */
  readonly namespaces: readonly string[];
  readonly principals: readonly string[];
  readonly minimum: number;
  readonly accept: readonly Evidence[];
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
  /** The fingerprint of the key that signed; of a forge, its name and the number of the account. */
  readonly key: string;
}

/** What became of one approval file. Judged once, and kept: a denied file stays denied (`security.md` §2.4, 12). */
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

/** What the ledger knows about trust. */
export interface TrustRecord {
  readonly version: number;
  readonly digest: Digest;
  /** The sequence in which it was accepted: what comes later is judged by it. */
  readonly since: Sequence;
}
