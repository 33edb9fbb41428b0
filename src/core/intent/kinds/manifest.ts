import { Buffer } from "node:buffer";
import { digestOf, isObject, type Json, type JsonObject, member, memberAt } from "../../model/json.ts";
import type { Manifest, VersionedId } from "../../model/manifest.ts";
import { kubeFleetPrefix } from "../../model/names.ts";
import type { Digest } from "../../model/value.ts";
import { error, type FieldProblem, type FieldProblems, type JsonPath, warning } from "../../yaml/problems.ts";
import { isDnsLabel, isDnsSubdomain, metadataProblems, stringMapProblems } from "./metadata.ts";

/** A plain Kubernetes object as placements may select it; {@link manifestProblems} has found no error in it. */
export function manifestFrom(value: Manifest): { readonly manifest: Manifest; readonly digest: Digest } {
  const manifest = withoutServerFields(value);
  return { manifest, digest: digestOf(manifest) };
}

/** Checks what API servers check of any object, and silent mistakes (`yaml/README.md#b-90` … `#b-100`). */
export function manifestProblems(id: VersionedId, value: Manifest): FieldProblems {
  return [
    ...nameProblems(id),
    ...metadataProblems(value),
    ...strippedProblems(value),
    ...hookProblems(value),
    ...envelopeProblems(id, value),
    ...(id.group === "" && id.kind === "Secret" ? secretProblems(value) : []),
  ];
}

function nameProblems({ group, kind, namespace, name }: VersionedId): FieldProblems {
  const problems: FieldProblem[] = [];
  const at: JsonPath = ["metadata", "name"];
  if (!isName(group, kind, name))
    problems.push(
      error("FLT1401", at, "is not a valid name", "use lower-case letters, digits, - and .", JSON.stringify(name)),
    );
  const fix = "use lower-case letters, digits and -";
  if (namespace !== null && !isDnsLabel(namespace))
    problems.push(
      error("FLT1401", ["metadata", "namespace"], "is not a valid namespace", fix, JSON.stringify(namespace)),
    );
  return problems;
}

/** Names of roles and addresses may be nearly anything; of namespaces and Services, DNS labels; of others, DNS subdomains. */
function isName(group: string, kind: string, name: string): boolean {
  if (group === "rbac.authorization.k8s.io" || kind === "IPAddress")
    return name.length <= 253 && !/[/%]/.test(name) && name !== "." && name !== "..";
  return group === "" && (kind === "Namespace" || kind === "Service") ? isDnsLabel(name) : isDnsSubdomain(name);
}

/** Warns of fields that only make sense on a server (`render/README.md#c-24`). */
function strippedProblems(value: Manifest): FieldProblems {
  return (["finalizers", "ownerReferences"] as const).flatMap((field) => {
    const list = memberAt(value, "metadata", field);
    if (list === null || (Array.isArray(list) && list.length === 0)) return [];
    return [warning("FLT1405", ["metadata", field], `${field} in a file are ignored`, "remove them")];
  });
}

function hookProblems(value: Manifest): FieldProblems {
  const annotations = memberAt(value, "metadata", "annotations");
  if (!isObject(annotations)) return [];
  return ["helm.sh/hook", "argocd.argoproj.io/hook"]
    .filter((it) => Object.hasOwn(annotations, it))
    .map((it) => {
      const message = "hooks are not run: the object is applied like any other";
      return warning("FLT1411", ["metadata", "annotations", it], message, "remove the annotation, or the object");
    });
}

const envelopeAnnotation = `${kubeFleetPrefix}/envelope-configmap`;

/** ConfigMaps as envelopes are gone; one placed as it is would surprise its author (`render/README.md#a-9`). */
function envelopeProblems({ group, kind }: VersionedId, value: Manifest): FieldProblems {
  const annotations = memberAt(value, "metadata", "annotations");
  if (group !== "" || kind !== "ConfigMap" || member(annotations, envelopeAnnotation) === null) return [];
  const fix = "put the objects into files of their own, or into a ClusterResourceEnvelope or ResourceEnvelope";
  const at = ["metadata", "annotations", envelopeAnnotation];
  return [error("FLT1904", at, "a ConfigMap can no longer be an envelope", fix)];
}

