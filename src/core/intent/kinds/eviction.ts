import { type Eviction, placementKey } from "../../model/placement.ts";
import type { ClusterName } from "../../model/value.ts";
import type { Remark } from "../../yaml/remark.ts";
import {
  annotationRemarks,
  dnsLabelRemarks,
  dnsSubdomainRemarks,
  oldVersionRemarks,
  statusRemarks,
} from "./metadata.ts";
import type { WrittenEviction } from "./written.ts";

/** An eviction that has passed its schema and its rules. */
export const evictionOf = ({ metadata, spec }: WrittenEviction): Omit<Eviction, "source"> => ({
  name: metadata.name,
  placement: placementKey(null, spec.placementName),
  cluster: spec.clusterName as ClusterName,
});

/** Checks an eviction that its schema has passed: `intent/README.md#v-crpe-01`. */
export function evictionRemarks({ apiVersion, metadata, spec, status }: WrittenEviction): readonly Remark[] {
  return [
    ...dnsSubdomainRemarks(metadata.name),
    ...annotationRemarks(metadata.annotations, []),
    ...dnsLabelRemarks(spec.placementName, ["spec", "placementName"]),
    ...dnsLabelRemarks(spec.clusterName, ["spec", "clusterName"]),
    ...oldVersionRemarks(apiVersion, "v1beta1"),
    ...statusRemarks(status),
  ];
}
