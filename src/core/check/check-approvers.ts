import type { SignatureFact } from "../model/commit.ts";
import type { Intent } from "../model/intent.ts";
import type { Ledger } from "../model/ledger.ts";
import type { ObjectId } from "../model/manifest.ts";
import type {
  ApprovalRule,
  Principal,
  Proof,
  ProtectedTarget,
  Request,
  Revocation,
  Trust,
  TrustRecord,
} from "../model/trust.ts";
import type { ClusterName, Instant } from "../model/value.ts";

// What a trust file asks of an approval, for the second opinion. `core/trust` has its own way to say so.

/** Whether the trust file in force is the one that stands in the repository (`plan/README.md#d-6`). */
export const isStillInSource = ({ trust: file }: Intent, { text, trust }: TrustRecord): boolean =>
  file?.trust != null && file.trust.digest === trust.digest && file.text === text;

/** How many of whom it takes. */
export type Requirement = Omit<ApprovalRule, "placements" | "stages">;

/** Somebody who says yes, or no. */
export interface CheckedAnswer {
  readonly principal: string;
  readonly proofs: readonly Proof[];
  readonly at: Instant;
}

/** The demands of a stage: those of every rule that matches it (`trust/README.md#rules-and-demands`). */
export const stageRequirements = ({ approvals }: Trust, placement: string, stage: string): readonly Requirement[] =>
  approvals.filter((it) => isAmong(it.placements, placement) && isAmong(it.stages, stage));

/**
 * What a protected target demands: four eyes, one more for what nobody signed, and a day to answer
 * (`trust/README.md#d-17`).
 */
export const targetRequirement = ({ principals, minimum, accept }: ProtectedTarget): Requirement => ({
  principals,
  minimum,
  accept,
  fourEyes: true,
  unsignedChanges: "oneMore",
  maxAge: 86_400_000 as Requirement["maxAge"],
});

/** Whether a demand takes a voice at all: it is of somebody named, given in a way that is accepted. */
export const isAccepted = ({ principals, accept }: Requirement, { principal, proofs }: CheckedAnswer): boolean =>
  principals.includes(principal) && proofs.some((it) => accept.includes(it.evidence));

/** Whether so many different people say yes as a demand wants (`trust/README.md#t-06`, `#t-07`, `#t-20`). */
export function isMet(
  demand: Requirement,
  { authors, requestedAt }: Request,
  voices: readonly CheckedAnswer[],
): boolean {
  const { fourEyes, unsignedChanges, minimum, maxAge } = demand;
  const isUnsure = fourEyes && authors.unknown > 0;
  if (isUnsure && unsignedChanges === "deny") return false;
  const heard = new Set<string>();
  for (const it of voices) if (isAccepted(demand, it) && it.at - requestedAt <= maxAge) heard.add(it.principal);
  if (fourEyes) for (const name of authors.principals) heard.delete(name);
  return heard.size >= Math.max(minimum, 1) + (isUnsure && unsignedChanges === "oneMore" ? 1 : 0);
}

/** Ledgers in which a cluster may stand under one name or another: the one that is planned, and the one before it. */
export type NameLedgers = readonly Pick<Ledger, "clusters" | "formerNames">[];

/**
 * The protected targets that mean a member: by its name, by one that its cluster goes by elsewhere in the ledgers or
 * went by, or by the uid of its `kube-system` (`trust/README.md#t-33`, `#t-41`).
 */
export const targetsOn = (
  { protectedTargets }: Pick<Trust, "protectedTargets">,
  cluster: ClusterName,
  ledgers: NameLedgers,
): readonly ProtectedTarget[] => {
  const uid = ledgers[0]?.clusters.get(cluster)?.kubeSystemUid ?? null;
  const aliases = uid === null ? [] : ledgers.flatMap((it) => namesIn(it, uid));
  return protectedTargets.filter((target) => {
    const isFree = uid !== null && target.released?.includes(uid) === true;
    const called = isFree ? [cluster] : [cluster, ...aliases];
    return target.clusters.some((pattern) => {
      const [, known = null] = pattern.split("@", 2);
      // Who was never reached may be any of those that are known by their uid.
      return (known !== null && (uid === null || known === uid)) || called.some((it) => coversCluster(pattern, it));
    });
  });
};

