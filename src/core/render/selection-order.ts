import { apiVersionOf, type VersionedId } from "../model/manifest.ts";
import { compareText } from "../model/value.ts";

const kinds = [
  ...["PriorityClass", "Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodDisruptionBudget"],
  ...["ServiceAccount", "Secret", "ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim"],
  ...["CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service", "DaemonSet"],
  ...["Pod", "ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet", "Job"],
  ...["CronJob", "IngressClass", "Ingress", "APIService", "MutatingWebhookConfiguration"],
  "ValidatingWebhookConfiguration",
];
const ranks: ReadonlyMap<string, number> = new Map(kinds.map((kind, rank) => [kind, rank]));

/**
 * Puts selected objects into KubeFleet's order of selection: what hashes and snapshots are taken over, not the order
 * of applying.
 *
 * Kinds go by name alone, groups ignored; ties compare joined texts, so `a-b/c` stands before `a/z`
 * (`render/README.md#the-order-of-what-is-selected`, `#l13`, `#l14`).
 */
export function inSelectionOrder<T extends { readonly id: VersionedId }>(objects: readonly T[]): readonly T[] {
  return objects
    .map((object) => ({ object, ...sortKey(object.id) }))
    .sort((a, b) => a.rank - b.rank || compareText(a.type, b.type) || compareText(a.name, b.name))
    .map((it) => it.object);
}

function sortKey(id: VersionedId): { rank: number; type: string; name: string } {
  const name = `${id.namespace ?? ""}/${id.name}`;
  const rank = ranks.get(id.kind);
  if (rank !== undefined) return { rank, type: apiVersionOf(id), name };
  return { rank: kinds.length, type: `${id.group}/${id.version}, Kind=${id.kind}`, name };
}
