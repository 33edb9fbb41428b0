import type { Binding } from "../../src/core/model/binding.ts";
import {
  type ClusterRecord,
  emptyLedger,
  type Ledger,
  nothingCollected,
  type PlacementRecord,
} from "../../src/core/model/ledger.ts";
import { noProperties } from "../../src/core/model/observation.ts";
import type { PlannedStage, RunPlan, RunRecord, StageProgress } from "../../src/core/model/update-run.ts";
import {
  type ClusterName,
  type Digest,
  type Epoch,
  type Instant,
  instantOf,
  minutes,
  type PlacementKey,
  type RunKey,
  type Sequence,
  type StrategyKey,
} from "../../src/core/model/value.ts";
import { notStartedStage } from "../../src/core/rollout/run-progress.ts";
import { binding, contents, record, target } from "../core/status/record.ts";
import { clientSide } from "../strategy.ts";

/** A moment of the day on which these ledgers stand. */
export const at = (time: string): Instant => instantOf(`2026-11-21T${time}Z`) as Instant;

/** `web`, External, with contents 1 to 3 on record. */
export const web = (bindings: readonly Binding[], more: Parameters<typeof record>[1] = {}): PlacementRecord =>
  record(bindings, { type: "External", resourceSnapshots: [contents(1), contents(2), contents(3)], ...more });

/** A member that was reached, and of which nothing else is known. */
export const memberRecord = (name: string, more: Partial<ClusterRecord> = {}): ClusterRecord => ({
  name: name as ClusterName,
  uid: name,
  generation: 1,
  specDigest: "a".repeat(64) as Digest,
  kubeSystemUid: name,
  properties: noProperties,
  collection: nothingCollected,
  namespaces: null,
  contactFailure: null,
  conditions: [],
  ...more,
});

/** A cluster that carries this version of `web`. */
export const on = (cluster: string, index: number, more: Partial<Binding> = {}): Binding =>
  binding(cluster, { target: target(index), ...more });

export const ledgerOf = (
  placements: readonly PlacementRecord[],
  runs: readonly RunRecord[],
  clusters: readonly ClusterRecord[] = [],
): Ledger => ({
  ...emptyLedger,
  fleet: "f".repeat(16),
  epoch: 1 as Epoch,
  sequence: 9 as Sequence,
  placements: new Map(placements.map((it) => [it.key, it])),
  runs: new Map(runs.map((it) => [it.key, it])),
  clusters: new Map(clusters.map((it) => [it.name, it])),
});

const clusterOf = (name: string): PlannedStage["clusters"][number] => ({
  cluster: name as ClusterName,
  clusterOverrides: [],
  resourceOverrides: [],
  labels: {},
  digest: "c".repeat(64) as Digest,
});

/** A stage without tasks that allows no failure. */
export const stage = (name: string, clusters: readonly string[], more: Partial<PlannedStage> = {}): PlannedStage => ({
  name,
  selector: { matchLabels: {}, matchExpressions: [] },
  sortingLabelKey: null,
  maxConcurrency: { count: 1 },
  before: [],
  after: [],
  maxFailures: { count: 0 },
  clusters: clusters.map(clusterOf),
  ...more,
});

/** A stage that has not begun, unless `more` says otherwise. */
export const progress = (more: Partial<StageProgress> = {}): StageProgress => ({
  ...notStartedStage,
  ...more,
});

export const planOf = (
  resourceIndex: number,
  stages: readonly PlannedStage[],
  deletions: readonly string[] = [],
): RunPlan => ({
  root: "d".repeat(64) as Digest,
  policySnapshot: 0,
  policyHash: "e".repeat(64) as Digest,
  clusterCount: 2,
  resourceIndex,
  applyStrategy: clientSide,
  deleteAdopted: false,
  stages,
  deletions: deletions as readonly ClusterName[],
});

/** A run of `web` by `canary-first` whose plan, if it has one, has not begun. */
export const run = (name: string, since: number, more: Partial<RunRecord> = {}): RunRecord => ({
  key: name as RunKey,
  scope: "Cluster",
  namespace: null,
  name,
  uid: name,
  generation: 1,
  spec: {
    placement: "web" as PlacementKey,
    resourceIndex: null,
    strategy: "canary-first" as StrategyKey,
    state: "Run",
  },
  since: since as Sequence,
  plan: null,
  stages: (more.plan?.stages ?? []).map(() => progress()),
  deletion: { startedAt: null, clusters: new Map(), endedAt: null, conditions: [] },
  end: null,
  conditions: [],
  ...more,
});

/** A run that brought a version and is over. */
export const succeeded = (name: string, since: number, index: number): RunRecord =>
  run(name, since, { plan: planOf(index, []), end: { kind: "succeeded", at: at("10:00:00") } });

/** A wait of an hour after a stage. */
export const hour = { kind: "TimedWait", wait: minutes(60) } as const;
export const approval = { kind: "Approval" } as const;
