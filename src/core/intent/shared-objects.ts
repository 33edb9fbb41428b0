import { remembered } from "../model/identity.ts";
import type { Intent } from "../model/intent.ts";
import type { Placement, PlacementPolicy, ResourceSelector } from "../model/placement.ts";
import { type ClusterName, compareText } from "../model/value.ts";
import { type FieldProblems, warning } from "../yaml/problems.ts";

/**
 * Warns of objects that another placement, first by name, selects as well for the same cluster: one of them keeps them there
 * (`plan/README.md#hand-over`), which the record alone can tell. Only of what both name, and of policies that pick for certain: by labels, that is seen once it is
 * scheduled, and `plan` says it.
 */
export function sharedObjectAdvice(
  placement: Omit<Placement, "source">,
  { placements, clusters }: Pick<Intent, "placements" | "clusters">,
): FieldProblems {
  const own = certainClusters(placement.spec.policy, clusters);
  if (own.length === 0) return [];
  const byName = placementsByName(placements);
  return placement.spec.resourceSelectors.flatMap((selector, at) => {
    const other = namesOf(selector, placement)
      .flatMap((it) => byName.get(it) ?? [])
      .filter((it) => it.key < placement.key)
      .sort((a, b) => compareText(a.key, b.key))
      .find((it) => it.spec.resourceSelectors.some((theirs) => isShared(selector, placement, theirs, it)));
    if (other === undefined) return [];
    const theirs = new Set(certainClusters(other.spec.policy, clusters));
    const shared = own.filter((it) => theirs.has(it));
    if (shared.length === 0) return [];
    const where =
      shared.length === 1 ? `the cluster ${shared[0]}` : `${shared.length} clusters, ${shared[0]} among them`;
    const theOther = `placement ${other.key} (${other.source.path})`;
    const keeper = `whoever of the two has it keeps it, and ${other.key} gets it where neither does`;
    const message = `selects for ${where} what ${theOther} selects as well: ${keeper}`;
    return [warning("FLT1342", ["spec", "resourceSelectors", at], message, "leave it out of one of them")];
  });
}

/** Placements by what their selectors name: looking through all of them for each one would take far too long. */
const placementsByName = remembered((placements: Intent["placements"]): ReadonlyMap<string, readonly Placement[]> => {
  const byName = new Map<string, Placement[]>();
  for (const it of placements.values())
    for (const name of new Set(it.spec.resourceSelectors.flatMap((selector) => namesOf(selector, it)))) {
      const known = byName.get(name);
      if (known === undefined) byName.set(name, [it]);
      else known.push(it);
    }
  return byName;
});

/** What a selector has in common with every other one that it shares objects with: a name, or the namespace around it. */
const namesOf = ({ group, kind, name }: ResourceSelector, { namespace }: Owner): readonly string[] => [
  ...(name === null ? [] : [`${group}/${kind}/${name}`]),
  ...(namespace === null ? [] : [`/Namespace/${namespace}`]),
];

/** The clusters that a policy picks as long as they are well, whatever else is there: taints are left to the scheduler. */
function certainClusters(policy: PlacementPolicy, clusters: Intent["clusters"]): readonly ClusterName[] {
  if (policy.kind === "PickFixed") return policy.clusterNames.filter((it) => clusters.has(it));
  return policy.kind === "PickAll" && policy.required.length === 0 ? [...clusters.keys()] : [];
}

type Owner = Pick<Placement, "scope" | "namespace">;

/** Whether two selectors name the same object, or one of them everything in a namespace that the other one selects in. */
function isShared(a: ResourceSelector, of: Owner, b: ResourceSelector, by: Owner): boolean {
  if (a.group === b.group && a.kind === b.kind && a.name !== null && a.name === b.name)
    return of.scope === by.scope && of.namespace === by.namespace;
  return holds(a, of, by) || holds(b, by, of);
}

const holds = ({ group, kind, name, selectionScope }: ResourceSelector, { scope }: Owner, inside: Owner): boolean =>
  scope === "Cluster" &&
  group === "" &&
  kind === "Namespace" &&
  selectionScope === "NamespaceWithResources" &&
  name !== null &&
  name === inside.namespace;
