import { describe, expect, it, test } from "vitest";
import type { Verdict } from "../../../src/core/model/condition.ts";
import { deletionStage } from "../../../src/core/model/names.ts";
import { placementKey } from "../../../src/core/model/placement.ts";
import type {
  ClusterProgress,
  DeletionProgress,
  PlannedStage,
  RunEnd,
  RunPlan,
  RunRecord,
  StageProgress,
} from "../../../src/core/model/run-record.ts";
import type { RunWait } from "../../../src/core/model/run-wait.ts";
import { runKey, strategyKey } from "../../../src/core/model/update-run.ts";
import type { ClusterName, Digest, Instant, Sequence } from "../../../src/core/model/value.ts";
import { unbegunStage } from "../../../src/core/rollout/run-progress.ts";
import { deletionVerdicts, runVerdicts, stageVerdicts } from "../../../src/core/status/run-conditions.ts";
import { settledRun } from "../../../src/core/status/settled-run.ts";
import { clientSide } from "../../strategy.ts";
import { later, noon } from "./record.ts";

const [a, b, c] = ["a", "b", "c"] as readonly string[] as readonly [ClusterName, ClusterName, ClusterName];
const root = "f".repeat(64) as Digest;
const digest = "d".repeat(64) as Digest;
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
  stages: [planned("canary", a), planned("prod", b, c)],
  deletions: [],
};

const started: ClusterProgress = { startedAt: noon, sequence: 7 as Sequence, end: null };
const updated: ClusterProgress = { ...started, end: { kind: "succeeded", at: later } };
const skipped: ClusterProgress = {
  startedAt: null,
  sequence: null,
  end: { kind: "skipped", at: noon, because: "left" },
};
const superseded: ClusterProgress = { ...started, end: { kind: "superseded", at: noon, by: newer } };
const underWay: StageProgress = { ...unbegunStage, startedAt: noon, clusters: new Map([[a, started]]) };
const done: StageProgress = {
  ...unbegunStage,
  startedAt: noon,
  finishedAt: later,
  endedAt: later,
  clusters: new Map([[a, updated]]),
};
const asked: StageProgress = { ...unbegunStage, before: { requestedAt: noon, digest, approval: null } };
const noDeletion: DeletionProgress = { startedAt: null, clusters: new Map(), endedAt: null, conditions: [] };
const failed: RunEnd = { kind: "failed", at: later, code: "PolicyChanged", message: "the policy is another one" };

const run = (more: Partial<RunRecord> = {}): RunRecord => ({
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
  stages: [underWay, unbegunStage],
  deletion: noDeletion,
  end: null,
  conditions: [],
  ...more,
});

const on = (stage: string) => ({
  clusters: { kind: "clusters", stage, active: [a], waiting: [b], maxConcurrency: 1 } as RunWait,
  approval: { kind: "approval", stage, when: "before", digest, because: null } as RunWait,
  timer: { kind: "timer", stage, until: later, clock: "sound" } as RunWait,
  failures: { kind: "failures", stage, failed: [a], allowed: 0 } as RunWait,
  stuck: { kind: "stuck", stage, clusters: [a] } as RunWait,
  stopped: { kind: "stopped", stage, active: [a] } as RunWait,
});
const canary = on("canary");
const prod = on("prod");

const terse = (verdicts: readonly Verdict[]): readonly string[] =>
  verdicts.map((it) => `${it.type} ${it.status} ${it.reason}`);

interface Case {
  readonly id: string;
  readonly claim: string;
  readonly run: RunRecord;
  readonly waits?: readonly RunWait[];
  readonly want: readonly string[];
}

const planIsThere = "Initialized True UpdateRunInitializedSuccessfully";

