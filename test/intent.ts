import type { MemberCluster } from "../src/core/model/fleet.ts";
import { digestOf, type JsonObject } from "../src/core/model/json.ts";
import { idOf, type ObjectKey, objectKey, objectText, type SourcedManifest } from "../src/core/model/manifest.ts";
import { memberNameLabel, placementGroup } from "../src/core/model/names.ts";
import type { Override, PatchOperation } from "../src/core/model/override.ts";
import {
  type ApplyStrategy,
  type CountOrPercent,
  type Placement,
  type PlacementPolicy,
  placementKey,
  type ResourceSelector,
} from "../src/core/model/placement.ts";
import {
  runKey,
  type Stage,
  strategyKey,
  type UpdateRun,
  type UpdateRunSpec,
  type UpdateStrategy,
} from "../src/core/model/update-run.ts";
import { type ClusterName, minutes, seconds } from "../src/core/model/value.ts";

/** Values of an intent from short words: `Deployment web/app`, `env=prod`, `PickN 3`. */

const groups: Readonly<Record<string, string>> = { Deployment: "apps", Job: "batch", Widget: "example.com" };
const versions: Readonly<Record<string, string>> = { Widget: "v1alpha1" };
const clusterScoped = new Set(["Namespace", "ClusterRole", "PersistentVolume"]);

/** `Deployment web/app` as a key; `Namespace web`. */
export function keyOf(kind: string, path: string): ObjectKey {
  const [name = "", namespace = null] = path.split("/").reverse();
  return objectKey({ group: groups[kind] ?? "", kind, namespace, name });
}

/** An object of the repository whose content is one word. */
export function objectOf(kind: string, path: string, value: string): SourcedManifest {
  const [name = "", namespace = null] = path.split("/").reverse();
  const version = versions[kind] ?? "v1";
  const group = groups[kind] ?? "";
  const manifest: JsonObject = {
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind,
    metadata: { name, ...(namespace === null || clusterScoped.has(kind) ? {} : { namespace }) },
    data: { value },
  };
  const id = idOf(manifest);
  if (id === null) throw new Error(`${kind} ${path} has no identity`);
  const source = { path: `resources/${objectText(id).replaceAll(/[ /]/g, "-")}.yaml`, document: 0, line: 1, column: 1 };
  return { id, manifest, digest: digestOf(manifest), source };
}

/** `e`, or `web/e` of a namespace: an envelope around these objects, and perhaps why it may not be unwrapped. */
export function envelopeOf(
  path: string,
  wrapped: readonly SourcedManifest[],
  defect: string | null = null,
): SourcedManifest {
  const [name = "", namespace = null] = path.split("/").reverse();
  const kind = namespace === null ? "ClusterResourceEnvelope" : "ResourceEnvelope";
  const id = { group: placementGroup, version: "v1beta1", kind, namespace, name };
  const data = Object.fromEntries(wrapped.map((it, at) => [`k${at}`, it.manifest]));
  const metadata = { name, ...(namespace === null ? {} : { namespace }) };
  const manifest = { apiVersion: `${placementGroup}/v1beta1`, kind, metadata, data };
  const objects = wrapped.map(({ id: own, manifest: content, digest }) => ({ id: own, manifest: content, digest }));
  const source = { path: `resources/${kind}-${name}.yaml`, document: 0, line: 1, column: 1 };
  return { id, manifest, digest: digestOf(manifest), source, wraps: { objects, defect } };
}

