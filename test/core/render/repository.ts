import { digestOf, isObject, type JsonObject, member } from "../../../src/core/model/json.ts";
import {
  builtInScopes,
  idOf,
  type ObjectKey,
  objectKey,
  objectText,
  type ScopeTable,
  type SourcedManifest,
} from "../../../src/core/model/manifest.ts";
import type { OverrideRule, OverrideSelector, OverrideSnapshot } from "../../../src/core/model/override.ts";
import { type Placement, placementKey, type ResourceSelector } from "../../../src/core/model/placement.ts";
import type { ClusterName, PlacementKey } from "../../../src/core/model/value.ts";
import { defaultStrategy } from "../../strategy.ts";

/**
 * A manifest from one line: `apps/v1 Deployment app/web`, `v1 Namespace app`; `more` is merged in, metadata included.
 */
export function manifest(line: string, more: JsonObject = {}): JsonObject {
  const [apiVersion = "", kind = "", path = ""] = line.split(" ");
  const [name = "", namespace = null] = path.split("/").reverse();
  const metadata = member(more, "metadata");
  return {
    apiVersion,
    kind,
    ...more,
    metadata: { ...(namespace === null ? {} : { namespace }), name, ...(isObject(metadata) ? metadata : {}) },
  };
}

export function sourced(content: JsonObject): SourcedManifest {
  const id = idOf(content);
  if (id === null) throw new Error("the test's manifest has no identity");
  const path = `resources/${objectText(id).replaceAll(/[ /]/g, "-")}.yaml`;
  return { id, manifest: content, digest: digestOf(content), source: { path, document: 0, line: 1, column: 1 } };
}

export const object = (line: string, more: JsonObject = {}): SourcedManifest => sourced(manifest(line, more));

export const labelled = (line: string, labels: JsonObject): SourcedManifest => object(line, { metadata: { labels } });

export const objectsOf = (objects: readonly SourcedManifest[]): ReadonlyMap<ObjectKey, SourcedManifest> =>
  new Map(objects.map((it) => [objectKey(it.id), it]));

/** Built-in kinds, and two of the repository's own. */
export const scopes: ScopeTable = new Map([
  ...builtInScopes,
  ["example.com/Foo", "Cluster"],
  ["serving.knative.dev/Service", "Namespaced"],
]);

/** `v1 Namespace app`, `v1 Namespace` (all); labels and the selection scope beside it. */
export function selector(line: string, more: Partial<ResourceSelector> = {}): ResourceSelector {
  const [apiVersion = "", kind = "", name = null] = line.split(" ");
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  return { group, version, kind, name, labelSelector: null, selectionScope: "NamespaceWithResources", ...more };
}

export const clusterPlacement = (...selectors: readonly ResourceSelector[]): Placement => placement(null, selectors);

export const placementIn = (namespace: string, ...selectors: readonly ResourceSelector[]): Placement =>
  placement(namespace, selectors);

function placement(namespace: string | null, resourceSelectors: readonly ResourceSelector[]): Placement {
  return {
    key: placementKey(namespace, "p"),
    scope: namespace === null ? "Cluster" : "Namespaced",
    namespace,
    name: "p",
    labels: {},
    annotations: {},
    spec: {
      resourceSelectors,
      policy: { kind: "PickAll", required: [], tolerations: [] },
      strategy: defaultStrategy,
      revisionHistoryLimit: 10,
    },
    source: { path: "placements/p.yaml", document: 0, line: 1, column: 1 },
  };
}

/**
 * A snapshot of an override: `cro-0` cluster-scoped, `app/ro-0` in a namespace; what it selects as in {@link
 * selector}.
 */
export function override(
  name: string,
  selects: string,
  rules: readonly OverrideRule[],
  belongsTo: string | null = null,
): OverrideSnapshot {
  const [snapshot = "", namespace = null] = name.split("/").reverse();
  const dash = snapshot.lastIndexOf("-");
  return {
    name: snapshot,
    namespace,
    override: snapshot.slice(0, dash),
    index: Number(snapshot.slice(dash + 1)),
    spec: { placement: belongsTo as PlacementKey | null, selectors: [overrideSelector(selects)], rules },
  };
}

function overrideSelector(line: string): OverrideSelector {
  const { group, version, kind, name } = selector(line);
  return { group, version, kind, name: name ?? "" };
}

type Clusters = OverrideRule["clusters"];

/** A patch rule from lines such as `add /metadata/labels {"a":"b"}`; the value is JSON. */
export const patch = (clusters: Clusters, ...lines: readonly string[]): OverrideRule => ({
  clusters,
  action: {
    kind: "JSONPatch",
    operations: lines.map((line) => {
      const [op = "", path = "", ...value] = line.split(" ");
      return {
        op: op as "add" | "remove" | "replace",
        path,
        value: value.length === 0 ? null : JSON.parse(value.join(" ")),
      };
    }),
  },
});

export const remove = (clusters: Clusters): OverrideRule => ({ clusters, action: { kind: "Delete" } });

export const everywhere: Clusters = [];
export const inProd: Clusters = [{ matchLabels: { env: "prod" } }];

export const c1 = "c1" as ClusterName;
export const prodLabels = { env: "prod", region: "eu", "kubernetes-fleet.io/member-name": "c1" };
export const devLabels = { env: "dev", region: "us", "kubernetes-fleet.io/member-name": "c2" };