describe("a run's conditions", () => {
  const bare = { plan: null, stages: [] };
  const cases: readonly Case[] = [
    { id: "§2.4 7a", claim: "none while it has no plan yet", run: run(bare), want: [] },
    {
      id: "§2.4",
      claim: "initialization failed",
      run: run({ ...bare, end: failed }),
      want: ["Initialized False UpdateRunInitializedFailed"],
    },
    {
      id: "§2.3 step 8",
      claim: "Initialize makes the plan and nothing else",
      run: run({ stages: [unbegunStage, unbegunStage], spec: { ...run().spec, state: "Initialize" } }),
      want: [planIsThere],
    },
    {
      id: "§2.6",
      claim: "clusters are under way",
      run: run(),
      waits: [canary.clusters],
      want: [planIsThere, "Progressing True UpdateRunProgressing"],
    },
    {
      id: "§2.6 4",
      claim: "an approval is missing",
      run: run(),
      waits: [canary.approval],
      want: [planIsThere, "Progressing False UpdateRunWaiting"],
    },
    {
      id: "§2.8",
      claim: "a wait is not over",
      run: run(),
      waits: [canary.timer],
      want: [planIsThere, "Progressing False UpdateRunWaiting"],
    },
    {
      id: "§2.7",
      claim: "a cluster takes too long",
      run: run(),
      waits: [canary.clusters, canary.stuck],
      want: [planIsThere, "Progressing False UpdateRunStuck"],
    },
    {
      id: "RULINGS B 13",
      claim: "more clusters failed than may",
      run: run(),
      waits: [canary.failures, canary.clusters],
      want: [planIsThere, "Progressing False UpdateRunStuck"],
    },
    {
      id: "RULINGS B 6",
      claim: "stopped at once, whatever is in flight",
      run: run({ spec: { ...run().spec, state: "Stop" } }),
      waits: [canary.stopped, canary.stuck],
      want: [planIsThere, "Progressing False UpdateRunStopped"],
    },
    {
      id: "§2.12",
      claim: "failed",
      run: run({ end: failed }),
      want: [planIsThere, "Progressing False UpdateRunFailed", "Succeeded False UpdateRunFailed"],
    },
    {
      id: "§2.12",
      claim: "succeeded",
      run: run({ stages: [done, done], end: { kind: "succeeded", at: later } }),
      want: [planIsThere, "Progressing False UpdateRunSucceeded", "Succeeded True UpdateRunSucceeded"],
    },
  ];
  it.each(cases)("$id: $claim", (one) => {
    expect(terse(runVerdicts(one.run, one.waits ?? []))).toEqual(one.want);
  });
});

describe("a stage's conditions", () => {
  const cases: readonly (Case & { readonly at?: number })[] = [
    {
      id: "§2.7",
      claim: "under way, even where the run is stuck",
      run: run(),
      waits: [canary.stuck],
      want: ["Progressing True StageUpdatingStarted"],
    },
    {
      id: "§2.6 7",
      claim: "one at a time: a later stage has none",
      run: run(),
      waits: [canary.clusters],
      at: 1,
      want: [],
    },
    {
      id: "§2.6 4",
      claim: "it waits before it has begun",
      run: run({ stages: [done, asked] }),
      waits: [prod.approval],
      at: 1,
      want: ["Progressing False StageUpdatingWaiting"],
    },
    {
      id: "§2.8",
      claim: "it waits after its clusters",
      run: run(),
      waits: [canary.timer],
      want: ["Progressing False StageUpdatingWaiting"],
    },
    {
      id: "§2.11",
      claim: "between two stages, the next one is stopped",
      run: run({ stages: [done, unbegunStage] }),
      waits: [{ kind: "stopped", stage: null, active: [] }],
      at: 1,
      want: ["Progressing False StageUpdatingStopped"],
    },
    {
      id: "§2.8 3",
      claim: "done",
      run: run({ stages: [done, unbegunStage] }),
      want: ["Progressing False StageUpdatingSucceeded", "Succeeded True StageUpdatingSucceeded"],
    },
    {
      id: "§2.6 3",
      claim: "without clusters it is skipped",
      run: run({ stages: [{ ...unbegunStage, startedAt: noon, finishedAt: noon, endedAt: noon }, unbegunStage] }),
      want: ["Progressing False StageUpdatingSkippedNoClusters", "Succeeded True StageUpdatingSkippedNoClusters"],
    },
    {
      id: "RULINGS B 22",
      claim: "when all of its clusters left it is skipped",
      run: run({
        stages: [
          { ...unbegunStage, startedAt: noon, finishedAt: noon, endedAt: noon, clusters: new Map([[a, skipped]]) },
          unbegunStage,
        ],
      }),
      want: ["Progressing False StageUpdatingSkippedNoClusters", "Succeeded True StageUpdatingSkippedNoClusters"],
    },
    {
      id: "§2.6",
      claim: "it fails with its run",
      run: run({ end: failed }),
      want: ["Progressing False StageUpdatingFailed", "Succeeded False StageUpdatingFailed"],
    },
    {
      id: "§2.5",
      claim: "one that is done stays so when the run fails",
      run: run({ stages: [done, unbegunStage], end: failed }),
      want: ["Progressing False StageUpdatingSucceeded", "Succeeded True StageUpdatingSucceeded"],
    },
    {
      id: "§2.5",
      claim: "one that has not begun does not fail",
      run: run({ stages: [done, unbegunStage], end: failed }),
      at: 1,
      want: [],
    },
  ];
  it.each(cases)("$id: $claim", (one) => {
    expect(terse(stageVerdicts(one.run, one.at ?? 0, one.waits ?? []))).toEqual(one.want);
  });
});

