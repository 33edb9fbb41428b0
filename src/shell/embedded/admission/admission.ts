import {
  isObject,
  type Json,
  type JsonList,
  type JsonObject,
  listAt,
  member,
  sameJson,
} from "../../../core/model/json.ts";
import { kindKey } from "../../../core/model/manifest.ts";
import { pruneAndDefault } from "../api/custom-resources.ts";
import type { ServedKind } from "../api/kinds.ts";
import { StatusError } from "../api/status.ts";
import type { Cluster } from "../storage/cluster.ts";
import { withDefaults } from "./defaults.ts";
import { normalize } from "./normalize.ts";

/** The object as its kind has it: tidied, defaulted; a custom resource without what its schema does not know. */
export function admit(object: JsonObject, kind: ServedKind, strict: boolean): JsonObject {
  const tidy = normalize(object, kind);
  if (kind.custom === null) return withDefaults(tidy, kind);
  const { value, unknown } = pruneAndDefault(tidy, kind.custom.schema);
  if (strict && unknown.length > 0) {
    const fields = unknown.map((it) => `unknown field "${it}"`).join(", ");
    throw new StatusError(
      400,
      "BadRequest",
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: strict decoding error: ${fields}`,
    );
  }
  return value as JsonObject;
}

/** Keeps a write to its part: `status` and the rest are written apart. `live` is null for a creation. */
export function withinSubresource(
  next: JsonObject,
  live: JsonObject | null,
  kind: ServedKind,
  subresource: string | null,
): JsonObject {
  if (subresource === "status" && live !== null) {
    const { status: _, ...rest } = live;
    return next["status"] === undefined ? rest : { ...rest, status: next["status"] };
  }
  if (!kind.subresources.includes("status")) return next;
  const { status: _, ...rest } = next;
  return live?.["status"] === undefined ? rest : { ...rest, status: live["status"] };
}

/** The part of an applied configuration that counts: see {@link withinSubresource}. */
export function patchWithinSubresource(patch: JsonObject, kind: ServedKind, subresource: string | null): JsonObject {
  if (subresource === "status") {
    const { apiVersion, kind: kindName, metadata, status } = patch;
    const { name, namespace } = (metadata ?? {}) as JsonObject;
    const identity = { name: name ?? "", ...(namespace === undefined ? {} : { namespace }) };
    return {
      apiVersion: apiVersion ?? "",
      kind: kindName ?? "",
      metadata: identity,
      ...(status === undefined ? {} : { status }),
    };
  }
  if (!kind.subresources.includes("status")) return patch;
  const { status: _, ...rest } = patch;
  return rest;
}

const serverSet = ["uid", "resourceVersion", "generation", "creationTimestamp", "selfLink"];
const deletion = ["deletionTimestamp", "deletionGracePeriodSeconds"];

/** Makes an object ready to be stored: the server's own metadata, its generation, and what its kind gets by itself. */
export function prepareForStorage(
  cluster: Cluster,
  next: JsonObject,
  live: JsonObject | null,
  kind: ServedKind,
): JsonObject {
  const object = allocated(cluster, next, live, kind);
  const own = live === null ? newMetadata(cluster, kind) : keptMetadata(live, object, kind);
  return { ...object, metadata: { ...writableMetadata((object["metadata"] ?? {}) as JsonObject), ...own } };
}

/** Metadata without what only the server says; the same object when there is none of that. */
function writableMetadata(metadata: JsonObject): JsonObject {
  const told = [...serverSet, ...deletion, "managedFields"].filter((it) => Object.hasOwn(metadata, it));
  if (told.length === 0) return metadata;
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !told.includes(key)));
}

const newMetadata = (cluster: Cluster, kind: ServedKind): JsonObject => ({
  uid: cluster.newUid(),
  creationTimestamp: cluster.time(),
  ...(kind.counts ? { generation: 1 } : {}),
});

function keptMetadata(live: JsonObject, next: JsonObject, kind: ServedKind): JsonObject {
  const metadata = live["metadata"] as JsonObject;
  const kept = Object.entries(metadata).filter(([key]) => serverSet.includes(key) || deletion.includes(key));
  const generation = Number(metadata["generation"] ?? 1) + (kind.counts && isChanged(live, next) ? 1 : 0);
  return { ...Object.fromEntries(kept), ...(kind.counts ? { generation } : {}) };
}

/** Whether anything changed that people write: neither metadata nor status. */
function isChanged(live: JsonObject, next: JsonObject): boolean {
  const keys = new Set([...Object.keys(live), ...Object.keys(next)]);
  return [...keys].some((key) => key !== "metadata" && key !== "status" && !sameJson(live[key], next[key]));
}

/** What some kinds get beyond defaults: addresses, ports, protection. */
function allocated(cluster: Cluster, next: JsonObject, live: JsonObject | null, kind: ServedKind): JsonObject {
  switch (kindKey(kind)) {
    case "/Service":
      return service(cluster, next, live);
    case "/Namespace":
      return { ...next, spec: live === null ? { finalizers: ["kubernetes"] } : (live["spec"] ?? {}) };
    case "/PersistentVolumeClaim":
      return live === null ? protectedBy(next, "kubernetes.io/pvc-protection") : next;
    case "/PersistentVolume":
      return live === null ? protectedBy(next, "kubernetes.io/pv-protection") : next;
    default:
      return next;
  }
}

function protectedBy(object: JsonObject, finalizer: string): JsonObject {
  const metadata = (object["metadata"] ?? {}) as JsonObject;
  const finalizers = (metadata["finalizers"] ?? []) as JsonList;
  return {
    ...object,
    metadata: { ...metadata, finalizers: [...finalizers.filter((it) => it !== finalizer), finalizer] },
  };
}

/** Gives a service its cluster IP and node ports once; an update that does not mention them keeps them. */
function service(cluster: Cluster, next: JsonObject, live: JsonObject | null): JsonObject {
  const spec = (next["spec"] ?? {}) as JsonObject;
  const before = (live?.["spec"] ?? {}) as JsonObject;
  if (spec["type"] === "ExternalName") return next;
  const clusterIP = spec["clusterIP"] || before["clusterIP"] || addressOf(cluster.serial());
  const outside = spec["type"] === "NodePort" || spec["type"] === "LoadBalancer";
  const ports = outside ? { ports: withNodePorts(cluster, spec["ports"], before["ports"]) } : {};
  return {
    ...next,
    spec: {
      ...spec,
      clusterIP,
      clusterIPs: spec["clusterIPs"] ?? (spec["clusterIP"] ? [clusterIP] : (before["clusterIPs"] ?? [clusterIP])),
      ipFamilies: spec["ipFamilies"] ?? before["ipFamilies"] ?? ["IPv4"],
      ipFamilyPolicy: spec["ipFamilyPolicy"] ?? before["ipFamilyPolicy"] ?? "SingleStack",
      ...ports,
    },
  };
}

const addressOf = (serial: number): string => `10.96.${(serial >> 8) & 255}.${serial & 255}`;

function withNodePorts(cluster: Cluster, ports: Json | undefined, before: Json | undefined): JsonList {
  const old = listAt(before);
  return listAt(ports).map((port) => {
    if (!isObject(port) || Object.hasOwn(port, "nodePort")) return port;
    const same = old.find((it) => member(it, "port") === port["port"] && member(it, "protocol") === port["protocol"]);
    return { ...port, nodePort: member(same, "nodePort") ?? 30_000 + (cluster.serial() % 2_768) };
  });
}

const podTemplate: JsonObject = { metadata: {}, spec: { containers: null } };
const workload = (strategy: string): JsonObject => ({
  spec: { selector: null, template: podTemplate, [strategy]: {} },
});
const webhooks: JsonObject = { metadata: {} };

const zeros: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["apps/Deployment", workload("strategy")],
  ["apps/StatefulSet", workload("updateStrategy")],
  ["apps/DaemonSet", workload("updateStrategy")],
  ["apps/ReplicaSet", { spec: { selector: null } }],
  ["batch/Job", { spec: { template: podTemplate } }],
  [
    "batch/CronJob",
    { spec: { schedule: "", jobTemplate: { metadata: {}, spec: { template: podTemplate } } }, status: {} },
  ],
  ["/Pod", { spec: { containers: null } }],
  ["/PodTemplate", { template: podTemplate }],
  ["/PersistentVolumeClaim", { spec: { resources: {} } }],
  ["networking.k8s.io/NetworkPolicy", { spec: { podSelector: {} } }],
  ["networking.k8s.io/Ingress", { spec: {}, status: { loadBalancer: {} } }],
  ["/Service", { spec: {}, status: { loadBalancer: {} } }],
  ["rbac.authorization.k8s.io/Role", { rules: null }],
  ["rbac.authorization.k8s.io/ClusterRole", { rules: null }],
  ["rbac.authorization.k8s.io/RoleBinding", { roleRef: { apiGroup: "", kind: "", name: "" } }],
  ["rbac.authorization.k8s.io/ClusterRoleBinding", { roleRef: { apiGroup: "", kind: "", name: "" } }],
  ["apiextensions.k8s.io/CustomResourceDefinition", { spec: { names: {}, versions: null } }],
  ["storage.k8s.io/StorageClass", { provisioner: "" }],
  ["admissionregistration.k8s.io/ValidatingWebhookConfiguration", webhooks],
]);

/** The empty object that a create is compared with; Kubernetes' own kinds have members even then (`spec`). */
export function zeroValueOf(kind: ServedKind): JsonObject {
  if (kind.custom !== null) return { metadata: {} };
  return { metadata: {}, spec: {}, status: {}, ...zeros.get(kindKey(kind)) };
}