/** Whether a pattern means whatever has a name: `name@uid` does as well. */
export const coversCluster = (pattern: string, cluster: ClusterName): boolean =>
  isAmong([pattern.split("@", 1)[0] ?? ""], cluster);

const namesIn = ({ clusters, formerNames }: NameLedgers[number], uid: string): readonly ClusterName[] => [
  ...[...clusters.values()].flatMap((it) => (it.kubeSystemUid === uid ? it.name : [])),
  ...(formerNames.get(uid)?.names ?? []),
];

/** Whether an object lies in a protected target's namespaces. What is in none may matter to all of them. */
export function coversObject({ namespaces }: ProtectedTarget, { group, kind, namespace, name }: ObjectId): boolean {
  const space = kind === "Namespace" && group === "" ? name : namespace;
  return space === null || isAmong(namespaces, space);
}

/** Names, or beginnings with a `*` behind them. */
function isAmong(patterns: readonly string[], name: string): boolean {
  for (const it of patterns) {
    if (it === name) return true;
    const star = it.length - 1;
    if (it[star] === "*" && name.slice(0, star) === it.slice(0, star)) return true;
  }
  return false;
}

// Whose signature it is, for the second opinion. `core/trust` has its own way to say so.

/** By whose keys a signature is judged. */
interface Keyring {
  readonly principals: ReadonlyMap<string, Principal>;
  readonly revocations: readonly Revocation[];
  /** Null: whatever the time of a certificate. */
  readonly now: Instant | null;
}

/** A person who signed, and the key as a proof names it. */
interface VerifiedSigner {
  readonly name: string;
  readonly key: Proof["key"];
}

/**
 * Says which person signed for this purpose; null where nobody did that counts (`trust/README.md#step-5` and
 * `#step-6`).
 */
export function verifiedSignerOf(fact: SignatureFact, purpose: string, keyring: Keyring): VerifiedSigner | null {
  if (fact.kind === "unsigned" || fact.kind === "rejected") return null;
  const certificate = fact.kind === "ssh" ? fact.certificate : null;
  if (fact.kind === "ssh" && fact.namespace !== purpose) return null;
  const named = new Set([fact.fingerprint, certificate?.authority]);
  if (keyring.revocations.some((it) => named.has(it.key))) return null;
  const everybody = [...keyring.principals.values()];
  const owner = everybody.find((it) => owns(it, fact.fingerprint, fact.kind));
  if (owner !== undefined) return owner.isHuman ? { name: owner.name, key: fact.fingerprint } : null;
  if (certificate === null) return null;
  const { authority, principals, validAfter, validBefore } = certificate;
  const { now } = keyring;
  if (now !== null && (now < validAfter || (validBefore ?? Number.POSITIVE_INFINITY) <= now)) return null;
  const [one, other] = everybody.filter((it) => principals.includes(it.name) && it.sshAuthorities.includes(authority));
  if (one === undefined || other !== undefined || !one.isHuman) return null;
  return { name: one.name, key: `${fact.fingerprint} by ${authority}` };
}

const owns = ({ sshKeys, openPgp }: Principal, key: string, kind: "ssh" | "openpgp"): boolean =>
  kind === "ssh" ? sshKeys.includes(key) : openPgp.has(key);

/** Whether the key of a proof, or its authority's, is in wrong hands. */
export const isCompromised = ({ key }: Proof, revocations: readonly Revocation[]): boolean =>
  revocations.some(
    (it) =>
      it.kind === "compromised" && (key === it.key || key.startsWith(`${it.key} by `) || key.endsWith(` by ${it.key}`)),
  );