describe("the deletion stage's conditions", () => {
  const stages = [done, done];
  const begun = { ...noDeletion, startedAt: noon };
  const cases: readonly Case[] = [
    { id: "§2.10", claim: "none before its turn", run: run(), want: [] },
    {
      id: "§2.10 1",
      claim: "under way",
      run: run({ stages, deletion: begun }),
      waits: [on(deletionStage).clusters],
      want: ["Progressing True StageUpdatingStarted"],
    },
    {
      id: "§2.11",
      claim: "stopped",
      run: run({ stages, deletion: begun }),
      waits: [on(deletionStage).stopped],
      want: ["Progressing False StageUpdatingStopped"],
    },
    {
      id: "§2.10 4",
      claim: "done, without clusters too",
      run: run({ stages, deletion: { ...begun, endedAt: later } }),
      want: ["Progressing False StageUpdatingSucceeded", "Succeeded True StageUpdatingSucceeded"],
    },
  ];
  it.each(cases)("$id: $claim", (one) => {
    expect(terse(deletionVerdicts(one.run, one.waits ?? []))).toEqual(one.want);
  });
});

describe("the messages", () => {
  const lastOf = (verdicts: readonly Verdict[]): string => verdicts.at(-1)?.message ?? "";
  const cases: readonly (readonly [string, RunRecord, readonly RunWait[], string])[] = [
    [
      "name the plan",
      run({ spec: { ...run().spec, state: "Initialize" } }),
      [],
      `3 clusters in 2 stages will get resource index 4; plan ${root}`,
    ],
    [
      "name the stage and its clusters",
      run(),
      [canary.clusters],
      "stage canary (1 of 2): under way: a; waiting, 1 at a time: b",
    ],
    [
      "name what has to be approved, and why an answer does not count",
      run({ stages: [done, asked] }),
      [{ kind: "approval", stage: "prod", when: "before", digest, because: "no signature" }],
      `stage prod (2 of 2): waits for the before-stage approval of request digest ${digest}; ` +
        "an answer does not count: no signature",
    ],
    [
      "name the instant of a wait, and a clock that is not to be believed",
      run(),
      [{ kind: "timer", stage: "canary", until: later, clock: "unsound" }],
      "stage canary (1 of 2): waits until 2026-11-21T12:05:00Z, and for our clock to agree with the members'",
    ],
    [
      "say when nobody could see the clock jump",
      run(),
      [{ kind: "timer", stage: "canary", until: later, clock: "unseen" }],
      "stage canary (1 of 2): waits until 2026-11-21T12:05:00Z; fewer than three members tell the time",
    ],
    [
      "name the code of a failure, how far the run came, and the way back",
      run({ end: failed }),
      [],
      "PolicyChanged: the policy is another one; resource index 4 reached 1 cluster (a); " +
        "the way back is: flotilla rollback web",
    ],
    [
      "count who was skipped and who was superseded",
      run({
        stages: [
          done,
          {
            ...done,
            clusters: new Map([
              [b, skipped],
              [c, superseded],
            ]),
          },
        ],
        end: { kind: "succeeded", at: later },
      }),
      [],
      "2 stages done: 1 cluster updated, 1 skipped, 1 superseded",
    ],
  ];
  it.each(cases)("%s", (_, one, waits, want) => {
    expect(lastOf(runVerdicts(one, waits))).toBe(want);
  });

  test("stay within what a status holds", () => {
    const long = run({ end: { kind: "failed", at: later, code: "Rejected", message: "x".repeat(9000) } });
    expect(lastOf(runVerdicts(long, [])).length).toBeLessThanOrEqual(512);
  });
});

describe("a run with its conditions", () => {
  const settled = settledRun(run(), [canary.clusters], noon);

  test("is the same run while they say the same", () => {
    expect(settledRun(settled, [canary.clusters], later)).toBe(settled);
  });

  test("keeps what did not change", () => {
    const next = settledRun(settled, [canary.timer], later);
    expect(next.stages[1]).toBe(settled.stages[1]);
    expect(next.deletion).toBe(settled.deletion);
    expect(next.conditions[0]).toBe(settled.conditions[0]);
    expect(next.conditions[1]?.lastTransitionTime).toBe(later as Instant);
    expect(next.stages[0]?.conditions.map((it) => `${it.status} ${it.reason}`)).toEqual(["False StageUpdatingWaiting"]);
  });
});
