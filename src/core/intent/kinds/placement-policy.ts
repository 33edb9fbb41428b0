import type { Policy as WrittenPolicy, ClusterTerm as WrittenTerm } from "#schemas/cluster-resource-placement";
import type { ClusterTerm, PlacementPolicy, Preference, SpreadConstraint, Toleration } from "../../model/placement.ts";
import type { ClusterName } from "../../model/value.ts";
import { error, type FieldProblem, type FieldProblems, type JsonPath } from "../../yaml/problems.ts";
import { repeatedProblems } from "./fields.ts";
import {
  dnsLabelProblems,
  isLabelValue,
  isQualifiedName,
  labelSelectorProblems,
  malformedProblem,
} from "./metadata.ts";
import { propertyNameProblems, propertySelectorProblems, spreadProblems } from "./policy-properties.ts";

type WrittenSpread = NonNullable<WrittenPolicy["topologySpreadConstraints"]>[number];
type WrittenToleration = NonNullable<WrittenPolicy["tolerations"]>[number];

/** A scheduling policy after defaults. */
export function policyFrom(written: WrittenPolicy): PlacementPolicy {
  const { placementType = "PickAll", clusterNames = [], numberOfClusters = 0, affinity, tolerations = [] } = written;
  const { topologySpreadConstraints = [] } = written;
  const required =
    affinity?.clusterAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.clusterSelectorTerms ?? [];
  const preferred = affinity?.clusterAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const wanted = { required: required.map(termOf), tolerations: tolerations.map(tolerationOf) };
  switch (placementType) {
    case "PickAll":
      return { kind: "PickAll", ...wanted };
    case "PickN": {
      const terms = preferred.map(({ weight, preference }) => ({ weight, preference: preferenceOf(preference) }));
      return {
        kind: "PickN",
        numberOfClusters,
        ...wanted,
        preferred: terms,
        spread: topologySpreadConstraints.map(spreadOf),
      };
    }
    case "PickFixed":
      return { kind: "PickFixed", clusterNames: clusterNames as readonly ClusterName[] };
  }
}

const termOf = ({ labelSelector, propertySelector }: WrittenTerm): ClusterTerm => ({
  labelSelector: labelSelector ?? null,
  properties: (propertySelector?.matchExpressions ?? []).map(({ name, operator, values }) => ({
    name,
    operator,
    value: values[0] ?? "",
  })),
});

const preferenceOf = ({ labelSelector, propertySorter }: WrittenTerm): Preference => ({
  labelSelector: labelSelector ?? null,
  sorter: propertySorter === undefined ? null : { name: propertySorter.name, order: propertySorter.sortOrder },
});

const spreadOf = ({ topologyKey, maxSkew, whenUnsatisfiable }: WrittenSpread): SpreadConstraint => ({
  topologyKey,
  maxSkew: maxSkew ?? 1,
  whenUnsatisfiable: whenUnsatisfiable ?? "DoNotSchedule",
});

function tolerationOf({ key, operator, value, effect }: WrittenToleration): Toleration {
  return { key: key ?? "", operator: operator ?? "Equal", value: value ?? "", effect: effect ?? "" };
}

const at: JsonPath = ["spec", "policy"];

type Field = "clusterNames" | "numberOfClusters" | "affinity" | "topologySpreadConstraints" | "tolerations";

/** The fields that each placement type refuses: `intent/README.md#v-pl-22`, `#v-pl-23`, `#v-pl-24`. */
const refused: Readonly<Record<NonNullable<WrittenPolicy["placementType"]>, readonly Field[]>> = {
  PickAll: ["clusterNames", "numberOfClusters", "topologySpreadConstraints"],
  PickN: ["clusterNames"],
  PickFixed: ["affinity", "numberOfClusters", "topologySpreadConstraints", "tolerations"],
};

/** Checks which fields of a policy go together, and their form (`intent/README.md#v-pl-22` … `#v-pl-57`). */
export function policyProblems(policy: WrittenPolicy): FieldProblems {
  return [
    ...fieldProblems(policy),
    ...clusterNameProblems(policy.clusterNames ?? []),
    ...affinityProblems(policy),
    ...spreadProblems(policy.topologySpreadConstraints, [...at, "topologySpreadConstraints"]),
    ...(policy.tolerations ?? []).flatMap((it, i) => tolerationProblems(it, [...at, "tolerations", i])),
    ...repeatedProblems(policy.tolerations ?? [], tolerationKey, [
      [...at, "tolerations"],
      "this toleration occurs twice",
    ]),
  ];
}

/** Equal for tolerations that are equal after defaults (`intent/README.md#v-pl-55`). */
const tolerationKey = ({ key, operator, value, effect }: TolerationFields): string =>
  JSON.stringify([key ?? "", operator ?? "Equal", value ?? "", effect ?? ""]);

/** A toleration as it is written, or as the model has it. */
type TolerationFields = { readonly [Field in keyof WrittenToleration]: string };

