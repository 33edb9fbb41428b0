import { trustPath } from "../../core/intent/trust/trust-file.ts";
import type { CommitFact } from "../../core/model/commit.ts";
import type { Denial, DetachedSignature, Revocation, Trust } from "../../core/model/trust.ts";
import type { BlobId, Commit, Instant } from "../../core/model/value.ts";
import { count } from "../../core/report/explain.ts";
import { revokedBy, type Signer, signerOf } from "../../core/trust/signer.ts";
import { type NextTrust, nextTrust, trustNamespace } from "../../core/trust/trust-chain.ts";

/** A version of the trust file with the one before it and its signatures. */
export interface TrustStep {
  /** The version before; null when it is the first, or when the one before is not known. */
  readonly before: Trust | null;
  readonly next: Trust;
  readonly signatures: readonly DetachedSignature[];
  readonly now: Instant;
}

/** Whose signature stands in a file under `trust/sigs/`. */
export interface SignedBy {
  readonly path: string;
  readonly signer: Signer | Denial;
}

/** Who signed a version: by their keys in it, or in the one before. A key that either revokes is nobody's. */
export function signersOf({ before, next, signatures, now }: TrustStep): readonly SignedBy[] {
  const revocations = [...(before?.revocations ?? []), ...next.revocations];
  return signatures.map(({ path, fact }) => {
    const by = ({ principals }: Trust): Signer | Denial =>
      signerOf(fact, { trust: { principals, revocations }, namespace: trustNamespace, what: path, now });
    const signer = by(next);
    return { path, signer: signer.kind === "denied" && before !== null ? by(before) : signer };
  });
}

/** Whether somebody may sign a version: as a root of it, or of the one before. */
export const mayTrustSign = ({ before, next }: TrustStep, name: string): boolean =>
  next.roots.principals.includes(name) || before?.roots.principals.includes(name) === true;

/** Whether a version would come into force after the one before, were it committed alone, and what it lacks. */
export const verdictOn = ({ before, next, signatures, now }: TrustStep): NextTrust =>
  nextTrust({ current: before, anchor: null, candidate: next, signatures, introducers: [alone], now });

/** A commit that brings the file and nothing else, as the commands here make them. */
const alone: CommitFact = {
  commit: "" as Commit,
  parents: [],
  signature: { kind: "unsigned" },
  claimedAuthor: "",
  changes: [{ path: trustPath, before: null, after: "" as BlobId }],
  merge: null,
};

/**
 * Why a version can never come into force after the one before, whoever signs: too few roots of either have a key left
 * that neither revokes. Null where it can.
 */
export function unsignable(before: Trust, next: Trust): string | null {
  const gone: readonly Revocation[] = [...before.revocations, ...next.revocations];
  for (const { version, roots, principals } of [before, next]) {
    const able = roots.principals.filter((name) => {
      const { sshKeys = [], sshAuthorities = [], openPgp = new Map() } = principals.get(name) ?? {};
      return [...sshKeys, ...sshAuthorities, ...openPgp.keys()].some((it) => revokedBy(gone, it) === null);
    });
    if (able.length < roots.threshold)
      return `it takes ${count(roots.threshold, "root")} of version ${version} to sign this, and it leaves ${able.length} with a key that counts`;
  }
  return null;
}
