import type {
  ClusterResourcePlacement as WrittenPlacement,
  ResourceSelector as WrittenSelector,
} from "#schemas/cluster-resource-placement";
import schema from "../../../../schemas/cluster-resource-placement.json" with { type: "json" };
import { isEnvelope, isNeverPlaced, kindKey, type Scope, type ScopeTable } from "../../model/manifest.ts";
import { isReservedNamespace, placementGroup } from "../../model/names.ts";
import {
  isNamespaceKind,
  type Placement,
  placementKey,
  type ResourceSelector,
  statusNamespace,
} from "../../model/placement.ts";
import { nearest } from "../../yaml/nearest.ts";
import { error, type FieldProblem, type FieldProblems, type JsonPath, note, warning } from "../../yaml/problems.ts";
import { repeatedIndices } from "./fields.ts";
import type { CommitKinds, ContentOf, ReadKind } from "./kind.ts";
import { dnsLabelProblems, labelSelectorProblems, newerFieldProblems, statusProblems } from "./metadata.ts";
import { policyFrom, policyProblems, policyUpdateProblems } from "./placement-policy.ts";
import {
  placementStrategyFrom,
  settingProblems,
  strategyProblems,
  strategyUpdateProblems,
} from "./placement-strategy.ts";

/** What is placed where, and how fast: of the fleet, and of a namespace. */
export const placementKind: ReadKind<WrittenPlacement, ContentOf<"placement">> = {
  names: [
    { group: placementGroup, kind: "ClusterResourcePlacement", scope: "Cluster", versions: ["v1", "v1beta1"] },
    { group: placementGroup, kind: "ResourcePlacement", scope: "Namespaced", versions: ["v1", "v1beta1"] },
  ],
  schema,
  ownPlace: null,
  rules: (it) => placementProblems(it),
  content: (it, scope) => ({ kind: "placement", placement: placementFrom(it, scope) }),
  updateRules: (before, after) => placementUpdateProblems(before.placement.spec, after.placement.spec),
  selectionRules: ({ placement }, known) => placementScopeProblems(placement, known),
};

/** A placement after defaults (`intent/README.md#defaults`), which has passed its schema and its rules. */
function placementFrom({ metadata, spec }: WrittenPlacement, scope: Scope): Omit<Placement, "source"> {
  const annotations = metadata.annotations ?? {};
  const namespace = scope === "Cluster" ? null : (metadata.namespace ?? null);
  return {
    key: placementKey(namespace, metadata.name),
    scope,
    namespace,
    name: metadata.name,
    labels: metadata.labels ?? {},
    annotations,
    spec: {
      resourceSelectors: spec.resourceSelectors.map(selectorOf),
      policy: policyFrom(spec.policy ?? {}),
      strategy: placementStrategyFrom(spec.strategy ?? {}, annotations),
      revisionHistoryLimit: spec.revisionHistoryLimit ?? 10,
      // What has its default is left out: specs that were recorded before keep their digests.
      ...(scope === "Cluster" && spec.statusReportingScope === "NamespaceAccessible"
        ? { statusReportingScope: spec.statusReportingScope }
        : {}),
    },
  };
}

function selectorOf(written: WrittenSelector): ResourceSelector {
  const { group = "", version, kind, name = "", selectionScope = "NamespaceWithResources" } = written;
  const labelSelector = written.labelSelector ?? null;
  return { group, version, kind, name: name === "" ? null : name, labelSelector, selectionScope };
}

/** Checks a placement by the rules of its kind (`intent/README.md#placements`). */
function placementProblems({ apiVersion, kind, metadata, spec, status }: WrittenPlacement): FieldProblems {
  const isOfFleet = kind === "ClusterResourcePlacement";
  return [
    ...dnsLabelProblems(metadata.name),
    ...(isOfFleet ? [] : homeProblems(metadata.namespace ?? "")),
    ...settingProblems(metadata.annotations ?? {}),
    ...selectorsProblems(spec.resourceSelectors, isOfFleet),
    ...policyProblems(spec.policy ?? {}),
    ...strategyProblems(spec.strategy ?? {}),
    ...newerFieldProblems(apiVersion, ["spec", "strategy"], {
      deleteStrategy: spec.strategy?.deleteStrategy,
      reportBackStrategy: spec.strategy?.reportBackStrategy,
    }),
    ...(spec.statusReportingScope === "NamespaceAccessible" ? accessibleProblems(spec, isOfFleet) : []),
    ...statusProblems(status),
  ];
}

