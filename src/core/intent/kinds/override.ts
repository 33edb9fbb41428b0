import type {
  ClusterTerm,
  Policy,
  ClusterResourceOverride as WrittenClusterOverride,
} from "#schemas/cluster-resource-override";
import type { ResourceOverride as WrittenOverride } from "#schemas/resource-override";
import clusterSchema from "../../../../schemas/cluster-resource-override.json" with { type: "json" };
import schema from "../../../../schemas/resource-override.json" with { type: "json" };
import type { Json } from "../../model/json.ts";
import { isEnvelope, kindKey, type Scope, type ScopeTable } from "../../model/manifest.ts";
import { placementGroup } from "../../model/names.ts";
import type { Override, OverrideRule, PatchOperation } from "../../model/override.ts";
import { placementKey } from "../../model/placement.ts";
import {
  error,
  type FieldProblem,
  type FieldProblems,
  type JsonPath,
  type ProblemCode,
  warning,
} from "../../yaml/problems.ts";
import { repeatedProblems } from "./fields.ts";
import type { ContentOf, ReadKind } from "./kind.ts";
import { commonProblems, labelSelectorProblems } from "./metadata.ts";

const versions = ["v1", "v1alpha1", "v1beta1"];

/** What is different on some clusters, of cluster-scoped objects and of everything in a Namespace. */
export const clusterOverrideKind: ReadKind<WrittenClusterOverride, ContentOf<"override">> = {
  names: [{ group: placementGroup, kind: "ClusterResourceOverride", scope: "Cluster", versions }],
  schema: clusterSchema,
  ownPlace: null,
  rules: (it) => clusterOverrideProblems(it),
  content: (it) => ({ kind: "override", override: clusterOverrideFrom(it) }),
  updateRules: (before, after) => overrideUpdateProblems(before.override.spec, after.override.spec),
  selectionRules: ({ override }, { scopes }) => scopeProblems(override.spec, scopes, "Cluster"),
};

/** The same of objects in the namespace of the override. */
export const overrideKind: ReadKind<WrittenOverride, ContentOf<"override">> = {
  names: [{ group: placementGroup, kind: "ResourceOverride", scope: "Namespaced", versions }],
  schema,
  ownPlace: null,
  rules: (it) => overrideProblems(it),
  content: (it) => ({ kind: "override", override: overrideFrom(it) }),
  updateRules: (before, after) => overrideUpdateProblems(before.override.spec, after.override.spec),
  selectionRules: ({ override }, { scopes }) => scopeProblems(override.spec, scopes, "Namespaced"),
};

type WrittenRule = Policy["overrideRules"][number];
type WrittenOperation = NonNullable<WrittenRule["jsonPatchOverrides"]>[number];

/** A cluster override after defaults, which has passed its schema and its rules (`render/README.md#overrides`). */
const clusterOverrideFrom = ({ metadata, spec }: WrittenClusterOverride): Omit<Override, "source"> => ({
  scope: "Cluster",
  namespace: null,
  name: metadata.name,
  spec: {
    placement: spec.placement === undefined ? null : placementKey(null, spec.placement.name),
    selectors: spec.clusterResourceSelectors.map(({ group, version, kind, name = "" }) => ({
      group,
      version,
      kind,
      name,
    })),
    rules: spec.policy.overrideRules.map(ruleOf),
  },
});

/** The same of a namespaced one. Unless it says otherwise, it belongs to a ClusterResourcePlacement, as in KubeFleet. */
function overrideFrom({ metadata, spec }: WrittenOverride): Omit<Override, "source"> {
  const { name, namespace = "" } = metadata;
  const home = spec.placement?.scope === "Namespaced" ? namespace : null;
  return {
    scope: "Namespaced",
    namespace,
    name,
    spec: {
      placement: spec.placement === undefined ? null : placementKey(home, spec.placement.name),
      selectors: spec.resourceSelectors.map((it) => ({
        group: it.group,
        version: it.version,
        kind: it.kind,
        name: it.name,
      })),
      rules: spec.policy.overrideRules.map(ruleOf),
    },
  };
}

function ruleOf({ clusterSelector, overrideType, jsonPatchOverrides = [] }: WrittenRule): OverrideRule {
  const clusters = clusterSelector?.clusterSelectorTerms.map(({ labelSelector = {} }) => labelSelector) ?? null;
  if (overrideType === "Delete") return { clusters, action: { kind: "Delete" } };
  return { clusters, action: { kind: "JSONPatch", operations: jsonPatchOverrides.map(operationOf) } };
}

const operationOf = ({ op, path, value = null }: WrittenOperation): PatchOperation => ({ op, path, value });

/** Checks an override by the rules of its kind (`intent/README.md#overrides`). */
const clusterOverrideProblems = (override: WrittenClusterOverride): FieldProblems => [
  ...commonProblems(override),
  ...placementRefProblems(override.spec),
  ...selectorProblems(override.spec.clusterResourceSelectors, clusterSelectors),
  ...policyProblems(override.spec.policy),
];

