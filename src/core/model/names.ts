// Names that are part of a contract (`intent/README.md#names-that-are-contract`). Each is defined only here.

/** API group of placements, overrides, envelopes and all objects that KubeFleet derives from them. */
export const placementGroup = "placement.kubernetes-fleet.io";
/** API group of MemberCluster. */
export const clusterGroup = "cluster.kubernetes-fleet.io";
/** API group of our own kinds, and prefix of our own labels and annotations. */
export const flotillaGroup = "flotilla.dev";

/** Prefix of KubeFleet's labels and annotations. */
export const kubeFleetPrefix = "kubernetes-fleet.io";

/** Every MemberCluster carries it with its own name as value, so that one cluster can be selected by name. */
export const memberNameLabel = `${kubeFleetPrefix}/member-name`;

/** The condition of a placement whose status stands in its namespace as well (`status/README.md#status-for-others`). */
export const statusSynced = "ClusterResourcePlacementStatusSynced";

/** The field manager of everything we apply. */
export const fieldManager = "flotilla";

/** Our mark on an object in a member: its placement's key, as `core/apply/mark.ts` writes it. */
export const placementLabel = `${flotillaGroup}/placement`;

/** Our mark: `fleet id/epoch/sequence` of the write that last changed the object. */
export const writeAnnotation = `${flotillaGroup}/write`;

/** On a placement: adopted objects are deleted with it, not released (`apply/README.md#takeover`). */
export const deleteAdoptedAnnotation = `${flotillaGroup}/delete-adopted`;

/** On a placement: how long a cluster may take to become available before it counts as failed; a Go duration. */
export const progressDeadlineAnnotation = `${flotillaGroup}/progress-deadline`;

/** On a strategy: how many clusters may fail, per stage: `canary=0,prod=10%` (`rollout/README.md#b-13`). */
export const maxFailuresAnnotation = `${flotillaGroup}/max-failures`;

/** KubeFleet's name for the last stage, which removes the placement (`rollout/README.md#the-deletion-stage`). */
export const deletionStage = `${kubeFleetPrefix}/deleteStage`;

/** KubeFleet's name for the property (`intent/README.md#names-that-are-contract`). */
export const kubernetesVersionProperty = "k8s.io/k8s-version";
export const entrypointProperty = "k8s.io/cluster-entrypoint";
export const authorityProperty = "k8s.io/cluster-certificate-authority-data";

/** How many nodes a member has. */
export const nodeCountProperty = "kubernetes-fleet.io/node-count";

/** What a core of a member costs per hour. */
export const coreCostProperty = "kubernetes.azure.com/per-cpu-core-cost";

/** Prefix of capacities as policies name them: `total-cpu`, `allocatable-memory`, `available-cpu`. */
export const resourcePrefix = "resources.kubernetes-fleet.io/";

/** Whether a property is collected of every member, as far as its permissions go (`members/README.md#what-is-collected`). */
export const isCollectedProperty = (name: string): boolean =>
  collected.has(name) || /^(?:kubernetes\.azure\.com\/vm-sizes|flotilla\.dev\/total\.)/.test(name);

const collected: ReadonlySet<string> = new Set([
  nodeCountProperty,
  ...["total", "allocatable", "available"].flatMap((it) => [
    `${resourcePrefix}${it}-cpu`,
    `${resourcePrefix}${it}-memory`,
  ]),
]);

/** Namespace in every member that holds the inventory. */
export const systemNamespace = "flotilla-system";

/** Kubernetes' own, KubeFleet's, and ours (`render/README.md#what-is-never-placed`, `plan/README.md#d-5`). */
export const isReservedNamespace = (name: string): boolean =>
  name.startsWith("kube-") || name.startsWith("fleet-") || name === "default" || name === systemNamespace;
