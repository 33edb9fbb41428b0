import { remembered, sameList, sameMap } from "../../model/identity.ts";
import { type FormerNames, type Ledger, maxFormerNames } from "../../model/ledger.ts";
import type { Trust } from "../../model/trust.ts";
import { type ClusterName, compareText, type Sequence } from "../../model/value.ts";
import { isProtectedByName, type ProtectedCluster } from "../../trust/protected.ts";

/** A member with every name by which protection may know the cluster that it is (`trust/README.md#t-33`). */
export function protectedCluster(
  name: ClusterName,
  { clusters, formerNames }: Pick<Ledger, "clusters" | "formerNames">,
): ProtectedCluster {
  const uid = clusters.get(name)?.kubeSystemUid ?? null;
  if (uid === null) return { name, uid, formerly: [] };
  const others = namesByUid(clusters).get(uid) ?? [];
  const formerly = [...others.filter((it) => it !== name), ...(formerNames.get(uid)?.names ?? [])];
  return { name, uid, formerly };
}

/** A member that was never reached may turn out to be any cluster, one that is protected included. */
export const isUnknown = (name: ClusterName, { clusters }: Pick<Ledger, "clusters">): boolean =>
  clusters.get(name)?.kubeSystemUid === null;

/** Members by the cluster that they are. Two names for one cluster are possible while one of them leads elsewhere. */
const namesByUid = remembered((clusters: Ledger["clusters"]): ReadonlyMap<string, readonly ClusterName[]> => {
  const names = new Map<string, ClusterName[]>();
  for (const { name, kubeSystemUid: uid } of clusters.values())
    if (uid !== null) names.set(uid, [...(names.get(uid) ?? []), name]);
  return names;
});

/** What former names follow from, besides the members as they are now. */
interface FormerNamesContext {
  readonly before: Pick<Ledger, "clusters" | "formerNames">;
  /** The trust file in force; null: nobody said what is protected. */
  readonly trust: Trust | null;
  readonly sequence: Sequence;
}

/**
 * The names under which clusters were protected and are no members any more. One is kept while the trust file in force
 * protects it and does not release the cluster, so that it is lifted by those who may change that file, and by them alone.
 */
export function nextFormerNames(
  clusters: Ledger["clusters"],
  { before, trust, sequence }: FormerNamesContext,
): Ledger["formerNames"] {
  const { formerNames } = before;
  if (trust === null || (clusters === before.clusters && isCurrent(formerNames, trust))) return formerNames;
  const next = new Map<string, FormerNames>();
  for (const it of formerNames.values()) {
    const names = it.names.filter((name) => isProtectedByName(trust, name, it.uid));
    if (names.length > 0) next.set(it.uid, sameList(names, it.names) ? it : { ...it, names });
  }
  for (const { name, kubeSystemUid: uid } of before.clusters.values()) {
    if (uid === null || clusters.get(name)?.kubeSystemUid === uid || !isProtectedByName(trust, name, uid)) continue;
    const names = next.get(uid)?.names ?? [];
    if (addsNothing({ name, uid }, names, trust)) continue;
    next.set(uid, { uid, names: [...names, name].sort(compareText), since: sequence });
  }
  const kept = new Map(newest([...next.values()]).map((it) => [it.uid, it]));
  return sameMap(kept, formerNames) ? formerNames : kept;
}

/** Every name that is kept is one that counts. */
const isCurrent = (formerNames: Ledger["formerNames"], trust: Trust): boolean =>
  [...formerNames.values()].every(({ uid, names }) => names.every((it) => isProtectedByName(trust, it, uid)));

/** Whether all that protects a name protects one of these as well: a cluster that is renamed for ever has few of them. */
const addsNothing = (
  { name, uid }: { readonly name: ClusterName; readonly uid: string },
  names: readonly ClusterName[],
  { protectedTargets }: Trust,
): boolean =>
  protectedTargets.every((it) => {
    const only = { protectedTargets: [it] };
    return !isProtectedByName(only, name, uid) || names.some((known) => isProtectedByName(only, known, uid));
  });

const newest = (all: readonly FormerNames[]): readonly FormerNames[] =>
  [...all]
    .sort((a, b) => b.since - a.since || compareText(a.uid, b.uid))
    .slice(0, maxFormerNames)
    .sort((a, b) => compareText(a.uid, b.uid));
