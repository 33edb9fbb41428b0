import { isObject, type Json, type JsonObject, member, memberAt } from "../../model/json.ts";
import type { Manifest } from "../../model/manifest.ts";

/**
 * A manifest without what belongs to one cluster: people commit what `kubectl get -o yaml` prints.
 *
 * `render/README.md#rendering`; finalizers go as well (`#c-24`). Gives back the very manifest when nothing is to go.
 */
export function sanitised(manifest: Manifest): Manifest {
  const plain = update(without(manifest, ["status"]), "metadata", sanitisedMetadata);
  if (plain["apiVersion"] === "v1" && plain["kind"] === "Service") return update(plain, "spec", sanitisedService);
  if (plain["apiVersion"] === "batch/v1" && plain["kind"] === "Job") return update(plain, "spec", sanitisedJob);
  return plain;
}

const serverFields = [
  ...["resourceVersion", "generation", "uid", "selfLink", "creationTimestamp", "deletionTimestamp"],
  ...["managedFields", "ownerReferences", "finalizers"],
];

const serverAnnotations = ["kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision"];

const sanitisedMetadata = (metadata: JsonObject): JsonObject =>
  dropEmptied(without(metadata, serverFields), metadata, "annotations", serverAnnotations);

/** Addresses and ports that one cluster handed out; a headless service keeps its `None`. */
function sanitisedService(spec: JsonObject): JsonObject {
  const clusterIP = member(spec, "clusterIP");
  const addresses = clusterIP === null || clusterIP === "None" ? [] : ["clusterIP", "clusterIPs"];
  const kept = without(spec, [...addresses, "healthCheckNodePort"]);
  const ports = member(kept, "ports");
  if (!Array.isArray(ports) || !ports.some((it) => member(it, "nodePort") !== null)) return kept;
  return { ...kept, ports: ports.map((it: Json) => (isObject(it) ? without(it, ["nodePort"]) : it)) };
}

const jobLabels = ["controller-uid", "batch.kubernetes.io/controller-uid"];

/** The selector that a server generated for a Job, unless its author manages it. */
function sanitisedJob(spec: JsonObject): JsonObject {
  if (memberAt(spec, "manualSelector") === true) return spec;
  const selected = update(spec, "selector", (it) => update(it, "matchLabels", (labels) => without(labels, jobLabels)));
  return update(selected, "template", (template) =>
    update(template, "metadata", (metadata) =>
      update(without(metadata, ["creationTimestamp"]), "labels", (labels) => without(labels, jobLabels)),
    ),
  );
}

function without(object: JsonObject, keys: readonly string[]): JsonObject {
  if (!keys.some((it) => Object.hasOwn(object, it))) return object;
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

function update(object: JsonObject, key: string, change: (value: JsonObject) => JsonObject): JsonObject {
  const before = member(object, key);
  if (!isObject(before)) return object;
  const after = change(before);
  return after === before ? object : { ...object, [key]: after };
}

/** Takes keys out of a map, and the map itself when that was all it held. */
function dropEmptied(object: JsonObject, before: JsonObject, key: string, keys: readonly string[]): JsonObject {
  const map = member(before, key);
  if (!isObject(map)) return object;
  const kept = without(map, keys);
  if (kept === map) return object;
  return Object.keys(kept).length === 0 ? without(object, [key]) : { ...object, [key]: kept };
}