/** A team's objects never go where the cluster's own parts or ours live (`plan/README.md#d-5`). */
const homeProblems = (namespace: string): FieldProblems =>
  isReservedNamespace(namespace)
    ? [
        error(
          "FLT1403",
          ["metadata", "namespace"],
          `nothing in the namespace ${namespace} is placed: it is reserved`,
          "choose another",
        ),
      ]
    : [];

function selectorsProblems(selectors: readonly WrittenSelector[], isOfFleet: boolean): FieldProblems {
  const at: JsonPath = ["spec", "resourceSelectors"];
  return [
    ...selectors.flatMap((it, i) => selectorProblems(it, [...at, i])),
    // A ResourcePlacement selects no Namespace at all, which is said of each by what is known of its kind.
    ...(isOfFleet ? [...reservedProblems(selectors, at), ...namespaceModeProblems(selectors, at)] : []),
    ...repeatedIndices(selectors, (it) => JSON.stringify([it.group ?? "", it.kind, it.name, it.labelSelector])).map(
      (i) => warning("FLT1308", [...at, i], "this selector occurs twice", "remove one of the two"),
    ),
  ];
}

function selectorProblems(selector: WrittenSelector, at: JsonPath): FieldProblems {
  const { group = "", kind, name = "", labelSelector } = selector;
  const problems = [...labelSelectorProblems(labelSelector, [...at, "labelSelector"])];
  if (selector.group === undefined)
    problems.push(note("FLT1300", [...at, "group"], "is missing and read as the core group", 'add group: ""'));
  if (name !== "" && labelSelector !== undefined)
    problems.push(error("FLT1307", at, "name and labelSelector exclude each other", "remove one of the two"));
  if (isNeverPlaced({ group, kind }))
    problems.push(warning("FLT1311", at, `objects of kind ${kind} are never placed`, "remove the selector"));
  return problems;
}

const reservedProblems = (selectors: readonly WrittenSelector[], at: JsonPath): FieldProblems =>
  [...selectors.entries()]
    .filter(([, it]) => isNamespaceKind(it) && isReservedNamespace(it.name ?? ""))
    .map(([i, { name }]) =>
      error("FLT1403", [...at, i, "name"], `namespace ${name} is reserved and never placed`, "choose another"),
    );

/** NamespaceWithResourceSelectors: one namespace, by name, no other (`intent/README.md#v-pl-06` … `#v-pl-08`). */
function namespaceModeProblems(selectors: readonly WrittenSelector[], at: JsonPath): FieldProblems {
  const namespaces = [...selectors.entries()].filter(([, it]) => isNamespaceKind(it));
  const special = namespaces.filter(([, it]) => it.selectionScope === "NamespaceWithResourceSelectors");
  const [first] = special;
  if (first === undefined) return [];
  const unnamed = special.filter(([, it]) => (it.name ?? "") === "");
  const others = namespaces.filter(([i]) => i !== first[0]);
  return [
    ...unnamed.map(([i]) =>
      error("FLT1307", [...at, i], "NamespaceWithResourceSelectors picks its namespace by name", "name the namespace"),
    ),
    ...others.map(([i]) =>
      error(
        "FLT1307",
        [...at, i],
        "NamespaceWithResourceSelectors allows no other Namespace selector",
        "make it a placement of its own",
      ),
    ),
  ];
}

/** `intent/README.md#v-crp-05`, `#v-rp-03`, `#v-rp-04`, `#v-pl-09`: a kind is known, and lives where is looked for it. */
function placementScopeProblems(
  { scope: own, spec: { resourceSelectors } }: Omit<Placement, "source">,
  { scopes, isKnownKind }: CommitKinds,
): FieldProblems {
  const looksInside = resourceSelectors.some(
    (it) => isNamespaceKind(it) && it.selectionScope === "NamespaceWithResourceSelectors",
  );
  return resourceSelectors.flatMap((selector, i): FieldProblems => {
    const at: JsonPath = ["spec", "resourceSelectors", i];
    if (isKnownKind(selector) && !isNeverPlaced(selector) && !isEnvelope(selector))
      return [
        error("FLT1901", at, `${selector.kind} is not yet supported`, "leave it out until a later version supports it"),
      ];
    const scope = scopes.get(kindKey(selector));
    if (scope === undefined) return isNeverPlaced(selector) ? [] : [unknownSelected(selector, at, scopes)];
    if (own === "Namespaced") return scope === "Cluster" ? [clusterScopedKind(selector.kind, at)] : [];
    return scope === "Namespaced" && !looksInside ? [namespacedKind(selector.kind, at)] : [];
  });
}

