// A run of two stages at every point of its way, and what it may wait for there.
import { placementKey } from "../../../src/core/model/placement.ts";
import {
  type ClusterProgress,
  type DeletionProgress,
  type PlannedStage,
  type RunEnd,
  type RunPlan,
  type RunRecord,
  type RunWait,
  runKey,
  type StageProgress,
  strategyKey,
} from "../../../src/core/model/update-run.ts";
import type { ClusterName, Digest, Sequence } from "../../../src/core/model/value.ts";
import { notStartedStage } from "../../../src/core/rollout/run-progress.ts";
import { gateOf, requested } from "../../gate.ts";
import { clientSide } from "../../strategy.ts";
import { later, noon } from "./record.ts";

export const [a, b, c] = ["a", "b", "c"] as readonly string[] as readonly [ClusterName, ClusterName, ClusterName];
export const root = "f".repeat(64) as Digest;
export const digest = "d".repeat(64) as Digest;
const newer = runKey(null, "newer");

const planned = (name: string, ...clusters: readonly ClusterName[]): PlannedStage => ({
  name,
  selector: {},
  sortingLabelKey: null,
  maxConcurrency: { count: 1 },
  before: [],
  after: [],
  maxFailures: { count: 0 },
  clusters: clusters.map((cluster) => ({ cluster, clusterOverrides: [], resourceOverrides: [], labels: {}, digest })),
});
const plan: RunPlan = {
  root,
  policySnapshot: 0,
  policyHash: digest,
  clusterCount: 2,
  resourceIndex: 4,
  applyStrategy: clientSide,
  deleteAdopted: false,
  stages: [planned("canary", a), planned("prod", b, c)],
  deletions: [],
};

const started: ClusterProgress = { startedAt: noon, sequence: 7 as Sequence, end: null };
const updated: ClusterProgress = { ...started, end: { kind: "succeeded", at: later } };
export const skipped: ClusterProgress = {
  startedAt: null,
  sequence: null,
  end: { kind: "skipped", at: noon, because: "left" },
};
export const superseded: ClusterProgress = { ...started, end: { kind: "superseded", at: noon, by: newer } };
const underWay: StageProgress = { ...notStartedStage, startedAt: noon, clusters: new Map([[a, started]]) };
export const done: StageProgress = {
  ...notStartedStage,
  startedAt: noon,
  finishedAt: later,
  endedAt: later,
  clusters: new Map([[a, updated]]),
};
export const asked: StageProgress = { ...notStartedStage, before: requested(gateOf({ requestedAt: noon, digest })) };
export const noDeletion: DeletionProgress = { startedAt: null, clusters: new Map(), endedAt: null, conditions: [] };
export const failed: RunEnd = {
  kind: "failed",
  at: later,
  code: "PolicyChanged",
  message: "the policy is another one",
};

export const run = (more: Partial<RunRecord> = {}): RunRecord => ({
  key: runKey(null, "v4"),
  scope: "Cluster",
  namespace: null,
  name: "v4",
  uid: "1",
  generation: 3,
  spec: {
    placement: placementKey(null, "web"),
    resourceIndex: null,
    strategy: strategyKey(null, "slow"),
    state: "Run",
  },
  since: 5 as Sequence,
  plan,
  stages: [underWay, notStartedStage],
  deletion: noDeletion,
  end: null,
  conditions: [],
  ...more,
});

export const on = (stage: string) => ({
  clusters: { kind: "clusters", stage, active: [a], waiting: [b], maxConcurrency: 1 } as RunWait,
  approval: { kind: "task", task: "Approval", stage, when: "before", digest, because: null } as RunWait,
  timer: { kind: "task", task: "TimedWait", stage, until: later, clock: "sound" } as RunWait,
  failures: { kind: "failures", stage, failed: [a], allowed: 0 } as RunWait,
  stuck: { kind: "stuck", stage, clusters: [a] } as RunWait,
  stopped: { kind: "stopped", stage, active: [a] } as RunWait,
  held: { kind: "held", because: "ann may not have approved it" } as RunWait,
});
export const canary = on("canary");
export const prod = on("prod");
