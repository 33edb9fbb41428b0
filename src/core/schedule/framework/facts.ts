import type { MemberCluster, MemberProperty } from "../../model/fleet.ts";
import { remembered, rememberedPair } from "../../model/identity.ts";
import type { ClusterRecord, CollectionRecord, PropertyOrigin } from "../../model/ledger.ts";
import { resourcePrefix } from "../../model/names.ts";
import type { MemberProperties } from "../../model/observation.ts";
import type { Labels } from "../../model/value.ts";

/** What is known of a member beside its labels and taints. */
export interface MemberFacts {
  /** By the name under which policies ask for them (`schedule/README.md#properties`). */
  readonly properties: ReadonlyMap<string, MemberProperty>;
  /** Who says a property: the cluster itself, or a provider. What is not named here stands in the member's file. */
  readonly origins: ReadonlyMap<string, "cluster" | PropertyOrigin>;
  /** What its nodes tell of where it is; the file's label wins (`members/README.md#labels`). Affinity alone matches it. */
  readonly labels: Labels;
  /** Null where namespaces are not reported: then NamespaceAffinity asks nothing of the member. */
  readonly namespaces: MemberNamespaces | null;
}

/** The namespaces that a member reports. */
export interface MemberNamespaces {
  /** By name, with whatever is said of each; null where it reports that it does, and lists none (case `schedule/README.md#m1`). */
  readonly names: ReadonlyMap<string, string> | null;
  /** It has more than are listed (`schedule/README.md#a-55`). */
  readonly isCut: boolean;
}

/** What the member's file declares: properties and, under their names as properties, capacities. */
export const declaredFacts = remembered((cluster: MemberCluster): MemberFacts => {
  const {
    properties,
    resourceUsage: { capacity, allocatable, available, observedAt },
  } = cluster;
  const found = new Map<string, MemberProperty>();
  for (const [name, it] of Object.entries(properties)) if (!name.startsWith(resourcePrefix)) found.set(name, it);
  for (const [kind, amounts] of Object.entries({ total: capacity, allocatable, available }))
    for (const [resource, value] of Object.entries(amounts))
      found.set(`${resourcePrefix}${kind}-${resource}`, { value, observedAt });
  return { properties: found, origins: new Map(), labels: cluster.labels, namespaces: null };
});

/** What is recorded of a member, and where nothing is, what its file declares (`members/README.md#precedence`). */
export const factsOfMember = (
  cluster: MemberCluster,
  { properties, collection, namespaces }: RecordedMember,
): MemberFacts => {
  const facts =
    properties.size === 0 && collection.labels.size === 0
      ? declaredFacts(cluster)
      : mergedFacts(cluster, properties)(collection);
  return namespaces === null ? facts : withNamespaces(facts, namespaces);
};

const withNamespaces = rememberedPair(
  (facts: MemberFacts, namespaces: MemberNamespaces): MemberFacts => ({ ...facts, namespaces }),
);

/** What decisions see of a member's record. */
export type RecordedMember = Pick<ClusterRecord, "contactFailure" | "properties" | "collection" | "namespaces">;

const mergedFacts = rememberedPair((cluster: MemberCluster, recorded: MemberProperties) =>
  remembered(({ labels, origins: of }: CollectionRecord): MemberFacts => {
    const declared = declaredFacts(cluster);
    const found = new Map(declared.properties);
    for (const [name, value] of recorded) found.set(name, { value, observedAt: null });
    const origins = new Map([...recorded.keys()].map((name) => [name, of.get(name) ?? "cluster"] as const));
    return { ...declared, properties: found, origins, labels: { ...Object.fromEntries(labels), ...cluster.labels } };
  }),
);