/** A Secret whose data is not base64 is refused by every member; values are never shown (`yaml/README.md#b-95`). */
function secretProblems(value: Manifest): FieldProblems {
  const data = member(value, "data");
  return [
    ...stringMapProblems(data, ["data"]),
    ...stringMapProblems(member(value, "stringData"), ["stringData"]),
    ...(isObject(data) ? base64Problems(data) : []),
  ];
}

const base64Problems = (data: JsonObject): FieldProblems =>
  Object.keys(data)
    .filter((key) => {
      const text = data[key];
      return typeof text === "string" && !isBase64(text);
    })
    .map((key) => error("FLT1406", ["data", key], "is not base64", "encode it, or use stringData"));

/** Standard base64 with padding, as Go's decoder takes it: line breaks are allowed, nothing else. */
function isBase64(text: string): boolean {
  const packed = text.replace(/[\r\n]/g, "");
  if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(packed)) return false;
  return Buffer.from(packed, "base64").length === (packed.length / 4) * 3 - (packed.match(/=/g)?.length ?? 0);
}

/**
 * A manifest without what belongs to one cluster, as `kubectl get -o yaml` prints it, and without finalizers
 * (`render/README.md#rendering`, `#c-24`); the same manifest (`===`) when there is nothing to remove.
 */
export function withoutServerFields(manifest: Manifest): Manifest {
  const plain = withoutServerMetadata(manifest);
  if (plain["apiVersion"] === "v1" && plain["kind"] === "Service") return update(plain, "spec", plainService);
  if (plain["apiVersion"] === "batch/v1" && plain["kind"] === "Job") return update(plain, "spec", plainJob);
  return plain;
}

/** The same, but for what servers assign to a Service or a Job (`render/README.md#envelopes`). */
export const withoutServerMetadata = (manifest: Manifest): Manifest =>
  update(without(manifest, ["status"]), "metadata", plainMetadata);

const serverFields = [
  ...["resourceVersion", "generation", "uid", "selfLink", "creationTimestamp", "deletionTimestamp"],
  ...["managedFields", "ownerReferences", "finalizers"],
];

const serverAnnotations = ["kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision"];

const plainMetadata = (metadata: JsonObject): JsonObject =>
  dropEmptied(without(metadata, serverFields), metadata, "annotations", serverAnnotations);

/** Without addresses and ports that one cluster assigned; a headless service keeps its `None`. */
function plainService(spec: JsonObject): JsonObject {
  const clusterIP = member(spec, "clusterIP");
  const addresses = clusterIP === null || clusterIP === "None" ? [] : ["clusterIP", "clusterIPs"];
  const kept = without(spec, [...addresses, "healthCheckNodePort"]);
  const ports = member(kept, "ports");
  if (!Array.isArray(ports) || !ports.some((it) => member(it, "nodePort") !== null)) return kept;
  return { ...kept, ports: ports.map((it: Json) => (isObject(it) ? without(it, ["nodePort"]) : it)) };
}

const jobLabels = ["controller-uid", "batch.kubernetes.io/controller-uid"];

/** Without the selector that a server generated for a Job. */
function plainJob(spec: JsonObject): JsonObject {
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

/** Removes keys from a map, and the map itself when nothing is left. */
function dropEmptied(object: JsonObject, before: JsonObject, key: string, keys: readonly string[]): JsonObject {
  const map = member(before, key);
  if (!isObject(map)) return object;
  const kept = without(map, keys);
  if (kept === map) return object;
  return Object.keys(kept).length === 0 ? without(object, [key]) : { ...object, [key]: kept };
}
