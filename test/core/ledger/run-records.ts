import { type EvictionRecord, placementKey } from "../../../src/core/model/placement.ts";
import type { StageTask } from "../../../src/core/model/stage-task.ts";
import {
  type ClusterEnd,
  type ClusterProgress,
  type DeletionProgress,
  type PlannedStage,
  type RunEnd,
  type RunPlan,
  type RunRecord,
  runKey,
  type StageProgress,
  strategyKey,
} from "../../../src/core/model/update-run.ts";
import type { ClusterName, DurationMs } from "../../../src/core/model/value.ts";
import { requested } from "../../gate.ts";
import type { Random } from "../intent/random.ts";
import {
  applyStrategy,
  clusterNames,
  condition,
  digest,
  flag,
  hex,
  instant,
  keysOf,
  labels,
  many,
  maybe,
  selector,
  sequence,
  text,
} from "../yaml/random-values.ts";
import { randomRequest } from "./trust-records.ts";

/** A run that uses every shape that its record can have: with and without a plan, at any point of it, ended or not. */
export function randomRun(random: Random, key: string): RunRecord {
  const [name = "", namespace = null] = key.split("/").reverse();
  const plan = maybe(random, () => randomPlan(random));
  return {
    key: runKey(namespace, name),
    scope: namespace === null ? "Cluster" : "Namespaced",
    namespace,
    name,
    uid: hex(random, 32),
    generation: random.below(9),
    spec: {
      placement: placementKey(namespace, random.pick(["web", "1"])),
      resourceIndex: maybe(random, () => random.pick(["0", "01", "17"])),
      strategy: strategyKey(namespace, random.pick(["canary", "no"])),
      state: random.pick(["Initialize", "Run", "Stop"]),
    },
    since: sequence(random),
    plan,
    stages: (plan?.stages ?? []).map((it) => stageProgress(random, it)),
    deletion: deletionProgress(random, plan?.deletions ?? []),
    end: maybe(random, () => runEnd(random)),
    conditions: many(random, 3, () => condition(random)),
  };
}

/** An eviction with any verdict, and one that has none yet. */
export const randomEviction = (random: Random, name: string): EvictionRecord => ({
  name,
  uid: hex(random, 32),
  placement: placementKey(null, random.pick(["web", "1"])),
  cluster: random.pick(clusterNames) as ClusterName,
  found: random.pick(["leaving", null]),
  conditions: many(random, 2, () => condition(random)),
});

function randomPlan(random: Random): RunPlan {
  const clusters = keysOf(random, clusterNames) as ClusterName[];
  const stages = random.below(4);
  return {
    root: digest(random),
    policySnapshot: random.below(9),
    policyHash: digest(random),
    clusterCount: random.below(9),
    resourceIndex: random.below(20),
    applyStrategy: applyStrategy(random),
    deleteAdopted: random.below(3) === 0,
    // From the last to the first: the order of a stage need not be that of names.
    stages: Array.from({ length: stages }, (_, at) =>
      plannedStage(random, `stage${at}`, clusters.filter((_, index) => index % 4 === at).reverse()),
    ),
    deletions: clusters.filter((_, index) => index % 4 === 3),
  };
}

const plannedStage = (random: Random, name: string, clusters: readonly ClusterName[]): PlannedStage => ({
  name,
  selector: maybe(random, () => selector(random)),
  sortingLabelKey: maybe(random, () => "example.com/order"),
  maxConcurrency: random.pick([{ count: 1 }, { percent: 25 }, { percent: 100 }]),
  before: random.pick<readonly StageTask[]>([[], [{ kind: "Approval" }]]),
  after: random.pick<readonly StageTask[]>([
    [],
    [{ kind: "Approval" }],
    [{ kind: "TimedWait", wait: 3_600_000 as DurationMs }, { kind: "Approval" }],
    [{ kind: "TimedWait", wait: 1500 as DurationMs }],
  ]),
  maxFailures: random.pick([{ count: 0 }, { count: 2 }, { percent: 10 }]),
  clusters: clusters.map((cluster) => ({
    cluster,
    clusterOverrides: many(random, 2, (at) => `tune-${at}`),
    resourceOverrides: many(random, 2, (at) => `shop/scale-${at}`),
    labels: labels(random),
    digest: digest(random),
  })),
});

const stageProgress = (random: Random, { clusters, before, after }: PlannedStage): StageProgress => ({
  startedAt: maybe(random, () => instant(random)),
  isPassedOver: flag(random),
  clusters: progressOf(
    random,
    clusters.map((it) => it.cluster),
  ),
  finishedAt: maybe(random, () => instant(random)),
  before: requested(before.length === 0 ? null : maybe(random, () => randomRequest(random))),
  after: requested(after.some((it) => it.kind === "Approval") ? maybe(random, () => randomRequest(random)) : null),
  endedAt: maybe(random, () => instant(random)),
  conditions: many(random, 2, () => condition(random)),
});

const deletionProgress = (random: Random, clusters: readonly ClusterName[]): DeletionProgress => ({
  startedAt: clusters.length === 0 ? null : maybe(random, () => instant(random)),
  clusters: progressOf(random, clusters),
  endedAt: clusters.length === 0 ? null : maybe(random, () => instant(random)),
  conditions: clusters.length === 0 ? [] : many(random, 2, () => condition(random)),
});

const progressOf = (random: Random, clusters: readonly ClusterName[]): ReadonlyMap<ClusterName, ClusterProgress> =>
  new Map(clusters.filter(() => flag(random)).map((it) => [it, clusterProgress(random)]));

function clusterProgress(random: Random): ClusterProgress {
  const startedAt = maybe(random, () => instant(random));
  return {
    startedAt,
    sequence: startedAt === null ? null : maybe(random, () => sequence(random)),
    end: startedAt === null ? clusterEnd(random) : maybe(random, () => clusterEnd(random)),
  };
}

const clusterEnd = (random: Random): ClusterEnd =>
  random.pick<ClusterEnd>([
    { kind: "succeeded", at: instant(random) },
    { kind: "skipped", at: instant(random), because: text(random) },
    { kind: "superseded", at: instant(random), by: runKey(random.pick([null, "a"]), "newer") },
  ]);

const runEnd = (random: Random): RunEnd =>
  random.pick<RunEnd>([
    { kind: "succeeded", at: instant(random) },
    { kind: "superseded", at: instant(random), by: runKey(random.pick([null, "a"]), "newer") },
    {
      kind: "failed",
      at: instant(random),
      code: random.pick(["Rejected", "PolicyChanged", "ClusterInNoStage"]),
      message: text(random),
    },
  ]);
