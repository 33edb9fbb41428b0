/** Whether objects of a kind live in a namespace. */
export type Scope = "Cluster" | "Namespaced";

/**
 * The scopes of kinds, keyed `group/Kind`: Kubernetes' own and those that CustomResourceDefinitions of the repository
 * add. A kind that is in neither is unknown, never guessed (`render/README.md#scope`).
 */
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