const overrideProblems = (override: WrittenOverride): FieldProblems => [
  ...commonProblems(override),
  ...selectorProblems(override.spec.resourceSelectors, selectors),
  ...policyProblems(override.spec.policy),
];

const clusterSelectors: JsonPath = ["spec", "clusterResourceSelectors"];
const selectors: JsonPath = ["spec", "resourceSelectors"];

function placementRefProblems({ placement }: WrittenClusterOverride["spec"]): FieldProblems {
  if (placement?.scope !== "Namespaced") return [];
  const message = "a ClusterResourceOverride cannot belong to a ResourcePlacement";
  return [error("FLT1307", ["spec", "placement", "scope"], message, "use a ResourceOverride")];
}

type WrittenSelector = WrittenClusterOverride["spec"]["clusterResourceSelectors"][number];

function selectorProblems(written: readonly WrittenSelector[], at: JsonPath): FieldProblems {
  return [
    ...written.flatMap((it, i) =>
      (it.name ?? "") === ""
        ? [error("FLT1300", [...at, i, "name"], "is required: an override names its objects", "name one")]
        : [],
    ),
    ...written.flatMap((it, i) =>
      it.labelSelector === undefined
        ? []
        : [error("FLT1307", [...at, i, "labelSelector"], "is not allowed: an override names its objects", "remove it")],
    ),
    ...repeatedProblems(written, ({ group, kind, name }) => JSON.stringify([group, kind, name]), [
      at,
      "this selector occurs twice",
    ]),
  ];
}

const policyProblems = ({ overrideRules }: Policy): FieldProblems =>
  overrideRules.flatMap((it, i) => ruleProblems(it, ["spec", "policy", "overrideRules", i]));

function ruleProblems(rule: WrittenRule, at: JsonPath): FieldProblems {
  const { clusterSelector, overrideType = "JSONPatch", jsonPatchOverrides } = rule;
  const problems = (clusterSelector?.clusterSelectorTerms ?? []).flatMap((it, i) =>
    termProblems(it, [...at, "clusterSelector", "clusterSelectorTerms", i]),
  );
  const patches: JsonPath = [...at, "jsonPatchOverrides"];
  if (overrideType === "Delete") {
    if (jsonPatchOverrides === undefined) return problems;
    return [...problems, error("FLT1307", patches, "does not go with overrideType Delete", "remove it")];
  }
  if (jsonPatchOverrides === undefined)
    return [
      ...problems,
      error("FLT1300", patches, "is required for overrideType JSONPatch", "add at least one operation"),
    ];
  if (clusterSelector === undefined)
    problems.push(warning("FLT1333", at, "without clusterSelector the rule applies to no cluster", forAll));
  return [...problems, ...jsonPatchOverrides.flatMap((it, i) => operationProblems(it, [...patches, i]))];
}

const forAll = "add clusterSelector: {clusterSelectorTerms: []} to mean all";

function termProblems(term: ClusterTerm, at: JsonPath): FieldProblems {
  const problems = [...labelSelectorProblems(term.labelSelector, [...at, "labelSelector"])];
  if (term.labelSelector === undefined)
    problems.push(error("FLT1300", [...at, "labelSelector"], "is required", "add it"));
  for (const field of ["propertySelector", "propertySorter"] as const)
    if (term[field] !== undefined)
      problems.push(error("FLT1306", [...at, field], "is not allowed in an override", "select by labels"));
  return problems;
}

/** Checks an operation's path and value (`intent/README.md#v-ov-08` … `#v-ov-15`, `yaml/README.md#b-83` … `#b-86`). */
function operationProblems(operation: WrittenOperation, at: JsonPath): FieldProblems {
  return [
    ...pathProblems(operation.path, [...at, "path"]),
    ...valueProblems(operation, at),
    ...(operation.value === undefined ? [] : variableProblems(operation.value, [...at, "value"])),
    ...wholeMapProblems(operation, at),
  ];
}

