import { describe, expect, it } from "vitest";
import { healthOf } from "../../../src/core/health/health.ts";
import type { JsonObject } from "../../../src/core/model/json.ts";

/** A live object of generation 3, as short as a table wants it. */
const live = (type: string, spec: JsonObject, status: JsonObject, metadata: JsonObject = {}): JsonObject => {
  const slash = type.lastIndexOf("/");
  const apiVersion = slash < 0 ? "v1" : type.slice(0, slash);
  return { apiVersion, kind: type.slice(slash + 1), metadata: { generation: 3, ...metadata }, spec, status };
};

const condition = (type: string, status: string, reason = "", more: JsonObject = {}): JsonObject => ({
  type,
  status,
  reason,
  ...more,
});

const counts = { observedGeneration: 3, replicas: 3, updatedReplicas: 3, availableReplicas: 3 };
const late = condition("Progressing", "False", "ProgressDeadlineExceeded", { message: "it took too long" });
const setCounts = { observedGeneration: 3, availableReplicas: 3, currentReplicas: 3, updatedReplicas: 3 };
const nodes = { desiredNumberScheduled: 2, numberAvailable: 2, currentNumberScheduled: 2, updatedNumberScheduled: 2 };
const disruption = (allowed: number, status: string, reason: string): JsonObject => ({
  observedGeneration: 3,
  disruptionsAllowed: allowed,
  conditions: [condition("DisruptionAllowed", status, reason)],
});
const point = (points: JsonObject[]): JsonObject => ({ loadBalancer: { ingress: points } });
const names = (established: string, accepted: string): JsonObject => ({
  conditions: [condition("Established", established), condition("NamesAccepted", accepted)],
});
const ready = (status: string, more: JsonObject = {}): JsonObject => ({
  observedGeneration: 3,
  conditions: [condition("Ready", status, "Because", more)],
});

