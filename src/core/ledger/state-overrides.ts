import { digestOf, isObject, type Json, type JsonObject, member } from "../model/json.ts";
import type {
  OverrideRule,
  OverrideSelector,
  OverrideSnapshot,
  OverrideSpec,
  PatchOperation,
} from "../model/override.ts";
import { placementKey } from "../model/placement.ts";
import type { PlacementKey } from "../model/value.ts";
import { emitDocuments } from "../yaml/canonical.ts";
import { choiceAt, countAt, type Findings, given, objectsAt, partAt, textAt } from "./state-fields.ts";
import { base64Of, fleetKey, headingJson, kindIn, open, placementApiVersion } from "./state-names.ts";
import { selectorJson, selectorOf } from "./state-policy.ts";

/** The text of an override's file: a ResourceOverrideSnapshot a document, ascending by index. */
export const overrideText = (snapshots: readonly OverrideSnapshot[]): string =>
  emitDocuments(snapshots.map((it) => overrideSnapshotJson(it, it === snapshots.at(-1))));

function overrideSnapshotJson({ name, namespace, override, index, spec }: OverrideSnapshot, isLatest: boolean): Json {
  const overrideSpec = overrideSpecJson(spec, namespace);
  return {
    ...headingJson({
      apiVersion: placementApiVersion,
      kind: kindIn(namespace, "ResourceOverrideSnapshot"),
      name,
      namespace,
      labels: {
        [fleetKey.parentOverride]: override,
        [fleetKey.overrideIndex]: String(index),
        [fleetKey.isLatest]: String(isLatest),
      },
    }),
    spec: { overrideSpec, overrideHash: base64Of(digestOf(overrideSpec)) },
  };
}

export function overrideSnapshotOf(findings: Findings, document: Json): OverrideSnapshot {
  const { name, namespace, labels, spec } = open(findings, document, "ResourceOverrideSnapshot");
  return {
    name,
    namespace,
    override: textAt(findings, labels, fleetKey.parentOverride),
    index: countAt(findings, labels, fleetKey.overrideIndex),
    spec: overrideSpecOf(findings, partAt(spec, "overrideSpec"), namespace),
  };
}

const selectorsKey = (namespace: string | null): string =>
  namespace === null ? "clusterResourceSelectors" : "resourceSelectors";

const overrideSpecJson = ({ placement, selectors, rules }: OverrideSpec, namespace: string | null): JsonObject =>
  given({
    placement: placement === null ? null : placementRefJson(placement),
    [selectorsKey(namespace)]: selectors.map(({ group, version, kind, name }) => ({ group, version, kind, name })),
    policy: { overrideRules: rules.map(ruleJson) },
  });

const overrideSpecOf = (findings: Findings, object: JsonObject, namespace: string | null): OverrideSpec => ({
  placement: Object.hasOwn(object, "placement") ? placementOf(findings, partAt(object, "placement"), namespace) : null,
  selectors: objectsAt(findings, object, selectorsKey(namespace)).map((it) => overrideSelectorOf(findings, it)),
  rules: objectsAt(findings, partAt(object, "policy"), "overrideRules").map((it) => ruleOf(findings, it)),
});

/** KubeFleet's PlacementRef: a namespaced placement stands in the override's own namespace, which is not repeated. */
function placementRefJson(placement: PlacementKey): JsonObject {
  const slash = placement.indexOf("/");
  return { name: placement.slice(slash + 1), scope: slash < 0 ? "Cluster" : "Namespaced" };
}

function placementOf(findings: Findings, object: JsonObject, namespace: string | null): PlacementKey {
  const scope = choiceAt(findings, object, "scope", ["Cluster", "Namespaced"]);
  return placementKey(scope === "Cluster" ? null : namespace, textAt(findings, object, "name"));
}

const overrideSelectorOf = (findings: Findings, object: JsonObject): OverrideSelector => ({
  group: textAt(findings, object, "group"),
  version: textAt(findings, object, "version"),
  kind: textAt(findings, object, "kind"),
  name: textAt(findings, object, "name"),
});

const ruleJson = ({ clusters, action }: OverrideRule): JsonObject => ({
  ...(clusters === null ? {} : { clusterSelector: { clusterSelectorTerms: clusters.map(termJson) } }),
  overrideType: action.kind,
  ...(action.kind === "Delete" ? {} : { jsonPatchOverrides: action.operations.map(operationJson) }),
});

function ruleOf(findings: Findings, object: JsonObject): OverrideRule {
  const terms = objectsAt(findings, partAt(object, "clusterSelector"), "clusterSelectorTerms");
  const kind = choiceAt(findings, object, "overrideType", ["JSONPatch", "Delete"]);
  const operations = objectsAt(findings, object, "jsonPatchOverrides").map((it) => operationOf(findings, it));
  return {
    clusters: isObject(member(object, "clusterSelector"))
      ? terms.map((it) => selectorOf(findings, partAt(it, "labelSelector")))
      : null,
    action: kind === "Delete" ? { kind } : { kind, operations },
  };
}

const termJson = (labelSelector: Parameters<typeof selectorJson>[0]): JsonObject => ({
  labelSelector: selectorJson(labelSelector),
});

const operationJson = ({ op, path, value }: PatchOperation): JsonObject =>
  op === "remove" ? { op, path } : { op, path, value };

const operationOf = (findings: Findings, object: JsonObject): PatchOperation => ({
  op: choiceAt(findings, object, "op", ["add", "remove", "replace"]),
  path: textAt(findings, object, "path"),
  value: member(object, "value"),
});
