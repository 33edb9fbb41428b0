import { trustPath } from "../intent/trust/trust-file.ts";
import type { CommitFact } from "../model/commit.ts";
import { digestOfText, type JsonObject } from "../model/json.ts";
import type {
  ApprovalRule,
  Denial,
  DetachedSignature,
  Principal,
  ProtectedTarget,
  Revocation,
  Trust,
  TrustRecord,
} from "../model/trust.ts";
import { type BlobId, type Commit, type Instant, instantText, shortDuration } from "../model/value.ts";
import { quorumFindings } from "../trust/quorum.ts";
import { revokedBy, type Signer, signerOf } from "../trust/signer.ts";
import { type NextTrust, nextTrust, trustNamespace } from "../trust/trust-chain.ts";
import { quantity } from "./phrases.ts";

/** A trust file as a branch has it, and what is in force. */
export interface ShownTrust {
  readonly trust: Trust;
  readonly signed: readonly SignedBy[];
  /** Null while nothing is. */
  readonly record: TrustRecord | null;
  readonly now: Instant;
}

/** A trust file for people: who it is, who may change it, who may approve what. */
export function trustLines({ trust, signed, record, now }: ShownTrust): readonly string[] {
  const { version, digest, expires, roots, principals, approvals, protectedTargets, revocations } = trust;
  const section = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : [title, ...lines.map((it) => `  ${it}`)];
  return [
    `version ${version}, SHA-256 ${digest}`,
    expires > now
      ? `expires ${instantText(expires)}`
      : `expired ${instantText(expires)}: no gate opens; flotilla trust add NAME --expires 400d`,
    inForceText(trust, record),
    ...section("signatures", signed.map(signedText)),
    `roots: ${roots.threshold} of ${roots.principals.join(", ")}`,
    ...section(
      "principals",
      [...principals.values()].flatMap((it) => principalLines(it, revocations)),
    ),
    ...section("approvals", approvals.map(ruleText)),
    ...section("protected targets", protectedTargets.map(targetText)),
    ...section(
      "in effect",
      quorumFindings(trust).map((it) => it.message),
    ),
    ...section(
      "revocations",
      revocations.map(({ key, kind }) => `${key} ${kind}`),
    ),
  ];
}

function inForceText({ digest }: Trust, record: TrustRecord | null): string {
  if (record === null) return "in force: none; start with flotilla reconcile --trust-anchor and the digest above";
  const { trust, since, by } = record;
  const whose = by === "anchor" ? "by the operator's anchor" : `signed by ${by.join(", ")}`;
  const is =
    trust.digest === digest ? "this version" : `version ${trust.version}, SHA-256 ${trust.digest}, not this one`;
  return `in force: ${is}, since ledger ${since}, ${whose}`;
}

const signedText = ({ path, signer }: SignedBy): string =>
  signer.kind === "denied"
    ? `${path}: does not count: ${signer.because}`
    : `${path}: ${signer.principal.name} with ${signer.key}`;

function principalLines(principal: Principal, revocations: readonly Revocation[]): readonly string[] {
  const { name, isHuman, sshKeys, sshAuthorities, openPgp, forgeIds } = principal;
  const key = (kind: string) => (it: string) => {
    const revoked = revocations.find((revocation) => revocation.key === it);
    return `  ${kind} ${it}${revoked === undefined ? "" : ` (${revoked.kind})`}`;
  };
  return [
    isHuman ? name : `${name} (machine)`,
    ...sshKeys.map(key("ssh")),
    ...sshAuthorities.map(key("ssh authority")),
    ...[...openPgp.keys()].map(key("openpgp")),
    ...[...forgeIds].map(([forge, id]) => `  ${forge} ${id}`),
  ];
}

export const ruleText = (rule: ApprovalRule): string =>
  `placements ${rule.placements.join(" ")}, stages ${rule.stages.join(" ")}: ${ruleDetails(rule)}`;

/** The rule of a protected target, in one line. */
export const protectionText = ({ clusters, namespaces }: ProtectedTarget, rule: ApprovalRule): string =>
  `protected clusters ${clusters.join(" ")}, namespaces ${namespaces.join(" ")}: ${ruleDetails(rule)}`;

function ruleDetails({ fourEyes, unsignedChanges, maxAge, ...voters }: ApprovalRule): string {
  const unsigned = { deny: "refused", oneMore: "one more approval", allow: "as if signed" }[unsignedChanges];
  const eyes = fourEyes ? `four eyes, unsigned changes: ${unsigned}` : "own changes as well";
  return `${votersText(voters)}; ${eyes}; within ${shortDuration(maxAge)}`;
}

const targetText = ({ clusters, namespaces, released = [], ...voters }: ProtectedTarget): string => {
  const free = released.length === 0 ? "" : `; released from former names: ${released.join(" ")}`;
  return `clusters ${clusters.join(" ")}, namespaces ${namespaces.join(" ")}: ${votersText(voters)}${free}`;
};

