import type { ClusterResourcePlacementEviction as WrittenEviction } from "#schemas/cluster-resource-placement-eviction";
import { type Eviction, placementKey } from "../../model/placement.ts";
import type { ClusterName } from "../../model/value.ts";
import type { FieldProblem } from "../../yaml/problems.ts";
import { immutableProblems } from "./fields.ts";
import {
  annotationProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  oldVersionProblems,
  statusProblems,
} from "./metadata.ts";

/** An eviction that has passed its schema and its rules. */
export const evictionFrom = ({ metadata, spec }: WrittenEviction): Omit<Eviction, "source"> => ({
  name: metadata.name,
  placement: placementKey(null, spec.placementName),
  cluster: spec.clusterName as ClusterName,
});

/** Checks an eviction that its schema has passed: `intent/README.md#v-crpe-01`. */
export function evictionProblems({ apiVersion, metadata, spec, status }: WrittenEviction): readonly FieldProblem[] {
  return [
    ...dnsSubdomainProblems(metadata.name),
    ...annotationProblems(metadata.annotations, []),
    ...dnsLabelProblems(spec.placementName, ["spec", "placementName"]),
    ...dnsLabelProblems(spec.clusterName, ["spec", "clusterName"]),
    ...oldVersionProblems(apiVersion, "v1beta1"),
    ...statusProblems(status),
  ];
}

/** `intent/README.md#v-crpe-02`: an eviction is one order. */
export const evictionUpdateProblems = (
  before: Omit<Eviction, "source">,
  after: Omit<Eviction, "source">,
): readonly FieldProblem[] =>
  immutableProblems("an eviction", [
    ["placementName", before.placement, after.placement],
    ["clusterName", before.cluster, after.cluster],
  ]);
