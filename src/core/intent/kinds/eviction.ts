import type { ClusterResourcePlacementEviction as WrittenEviction } from "#schemas/cluster-resource-placement-eviction";
import { type Eviction, placementKey } from "../../model/placement.ts";
import type { ClusterName } from "../../model/value.ts";
import type { FieldProblem } from "../../yaml/problems.ts";
import { immutableRemarks } from "./fields.ts";
import {
  annotationRemarks,
  dnsLabelRemarks,
  dnsSubdomainRemarks,
  oldVersionRemarks,
  statusRemarks,
} from "./metadata.ts";

/** An eviction that has passed its schema and its rules. */
export const evictionFrom = ({ metadata, spec }: WrittenEviction): Omit<Eviction, "source"> => ({
  name: metadata.name,
  placement: placementKey(null, spec.placementName),
  cluster: spec.clusterName as ClusterName,
});

/** Checks an eviction that its schema has passed: `intent/README.md#v-crpe-01`. */
export function evictionRemarks({ apiVersion, metadata, spec, status }: WrittenEviction): readonly FieldProblem[] {
  return [
    ...dnsSubdomainRemarks(metadata.name),
    ...annotationRemarks(metadata.annotations, []),
    ...dnsLabelRemarks(spec.placementName, ["spec", "placementName"]),
    ...dnsLabelRemarks(spec.clusterName, ["spec", "clusterName"]),
    ...oldVersionRemarks(apiVersion, "v1beta1"),
    ...statusRemarks(status),
  ];
}

/** `intent/README.md#v-crpe-02`: an eviction is one order. */
export const evictionUpdateRemarks = (
  before: Omit<Eviction, "source">,
  after: Omit<Eviction, "source">,
): readonly FieldProblem[] =>
  immutableRemarks("an eviction", [
    ["placementName", before.placement, after.placement],
    ["clusterName", before.cluster, after.cluster],
  ]);
