import { isObject, type Json, type JsonObject, memberAt, textOf } from "./json.ts";
import { clusterGroup, flotillaGroup, placementGroup } from "./names.ts";
import type { Digest } from "./value.ts";

/** A Kubernetes object as data, at least with apiVersion, kind and metadata.name. */
export type Manifest = JsonObject;

/** Which object, whatever its version (`apply/README.md#c-10`). `namespace` is null for cluster-scoped ones. */
export interface ObjectId {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
}

/** An object's id with the API version in which it is written. */
export interface VersionedId extends ObjectId {
  readonly version: string;
}

/** `group/kind/namespace/name` as a map key, empty where absent; no part may hold a slash. */
export type ObjectKey = string & { readonly objectKey: unique symbol };

/** The key under which maps hold an object. */
export const objectKey = (id: ObjectId): ObjectKey =>
  `${id.group}/${id.kind}/${id.namespace ?? ""}/${id.name}` as ObjectKey;

/** The inverse of {@link objectKey}. */
export function objectIdOf(key: ObjectKey): ObjectId {
  const [group = "", kind = "", namespace = "", name = ""] = key.split("/");
  return { group, kind, namespace: namespace === "" ? null : namespace, name };
}

/** `apps/v1` → group `apps`, version `v1`; `v1` → the core group. */
export function groupVersionOf(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf("/");
  return slash < 0
    ? { group: "", version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** The inverse of {@link groupVersionOf}. */
export const apiVersionOf = ({ group, version }: { group: string; version: string }): string =>
  group === "" ? version : `${group}/${version}`;

/** The id of a manifest, read from apiVersion, kind and metadata; null when one of them is missing or no text. */
export function idOf(manifest: Json): VersionedId | null {
  if (!isObject(manifest)) return null;
  const apiVersion = textOf(manifest["apiVersion"]);
  const kind = textOf(manifest["kind"]);
  const name = textOf(memberAt(manifest, "metadata", "name"));
  if (apiVersion === null || kind === null || name === null) return null;
  const namespace = textOf(memberAt(manifest, "metadata", "namespace"));
  return { ...groupVersionOf(apiVersion), kind, namespace: namespace === "" ? null : namespace, name };
}

/** An object's name for people: `Deployment shop/web`, `ClusterRole.rbac.authorization.k8s.io reader`. */
export function objectText({ group, kind, namespace, name }: ObjectId): string {
  const shown = group === "" || familiarGroups.has(group) ? kind : `${kind}.${group}`;
  return namespace === null ? `${shown} ${name}` : `${shown} ${namespace}/${name}`;
}

const familiarGroups = new Set(["apps", "batch", "networking.k8s.io", "policy", "rbac.authorization.k8s.io"]);

/** The position of a document: its file, its index in it (from 0), and its first character (from 1). */
export interface SourcePosition {
  readonly path: string;
  readonly document: number;
  readonly line: number;
  readonly column: number;
}

/** A plain Kubernetes object of the repository, as placements may select it: sanitised, with its digest. */
export interface SourcedManifest {
  readonly id: VersionedId;
  /** Without fields that members set: status, uid, managed fields and the like (`render/README.md#rendering`). */
  readonly manifest: Manifest;
  readonly digest: Digest;
  readonly source: SourcePosition;
  /** Of an envelope: what it wraps. */
  readonly wraps?: Wrapping;
  /** Of what was selected: the envelope that it was in. `source` is that of the envelope. */
  readonly envelope?: EnvelopeRef;
}

/** The envelope that an object was wrapped in, as KubeFleet's status names it. */
export interface EnvelopeRef {
  readonly type: "ClusterResourceEnvelope" | "ResourceEnvelope";
  readonly namespace: string | null;
  readonly name: string;
}

/** An object inside of an envelope. */
export interface WrappedObject {
  readonly id: VersionedId;
  /** Without fields that members set, but with the ports and addresses of a Service (`render/README.md#envelopes`). */
  readonly manifest: Manifest;
  readonly digest: Digest;
}

/** What an envelope wraps. */
export interface Wrapping {
  /** In the order of its keys: those that can be read. */
  readonly objects: readonly WrappedObject[];
  /** Why none of it may be placed, in words; null when all of it can be read and belongs there. */
  readonly defect: string | null;
}

/** Whether objects of a kind live in a namespace. */
export type Scope = "Cluster" | "Namespaced";

/** Scopes by `group/Kind`: Kubernetes' and those of definitions; others are unknown (`render/README.md#scope`). */
export type ScopeTable = ReadonlyMap<string, Scope>;

/** `group/Kind`: a kind as a map key, whatever its version. */
export const kindKey = ({ group, kind }: { readonly group: string; readonly kind: string }): string =>
  `${group}/${kind}`;

const clusterScoped = [
  ...["Namespace", "Node", "PersistentVolume", "ComponentStatus"].map((it) => `/${it}`),
  ...["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"].map(
    (it) => `admissionregistration.k8s.io/${it}`,
  ),
  ...["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"].map(
    (it) => `admissionregistration.k8s.io/${it}`,
  ),
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding",
  "apiextensions.k8s.io/CustomResourceDefinition",
  "apiregistration.k8s.io/APIService",
  "certificates.k8s.io/CertificateSigningRequest",
  "certificates.k8s.io/ClusterTrustBundle",
  ...["FlowSchema", "PriorityLevelConfiguration"].map((it) => `flowcontrol.apiserver.k8s.io/${it}`),
  ...["IngressClass", "IPAddress", "ServiceCIDR"].map((it) => `networking.k8s.io/${it}`),
  "node.k8s.io/RuntimeClass",
  ...["ClusterRole", "ClusterRoleBinding"].map((it) => `rbac.authorization.k8s.io/${it}`),
  ...["DeviceClass", "ResourceSlice"].map((it) => `resource.k8s.io/${it}`),
  "scheduling.k8s.io/PriorityClass",
  ...["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"].map(
    (it) => `storage.k8s.io/${it}`,
  ),
];

const namespaced = [
  ...["ConfigMap", "Endpoints", "Event", "LimitRange", "PersistentVolumeClaim", "Pod", "PodTemplate"].map(
    (it) => `/${it}`,
  ),
  ...["ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount"].map((it) => `/${it}`),
  ...["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"].map((it) => `apps/${it}`),
  "autoscaling/HorizontalPodAutoscaler",
  ...["CronJob", "Job"].map((it) => `batch/${it}`),
  "coordination.k8s.io/Lease",
  "coordination.k8s.io/LeaseCandidate",
  "discovery.k8s.io/EndpointSlice",
  "events.k8s.io/Event",
  ...["Ingress", "NetworkPolicy"].map((it) => `networking.k8s.io/${it}`),
  "policy/PodDisruptionBudget",
  ...["Role", "RoleBinding"].map((it) => `rbac.authorization.k8s.io/${it}`),
  ...["ResourceClaim", "ResourceClaimTemplate"].map((it) => `resource.k8s.io/${it}`),
  "storage.k8s.io/CSIStorageCapacity",
];

/** The kinds that Kubernetes 1.36 serves without any CustomResourceDefinition. */
export const builtInScopes: ScopeTable = new Map<string, Scope>([
  ...clusterScoped.map((it): [string, Scope] => [it, "Cluster"]),
  ...namespaced.map((it): [string, Scope] => [it, "Namespaced"]),
]);

/** An object's scope by the table, else by its own namespace, else null (`render/README.md#scope`, `#c-31`). */
export const scopeOf = (id: ObjectId, scopes: Pick<ScopeTable, "get">): Scope | null =>
  scopes.get(kindKey(id)) ?? (id.namespace === null ? null : "Namespaced");

/** KubeFleet's two kinds of envelopes (`render/README.md#envelopes`). */
export const isEnvelope = ({ group, kind }: Pick<ObjectId, "group" | "kind">): boolean =>
  group === placementGroup && (kind === "ClusterResourceEnvelope" || kind === "ResourceEnvelope");

/**
 * Whether no placement carries objects of a kind: those of the fleet machinery, and those that clusters make
 * (`render/README.md#what-is-never-placed`).
 */
export const isNeverPlaced = (kind: Pick<ObjectId, "group" | "kind">): boolean =>
  ownGroups.has(kind.group) || ownKinds.has(kindKey(kind)) || (kind.group === placementGroup && !isEnvelope(kind));

const ownGroups: ReadonlySet<string> = new Set([
  ...[clusterGroup, flotillaGroup],
  ...["coordination.k8s.io", "events.k8s.io", "metrics.k8s.io"],
]);

// Core Event is KubeFleet's omission (`render/README.md#a-58`).
const ownKinds: ReadonlySet<string> = new Set([
  ...["/Event", "/Node", "/Pod"],
  ...["ServiceImport", "TrafficManagerBackend", "TrafficManagerProfile"].map(
    (it) => `networking.fleet.azure.com/${it}`,
  ),
]);

/** How an envelope is named where objects of it are. */
export const envelopeRef = ({ kind, namespace, name }: ObjectId): EnvelopeRef => ({
  type: kind === "ResourceEnvelope" ? kind : "ClusterResourceEnvelope",
  namespace,
  name,
});

/** The inverse of {@link envelopeRef}. There is one version of both kinds. */
const envelopeId = ({ type, namespace, name }: EnvelopeRef): VersionedId => ({
  group: placementGroup,
  version: "v1beta1",
  kind: type,
  namespace,
  name,
});

/** The object, or the envelope that it was wrapped in: whose document says what it is. */
export const documentIdOf = ({ id, envelope }: Placed): VersionedId =>
  envelope === undefined ? id : envelopeId(envelope);

/** The key of {@link documentIdOf}. */
export const documentKeyOf = (it: Placed): ObjectKey => objectKey(documentIdOf(it));

interface Placed {
  readonly id: VersionedId;
  readonly envelope?: EnvelopeRef;
}

/** `ConfigMap app/settings`, `ConfigMap app/settings in ResourceEnvelope app/e`. */
export const placedText = ({ id, envelope }: Placed): string =>
  envelope === undefined ? objectText(id) : `${objectText(id)} in ${envelopeText(envelope)}`;

/** `ResourceEnvelope app/e`. */
export const envelopeText = ({ type, namespace, name }: EnvelopeRef): string =>
  `${type} ${namespace === null ? "" : `${namespace}/`}${name}`;

/** The ids of all that an envelope's document wraps, whether or not it may; none of what has no identity. */
export function wrappedIds(envelope: Manifest): readonly VersionedId[] {
  const { data } = envelope;
  return isObject(data ?? null) ? Object.values(data as Manifest).flatMap((it) => idOf(it ?? null) ?? []) : [];
}

/** Why an object may not be in this type of envelope by the scope of its kind, in words; null when it may. */
export function misplacedIn(type: EnvelopeRef["type"], id: ObjectId, scopes: Pick<ScopeTable, "get">): string | null {
  const scope = scopes.get(kindKey(id));
  const shown = id.group === "" ? id.kind : `${id.kind} of group ${id.group}`;
  if (scope === undefined) return `${shown} is not known`;
  if (scope === "Namespaced" && type === "ClusterResourceEnvelope")
    return `${shown} is namespaced, and a ClusterResourceEnvelope wraps cluster-scoped objects`;
  if (scope === "Cluster" && type === "ResourceEnvelope")
    return `${shown} is cluster-scoped, and a ResourceEnvelope wraps objects of its namespace`;
  return null;
}
