import type { JsonObject } from "../../../core/model/json.ts";
import { kindKey } from "../../../core/model/manifest.ts";
import type { Kind } from "../api/kinds.ts";

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

/**
 * What a create is compared with, to say what its author owns: the object of this kind with nothing in it. Kubernetes' own
 * kinds have members even then (`spec`, a pod template); a custom resource has none.
 */
export function zeroOf(kind: Kind): JsonObject {
  if (kind.custom !== null) return { metadata: {} };
  return { metadata: {}, spec: {}, status: {}, ...zeros.get(kindKey(kind)) };
}