const votersText = ({ principals, minimum, accept }: Pick<ApprovalRule, "principals" | "minimum" | "accept">): string =>
  `${minimum} of ${principals.join(", ")}; by ${accept.join(" or ")}`;

/** The same for programs. Keys by their fingerprints. */
export function trustValue({ trust, signed, record }: ShownTrust): JsonObject {
  const { version, digest, previous, expires, roots, principals, approvals, protectedTargets, revocations } = trust;
  return {
    version,
    digest,
    previous,
    expires: instantText(expires),
    threshold: roots.threshold,
    roots: roots.principals,
    principals: Object.fromEntries([...principals.values()].map((it) => [it.name, principalValue(it)])),
    approvals: approvals.map(({ maxAge, target: _, ...it }) => ({ ...it, maxAge: shortDuration(maxAge) })),
    protectedTargets: protectedTargets.map((it) => ({ ...it })),
    revocations: revocations.map((it) => ({ ...it })),
    findings: quorumFindings(trust).map((it) => ({ ...it })),
    signatures: signed.map(({ path, signer }) =>
      signer.kind === "denied"
        ? { path, principal: null, key: null, code: signer.code, because: signer.because }
        : { path, principal: signer.principal.name, key: signer.key, code: null, because: null },
    ),
    inForce:
      record === null
        ? null
        : { version: record.trust.version, digest: record.trust.digest, since: record.since, by: record.by },
  };
}

const principalValue = ({ isHuman, sshKeys, sshAuthorities, openPgp, forgeIds }: Principal): JsonObject => ({
  human: isHuman,
  keys: sshKeys,
  authorities: sshAuthorities,
  openpgp: [...openPgp.keys()],
  forge: Object.fromEntries(forgeIds),
});

/** The differences between two versions of a trust file, one per line: `+` added, `-` removed. */
export function trustDifference(before: Trust, after: Trust): readonly string[] {
  const lines = (of: (trust: Trust) => readonly string[]): readonly string[] => differing(of(before), of(after));
  const all = [
    ...lines(({ expires }) => [`expires ${instantText(expires)}`]),
    ...lines(({ roots }) => [`threshold ${roots.threshold}`]),
    ...lines(({ roots }) => roots.principals.map((it) => `root ${it}`)),
    ...lines(({ principals }) => [...principals.values()].flatMap(principalFacts)),
    ...lines(({ approvals }) => approvals.map((it) => `approval: ${ruleText(it)}`)),
    ...lines(({ protectedTargets }) => protectedTargets.map((it) => `protected: ${targetText(it)}`)),
    ...lines(({ revocations }) => revocations.map((it) => `revoked: ${it.key}, ${it.kind}`)),
  ];
  return all.length === 0 ? ["only its text"] : all;
}

function principalFacts({ name, isHuman, sshKeys, sshAuthorities, openPgp, forgeIds }: Principal): readonly string[] {
  return [
    `${name}: ${isHuman ? "a person" : "a machine"}`,
    ...sshKeys.map((it) => `${name}: ssh ${it}`),
    ...sshAuthorities.map((it) => `${name}: ssh authority ${it}`),
    // The same key may have other subkeys, or another expiry.
    ...[...openPgp].map(([key, armored]) => `${name}: openpgp ${key} (${digestOfText(armored).slice(0, 12)})`),
    ...[...forgeIds].map(([forge, id]) => `${name}: ${forge} ${id}`),
  ];
}

const differing = (before: readonly string[], after: readonly string[]): readonly string[] => [
  ...before.filter((it) => !after.includes(it)).map((it) => `- ${it}`),
  ...after.filter((it) => !before.includes(it)).map((it) => `+ ${it}`),
];

/** A version of the trust file with the one before it and its signatures. */
export interface TrustStep {
  /** The version before; null when it is the first, or when the one before is not known. */
  readonly before: Trust | null;
  readonly next: Trust;
  readonly signatures: readonly DetachedSignature[];
  readonly now: Instant;
}

/** Whose signature stands in a file under `trust/sigs/`. */
interface SignedBy {
  readonly path: string;
  readonly signer: Signer | Denial;
}

/** Who signed a version, by keys in it or in the one before; a key that either revokes belongs to nobody. */
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

/** Whether a version would come into force after the one before if committed on its own, and what is missing. */
export const nextTrustVerdict = ({ before, next, signatures, now }: TrustStep): NextTrust =>
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

/** Why a version can never follow the one before: too few roots of either have a key that neither revokes; or null. */
export function unsignable(before: Trust, next: Trust): string | null {
  const gone: readonly Revocation[] = [...before.revocations, ...next.revocations];
  for (const { version, roots, principals } of [before, next]) {
    const able = roots.principals.filter((name) => {
      const { sshKeys = [], sshAuthorities = [], openPgp = new Map() } = principals.get(name) ?? {};
      return [...sshKeys, ...sshAuthorities, ...openPgp.keys()].some((it) => revokedBy(gone, it) === null);
    });
    if (able.length < roots.threshold)
      return `${quantity(roots.threshold, "root")} of version ${version} must sign this, and it leaves only ${able.length} with a valid key`;
  }
  return null;
}
