import { isObject, type Json, type JsonList, type JsonObject, member, memberAt } from "../../../core/model/json.ts";
import { apiVersionOf, kindKey } from "../../../core/model/manifest.ts";
import type { ServedKind } from "../api/kinds.ts";
import { statusError } from "../api/status.ts";

/** How a client wants its objects. */
type Representation = "whole" | "partial" | "table";

/** The first form in an `Accept` header that can be given; refuses a client that takes none of them. */
export function representationOf(accept: string): Representation {
  if (accept === "") return "whole";
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((it) => it.trim());
    if (!["application/json", "application/*", "*/*"].includes(type)) continue;
    const as = parameters.find((it) => it.startsWith("as="))?.slice(3);
    if (as === undefined) return "whole";
    if (as === "Table") return "table";
    if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return "partial";
  }
  throw statusError("NotAcceptable", "406: Not Acceptable\n\nAvailable representations: application/json", {});
}

/** An object's type and metadata, and nothing of what it says. */
const metadataOnlyOf = (object: JsonObject): JsonObject => ({
  kind: "PartialObjectMetadata",
  apiVersion: "meta.k8s.io/v1",
  metadata: object["metadata"] ?? {},
});

export interface View {
  readonly representation: Representation;
  readonly kind: ServedKind;
  /** For ages in tables. */
  readonly now: number;
}

/** Gives one object in the form that was asked for. */
export function represent(object: JsonObject, { representation, kind, now }: View): JsonObject {
  switch (representation) {
    case "whole":
      return object;
    case "partial":
      return metadataOnlyOf(object);
    case "table": {
      const metadata = object["metadata"] as JsonObject;
      return tableOf([object], kind, { resourceVersion: metadata["resourceVersion"] ?? "" }, now);
    }
  }
}

/** A list as it is answered. Items of Kubernetes' own kinds carry no type of their own, those of custom kinds do. */
export function representList(objects: readonly JsonObject[], metadata: JsonObject, view: View): JsonObject {
  const { representation, kind } = view;
  switch (representation) {
    case "whole":
      return {
        kind: `${kind.kind}List`,
        apiVersion: apiVersionOf(kind),
        metadata,
        items: kind.custom === null ? objects.map(untyped) : objects,
      };
    case "partial":
      return {
        kind: "PartialObjectMetadataList",
        apiVersion: "meta.k8s.io/v1",
        metadata,
        items: objects.map(metadataOnlyOf),
      };
    case "table":
      return tableOf(objects, kind, metadata, view.now);
  }
}

function untyped(object: JsonObject): JsonObject {
  const { kind: _, apiVersion: __, ...rest } = object;
  return rest;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly cell: (object: JsonObject) => Json;
}

const text = (name: string, ...path: readonly string[]): Column => ({
  name,
  type: "string",
  cell: (object) => shown(memberAt(object, ...path)),
});

const count = (name: string, ...path: readonly string[]): Column => ({
  name,
  type: "integer",
  cell: (object) => memberAt(object, ...path) ?? 0,
});

const keysIn = (name: string, key: string): Column => ({
  name,
  type: "integer",
  cell: (object) => Object.keys((object[key] ?? {}) as JsonObject).length,
});

const ready = (got: readonly string[], wanted: readonly string[], fallback: number): Column => ({
  name: "Ready",
  type: "string",
  cell: (object) => `${String(memberAt(object, ...got) ?? 0)}/${String(memberAt(object, ...wanted) ?? fallback)}`,
});

const shown = (value: Json): Json =>
  value === null
    ? "<none>"
    : Array.isArray(value)
      ? (value as JsonList).join(",")
      : isObject(value)
        ? JSON.stringify(value)
        : value;

const columnsOf: Readonly<Record<string, readonly Column[]>> = {
  "/ConfigMap": [keysIn("Data", "data")],
  "/Secret": [text("Type", "type"), keysIn("Data", "data")],
  "/Namespace": [text("Status", "status", "phase")],
  "/Pod": [text("Status", "status", "phase")],
  "/Node": [text("Version", "status", "nodeInfo", "kubeletVersion")],
  "/Service": [text("Type", "spec", "type"), text("Cluster-IP", "spec", "clusterIP")],
  "/PersistentVolumeClaim": [text("Status", "status", "phase"), text("Volume", "spec", "volumeName")],
  "apps/Deployment": [
    ready(["status", "readyReplicas"], ["spec", "replicas"], 1),
    count("Up-to-date", "status", "updatedReplicas"),
    count("Available", "status", "availableReplicas"),
  ],
  "apps/StatefulSet": [ready(["status", "readyReplicas"], ["spec", "replicas"], 1)],
  "apps/ReplicaSet": [count("Desired", "spec", "replicas"), count("Ready", "status", "readyReplicas")],
  "apps/DaemonSet": [
    count("Desired", "status", "desiredNumberScheduled"),
    count("Ready", "status", "numberReady"),
    count("Available", "status", "numberAvailable"),
  ],
  "batch/Job": [ready(["status", "succeeded"], ["spec", "completions"], 1)],
  "batch/CronJob": [text("Schedule", "spec", "schedule")],
};

const name = text("Name", "metadata", "name");

function allColumns(kind: ServedKind, now: number): readonly Column[] {
  const own = columnsOf[kindKey(kind)] ?? [];
  const custom = (kind.custom?.columns ?? []).map(
    (it): Column => ({
      name: it.name,
      type: it.type,
      cell: (object) => shown(valueAt(object, it.jsonPath)),
    }),
  );
  const age: Column = { name: "Age", type: "string", cell: (object) => ageText(object, now) };
  const aged = custom.some((it) => it.name === "Age");
  return [name, ...own, ...custom, ...(aged ? [] : [age])];
}

/** A simple JSON path, as printer columns use it: `.spec.size`. */
const valueAt = (object: JsonObject, path: string): Json =>
  path
    .split(".")
    .filter((it) => it !== "")
    .reduce<Json>((here, key) => member(here, key), object);

/** What `kubectl get` prints: a name, an age, and what matters of some kinds. */
function tableOf(objects: readonly JsonObject[], kind: ServedKind, metadata: JsonObject, now: number): JsonObject {
  const columns = allColumns(kind, now);
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: columns.map((it, at) => ({
      name: it.name,
      type: it.type,
      format: at === 0 ? "name" : "",
      description: it.name,
      priority: 0,
    })),
    rows: objects.map((object) => ({ cells: columns.map((it) => it.cell(object)), object: metadataOnlyOf(object) })),
  };
}

const units: readonly (readonly [string, number])[] = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
];

function ageText(object: JsonObject, now: number): string {
  const born = Date.parse(String(memberAt(object, "metadata", "creationTimestamp")));
  if (Number.isNaN(born)) return "<unknown>";
  const seconds = Math.max(0, Math.floor((now - born) / 1000));
  for (const [unit, size] of units) if (seconds >= 2 * size) return `${Math.floor(seconds / size)}${unit}`;
  return `${seconds}s`;
}
