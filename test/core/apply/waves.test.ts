import { describe, expect, it } from "vitest";
import { applyOrder, removeOrder, waveOf } from "../../../src/core/apply/waves.ts";
import type { ObjectId } from "../../../src/core/model/manifest.ts";

const id = (kind: string): ObjectId => {
  const dot = kind.indexOf(".");
  const [name, group] = dot < 0 ? [kind, ""] : [kind.slice(0, dot), kind.slice(dot + 1)];
  return { group, kind: name, namespace: null, name: "x" };
};
const named = (kind: string) => ({ id: id(kind), kind });

/** `apply/README.md#waves`. */
const table: readonly (readonly [number, string])[] = [
  [0, "Namespace PriorityClass.scheduling.k8s.io"],
  [
    1,
    "NetworkPolicy.networking.k8s.io ResourceQuota LimitRange PodDisruptionBudget.policy ServiceAccount Secret ConfigMap",
  ],
  [
    1,
    "StorageClass.storage.k8s.io PersistentVolume PersistentVolumeClaim CustomResourceDefinition.apiextensions.k8s.io",
  ],
  [2, "ClusterRole.rbac.authorization.k8s.io Role.rbac.authorization.k8s.io"],
  [3, "ClusterRoleBinding.rbac.authorization.k8s.io RoleBinding.rbac.authorization.k8s.io"],
  [4, "Service DaemonSet.apps Pod Deployment.apps StatefulSet.apps Job.batch CronJob.batch Ingress.networking.k8s.io"],
  [5, "APIService.apiregistration.k8s.io ValidatingWebhookConfiguration.admissionregistration.k8s.io"],
  [999, "Endpoints Lease.coordination.k8s.io Thing.example.com Deployment.example.com"],
];

describe("waves", () => {
  for (const [want, kinds] of table) {
    for (const kind of kinds.split(" ")) {
      it(`${kind} goes in wave ${want}`, () => expect(waveOf(id(kind))).toBe(want));
    }
  }

  it("run over everything, and inside a wave in the order given", () => {
    const items = ["Thing.example.com", "Secret", "Deployment.apps", "Namespace", "ConfigMap"].map(named);
    const kinds = applyOrder(items).map((wave) => wave.map((it) => it.kind));
    expect(kinds).toEqual([["Namespace"], ["Secret", "ConfigMap"], ["Deployment.apps"], ["Thing.example.com"]]);
    expect(removeOrder(items).map((wave) => wave[0]?.kind)).toEqual([
      "Thing.example.com",
      "Deployment.apps",
      "Secret",
      "Namespace",
    ]);
  });
});
