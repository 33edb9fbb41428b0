import type { SignatureFact } from "../model/commit.ts";
import type { Ledger } from "../model/ledger.ts";
import type { Trust, TrustRecord } from "../model/trust.ts";
import type { Commit, Digest, Instant } from "../model/value.ts";
import { signerOf } from "../trust/signer.ts";
import type { AuditFinding } from "./audit-finding.ts";

/** A commit of the state branch, as it describes itself. */
export interface StateCommit {
  readonly commit: Commit;
  readonly parents: number;
  /** Its trailers; null where one is missing. */
  readonly sourceCommit: string | null;
  readonly sequence: string | null;
  readonly decisionVersion: string | null;
  readonly signature: SignatureFact;
  /** Its own commit time. */
  readonly at: Instant;
  /** Its source commit is, or follows, that of the commit before. */
  readonly isForward: boolean;
}

/** What a commit has to repeat from the one before, null for a root (`trust/README.md#our-own-commits`). */
export function* auditChain(it: StateCommit, before: Ledger | null, after: Ledger): Generator<AuditFinding> {
  const finding = (what: string): AuditFinding => ({ check: "chain", subject: { kind: "ledger" }, what });
  if (it.parents > 1) yield finding("has several parents, and flotilla never merges");
  if (it.sourceCommit !== after.sourceCommit)
    yield finding(`names source commit ${it.sourceCommit ?? "none"}, and its ledger ${after.sourceCommit}`);
  if (it.sequence !== String(after.sequence))
    yield finding(`names sequence ${it.sequence ?? "none"}, and its ledger ${after.sequence}`);
  if (!it.isForward)
    yield finding(`goes to source commit ${after.sourceCommit}, which does not follow ${before?.sourceCommit}`);
  if (before === null) return;
  if (after.fleet !== before.fleet) yield finding(`is of fleet ${after.fleet}, and the one before of ${before.fleet}`);
  if (after.epoch < before.epoch) yield finding(`goes back from epoch ${before.epoch} to ${after.epoch}`);
  if (after.epoch === before.epoch && after.sequence !== before.sequence + 1)
    yield finding(`has sequence ${after.sequence} after ${before.sequence}: something was taken out, or put in`);
}

/** Follows the signatures of successive commits of the state branch. */
interface SignatureWatch {
  readonly next: (it: StateCommit, trust: TrustRecord | null) => readonly AuditFinding[];
  /** Keys that signed while no trust file named a machine. */
  readonly unvouched: () => readonly string[];
  /** How many commits carry a valid signature. */
  readonly signed: () => number;
}

/**
 * Where the trust file in force names machines, one of them has to sign every commit. Otherwise the keys are unknown,
 * and the only fault that can be seen is an unsigned commit after a signed one.
 */
export function signatureWatch(): SignatureWatch {
  const keys = new Set<string>();
  let signed = 0;
  return {
    next({ commit, signature, at }, record) {
      const trust: Trust | null = record?.trust ?? null;
      const finding = (what: string): AuditFinding => ({ check: "signatures", subject: { kind: "ledger" }, what });
      const isSigned = signature.kind === "ssh" || signature.kind === "openpgp";
      const wasSigned = signed > 0;
      if (isSigned) signed += 1;
      if (trust !== null && namesMachines(trust)) {
        const objection = stateSignerObjection(signature, trust, { commit, now: at });
        return objection === null ? [] : [finding(objection)];
      }
      if (isSigned) keys.add(signature.fingerprint);
      if (signature.kind === "rejected")
        return [finding(`carries a signature that proves nothing: ${signature.message}`)];
      return !isSigned && wasSigned ? [finding("is not signed, and commits before it are")] : [];
    },
    unvouched: () => [...keys],
    signed: () => signed,
  };
}

/** A version of the trust file that came into force by an operator's anchor. */
export interface Anchored {
  readonly commit: Commit;
  readonly version: number;
  readonly digest: Digest;
}

/** Whether the anchor of an operator vouches for the chain. */
type Vouched =
  | { readonly kind: "vouched" | "nothing" }
  | { readonly kind: "onTrust"; readonly words: string }
  | { readonly kind: "other"; readonly at: Anchored; readonly what: string };

/** The last version that came by an anchor has to be the operator's; earlier ones no longer matter. */
export function vouchedBy(anchor: Digest | null, anchored: readonly Anchored[], base: TrustRecord | null): Vouched {
  const last = anchored.at(-1);
  const first = last ?? (base === null ? null : { version: base.trust.version, digest: base.trust.digest });
  if (first === null) return { kind: "nothing" };
  if (anchor === first.digest) return { kind: "vouched" };
  const words = `version ${first.version} of the trust file, with the SHA-256 ${first.digest}, is taken on trust`;
  if (anchor === null) return { kind: "onTrust", words: `${words}: give --trust-anchor` };
  if (last === undefined) return { kind: "onTrust", words: `${words}: --full looks further back` };
  const what = `puts version ${last.version} of the trust file in force by an anchor that is not yours: ${last.digest}`;
  return { kind: "other", at: last, what };
}

/** Whether a trust file names keys of machines: then one of them signs every commit of the state branch. */
export const namesMachines = ({ principals }: Pick<Trust, "principals">): boolean =>
  [...principals.values()].some(
    (it) => !it.isHuman && it.sshKeys.length + it.sshAuthorities.length + it.openPgp.size > 0,
  );

/** Why a state commit's signature does not count; null for a listed machine's (`trust/README.md#our-own-commits`). */
export function stateSignerObjection(
  signature: SignatureFact,
  trust: Pick<Trust, "principals" | "revocations"> | null,
  { commit, now }: { readonly commit: Commit; readonly now: Instant },
): string | null {
  if (signature.kind === "unsigned") return "is not signed";
  if (signature.kind === "rejected") return `carries a signature that proves nothing: ${signature.message}`;
  const key = signature.fingerprint;
  if (trust === null) return `is signed with ${key}, and no trust file says whose that is`;
  const signer = signerOf(signature, { trust, namespace: "git", what: `commit ${commit.slice(0, 12)}`, now });
  if (signer.kind === "denied") return `is signed with ${key}, which does not count: ${signer.because}`;
  if (signer.principal.isHuman) return `is signed by ${signer.principal.name}, who is a person`;
  return null;
}
