import type { ApprovalRule, ProtectedTarget, Trust } from "../model/trust.ts";
import type { ClusterName, DurationMs } from "../model/value.ts";
import { matchesAnyPattern, matchesPattern, stageRules } from "./rules.ts";

/** A member without its labels: whoever may edit those could remove its protection (`trust/README.md#t-33`). */
export interface ProtectedCluster {
  readonly name: ClusterName;
  /** UID of its namespace `kube-system`, as recorded when it joined; null before. */
  readonly uid: string | null;
  /** Other present and former names of that cluster. */
  readonly formerly: readonly ClusterName[];
}

/** The protected targets that a change of these namespaces in a member affects, in order (`trust/README.md#d-17`). */
export function targetsReached(
  trust: Pick<Trust, "protectedTargets">,
  cluster: ProtectedCluster,
  namespaces: Iterable<string | null>,
): readonly ProtectedTarget[] {
  const targets = trust.protectedTargets.filter((it) => guards(it, cluster));
  if (targets.length === 0) return [];
  const names = [...new Set(namespaces)];
  return targets.filter((target) => names.some((it) => it === null || matchesAnyPattern(target.namespaces, it)));
}

/** Whether a target covers a cluster by a present or former name: renaming does not remove protection. */
const guards = ({ clusters, released = [] }: ProtectedTarget, { name, uid, formerly }: ProtectedCluster): boolean =>
  [name, ...(uid === null || released.includes(uid) ? [] : formerly)].some((known) =>
    clusters.some((pattern) => means(pattern, { name: known, uid })),
  );

/** Whether a cluster is protected by its present name, whatever it was called before. */
export const isProtectedByName = (
  { protectedTargets }: Pick<Trust, "protectedTargets">,
  name: ClusterName,
  uid: string,
): boolean =>
  protectedTargets.some(
    ({ clusters, released = [] }) =>
      !released.includes(uid) && clusters.some((pattern) => means(pattern, { name, uid }) && !isOf(pattern, uid)),
  );

/** A pattern with the UID covers the cluster under every name. */
const isOf = (pattern: string, uid: string): boolean => pattern.endsWith(`@${uid}`);

/** By name or UID: a renamed member stays protected, and so do one under its name and one whose UID is not known. */
function means(pattern: string, { name, uid }: Omit<ProtectedCluster, "formerly">): boolean {
  const at = pattern.indexOf("@");
  if (at < 0) return matchesPattern(pattern, name);
  return pattern.slice(0, at) === name || uid === null || pattern.slice(at + 1) === uid;
}

export interface RequestSubject {
  /** As a placement's key. */
  readonly placement: string;
  /** Null for a change outside of runs, which only protection requires approval for. */
  readonly stage: string | null;
  /** The protected targets that it affects. */
  readonly targets: readonly ProtectedTarget[];
}

/**
 * The rules of a request's stage and of the protected targets that it affects; without any it cannot be approved. Its
 * digest covers them: changed rules make another request (`rollout/README.md#b-22`).
 */
export function rulesFor(
  trust: Pick<Trust, "approvals">,
  { placement, stage, targets }: RequestSubject,
): readonly ApprovalRule[] {
  const protection = targets.map(protectionRule);
  if (stage === null) return protection;
  const rules = stageRules(trust, placement, stage);
  return rules.length === 0 ? [] : [...rules, ...protection];
}

/** How long a request about a protected target may stay open (`trust/README.md#d-17`). */
export const protectionAge = (24 * 3_600_000) as DurationMs;

/** A protected target as a rule: four eyes, one more for unsigned changes, a day to answer (`trust/README.md#t-32`). */
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
