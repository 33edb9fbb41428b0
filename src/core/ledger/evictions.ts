import { type EvictionRecord, placementKey } from "../model/placement.ts";
import type { ClusterName } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { conditionsIfAny } from "./api-types.ts";
import { documentOf, fromName, inMetadata, inOwnNamespace, inSpec, inStatus } from "./document.ts";
import { string, stringOf } from "./scalars.ts";

/** `evictions/<name>.yaml`: KubeFleet's eviction with its status. */
export const evictionDocument = documentOf<EvictionRecord>(
  { kind: "ResourcePlacementEviction", status: ["conditions"] },
  {
    name: fromName((name) => name),
    uid: inMetadata("uid", string),
    placement: inOwnNamespace("placementName", placementKey),
    cluster: inSpec("clusterName", stringOf<ClusterName>()),
    conditions: inStatus("conditions", conditionsIfAny),
  },
);

/** The text of an eviction's file. Its spec is immutable: generation 1. */
export const evictionText = (it: EvictionRecord): string =>
  emitYaml(evictionDocument.write(it, { name: it.name, namespace: null, generation: 1 }));
