import type { Scope } from "../../model/manifest.ts";
import { error, type JsonPath, type Remark, warning } from "../../yaml/remark.ts";
import { labelSelectorRemarks } from "./label-selector.ts";
import { annotationRemarks, dnsSubdomainRemarks, oldVersionRemarks, statusRemarks } from "./metadata.ts";
import { selectorsOf } from "./override.ts";
import { operationRemarks } from "./patch-rules.ts";
import { repeated } from "./repeated.ts";
import type { WrittenOverride, WrittenRule, WrittenTerm } from "./written.ts";

/**
 * Checks an override that its schema has passed against every rule that it alone decides (`intent/README.md#overrides`).
 */
export function overrideRemarks(
  { apiVersion, metadata, spec, status }: WrittenOverride,
  scope: Scope,
): readonly Remark[] {
  return [
    ...dnsSubdomainRemarks(metadata.name),
    ...annotationRemarks(metadata.annotations, []),
    ...placementRefRemarks(spec, scope),
    ...selectorRemarks(spec, scope),
    ...spec.policy.overrideRules.flatMap((it, i) => ruleRemarks(it, ["spec", "policy", "overrideRules", i])),
    ...oldVersionRemarks(apiVersion),
    ...statusRemarks(status),
  ];
}

function placementRefRemarks({ placement }: WrittenOverride["spec"], scope: Scope): readonly Remark[] {
  if (scope !== "Cluster" || placement?.scope !== "Namespaced") return [];
  const message = "a ClusterResourceOverride cannot belong to a ResourcePlacement";
  return [error("FLT1307", ["spec", "placement", "scope"], message, "use a ResourceOverride")];
}

function selectorRemarks(spec: WrittenOverride["spec"], scope: Scope): readonly Remark[] {
  const at: JsonPath = ["spec", scope === "Cluster" ? "clusterResourceSelectors" : "resourceSelectors"];
  const selectors = selectorsOf(spec);
  return [
    ...selectors.flatMap((it, i) =>
      (it.name ?? "") === ""
        ? [error("FLT1300", [...at, i, "name"], "is required: an override names its objects", "name one")]
        : [],
    ),
    ...selectors.flatMap((it, i) =>
      it.labelSelector === undefined
        ? []
        : [error("FLT1307", [...at, i, "labelSelector"], "is not allowed: an override names its objects", "remove it")],
    ),
    ...repeated(selectors, ({ group, kind, name }) => JSON.stringify([group, kind, name])).map((i) =>
      error("FLT1308", [...at, i], "this selector occurs twice", "remove one of the two"),
    ),
  ];
}

function ruleRemarks(rule: WrittenRule, at: JsonPath): readonly Remark[] {
  const { clusterSelector, overrideType = "JSONPatch", jsonPatchOverrides } = rule;
  const remarks = (clusterSelector?.clusterSelectorTerms ?? []).flatMap((it, i) =>
    termRemarks(it, [...at, "clusterSelector", "clusterSelectorTerms", i]),
  );
  const patches: JsonPath = [...at, "jsonPatchOverrides"];
  if (overrideType === "Delete") {
    if (jsonPatchOverrides === undefined) return remarks;
    return [...remarks, error("FLT1307", patches, "does not go with overrideType Delete", "remove it")];
  }
  if (jsonPatchOverrides === undefined)
    return [
      ...remarks,
      error("FLT1300", patches, "is required for overrideType JSONPatch", "add at least one operation"),
    ];
  if (clusterSelector === undefined)
    remarks.push(warning("FLT1333", at, "without clusterSelector the rule applies to no cluster", forAll));
  return [...remarks, ...jsonPatchOverrides.flatMap((it, i) => operationRemarks(it, [...patches, i]))];
}

const forAll = "add clusterSelector: {clusterSelectorTerms: []} to mean all";

function termRemarks(term: WrittenTerm, at: JsonPath): readonly Remark[] {
  const remarks = [...labelSelectorRemarks(term.labelSelector, [...at, "labelSelector"])];
  if (term.labelSelector === undefined)
    remarks.push(error("FLT1300", [...at, "labelSelector"], "is required", "add it"));
  for (const field of ["propertySelector", "propertySorter"] as const)
    if (term[field] !== undefined)
      remarks.push(error("FLT1306", [...at, field], "is not allowed in an override", "select by labels"));
  return remarks;
}
