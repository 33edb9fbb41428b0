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

// What a trust file requires of an approval. `core/trust` has its own implementation.

/** Whether the trust file in force is the one in the repository (`plan/README.md#d-6`). */
export const isStillInSource = ({ trust: file }: Intent, { text, trust }: TrustRecord): boolean =>
  file?.trust != null && file.trust.digest === trust.digest && file.text === text;

/** Who has to approve, and how many of them. */
export type Requirement = Omit<ApprovalRule, "placements" | "stages">;

/** One person's answer. */
export interface CheckedAnswer {
  readonly principal: string;
  readonly proofs: readonly Proof[];
  readonly at: Instant;
}

/** The requirements of a stage: one of every rule that matches it (`trust/README.md#rules-and-demands`). */
export const stageRequirements = ({ approvals }: Trust, placement: string, stage: string): readonly Requirement[] =>
  approvals.filter((it) => it.placements.some((of) => isFor(of, placement)) && isAmong(it.stages, stage));

/** A pattern without a namespace means no placement that is in one. */
const isFor = (pattern: string, placement: string): boolean =>
  pattern.split("/").length === placement.split("/").length && isAmong([pattern], placement);

/**
 * The requirement of a protected target: four eyes, one more approval for unsigned changes, and a day to answer
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

/** Whether the answer is of a person who may give it, in a way that is accepted. */
export const isAccepted = ({ principals, accept }: Requirement, { principal, proofs }: CheckedAnswer): boolean =>
  principals.includes(principal) && proofs.some((it) => accept.includes(it.evidence));

/** Whether enough different people approve (`trust/README.md#t-06`, `#t-07`, `#t-20`). */
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

/** The planned ledger and the one before it: a cluster may have different names in them. */
export type NameLedgers = readonly Pick<Ledger, "clusters" | "formerNames">[];

/**
 * The protected targets that cover a member: by its name, by another present or former name of its cluster, or by the
 * uid of its `kube-system` (`trust/README.md#t-33`, `#t-41`).
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
      // A member that was never reached may be any cluster that is named by its uid.
      return (known !== null && (uid === null || known === uid)) || called.some((it) => coversCluster(pattern, it));
    });
  });
};

/** Whether a pattern covers a cluster by name; `name@uid` does as well. */
export const coversCluster = (pattern: string, cluster: ClusterName): boolean =>
  isAmong([pattern.split("@", 1)[0] ?? ""], cluster);

const namesIn = ({ clusters, formerNames }: NameLedgers[number], uid: string): readonly ClusterName[] => [
  ...[...clusters.values()].flatMap((it) => (it.kubeSystemUid === uid ? it.name : [])),
  ...(formerNames.get(uid)?.names ?? []),
];

/** Whether an object lies in the namespaces of a protected target. Cluster-scoped objects lie in all of them. */
export function coversObject({ namespaces }: ProtectedTarget, { group, kind, namespace, name }: ObjectId): boolean {
  const space = kind === "Namespace" && group === "" ? name : namespace;
  return space === null || isAmong(namespaces, space);
}

/** Exact names, or prefixes that end with `*`. */
function isAmong(patterns: readonly string[], name: string): boolean {
  for (const it of patterns) {
    if (it === name) return true;
    const star = it.length - 1;
    if (it[star] === "*" && name.slice(0, star) === it.slice(0, star)) return true;
  }
  return false;
}

/** The keys that a signature is verified with. */
interface Keyring {
  readonly principals: ReadonlyMap<string, Principal>;
  readonly revocations: readonly Revocation[];
  /** Null: the validity period of a certificate does not matter. */
  readonly now: Instant | null;
}

/** The person who signed, and the key as proofs name it. */
interface VerifiedSigner {
  readonly name: string;
  readonly key: Proof["key"];
}

/**
 * The person who signed for this purpose; null without a signature that counts (`trust/README.md#step-5` and
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

/** Whether the key of a proof, or that of its authority, is compromised. */
export const usesCompromisedKey = ({ key }: Proof, revocations: readonly Revocation[]): boolean =>
  revocations.some(
    (it) =>
      it.kind === "compromised" && (key === it.key || key.startsWith(`${it.key} by `) || key.endsWith(` by ${it.key}`)),
  );