function fieldProblems(policy: WrittenPolicy): FieldProblems {
  const { placementType: type = "PickAll" } = policy;
  const wrong = refused[type]
    // KubeFleet's own webhook drops empty lists before its rules see them.
    .filter((it) => policy[it] !== undefined && !(Array.isArray(policy[it]) && policy[it].length === 0))
    .map((it) => error("FLT1304", [...at, it], `does not go with placementType ${type}`, otherType(it, type)));
  if (type !== "PickN" || policy.numberOfClusters !== undefined) return wrong;
  return [...wrong, error("FLT1304", at, "PickN needs numberOfClusters", "add it")];
}

function otherType(field: Field, type: string): string {
  const types = (["PickAll", "PickN", "PickFixed"] as const).filter((it) => !refused[it].includes(field));
  return `remove it${types.length === 0 ? "" : `, or use ${types.filter((it) => it !== type).join(" or ")}`}`;
}

function clusterNameProblems(names: readonly string[]): FieldProblems {
  return [
    ...names.flatMap((name, i) => dnsLabelProblems(name, [...at, "clusterNames", i])),
    ...repeatedProblems(names, (it) => it, [[...at, "clusterNames"], "this cluster is named twice"]),
  ];
}

function affinityProblems({ placementType, affinity }: WrittenPolicy): FieldProblems {
  const base: JsonPath = [...at, "affinity", "clusterAffinity"];
  const required = "requiredDuringSchedulingIgnoredDuringExecution";
  const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const requiredTerms = affinity?.clusterAffinity?.[required]?.clusterSelectorTerms ?? [];
  const preferredTerms = affinity?.clusterAffinity?.[preferred] ?? [];
  const ignored = (placementType ?? "PickAll") === "PickAll" && preferredTerms.length > 0;
  return [
    ...requiredTerms.flatMap((it, i) => requiredTermProblems(it, [...base, required, "clusterSelectorTerms", i])),
    ...preferredTerms.flatMap((it, i) => preferredTermProblems(it.preference, [...base, preferred, i, "preference"])),
    ...(ignored
      ? [error("FLT1304", [...base, preferred], "does not go with placementType PickAll", "remove it, or use PickN")]
      : []),
  ];
}

function requiredTermProblems(term: WrittenTerm, path: JsonPath): FieldProblems {
  return [
    ...labelSelectorProblems(term.labelSelector, [...path, "labelSelector"]),
    ...propertySelectorProblems(term, path),
    ...(term.propertySorter === undefined ? [] : [misplaced([...path, "propertySorter"], "a required term")]),
  ];
}

function preferredTermProblems(term: WrittenTerm, path: JsonPath): FieldProblems {
  return [
    ...labelSelectorProblems(term.labelSelector, [...path, "labelSelector"]),
    ...(term.propertySorter === undefined
      ? []
      : propertyNameProblems(term.propertySorter.name, [...path, "propertySorter", "name"])),
    ...(term.propertySelector === undefined ? [] : [misplaced([...path, "propertySelector"], "a preferred term")]),
  ];
}

const misplaced = (path: JsonPath, where: string): FieldProblem =>
  error("FLT1306", path, `is not allowed in ${where}`, "selectors belong to required terms, sorters to preferred ones");

function tolerationProblems(toleration: WrittenToleration, path: JsonPath): FieldProblems {
  const { key = "", operator = "Equal", value = "" } = toleration;
  const problems: FieldProblem[] = [];
  if (operator === "Exists" && value !== "")
    problems.push(error("FLT1305", [...path, "value"], "operator Exists takes no value", "remove the value"));
  if (key === "" && operator !== "Exists")
    problems.push(
      error("FLT1305", path, "without a key only operator Exists is possible", "name a key, or use Exists"),
    );
  if (key !== "" && !isQualifiedName(key)) problems.push(malformedProblem("taint key", [...path, "key"], key));
  if (operator === "Equal" && !isLabelValue(value))
    problems.push(malformedProblem("taint value", [...path, "value"], value));
  return problems;
}

/** `intent/README.md#v-crp-02`, `#v-crp-07`, `#v-pl-21`: the type stays. `#v-pl-56`: tolerations are only added. */
export function policyUpdateProblems(before: PlacementPolicy, after: PlacementPolicy): FieldProblems {
  if (before.kind !== after.kind) {
    const message = `cannot change from ${before.kind} to ${after.kind}`;
    return [error("FLT1315", [...at, "placementType"], message, "write a placement with another name")];
  }
  const present = new Set(tolerationsOf(after).map(tolerationKey));
  const lost = tolerationsOf(before).filter((it) => !present.has(tolerationKey(it)));
  return lost.map(({ key, value, effect }) => {
    const what = [key === "" ? "every taint" : key, value, effect].filter((it) => it !== "").join(" ");
    const message = `the accepted toleration of ${what} was removed; tolerations can only be added`;
    return error("FLT1315", [...at, "tolerations"], message, "put it back");
  });
}

const tolerationsOf = (policy: PlacementPolicy) => (policy.kind === "PickFixed" ? [] : policy.tolerations);
