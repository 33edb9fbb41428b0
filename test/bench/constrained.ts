import type { MemberCluster } from "../../src/core/model/fleet.ts";
import type { PlacementPolicy } from "../../src/core/model/placement.ts";
import { type Candidate, candidateOf } from "../../src/core/schedule/framework/cycle.ts";

/** The same members with regions, zones, and properties of which no two are alike. */
export const withProperties = (clusters: Iterable<MemberCluster>): readonly Candidate[] =>
  [...clusters].map((cluster, at) =>
    candidateOf(
      {
        ...cluster,
        labels: { ...cluster.labels, region: `region-${at % 7}`, zone: `zone-${at % 21}`, tier: `tier-${at % 3}` },
        properties: {
          "kubernetes-fleet.io/node-count": { value: String(3 + ((at * 37) % 50)), observedAt: null },
          "kubernetes.azure.com/per-cpu-core-cost": { value: `0.${100 + ((at * 7919) % 900)}`, observedAt: null },
        },
      },
      null,
    ),
  );

/** Three preferred terms, two spread constraints, and a required property. */
export const constrainedPolicy = (numberOfClusters: number, shift: number): PlacementPolicy => ({
  kind: "PickN",
  numberOfClusters,
  required: [
    {
      labelSelector: null,
      properties: [{ name: "kubernetes-fleet.io/node-count", operator: "Ge", value: "5" }],
    },
  ],
  preferred: [
    { weight: 10, preference: { labelSelector: { matchLabels: { tier: `tier-${shift % 3}` } }, sorter: null } },
    {
      weight: 50,
      preference: { labelSelector: null, sorter: { name: "kubernetes-fleet.io/node-count", order: "Descending" } },
    },
    {
      weight: 30,
      preference: {
        labelSelector: { matchLabels: { tier: `tier-${(shift + 1) % 3}` } },
        sorter: { name: "kubernetes.azure.com/per-cpu-core-cost", order: "Ascending" },
      },
    },
  ],
  spread: [
    { topologyKey: "region", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" },
    { topologyKey: "zone", maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway" },
  ],
  tolerations: [],
});
