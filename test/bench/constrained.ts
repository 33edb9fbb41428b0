import type { File } from "./workload.ts";

/** What sets one member apart from what {@link constrainedCluster} says of it by its place alone. */
interface Special {
  readonly team?: string;
  readonly tier?: string;
  readonly nodes?: number;
}

/** How many nodes a member has by its place. */
export const nodesAt = (at: number): number => 3 + ((at * 37) % 50);

/** A member with regions, zones and tiers, and with properties of which no two are alike. */
export function constrainedCluster(name: string, at: number, { team, tier, nodes }: Special = {}): File {
  const observed = 'observationTime: "2026-11-02T08:00:00Z"';
  const text = `apiVersion: cluster.kubernetes-fleet.io/v1beta1
kind: MemberCluster
metadata:
  name: ${name}
  labels:
    region: region-${at % 7}
    zone: zone-${at % 21}
    tier: ${tier ?? `tier-${at % 3}`}
    team: ${team ?? "green"}
spec:
  identity:
    kind: ServiceAccount
    name: ${name}
    namespace: fleet-system
status:
  properties:
    kubernetes-fleet.io/node-count: {value: "${nodes ?? nodesAt(at)}", ${observed}}
    kubernetes.azure.com/per-cpu-core-cost: {value: "0.${100 + ((at * 7919) % 900)}", ${observed}}
`;
  return [`clusters/${name}.yaml`, text];
}

/**
 * A placement with three preferred terms, two spread constraints and a required property, by the number of its policy. It
 * waits for a run that nobody makes: what it costs is to schedule it.
 */
export function constrainedPlacement(index: number, policy: number, picks: number): File {
  const name = `constrained-${String(index).padStart(4, "0")}`;
  const text = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata:
  name: ${name}
spec:
  resourceSelectors:
    - {group: "", version: v1, kind: Namespace, name: ${name}}
  strategy:
    type: External
  policy:
    placementType: PickN
    numberOfClusters: ${picks}
    affinity:
      clusterAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          clusterSelectorTerms:
            - propertySelector:
                matchExpressions:
                  - {name: kubernetes-fleet.io/node-count, operator: Ge, values: ["${4 + (policy % 3)}"]}
        preferredDuringSchedulingIgnoredDuringExecution:
          - weight: ${1 + (policy % 40)}
            preference:
              labelSelector: {matchLabels: {tier: tier-${policy % 3}}}
          - weight: ${50 + (Math.floor(policy / 40) % 50)}
            preference:
              propertySorter: {name: kubernetes-fleet.io/node-count, sortOrder: Descending}
          - weight: 30
            preference:
              labelSelector: {matchLabels: {tier: tier-${(policy + 1) % 3}}}
              propertySorter: {name: kubernetes.azure.com/per-cpu-core-cost, sortOrder: Ascending}
    topologySpreadConstraints:
      - {topologyKey: region, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}
      - {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}
`;
  return [`placements/${name}.yaml`, text];
}
