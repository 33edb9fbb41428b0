import { memberAt, textOf } from "../model/json.ts";
import { builtInScopes, groupVersionOf, kindKey, type Manifest } from "../model/manifest.ts";
import type { Health } from "../model/observation.ts";
import {
  autoscalerHealth,
  budgetHealth,
  claimHealth,
  customHealth,
  definitionHealth,
  serviceHealth,
} from "./resources.ts";
import { available, untrackable } from "./verdicts.ts";
import { cronJobHealth, daemonSetHealth, deploymentHealth, jobHealth, statefulSetHealth } from "./workloads.ts";

/**
 * Decides whether a live object is available, from nothing but the object itself.
 *
 * Kinds are told apart by group and kind, whatever the version (`health/README.md#what-is-tracked`, `#c-4` and
 * `apply/README.md#c-10`). Only an object that reports its own failure has failed (`rollout/README.md#b-1`): anything
 * else that is not ready is progressing, and deadlines are applied elsewhere. An object that is being deleted is never
 * available, whatever its status says.
 */
export function healthOf(live: Manifest): Health {
  if (memberAt(live, "metadata", "deletionTimestamp") !== null) {
    return { phase: "progressing", message: "is being deleted" };
  }
  const { group } = groupVersionOf(textOf(live["apiVersion"]) ?? "");
  const key = kindKey({ group, kind: textOf(live["kind"]) ?? "" });
  if (dataKinds.has(key)) return available;
  const judge = judges.get(key);
  if (judge !== undefined) return judge(live);
  return builtInScopes.has(key) ? untrackable : customHealth(live);
}

/** Kinds that are only data: available once they exist. */
const dataKinds: ReadonlySet<string> = new Set([
  ...["Namespace", "Secret", "ConfigMap", "ServiceAccount", "LimitRange", "ResourceQuota"].map((it) => `/${it}`),
  ...["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"].map((it) => `rbac.authorization.k8s.io/${it}`),
  ...["NetworkPolicy", "IngressClass"].map((it) => `networking.k8s.io/${it}`),
  ...["CSIDriver", "CSINode", "StorageClass", "CSIStorageCapacity"].map((it) => `storage.k8s.io/${it}`),
  "apps/ControllerRevision",
  "scheduling.k8s.io/PriorityClass",
]);

const judges: ReadonlyMap<string, (live: Manifest) => Health> = new Map([
  ["apps/Deployment", deploymentHealth],
  ["apps/StatefulSet", statefulSetHealth],
  ["apps/DaemonSet", daemonSetHealth],
  ["batch/Job", jobHealth],
  ["batch/CronJob", cronJobHealth],
  ["/Service", serviceHealth],
  ["/PersistentVolumeClaim", claimHealth],
  ["policy/PodDisruptionBudget", budgetHealth],
  ["autoscaling/HorizontalPodAutoscaler", autoscalerHealth],
  ["apiextensions.k8s.io/CustomResourceDefinition", definitionHealth],
]);
