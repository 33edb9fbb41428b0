import type { ClusterResourcePlacementEviction as WrittenEviction } from "#schemas/cluster-resource-placement-eviction";
import schema from "../../../../schemas/cluster-resource-placement-eviction.json" with { type: "json" };
import { placementGroup } from "../../model/names.ts";
import { type Eviction, placementKey } from "../../model/placement.ts";
import type { ClusterName } from "../../model/value.ts";
import type { FieldProblems } from "../../yaml/problems.ts";
import { immutableProblems } from "./fields.ts";
import { type ContentOf, type ReadKind, selectsNothing } from "./kind.ts";
import { commonProblems, dnsLabelProblems } from "./metadata.ts";

/** Taking a placement off one cluster. */
export const placementEvictionKind: ReadKind<WrittenEviction, ContentOf<"eviction">> = {
  names: [
    {
      group: placementGroup,
      kind: "ClusterResourcePlacementEviction",
      scope: "Cluster",
      versions: ["v1alpha1", "v1beta1"],
    },
  ],
  schema,
  ownPlace: null,
  rules: (it) => evictionProblems(it),
  content: (it) => ({ kind: "eviction", eviction: evictionFrom(it) }),
  updateRules: (before, after) => evictionUpdateProblems(before.eviction, after.eviction),
  selectionRules: selectsNothing,
};

const evictionFrom = ({ metadata, spec }: WrittenEviction): Omit<Eviction, "source"> => ({
  name: metadata.name,
  placement: placementKey(null, spec.placementName),
  cluster: spec.clusterName as ClusterName,
});

/** Checks an eviction that its schema has passed: `intent/README.md#v-crpe-01`. */
const evictionProblems = (eviction: WrittenEviction): FieldProblems => [
  ...commonProblems(eviction),
  ...dnsLabelProblems(eviction.spec.placementName, ["spec", "placementName"]),
  ...dnsLabelProblems(eviction.spec.clusterName, ["spec", "clusterName"]),
];

/** `intent/README.md#v-crpe-02`: an eviction does not change. */
const evictionUpdateProblems = (before: Omit<Eviction, "source">, after: Omit<Eviction, "source">): FieldProblems =>
  immutableProblems("an eviction", [
    ["placementName", before.placement, after.placement],
    ["clusterName", before.cluster, after.cluster],
  ]);
