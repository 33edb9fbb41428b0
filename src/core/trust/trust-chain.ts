import type { CommitFact } from "../model/commit.ts";
import type { Denial, DetachedSignature, Trust } from "../model/trust.ts";
import { compareText, type Digest, type Instant, instantText } from "../model/value.ts";
import { type DenialCode, denied } from "./denial.ts";
import { signerOf } from "./signer.ts";

/** The namespace of SSH signatures under a trust file. */
export const trustNamespace = "flotilla-trust-v1";

/** Everything that decides whether a trust file comes into force. */
export interface TrustChainInput {
  /** In force now; null when none ever was. */
  readonly current: Trust | null;
  /** The digest that the operator vouches for, out of band. */
  readonly anchor: Digest | null;
  /** `trust/root.yaml` in the source commit; null without one. */
  readonly candidate: Trust | "unusable" | null;
  /** Under the candidate. */
  readonly signatures: readonly DetachedSignature[];
  /** The commits that have this text while none of their parents has it. */
  readonly introducers: readonly CommitFact[];
  readonly now: Instant;
}

export type NextTrust =
  | { readonly kind: "accepted"; readonly trust: Trust; readonly by: "anchor" | readonly string[] }
  /** Nothing changed; null where there never was a trust file. */
  | { readonly kind: "kept"; readonly trust: Trust | null }
  /** The file in force stays, and opens no gate until this is repaired (`plan/README.md#d-6`). */
  | { readonly kind: "refused"; readonly denial: Denial };

/**
 * Decides whether a trust file comes into force (`trust/README.md#the-trust-file`; `#t-09`).
 *
 * The first version is the one whose digest the operator vouches for. Every other one follows the version in force: the
 * next number, the digest of the one before, signed by enough roots of both. Where too many roots lost their keys, a
 * new anchor replaces the chain, but never with an older version.
 */
export function nextTrust(context: TrustChainInput): NextTrust {
  const { current, anchor, candidate } = context;
  if (candidate === "unusable") return refused("FLT1221", `trust/root.yaml cannot be used; ${restore(current)}`);
  if (candidate === null) {
    if (current === null && anchor === null) return { kind: "kept", trust: null };
    return refused("FLT1221", `trust/root.yaml is not there; ${restore(current)}`);
  }
  if (current !== null && candidate.digest === current.digest) return { kind: "kept", trust: current };
  if (current !== null && candidate.version <= current.version) return backwards(current, candidate);
  const span = spanObjection(candidate, context.now);
  if (span !== null) return { kind: "refused", denial: span };
  if (candidate.digest === anchor) return { kind: "accepted", trust: candidate, by: "anchor" };
  return current === null ? unanchored(anchor, candidate) : succeed(current, candidate, context);
}

const refused = (code: DenialCode, because: string): NextTrust => ({ kind: "refused", denial: denied(code, because) });

const restore = (current: Trust | null): string =>
  current === null
    ? "put the file there whose SHA-256 is the trust anchor"
    : `restore version ${current.version}, whose SHA-256 is ${current.digest}`;

function backwards(current: Trust, candidate: Trust): NextTrust {
  const way = candidate.version < current.version ? "goes back to" : "is another text of";
  return refused("FLT1220", `trust/root.yaml ${way} version ${candidate.version}; ${restore(current)}`);
}

/** Two years (`trust/README.md#the-trust-file`), and a day for clocks that differ. */
const longestSpan = 732 * 86_400_000;

function spanObjection({ expires }: Trust, now: Instant): Denial | null {
  const at = `trust/root.yaml expires at ${instantText(expires)}`;
  if (expires <= now) return denied("FLT1225", `${at}, which is over; set a later moment and sign it again`);
  if (expires - now > longestSpan) return denied("FLT1225", `${at}; two years ahead is the most`);
  return null;
}

function unanchored(anchor: Digest | null, { digest }: Trust): NextTrust {
  const found = `trust/root.yaml has the SHA-256 ${digest}`;
  return refused(
    "FLT1235",
    anchor === null
      ? `${found}, and nobody vouches for it; check the file, then give --trust-anchor ${digest}`
      : `${found}, and the trust anchor is ${anchor}; restore that file, or check this one and give its digest`,
  );
}

function succeed(current: Trust, candidate: Trust, context: TrustChainInput): NextTrust {
  const next = current.version + 1;
  if (candidate.version !== next)
    return refused("FLT1220", `trust/root.yaml is version ${candidate.version}; the next one is ${next}`);
  if (candidate.previous !== current.digest) {
    const fix = `write the SHA-256 of version ${current.version}: ${current.digest}`;
    return refused("FLT1220", `trust/root.yaml names another version before it; ${fix}`);
  }
  const objection = introducersObjection(context.introducers);
  if (objection !== null) return { kind: "refused", denial: objection };
  const missing = rootsObjection(current, current, context) ?? rootsObjection(candidate, current, context);
  if (missing !== null) return { kind: "refused", denial: missing };
  return { kind: "accepted", trust: candidate, by: rootsThatSigned(current, current, context) };
}

/** A commit that changes `trust/` changes nothing else and is no merge (`trust/README.md#t-08`, `#t-11`). */
function introducersObjection(introducers: readonly CommitFact[]): Denial | null {
  if (introducers.length === 0) return denied("FLT1236", "nobody knows which commit brought trust/root.yaml");
  for (const { commit, parents, changes } of introducers) {
    const short = commit.slice(0, 12);
    const fix = "commit trust/ alone, and with a text that was not there before";
    if (parents.length > 1)
      return denied("FLT1236", `merge ${short} itself changes trust/root.yaml; ${fix}, then merge that`);
    if (!changes.some((it) => it.path === "trust/root.yaml" && it.after !== null))
      return denied("FLT1236", `commit ${short} does not bring trust/root.yaml; ${fix}`);
    const other = changes.find((it) => !it.path.startsWith("trust/"));
    if (other !== undefined) return denied("FLT1236", `commit ${short} changes trust/ and ${other.path}; ${fix}`);
  }
  return null;
}

function rootsObjection(of: Trust, current: Trust, context: TrustChainInput): Denial | null {
  const { principals } = of.roots;
  const threshold = Math.max(1, of.roots.threshold);
  const have = rootsThatSigned(of, current, context);
  if (have.length >= threshold) return null;
  const signed = have.length === 0 ? "nobody" : have.join(", ");
  const missing = principals.filter((it) => !have.includes(it)).join(", ");
  const count = `${have.length} of the ${threshold} roots that version ${of.version} asks for`;
  return denied("FLT1222", `trust/root.yaml is signed by ${count} (${signed}); it needs the signature of ${missing}`);
}

/** The roots of a version that signed the candidate, each once. Keys that either version revokes do not count. */
function rootsThatSigned(
  of: Trust,
  current: Trust,
  { candidate, signatures, now }: TrustChainInput,
): readonly string[] {
  const later = candidate === "unusable" || candidate === null ? [] : candidate.revocations;
  const trust = { principals: of.principals, revocations: [...current.revocations, ...later] };
  const names = new Set<string>();
  for (const { path, fact } of signatures) {
    const signer = signerOf(fact, { trust, namespace: trustNamespace, what: path, now });
    if (signer.kind === "denied" || !signer.principal.isHuman) continue;
    if (of.roots.principals.includes(signer.principal.name)) names.add(signer.principal.name);
  }
  return [...names].sort(compareText);
}
