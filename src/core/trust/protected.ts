import type { ApprovalRule, ProtectedTarget, Trust } from "../model/trust.ts";
import type { ClusterName, DurationMs } from "../model/value.ts";
import { matchesAnyPattern, matchesPattern, requiredBy } from "./rules.ts";

/**
 * A member as protection sees it. Never by its labels: whoever may edit those could take it out
 * (`trust/README.md#t-33`).
 */
export interface ProtectedCluster {
  readonly name: ClusterName;
  /** Of its namespace `kube-system`, as recorded when it joined; null before. */
  readonly uid: string | null;
  /** Other names under which that cluster is a member, or was one. */
  readonly formerly: readonly ClusterName[];
}

/**
 * The protected targets that a change of these namespaces in a member reaches, in the order of the file
 * (`trust/README.md#d-17`).
 */
export function protects(
  trust: Pick<Trust, "protectedTargets">,
  cluster: ProtectedCluster,
  namespaces: Iterable<string | null>,
): readonly ProtectedTarget[] {
  const targets = trust.protectedTargets.filter((it) => guards(it, cluster));
  if (targets.length === 0) return [];
  const names = [...new Set(namespaces)];
  return targets.filter((target) => names.some((it) => it === null || matchesAnyPattern(target.namespaces, it)));
}

/** Whether a target means a cluster, by its name or by one that it had: whoever renames it takes it out of nothing. */
const guards = ({ clusters, released = [] }: ProtectedTarget, { name, uid, formerly }: ProtectedCluster): boolean =>
  [name, ...(uid === null || released.includes(uid) ? [] : formerly)].some((known) =>
    clusters.some((pattern) => means(pattern, { name: known, uid })),
  );

/** Whether a cluster is protected by the name that it has, whatever it was called before. */
export const isProtectedByName = (
  { protectedTargets }: Pick<Trust, "protectedTargets">,
  name: ClusterName,
  uid: string,
): boolean =>
  protectedTargets.some(
    ({ clusters, released = [] }) =>
      !released.includes(uid) && clusters.some((pattern) => means(pattern, { name, uid }) && !isOf(pattern, uid)),
  );

/** What is meant by its UID is meant by that under every name. */
const isOf = (pattern: string, uid: string): boolean => pattern.endsWith(`@${uid}`);

/**
 * `name@uid` means either: a member that is renamed, or another one under its name, stays protected. So does one that has
 * not answered yet, until it is known who it is.
 */
function means(pattern: string, { name, uid }: Omit<ProtectedCluster, "formerly">): boolean {
  const at = pattern.indexOf("@");
  if (at < 0) return matchesPattern(pattern, name);
  return pattern.slice(0, at) === name || uid === null || pattern.slice(at + 1) === uid;
}

/** What a request is about. */
export interface RequestSubject {
  /** As a placement's key. */
  readonly placement: string;
  /** Null for a change that no run makes: protection alone asks for that one. */
  readonly stage: string | null;
  /** The protected targets that it reaches. */
  readonly targets: readonly ProtectedTarget[];
}

/**
 * Every rule that a request has to meet: those of its stage, and those of the protected targets that it reaches. A
 * stage that no rule matchesPattern cannot be approved, whatever it reaches.
 *
 * The digest of the request is over them, too: a rule that changes makes another request (`rollout/README.md#b-22`).
 */
export function rulesFor(
  trust: Pick<Trust, "approvals">,
  { placement, stage, targets }: RequestSubject,
): readonly ApprovalRule[] {
  const protection = targets.map(protectionRule);
  if (stage === null) return protection;
  const rules = requiredBy(trust, placement, stage);
  return rules.length === 0 ? [] : [...rules, ...protection];
}

/** How long a request about something protected may stand unanswered (`trust/README.md#d-17`). */
export const protectionAge = (24 * 3_600_000) as DurationMs;

/**
 * A protected target as a rule for the count: with four eyes, one more approval for what nobody signed, and a day to
 * answer. Protection that the one who made the change could lift alone would be none (`trust/README.md#t-32`).
 */
export const protectionRule = (target: ProtectedTarget): ApprovalRule => ({
  placements: ["*"],
  stages: ["*"],
  principals: target.principals,
  minimum: target.minimum,
  fourEyes: true,
  unsignedChanges: "oneMore",
  accept: target.accept,
  maxAge: protectionAge,
  target,
});