/** `env=prod region=eu` */
export const labelsOf = (words: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(words.map((it) => it.split("=") as [string, string]));

export function clusterOf(name: string, words: readonly string[] = []): MemberCluster {
  const taints = words.filter((it) => it.startsWith("taint:")).map((it) => it.slice("taint:".length));
  const labels = { ...labelsOf(words.filter((it) => it.includes("="))), [memberNameLabel]: name };
  return {
    name: name as ClusterName,
    labels,
    taints: taints.map((key) => ({ key, value: "true", effect: "NoSchedule" })),
    properties: {},
    resourceUsage: { capacity: {}, allocatable: {}, available: {}, observedAt: null },
    spec: { taints: taints.map((key) => ({ key, value: "true", effect: "NoSchedule" })) },
    source: { path: `clusters/${name}.yaml`, document: 0, line: 1, column: 1 },
  };
}

/** What a placement says beside its policy: `ns=web`, `label=env=prod`, `unavailable=1`, `abandon`, `deadline=5`. */
export interface PlacementWords {
  readonly name: string;
  readonly policy: PlacementPolicy;
  readonly options: readonly string[];
}

const applyStrategy: ApplyStrategy = {
  type: "ClientSideApply",
  comparisonOption: "PartialComparison",
  whenToApply: "Always",
  whenToTakeOver: "Always",
  allowCoOwnership: false,
  forceConflicts: false,
};

export function placementOf({ name, policy, options }: PlacementWords): Placement {
  const named = new Map(options.map((it) => [it.split("=")[0] ?? "", it.slice(it.indexOf("=") + 1)]));
  const namespaces = (named.get("ns") ?? name).split(",");
  return {
    key: placementKey(null, name),
    scope: "Cluster",
    namespace: null,
    name,
    labels: {},
    annotations: {},
    spec: {
      resourceSelectors: namespaces.map(namespaceSelector),
      policy,
      strategy: {
        type: named.has("external") ? "External" : "RollingUpdate",
        rollingUpdate: {
          maxUnavailable: boundOf(named.get("unavailable") ?? "25%"),
          maxSurge: boundOf(named.get("surge") ?? "25%"),
          unavailablePeriod: seconds(60),
        },
        applyStrategy: { ...applyStrategy, ...(named.has("never-take-over") ? { whenToTakeOver: "Never" } : {}) },
        propagationPolicy: named.has("abandon") ? "Abandon" : "Delete",
        progressDeadline: minutes(Number(named.get("deadline") ?? "10")),
        deleteAdopted: named.has("delete-adopted"),
      },
      revisionHistoryLimit: Number(named.get("history") ?? "10"),
    },
    source: { path: `placements/${name}.yaml`, document: 0, line: 1, column: 1 },
  };
}

/** `kube-system` and other reserved names make a placement that cannot be carried out. */
const namespaceSelector = (name: string): ResourceSelector => ({
  group: "",
  version: "v1",
  kind: "Namespace",
  name,
  labelSelector: null,
  selectionScope: "NamespaceWithResources",
});

/** `3` or `25%`. */
export const boundOf = (text: string): CountOrPercent =>
  text.endsWith("%") ? { percent: Number(text.slice(0, -1)) } : { count: Number(text) };

/**
 * A stage in one word: `canary:env=canary`, then what else it has, each after a slash: `2` or `50%` at a time, `sort=order`,
 * `ask-before`, `ask-after`, `wait=60` minutes, `fail=1`. Without labels it selects everything.
 */
export function stageOf(word: string): Stage {
  const [head = "", ...options] = word.split("/");
  const [name = "", label] = head.split(":");
  const named = new Map(options.map((it) => [it.split("=")[0] ?? "", it.slice(it.indexOf("=") + 1)]));
  const amount = options.find((it) => /^\d+%?$/.test(it));
  const wait = named.get("wait");
  return {
    name,
    selector: label === undefined ? {} : { matchLabels: labelsOf([label]) },
    sortingLabelKey: named.get("sort") ?? null,
    maxConcurrency: boundOf(amount ?? "1"),
    before: named.has("ask-before") ? [{ kind: "Approval" }] : [],
    after: [
      ...(named.has("ask-after") ? [{ kind: "Approval" } as const] : []),
      ...(wait === undefined ? [] : [{ kind: "TimedWait", wait: minutes(Number(wait)) } as const]),
    ],
    maxFailures: boundOf(named.get("fail") ?? "0"),
  };
}

/** A strategy of these stages, see {@link stageOf}. */
export const strategyOf = (name: string, stages: readonly string[]): UpdateStrategy => ({
  key: strategyKey(null, name),
  scope: "Cluster",
  namespace: null,
  name,
  stages: stages.map(stageOf),
  source: { path: `strategies/${name}.yaml`, document: 0, line: 1, column: 1 },
});

/** A run of a placement: by a strategy, of an index or of what is selected when it is initialized. */
export const runOf = (name: string, spec: UpdateRunSpec): UpdateRun => ({
  key: runKey(null, name),
  scope: "Cluster",
  namespace: null,
  name,
  spec,
  source: { path: `runs/${name}.yaml`, document: 0, line: 1, column: 1 },
});

/** `PickAll`, `PickAll env=prod`, `PickN 3`, `PickFixed m1,m2`. */
export function policyOf(kind: string, argument: string | undefined): PlacementPolicy {
  switch (kind) {
    case "PickN":
      return {
        kind: "PickN",
        numberOfClusters: Number(argument),
        required: [],
        preferred: [],
        spread: [],
        tolerations: [],
      };
    case "PickFixed":
      return {
        kind: "PickFixed",
        clusterNames: (argument ?? "").split(",").filter((it) => it !== "") as ClusterName[],
      };
    default: {
      const required =
        argument === undefined ? [] : [{ labelSelector: { matchLabels: labelsOf([argument]) }, properties: [] }];
      return { kind: "PickAll", required, tolerations: [] };
    }
  }
}

/**
 * An override that adds one word to one namespaced object, on clusters with a label; `delete` takes the object away, and
 * `broken` cannot be carried out.
 */
export function overrideOf(name: string, object: ObjectKey, label: string, value: string): Override {
  const [group = "", kind = "", namespace = "", objectName = ""] = object.split("/");
  const version = versions[kind] ?? "v1";
  return {
    scope: "Namespaced",
    namespace,
    name,
    spec: {
      placement: null,
      selectors: [{ group, version, kind, name: objectName }],
      rules: [
        {
          clusters: [{ matchLabels: labelsOf([label]) }],
          action: value === "delete" ? { kind: "Delete" } : { kind: "JSONPatch", operations: [operationOf(value)] },
        },
      ],
    },
    source: { path: `overrides/${name}.yaml`, document: 0, line: 1, column: 1 },
  };
}

const operationOf = (value: string): PatchOperation =>
  value === "broken" ? { op: "remove", path: "/data/nothing", value: null } : { op: "add", path: "/data/more", value };