const cases: { case: string; object: JsonObject; want: string }[] = [
  { case: "V-01", object: live("apps/v1/Deployment", { replicas: 3 }, counts), want: "available" },
  {
    case: "V-02 stale status",
    object: live("apps/v1/Deployment", { replicas: 3 }, { ...counts, observedGeneration: 2 }),
    want: "progressing",
  },
  {
    case: "V-03 one by default",
    object: live("apps/v1/Deployment", {}, { observedGeneration: 3, updatedReplicas: 1, availableReplicas: 1 }),
    want: "available",
  },
  {
    case: "V-04 not all updated",
    object: live("apps/v1/Deployment", { replicas: 3 }, { ...counts, updatedReplicas: 2 }),
    want: "progressing",
  },
  {
    case: "a surplus replica",
    object: live("apps/v1/Deployment", { replicas: 3 }, { ...counts, unavailableReplicas: 1 }),
    want: "progressing",
  },
  {
    case: "none wanted, none there",
    object: live("apps/v1/Deployment", { replicas: 0 }, { observedGeneration: 3 }),
    want: "available",
  },
  {
    case: "B 1 its deadline passed",
    object: live("apps/v1/Deployment", { replicas: 3 }, { ...counts, availableReplicas: 1, conditions: [late] }),
    want: "failed",
  },
  {
    case: "B 1 recovered after its deadline",
    object: live("apps/v1/Deployment", { replicas: 3 }, { ...counts, conditions: [late] }),
    want: "available",
  },
  {
    case: "B 1 a failure of an earlier version",
    object: live("apps/v1/Deployment", {}, { observedGeneration: 2, conditions: [late] }),
    want: "progressing",
  },
  {
    case: "all replicas of one revision",
    object: live("apps/v1/StatefulSet", { replicas: 3 }, { ...setCounts, currentRevision: "a", updateRevision: "a" }),
    want: "available",
  },
  {
    case: "V-05",
    object: live("apps/v1/StatefulSet", { replicas: 3 }, { ...setCounts, currentRevision: "a", updateRevision: "b" }),
    want: "progressing",
  },
  {
    case: "not all of the latest revision counted",
    object: live(
      "apps/v1/StatefulSet",
      { replicas: 3 },
      { ...setCounts, updatedReplicas: 2, currentRevision: "a", updateRevision: "a" },
    ),
    want: "progressing",
  },
  { case: "V-06 no node", object: live("apps/v1/DaemonSet", {}, { observedGeneration: 3 }), want: "available" },
  { case: "every node", object: live("apps/v1/DaemonSet", {}, { observedGeneration: 3, ...nodes }), want: "available" },
  {
    case: "one node to go",
    object: live("apps/v1/DaemonSet", {}, { observedGeneration: 3, ...nodes, numberAvailable: 1 }),
    want: "progressing",
  },
  {
    case: "one node to be updated",
    object: live("apps/v1/DaemonSet", {}, { observedGeneration: 3, ...nodes, updatedNumberScheduled: 1 }),
    want: "progressing",
  },
  { case: "V-07 headless", object: live("Service", { clusterIPs: ["None"] }, {}), want: "available" },
  { case: "no address yet", object: live("Service", { type: "NodePort" }, {}), want: "progressing" },
  { case: "V-08", object: live("Service", { type: "LoadBalancer" }, point([{ hostname: "h" }])), want: "available" },
  {
    case: "V-08 empty",
    object: live("Service", { type: "LoadBalancer", clusterIPs: ["10.0.0.1"] }, point([])),
    want: "progressing",
  },
  { case: "V-09 ExternalName", object: live("Service", { type: "ExternalName" }, {}), want: "untrackable" },
  {
    case: "V-10",
    object: live("policy/v1/PodDisruptionBudget", {}, disruption(0, "False", "InsufficientPods")),
    want: "available",
  },
  {
    case: "V-11 stale condition",
    object: live("policy/v1/PodDisruptionBudget", {}, disruption(0, "True", "SufficientPods")),
    want: "progressing",
  },
  {
    case: "not counted in this version",
    object: live(
      "policy/v1/PodDisruptionBudget",
      {},
      { ...disruption(0, "False", "InsufficientPods"), observedGeneration: 2 },
    ),
    want: "progressing",
  },
  {
    case: "V-12",
    object: live("apiextensions.k8s.io/v1/CustomResourceDefinition", {}, names("True", "False")),
    want: "progressing",
  },
  {
    case: "served under its names",
    object: live("apiextensions.k8s.io/v1/CustomResourceDefinition", {}, names("True", "True")),
    want: "available",
  },
  { case: "V-13", object: live("Namespace", {}, {}), want: "available" },
  { case: "V-13", object: live("ConfigMap", {}, {}), want: "available" },
  {
    case: "a Pod of its own",
    object: live("Pod", {}, { conditions: [condition("Ready", "True")], observedGeneration: 3 }),
    want: "untrackable",
  },
  { case: "C 4 a Job with a ready pod", object: live("batch/v1/Job", {}, { ready: 1 }), want: "available" },
  { case: "C 4 a Job that succeeded", object: live("batch/v1/Job", {}, { succeeded: 1 }), want: "available" },
  { case: "C 4 a Job that waits", object: live("batch/v1/Job", {}, { active: 1 }), want: "progressing" },
  {
    case: "C 4 a Job that is complete without a pod",
    object: live("batch/v1/Job", {}, { conditions: [condition("Complete", "True")] }),
    want: "available",
  },
  {
    case: "B 1 a Job that failed",
    object: live("batch/v1/Job", {}, { conditions: [condition("Failed", "True", "BackoffLimitExceeded")] }),
    want: "failed",
  },
  { case: "C 4 a CronJob", object: live("batch/v1/CronJob", {}, {}), want: "available" },
  { case: "C 4 a bound claim", object: live("PersistentVolumeClaim", {}, { phase: "Bound" }), want: "available" },
  {
    case: "C 4 a claim that waits",
    object: live("PersistentVolumeClaim", {}, { phase: "Pending" }),
    want: "progressing",
  },
  { case: "C 4 a lost claim", object: live("PersistentVolumeClaim", {}, { phase: "Lost" }), want: "failed" },
  {
    case: "C 4 an autoscaler at work",
    object: live(
      "autoscaling/v2/HorizontalPodAutoscaler",
      {},
      { conditions: [condition("AbleToScale", "True"), condition("ScalingActive", "True")] },
    ),
    want: "available",
  },
  {
    case: "C 4 an autoscaler without metrics",
    object: live(
      "autoscaling/v2/HorizontalPodAutoscaler",
      {},
      {
        conditions: [condition("AbleToScale", "True"), condition("ScalingActive", "False", "FailedGetResourceMetric")],
      },
    ),
    want: "progressing",
  },
  {
    case: "C 4 an autoscaler that was told to stand still",
    object: live(
      "autoscaling/v2/HorizontalPodAutoscaler",
      {},
      { conditions: [condition("AbleToScale", "True"), condition("ScalingActive", "False", "ScalingDisabled")] },
    ),
    want: "available",
  },
  {
    case: "C 4 an autoscaler that cannot scale",
    object: live("autoscaling/v2/HorizontalPodAutoscaler", {}, { conditions: [condition("AbleToScale", "False")] }),
    want: "progressing",
  },
  {
    case: "C 4 an autoscaler that looked at an earlier version",
    object: live(
      "autoscaling/v2/HorizontalPodAutoscaler",
      {},
      { observedGeneration: 2, conditions: [condition("AbleToScale", "True")] },
    ),
    want: "progressing",
  },
  {
    case: "C 4 a custom resource that is ready",
    object: live("example.com/v1/Thing", {}, ready("True")),
    want: "available",
  },
  {
    case: "C 4 that was ready a version ago",
    object: live("example.com/v1/Thing", {}, { ...ready("True"), observedGeneration: 2 }),
    want: "progressing",
  },
  {
    case: "C 4 whose condition names its version",
    object: live("example.com/v1/Thing", {}, ready("True", { observedGeneration: 2 })),
    want: "progressing",
  },
  { case: "C 4 that is not ready", object: live("example.com/v1/Thing", {}, ready("False")), want: "progressing" },
  {
    case: "C 4 that says it is stuck",
    object: live(
      "example.com/v1/Thing",
      {},
      { observedGeneration: 3, conditions: [condition("Ready", "False"), condition("Stalled", "True")] },
    ),
    want: "failed",
  },
  {
    case: "C 4 that names no version",
    object: live("example.com/v1/Thing", {}, { conditions: [condition("Ready", "True")] }),
    want: "untrackable",
  },
  { case: "C 4 without conditions", object: live("example.com/v1/Thing", {}, {}), want: "untrackable" },
  {
    case: "anything on its way out",
    object: live("ConfigMap", {}, {}, { deletionTimestamp: "2026-11-21T12:00:00Z" }),
    want: "progressing",
  },
];

