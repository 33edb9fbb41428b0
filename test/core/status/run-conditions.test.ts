import { describe, expect, it, test } from "vitest";
import type { Verdict } from "../../../src/core/model/condition.ts";
import { deletionStage } from "../../../src/core/model/names.ts";
import type { RunRecord, RunWait } from "../../../src/core/model/update-run.ts";
import type { Instant } from "../../../src/core/model/value.ts";
import { notStartedStage } from "../../../src/core/rollout/run-progress.ts";
import { deletionVerdicts, runVerdicts, settledRun, stageVerdicts } from "../../../src/core/status/run-conditions.ts";
import { later, noon } from "./record.ts";
import { a, asked, canary, done, failed, noDeletion, on, prod, run, skipped } from "./staged-run.ts";

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
    { id: "also", claim: "none while it has no plan yet", run: run(bare), want: [] },
    {
      id: "also",
      claim: "initialization failed",
      run: run({ ...bare, end: failed }),
      want: ["Initialized False UpdateRunInitializedFailed"],
    },
    {
      id: "also",
      claim: "Initialize makes the plan and nothing else",
      run: run({ stages: [notStartedStage, notStartedStage], spec: { ...run().spec, state: "Initialize" } }),
      want: [planIsThere],
    },
    {
      id: "also",
      claim: "clusters are under way",
      run: run(),
      waits: [canary.clusters],
      want: [planIsThere, "Progressing True UpdateRunProgressing"],
    },
    {
      id: "also",
      claim: "an approval is missing",
      run: run(),
      waits: [canary.approval],
      want: [planIsThere, "Progressing False UpdateRunWaiting"],
    },
    {
      id: "also",
      claim: "a wait is not over",
      run: run(),
      waits: [canary.timer],
      want: [planIsThere, "Progressing False UpdateRunWaiting"],
    },
    {
      id: "also",
      claim: "a cluster takes too long",
      run: run(),
      waits: [canary.clusters, canary.stuck],
      want: [planIsThere, "Progressing False UpdateRunStuck"],
    },
    {
      id: "B 13",
      claim: "more clusters failed than may",
      run: run(),
      waits: [canary.failures, canary.clusters],
      want: [planIsThere, "Progressing False UpdateRunStuck"],
    },
    {
      id: "a revoked key",
      claim: "its approvals are in doubt, whatever else it waits for",
      run: run(),
      waits: [canary.held, canary.approval],
      want: [planIsThere, "Progressing False UpdateRunStuck"],
    },
    {
      id: "B 6",
      claim: "stopped at once, whatever is in flight",
      run: run({ spec: { ...run().spec, state: "Stop" } }),
      waits: [canary.stopped, canary.stuck],
      want: [planIsThere, "Progressing False UpdateRunStopped"],
    },
    {
      id: "also",
      claim: "failed",
      run: run({ end: failed }),
      want: [planIsThere, "Progressing False UpdateRunFailed", "Succeeded False UpdateRunFailed"],
    },
    {
      id: "also",
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
      id: "also",
      claim: "under way, even where the run is stuck",
      run: run(),
      waits: [canary.stuck],
      want: ["Progressing True StageUpdatingStarted"],
    },
    {
      id: "a revoked key",
      claim: "under way, even where the run is held: what is in flight lands",
      run: run(),
      waits: [canary.held, canary.clusters],
      want: ["Progressing True StageUpdatingStarted"],
    },
    {
      id: "also",
      claim: "one at a time: a later stage has none",
      run: run(),
      waits: [canary.clusters],
      at: 1,
      want: [],
    },
    {
      id: "also",
      claim: "it waits before it has begun",
      run: run({ stages: [done, asked] }),
      waits: [prod.approval],
      at: 1,
      want: ["Progressing False StageUpdatingWaiting"],
    },
    {
      id: "also",
      claim: "it waits after its clusters",
      run: run(),
      waits: [canary.timer],
      want: ["Progressing False StageUpdatingWaiting"],
    },
    {
      id: "also",
      claim: "between two stages, the next one is stopped",
      run: run({ stages: [done, notStartedStage] }),
      waits: [{ kind: "stopped", stage: null, active: [] }],
      at: 1,
      want: ["Progressing False StageUpdatingStopped"],
    },
    {
      id: "also",
      claim: "done",
      run: run({ stages: [done, notStartedStage] }),
      want: ["Progressing False StageUpdatingSucceeded", "Succeeded True StageUpdatingSucceeded"],
    },
    {
      id: "also",
      claim: "without clusters it is skipped",
      run: run({ stages: [{ ...notStartedStage, startedAt: noon, finishedAt: noon, endedAt: noon }, notStartedStage] }),
      want: ["Progressing False StageUpdatingSkippedNoClusters", "Succeeded True StageUpdatingSkippedNoClusters"],
    },
    {
      id: "B 22",
      claim: "when all of its clusters left it is skipped",
      run: run({
        stages: [
          { ...notStartedStage, startedAt: noon, finishedAt: noon, endedAt: noon, clusters: new Map([[a, skipped]]) },
          notStartedStage,
        ],
      }),
      want: ["Progressing False StageUpdatingSkippedNoClusters", "Succeeded True StageUpdatingSkippedNoClusters"],
    },
    {
      id: "also",
      claim: "it fails with its run",
      run: run({ end: failed }),
      want: ["Progressing False StageUpdatingFailed", "Succeeded False StageUpdatingFailed"],
    },
    {
      id: "also",
      claim: "one that is done stays so when the run fails",
      run: run({ stages: [done, notStartedStage], end: failed }),
      want: ["Progressing False StageUpdatingSucceeded", "Succeeded True StageUpdatingSucceeded"],
    },
    {
      id: "also",
      claim: "one that has not begun does not fail",
      run: run({ stages: [done, notStartedStage], end: failed }),
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
    { id: "also", claim: "none before its turn", run: run(), want: [] },
    {
      id: "also",
      claim: "under way",
      run: run({ stages, deletion: begun }),
      waits: [on(deletionStage).clusters],
      want: ["Progressing True StageUpdatingStarted"],
    },
    {
      id: "also",
      claim: "stopped",
      run: run({ stages, deletion: begun }),
      waits: [on(deletionStage).stopped],
      want: ["Progressing False StageUpdatingStopped"],
    },
    {
      id: "also",
      claim: "done, without clusters too",
      run: run({ stages, deletion: { ...begun, endedAt: later } }),
      want: ["Progressing False StageUpdatingSucceeded", "Succeeded True StageUpdatingSucceeded"],
    },
  ];
  it.each(cases)("$id: $claim", (one) => {
    expect(terse(deletionVerdicts(one.run, one.waits ?? []))).toEqual(one.want);
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
