import type { JsonObject } from "../../core/model/json.ts";
import type {
  ApprovalRule,
  Principal,
  ProtectedTarget,
  Revocation,
  Trust,
  TrustRecord,
} from "../../core/model/trust.ts";
import { type Instant, instantText } from "../../core/model/value.ts";
import { quorumFindings } from "../../core/trust/quorum.ts";
import type { SignedBy } from "../edits/trust-signers.ts";
import { durationText } from "./duration-text.ts";

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
      "what that comes to",
      quorumFindings(trust).map((it) => it.message),
    ),
    ...section(
      "revocations",
      revocations.map(({ key, kind }) => `${key} ${kind}`),
    ),
  ];
}

function inForceText({ digest }: Trust, record: TrustRecord | null): string {
  if (record === null) return "in force: none; flotilla reconcile --trust-anchor with the digest above begins";
  const { trust, since, by } = record;
  const whose = by === "anchor" ? "by the operator's anchor" : `signed by ${by.join(", ")}`;
  const is =
    trust.digest === digest ? "this version" : `version ${trust.version}, SHA-256 ${trust.digest}, not this one`;
  return `in force: ${is}, since ledger ${since}, ${whose}`;
}

const signedText = ({ path, signer }: SignedBy): string =>
  signer.kind === "denied"
    ? `${path}: counts for nothing: ${signer.because}`
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

/** An approval rule in one line. */
export const ruleText = (rule: ApprovalRule): string =>
  `placements ${rule.placements.join(" ")}, stages ${rule.stages.join(" ")}: ${termsText(rule)}`;

/** The rule that comes of a protected target, in one line. */
export const protectionText = ({ clusters, namespaces }: ProtectedTarget, rule: ApprovalRule): string =>
  `protected clusters ${clusters.join(" ")}, namespaces ${namespaces.join(" ")}: ${termsText(rule)}`;

function termsText({ fourEyes, unsignedChanges, maxAge, ...voters }: ApprovalRule): string {
  const unsigned = { deny: "refused", oneMore: "one approval more", allow: "as if signed" }[unsignedChanges];
  const eyes = fourEyes ? `four eyes, unsigned changes: ${unsigned}` : "also one's own changes";
  return `${votersText(voters)}; ${eyes}; within ${durationText(maxAge)}`;
}

/** A protected target in one line. */
export const targetText = ({ clusters, namespaces, released = [], ...voters }: ProtectedTarget): string => {
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
    approvals: approvals.map(({ maxAge, target: _, ...it }) => ({ ...it, maxAge: durationText(maxAge) })),
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
