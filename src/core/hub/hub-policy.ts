import type { ReadContext } from "../ledger/codec/codec.ts";
import { placementPolicy } from "../ledger/placements.ts";
import { isObject, type Json, type JsonObject, memberAt } from "../model/json.ts";
import { kubeFleetPrefix } from "../model/names.ts";
import type { PlacementPolicy } from "../model/placement.ts";
import { quantityOf } from "../model/quantity.ts";
import { annotationOf, type HubObject, type HubProblem, problemAt } from "./hub-objects.ts";
import { brokenLimit } from "./policy-limits.ts";

const numberAnnotation = `${kubeFleetPrefix}/number-of-clusters`;

/**
 * The policy of a snapshot, defaults filled in; the number of clusters is that of the annotation
 * (`schedule/README.md#the-scheduler-alone`).
 *
 * What a hub's API server would not store is refused; what its webhook would refuse and its scheduler does not look at is
 * passed over here as well.
 */
export function hubPolicy(snapshot: HubObject): PlacementPolicy | HubProblem {
  const written = memberAt(snapshot.value, "spec", "policy");
  const policy = isObject(written) ? written : {};
  const broken = brokenLimit(policy);
  if (broken !== null) return problemAt(snapshot, ["spec", "policy", ...broken.path], broken.message);
  const type = policy["placementType"] ?? "PickAll";
  const number = annotationOf(snapshot.value, numberAnnotation);
  if (type === "PickN" && !/^\d{1,10}$/.test(number ?? ""))
    return problemAt(
      snapshot,
      ["metadata", "annotations"],
      `PickN needs the annotation ${numberAnnotation}, a whole number`,
    );
  const context: ReadContext = { problem: null, problemPath: [], path: [], instants: new Map() };
  const read = placementPolicy.read(withDefaults(policy, type, number), "policy", context);
  if (context.problem !== null) return problemAt(snapshot, ["spec", "policy", ...context.problemPath], context.problem);
  if (read.kind === "PickFixed") return read;
  for (const { properties } of read.required)
    for (const { name, value } of properties)
      if (quantityOf(value) === null)
        return problemAt(
          snapshot,
          ["spec", "policy", "affinity"],
          `${name} is compared with ${JSON.stringify(value)}, which is no quantity`,
        );
  return read;
}

function withDefaults(policy: JsonObject, placementType: Json, number: string | null): JsonObject {
  return {
    ...policy,
    placementType,
    numberOfClusters: Number(number ?? 0),
    tolerations: itemsWith(policy["tolerations"], { operator: "Equal" }),
    topologySpreadConstraints: itemsWith(policy["topologySpreadConstraints"], {
      maxSkew: 1,
      whenUnsatisfiable: "DoNotSchedule",
    }),
  };
}

const itemsWith = (items: Json | undefined, defaults: JsonObject): Json =>
  Array.isArray(items) ? (items as readonly Json[]).map((it) => (isObject(it) ? { ...defaults, ...it } : it)) : [];