describe("health", () => {
  for (const { case: story, object, want } of cases) {
    it(`${object["kind"]} is ${want}: ${story}`, () => {
      expect(healthOf(object).phase).toBe(want);
    });
  }

  it("tells what is missing, in numbers", () => {
    expect(healthOf(live("apps/v1/Deployment", { replicas: 3 }, { ...counts, availableReplicas: 1 }))).toEqual({
      phase: "progressing",
      message: "1 of 3 replicas are available, 3 updated",
    });
    expect(healthOf(live("apps/v1/Deployment", { replicas: 3 }, { ...counts, unavailableReplicas: 1 }))).toEqual({
      phase: "progressing",
      message: "3 of 3 replicas are available, 3 updated, 1 unavailable",
    });
  });

  it("says no more than a status can hold", () => {
    const wordy = { ...late, message: "x".repeat(1000) };
    const failing = healthOf(live("apps/v1/Deployment", {}, { observedGeneration: 3, conditions: [wordy] }));
    expect(failing.phase === "failed" && failing.message).toHaveLength(200);
  });

  it("tells an explicit failure in the object's own words", () => {
    const failing = live("apps/v1/Deployment", {}, { observedGeneration: 3, conditions: [late] });
    expect(healthOf(failing)).toEqual({ phase: "failed", message: "Progressing is False: it took too long" });
  });
});
