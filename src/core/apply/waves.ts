import { kindKey, type ObjectId } from "../model/manifest.ts";

/** The wave in which an object is applied (`apply/README.md#waves`); kinds that the table does not name come last. */
export const waveOf = (id: Pick<ObjectId, "group" | "kind">): number => waves.get(kindKey(id)) ?? lastWave;

/** Everything one cluster gets, wave by wave (`apply/README.md#c-33`); inside a wave as given. No wave is empty. */
export function applyOrder<T extends { readonly id: ObjectId }>(items: readonly T[]): readonly (readonly T[])[] {
  const byWave = new Map<number, T[]>();
  for (const item of items) {
    const wave = waveOf(item.id);
    const members = byWave.get(wave);
    if (members === undefined) byWave.set(wave, [item]);
    else members.push(item);
  }
  return [...byWave.entries()].sort(([a], [b]) => a - b).map(([, members]) => members);
}

/** The inverse: what others need goes last. */
export const removeOrder = <T extends { readonly id: ObjectId }>(items: readonly T[]): readonly (readonly T[])[] =>
  [...applyOrder(items)].reverse();

const lastWave = 999;

const waves: ReadonlyMap<string, number> = new Map(
  [
    ["/Namespace", "scheduling.k8s.io/PriorityClass"],
    [
      "networking.k8s.io/NetworkPolicy",
      "/ResourceQuota",
      "/LimitRange",
      "policy/PodSecurityPolicy",
      "policy/PodDisruptionBudget",
      "/ServiceAccount",
      "/Secret",
      "/ConfigMap",
      "storage.k8s.io/StorageClass",
      "/PersistentVolume",
      "/PersistentVolumeClaim",
      "apiextensions.k8s.io/CustomResourceDefinition",
      "networking.k8s.io/IngressClass",
    ],
    ["rbac.authorization.k8s.io/ClusterRole", "rbac.authorization.k8s.io/Role"],
    ["rbac.authorization.k8s.io/ClusterRoleBinding", "rbac.authorization.k8s.io/RoleBinding"],
    [
      "/Service",
      "apps/DaemonSet",
      "/Pod",
      "/ReplicationController",
      "apps/ReplicaSet",
      "apps/Deployment",
      "autoscaling/HorizontalPodAutoscaler",
      "apps/StatefulSet",
      "batch/Job",
      "batch/CronJob",
      "networking.k8s.io/Ingress",
    ],
    [
      "apiregistration.k8s.io/APIService",
      "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
      "admissionregistration.k8s.io/MutatingWebhookConfiguration",
    ],
  ].flatMap((kinds, wave) => kinds.map((it): [string, number] => [it, wave])),
);
