import type { Scope } from "../../model/manifest.ts";
import type { Override, OverrideRule, PatchOperation } from "../../model/override.ts";
import { placementKey } from "../../model/placement.ts";
import type { WrittenOperation, WrittenOverride, WrittenRule } from "./written.ts";

/** An override after defaults, which has passed its schema and its rules (`render/README.md#overrides`). */
export function overrideOf({ metadata, spec }: WrittenOverride, scope: Scope): Omit<Override, "source"> {
  const namespace = scope === "Cluster" ? null : (metadata.namespace ?? null);
  const { placement } = spec;
  const placementNamespace = placement?.scope === "Namespaced" ? namespace : null;
  return {
    scope,
    namespace,
    name: metadata.name,
    spec: {
      placement: placement === undefined ? null : placementKey(placementNamespace, placement.name),
      selectors: selectorsOf(spec).map(({ group, version, kind, name = "" }) => ({ group, version, kind, name })),
      rules: spec.policy.overrideRules.map(ruleOf),
    },
  };
}

/** The objects an override names, whichever of the two kinds it is. */
export const selectorsOf = (spec: WrittenOverride["spec"]) =>
  spec.clusterResourceSelectors ?? spec.resourceSelectors ?? [];

function ruleOf({ clusterSelector, overrideType, jsonPatchOverrides = [] }: WrittenRule): OverrideRule {
  const clusters = clusterSelector?.clusterSelectorTerms.map(({ labelSelector = {} }) => labelSelector) ?? null;
  if (overrideType === "Delete") return { clusters, action: { kind: "Delete" } };
  return { clusters, action: { kind: "JSONPatch", operations: jsonPatchOverrides.map(operationOf) } };
}

const operationOf = ({ op, path, value = null }: WrittenOperation): PatchOperation => ({ op, path, value });
