import type { ApprovalRule, ProtectedTarget, Trust } from "../model/trust.ts";
import { type ClusterName, compareText, type DurationMs } from "../model/value.ts";
import { matches, matchesAny } from "./pattern.ts";
import { requiredBy } from "./rules.ts";

/** A member as protection sees it. Never by its labels: whoever may edit those could take it out (T-33). */
export interface ProtectedCluster {
  readonly name: ClusterName;
  /** Of its namespace `kube-system`, as recorded when it joined; null before. */
  readonly uid: string | null;
}

/**
 * Where something would change in a member.
 *
 * Namespaces are those of the objects, before as well as after, so that what is taken away counts. A Namespace is passed
 * as its own name, and null stands for any other object of no namespace: that one may matter to all of them.
 */
export interface Reach {
  readonly cluster: ProtectedCluster;
  readonly namespaces: Iterable<string | null>;
}

/** A protected target, and what of it a change reaches. */
export interface ReachedTarget {
  readonly target: ProtectedTarget;
  /** By name. */
  readonly clusters: readonly ClusterName[];
}

/** The protected targets that a change of these namespaces in a member reaches, in the order of the file (D-17). */
export function protects(
  trust: Pick<Trust, "protectedTargets">,
  cluster: ProtectedCluster,
  namespaces: Iterable<string | null>,
): readonly ProtectedTarget[] {
  const targets = trust.protectedTargets.filter((it) => it.clusters.some((pattern) => means(pattern, cluster)));
  if (targets.length === 0) return [];
  const names = [...new Set(namespaces)];
  return targets.filter((target) => names.some((it) => it === null || matchesAny(target.namespaces, it)));
}

/** `name@uid` means either: a member that is renamed, or another one under its name, stays protected. */
function means(pattern: string, { name, uid }: ProtectedCluster): boolean {
  const at = pattern.indexOf("@");
  if (at < 0) return matches(pattern, name);
  return pattern.slice(0, at) === name || (uid !== null && pattern.slice(at + 1) === uid);
}

/**
 * Every protected target that any of the changes reaches, with the clusters in which it does: the union over a whole
 * plan, whichever path each change takes (`security.md` D-17; T-32, T-34).
 */
export function reachedBy(trust: Pick<Trust, "protectedTargets">, changes: Iterable<Reach>): readonly ReachedTarget[] {
  if (trust.protectedTargets.length === 0) return [];
  const reached = new Map<ProtectedTarget, Set<ClusterName>>();
  for (const { cluster, namespaces } of changes)
    for (const target of protects(trust, cluster, namespaces)) {
      const clusters = reached.get(target) ?? new Set();
      reached.set(target, clusters.add(cluster.name));
    }
  return trust.protectedTargets.flatMap((target) => {
    const clusters = reached.get(target);
    return clusters === undefined ? [] : [{ target, clusters: [...clusters].sort(compareText) }];
  });
}

/**
 * What has been approved does not cover: the targets that are reached and are not among the granted ones in all the
 * clusters reached. What is empty may go ahead.
 */
export function uncovered(
  reached: readonly ReachedTarget[],
  granted: readonly ReachedTarget[],
): readonly ReachedTarget[] {
  return reached.flatMap(({ target, clusters }) => {
    const covered = new Set(granted.filter((it) => saysTheSame(it.target, target)).flatMap((it) => it.clusters));
    const left = clusters.filter((it) => !covered.has(it));
    return left.length === 0 ? [] : [{ target, clusters: left }];
  });
}

/** A target that was changed in the meantime is another one. Built in one order of fields: equal texts, equal targets. */
const saysTheSame = (a: ProtectedTarget, b: ProtectedTarget): boolean => JSON.stringify(a) === JSON.stringify(b);

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
 * Every rule that a request has to meet: those of its stage, and those of the protected targets that it reaches.
 *
 * The digest of the request is over them, too: a rule that changes makes another request (`RULINGS.md` B 22).
 */
export const rulesFor = (
  trust: Pick<Trust, "approvals">,
  { placement, stage, targets }: RequestSubject,
): readonly ApprovalRule[] => [
  ...(stage === null ? [] : requiredBy(trust, placement, stage)),
  ...targets.map(protectionRule),
];

/**
 * A protected target as a rule for the count: with four eyes, one more approval for what nobody signed, and a day to
 * answer. Protection that the one who made the change could lift alone would be none (T-32).
 */
export const protectionRule = ({ principals, minimum, accept }: ProtectedTarget): ApprovalRule => ({
  placements: ["*"],
  stages: ["*"],
  principals,
  minimum,
  fourEyes: true,
  unsignedChanges: "oneMore",
  accept,
  maxAge: (24 * 3_600_000) as DurationMs,
});
