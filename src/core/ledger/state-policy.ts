import { isObject, type JsonObject } from "../model/json.ts";
import type { ClusterTerm, PlacementPolicy, PreferredTerm, Toleration } from "../model/placement.ts";
import type { ClusterName, LabelRequirement, LabelSelector } from "../model/value.ts";
import {
  choiceAt,
  countAt,
  type Findings,
  filled,
  given,
  labelsAt,
  numberAt,
  objectsAt,
  partAt,
  sortedLabels,
  textAt,
  textOrNull,
  textsAt,
} from "./state-fields.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

/** KubeFleet's PlacementPolicy: `ledger/README.md#the-state-branch`. */
export function policyJson(policy: PlacementPolicy): JsonObject {
  switch (policy.kind) {
    case "PickAll":
      return given({
        placementType: policy.kind,
        affinity: affinityJson(policy.required, []),
        tolerations: filled(policy.tolerations.map(tolerationJson)),
      });
    case "PickN":
      return given({
        placementType: policy.kind,
        numberOfClusters: policy.numberOfClusters,
        affinity: affinityJson(policy.required, policy.preferred),
        tolerations: filled(policy.tolerations.map(tolerationJson)),
      });
    case "PickFixed":
      return given({ placementType: policy.kind, clusterNames: filled(policy.clusterNames) });
  }
}

export function policyOf(findings: Findings, object: JsonObject): PlacementPolicy {
  const kind = choiceAt(findings, object, "placementType", ["PickAll", "PickN", "PickFixed"]);
  if (kind === "PickFixed") return { kind, clusterNames: textsAt(findings, object, "clusterNames") as ClusterName[] };
  const affinity = partAt(partAt(object, "affinity"), "clusterAffinity");
  const musts = objectsAt(findings, partAt(affinity, required), "clusterSelectorTerms");
  const terms = musts.map((it) => termOf(findings, it));
  const tolerations = objectsAt(findings, object, "tolerations").map((it) => tolerationOf(findings, it));
  if (kind === "PickAll") return { kind, required: terms, tolerations };
  return {
    kind,
    numberOfClusters: countAt(findings, object, "numberOfClusters"),
    required: terms,
    preferred: objectsAt(findings, affinity, preferred).map((it) => preferredOf(findings, it)),
    tolerations,
  };
}

/** Kubernetes' LabelSelector. */
export const selectorJson = ({ matchLabels, matchExpressions }: LabelSelector): JsonObject => ({
  ...(matchLabels === undefined ? {} : { matchLabels: sortedLabels(matchLabels) ?? {} }),
  ...(matchExpressions === undefined ? {} : { matchExpressions: matchExpressions.map(requirementJson) }),
});

export const selectorOf = (findings: Findings, object: JsonObject): LabelSelector => ({
  ...(Object.hasOwn(object, "matchLabels") ? { matchLabels: labelsAt(findings, object, "matchLabels") } : {}),
  ...(Object.hasOwn(object, "matchExpressions") ? { matchExpressions: requirementsOf(findings, object) } : {}),
});

function affinityJson(musts: readonly ClusterTerm[], wishes: readonly PreferredTerm[]): JsonObject | null {
  if (musts.length === 0 && wishes.length === 0) return null;
  const clusterAffinity = given({
    [required]: musts.length === 0 ? null : { clusterSelectorTerms: musts.map(termJson) },
    [preferred]: filled(wishes.map((it) => ({ weight: it.weight, preference: termJson(it.preference) }))),
  });
  return { clusterAffinity };
}

const termJson = ({ labelSelector }: ClusterTerm): JsonObject =>
  labelSelector === null ? {} : { labelSelector: selectorJson(labelSelector) };

function termOf(findings: Findings, object: JsonObject): ClusterTerm {
  const selector = object["labelSelector"];
  return { labelSelector: isObject(selector) ? selectorOf(findings, selector) : null };
}

const preferredOf = (findings: Findings, object: JsonObject): PreferredTerm => ({
  weight: numberAt(findings, object, "weight"),
  preference: termOf(findings, partAt(object, "preference")),
});

const tolerationJson = ({ key, operator, value, effect }: Toleration): JsonObject =>
  given({
    key: key === "" ? null : key,
    operator,
    value: value === "" ? null : value,
    effect: effect === "" ? null : effect,
  });

const tolerationOf = (findings: Findings, object: JsonObject): Toleration => ({
  key: textOrNull(findings, object, "key") ?? "",
  operator: choiceAt(findings, object, "operator", ["Equal", "Exists"]),
  value: textOrNull(findings, object, "value") ?? "",
  effect: Object.hasOwn(object, "effect") ? choiceAt(findings, object, "effect", ["NoSchedule"]) : "",
});

const requirementJson = ({ key, operator, values }: LabelRequirement): JsonObject => ({
  key,
  operator,
  ...(values === undefined ? {} : { values }),
});

const requirementsOf = (findings: Findings, object: JsonObject): readonly LabelRequirement[] =>
  objectsAt(findings, object, "matchExpressions").map((it) => ({
    key: textAt(findings, it, "key"),
    operator: choiceAt(findings, it, "operator", ["In", "NotIn", "Exists", "DoesNotExist"]),
    ...(Object.hasOwn(it, "values") ? { values: textsAt(findings, it, "values") } : {}),
  }));