const namespacedKind = (kind: string, at: JsonPath): FieldProblem =>
  error(
    "FLT1311",
    at,
    `${kind} is namespaced; this placement selects cluster-scoped objects and whole namespaces`,
    "select the Namespace, with selectionScope NamespaceWithResourceSelectors to narrow it down",
  );

const clusterScopedKind = (kind: string, at: JsonPath): FieldProblem =>
  error(
    "FLT1311",
    at,
    `${kind} is cluster-scoped; a ResourcePlacement selects objects in its own namespace`,
    "select it with a ClusterResourcePlacement",
  );

function unknownSelected(
  { group, kind }: { group: string; kind: string },
  at: JsonPath,
  scopes: ScopeTable,
): FieldProblem {
  const known = [...scopes.keys()];
  const near = nearest(
    kind,
    known.filter((it) => it.startsWith(`${group}/`)).map((it) => it.slice(group.length + 1)),
  );
  const elsewhere = known.find((it) => it.endsWith(`/${kind}`));
  const fix =
    near !== null
      ? `did you mean "${near}"?`
      : elsewhere === undefined
        ? "add its CustomResourceDefinition to the repository"
        : `did you mean group "${elsewhere.slice(0, -kind.length - 1)}"?`;
  return error("FLT1301", [...at, "kind"], `${kind} of group "${group}" is not known`, fix);
}

const placementUpdateProblems = (before: Placement["spec"], after: Placement["spec"]): FieldProblems => [
  ...policyUpdateProblems(before.policy, after.policy),
  ...strategyUpdateProblems(before, after),
  ...accessibleUpdateProblems(before, after),
];

const scopeAt: JsonPath = ["spec", "statusReportingScope"];

/** What a placement has to select whose status is NamespaceAccessible (`intent/README.md#v-crp-03`, `#v-rp-05`). */
function accessibleProblems({ resourceSelectors }: WrittenPlacement["spec"], isOfFleet: boolean): FieldProblems {
  if (!isOfFleet)
    return [
      warning("FLT1307", scopeAt, "has no effect on a ResourcePlacement: its status is in its namespace", "remove it"),
    ];
  const namespaces = [...resourceSelectors.entries()].filter(([, it]) => isNamespaceKind(it));
  const [first, second] = namespaces;
  if (first === undefined)
    return [
      error(
        "FLT1307",
        scopeAt,
        "NamespaceAccessible shows the status in the Namespace that is selected, and none is",
        "select exactly one Namespace, by name",
      ),
    ];
  const [index, { name = "" }] = first;
  if (second !== undefined)
    return [
      error(
        "FLT1307",
        ["spec", "resourceSelectors", second[0]],
        `NamespaceAccessible allows one Namespace selector, and there are ${namespaces.length}`,
        "make it a placement of its own",
      ),
    ];
  if (name !== "") return [];
  const message = "NamespaceAccessible needs to know in which Namespace the status is shown";
  return [error("FLT1307", ["spec", "resourceSelectors", index], message, "select it by name")];
}

/** Neither the scope nor the namespace changes (`intent/README.md#v-crp-04`, `#v-crp-06`). */
function accessibleUpdateProblems(before: Placement["spec"], after: Placement["spec"]): FieldProblems {
  const [was, is] = [scopeOf(before), scopeOf(after)];
  if (was !== is)
    return [error("FLT1315", scopeAt, `cannot change from ${was} to ${is}`, "write a placement with another name")];
  const [left, shown] = [
    statusNamespace({ namespace: null, spec: before }),
    statusNamespace({ namespace: null, spec: after }),
  ];
  if (left === shown) return [];
  const index = after.resourceSelectors.findIndex(isNamespaceKind);
  const message = `cannot change from ${left} to ${shown} while the status is NamespaceAccessible`;
  const path: JsonPath = ["spec", "resourceSelectors", index, "name"];
  return [error("FLT1315", path, message, "write a placement with another name")];
}

const scopeOf = (it: Placement["spec"]): string => it.statusReportingScope ?? "ClusterScopeOnly";
