import type { Json } from "../model/json.ts";
import { type EvictionRecord, placementKey } from "../model/placement.ts";
import type { ClusterName } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { conditionJson, conditionsOf } from "./state-condition.ts";
import { type Findings, filled, given, textAt } from "./state-fields.ts";
import { headingJson, open, placementApiVersion } from "./state-names.ts";

const kind = "ClusterResourcePlacementEviction";

/** The text of `evictions/<name>.yaml`: KubeFleet's eviction with its status. Its spec is immutable: generation 1. */
export const evictionText = (it: EvictionRecord): string =>
  emitYaml({
    ...headingJson({
      apiVersion: placementApiVersion,
      kind,
      name: it.name,
      namespace: null,
      uid: it.uid,
      generation: 1,
    }),
    spec: { placementName: it.placement, clusterName: it.cluster },
    status: given({ conditions: filled(it.conditions.map(conditionJson)) }),
  });

export function evictionOf(findings: Findings, document: Json): EvictionRecord {
  const { name, metadata, spec, status } = open(findings, document, kind);
  return {
    name,
    uid: textAt(findings, metadata, "uid"),
    placement: placementKey(null, textAt(findings, spec, "placementName")),
    cluster: textAt(findings, spec, "clusterName") as ClusterName,
    conditions: conditionsOf(findings, status),
  };
}