/** The first rule that a path breaks: form, then reserved names, then fields that cannot be overridden. */
function pathProblems(path: string, at: JsonPath): FieldProblems {
  const invalid = (code: ProblemCode, message: string, fix: string): FieldProblems => [
    error(code, at, message, fix, JSON.stringify(path)),
  ];
  if (!path.startsWith("/"))
    return invalid("FLT1320", "must begin with a slash", "write a JSON pointer such as /spec/replicas");
  const segments = path.slice(1).split("/");
  if (segments.some((it) => it.trim() === ""))
    return invalid("FLT1320", "has an empty segment", "remove the spare slash");
  if (segments.some((it) => /~(?![01])/.test(it)))
    return invalid("FLT1320", "has a stray ~", "write ~0 for ~ and ~1 for a slash in a key");
  if (segments.some((it) => /^0[0-9]+$/.test(it)))
    return invalid("FLT1320", "has an index with a leading zero", "remove the zero");
  if (segments.some((it) => reservedNames.has(unescaped(it))))
    return invalid("FLT1321", "has a reserved name", "choose another");
  const [first, second] = segments.map(unescaped);
  if (first === "apiVersion" || first === "kind")
    return invalid("FLT1330", "what an object is cannot be overridden", "change the object itself");
  if (first === "status") return invalid("FLT1330", "status cannot be overridden", "remove the operation");
  if (first === "metadata" && second !== "labels" && second !== "annotations")
    return invalid("FLT1330", "of metadata only labels and annotations can be overridden", "remove the operation");
  return [];
}

const reservedNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

const unescaped = (segment: string): string => segment.replaceAll("~1", "/").replaceAll("~0", "~");

function valueProblems({ op, value }: WrittenOperation, at: JsonPath): FieldProblems {
  if (op === "remove" && value !== undefined)
    return [error("FLT1325", [...at, "value"], "remove takes no value", "remove the value")];
  if (op !== "remove" && value === undefined) return [error("FLT1325", at, `${op} needs a value`, "add the value")];
  return [];
}

/** Checks the variables in every string of a value; what does not begin like one of ours is left alone. */
function variableProblems(value: Json, at: JsonPath): FieldProblems {
  if (typeof value === "string") return variableProblemsOf(value, at);
  if (typeof value !== "object" || value === null) return [];
  const entries: readonly (readonly [string | number, Json])[] = Array.isArray(value)
    ? [...(value as readonly Json[]).entries()]
    : Object.entries(value);
  return entries.flatMap(([step, it]) => variableProblems(it, [...at, step]));
}

function variableProblemsOf(text: string, at: JsonPath): FieldProblems {
  const problems: FieldProblem[] = [];
  for (const match of text.matchAll(/\$\{MEMBER-CLUSTER-([^}]*)(\}?)/g)) {
    const [whole, name = "", end] = match;
    if (end === "") problems.push(error("FLT1332", at, "a variable has no closing brace", "add }"));
    else if (name !== "NAME" && !/^LABEL-KEY-[^${\s]+$/.test(name))
      problems.push(error("FLT1332", at, "unknown variable", knownVariables, whole));
  }
  return problems;
}

const knownVariables = "use ${MEMBER-CLUSTER-NAME} or ${MEMBER-CLUSTER-LABEL-KEY-<label>}";

/** Replacing all labels or annotations loses those that were there (`render/README.md#c-35`). */
function wholeMapProblems({ op, path }: WrittenOperation, at: JsonPath): FieldProblems {
  if (op === "remove" || !/\/metadata\/(?:labels|annotations)$/.test(path)) return [];
  const message = "replaces the whole map: keys that the object already has are lost";
  return [warning("FLT1339", [...at, "path"], message, `name one key: ${path}/example.com~1key`)];
}

/** `intent/README.md#v-cro-02`, `#v-ro-01`: an override belongs to one placement. */
function overrideUpdateProblems(before: Override["spec"], after: Override["spec"]): FieldProblems {
  if (before.placement === after.placement) return [];
  const text = (it: string | null): string => it ?? "every placement";
  const message = `cannot change from ${text(before.placement)} to ${text(after.placement)}`;
  return [error("FLT1315", ["spec", "placement"], message, "write an override with another name")];
}

/** What an override may name: objects of its own scope, and never the envelope that one of them stands in. */
const named: Readonly<Record<Scope, { readonly at: JsonPath; readonly wrapped: string; readonly otherwise: string }>> =
  {
    Cluster: {
      at: clusterSelectors,
      wrapped: "name what it wraps, or the Namespace of that",
      otherwise: "name the object's Namespace",
    },
    Namespaced: { at: selectors, wrapped: "name what it wraps", otherwise: "use a ClusterResourceOverride" },
  };

const scopeProblems = (spec: Override["spec"], scopes: ScopeTable, wanted: Scope): FieldProblems =>
  spec.selectors.flatMap((selector, i): FieldProblems => {
    const { at, wrapped, otherwise } = named[wanted];
    const warned = (message: string, fix: string) => [
      warning("FLT1333", [...at, i], `${message}: this selector has no effect`, fix),
    ];
    if (isEnvelope(selector)) return warned("an envelope is never overridden", wrapped);
    const found = scopes.get(kindKey(selector));
    if (found === wanted) return [];
    const why = found === undefined ? "is not known" : found === "Cluster" ? "is cluster-scoped" : "is namespaced";
    const isUndefined = found === undefined && wanted === "Namespaced";
    return warned(`${selector.kind} ${why}`, isUndefined ? "add its CustomResourceDefinition" : otherwise);
  });
