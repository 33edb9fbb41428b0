import { describe, expect, it } from "vitest";
import type { ClusterProgress, PlannedStage, RunRecord, StageProgress } from "../../../src/core/model/update-run.ts";
import { type ClusterName, type Instant, later } from "../../../src/core/model/value.ts";
import { isUnderWay, notStartedStage, roundedDown } from "../../../src/core/rollout/run-progress.ts";
import { stepRun } from "../../../src/core/rollout/run-step.ts";
import { type Passed, walk } from "./run-walk.ts";
import { contextOf, hasMoved, indexOf, readinessOf, type Spot, type World } from "./run-world.ts";

// The invariants of staged runs (`rollout/README.md#invariants`), after every pass of random walks.

const seeds = 60;
const passes = 40;

interface Staged {
  readonly stage: PlannedStage;
  readonly before: StageProgress;
  readonly after: StageProgress;
}

const stagesOf = (before: RunRecord, after: RunRecord): readonly Staged[] =>
  (after.plan?.stages ?? []).map((stage, at) => ({
    stage,
    before: before.stages[at] ?? notStartedStage,
    after: after.stages[at] ?? notStartedStage,
  }));

const isStarted = (it: ClusterProgress | undefined): boolean => it !== undefined && it.startedAt !== null;

const isNew = ({ before, after }: Staged, cluster: ClusterName): boolean =>
  isStarted(after.clusters.get(cluster)) && !isStarted(before.clusters.get(cluster));

const hasFailed = (run: RunRecord, spot: Spot | undefined, now: Instant): boolean =>
  spot?.state === "Bound" && spot.index === indexOf(run) && readinessOf(spot, now).kind === "failed";

/** Stages one after the other, each with all its tasks; a wait ends neither early nor by a clock in doubt. */
function inOrder({ world }: Passed, run: RunRecord, stages: readonly Staged[]): void {
  for (const [at, { stage, before, after }] of stages.entries()) {
    const isBegun = [...after.clusters.values()].some(isStarted);
    if (isBegun) {
      expect(
        stages.slice(0, at).every((it) => it.after.endedAt !== null),
        "I-01",
      ).toBe(true);
      if (stage.before.length > 0 && !after.isPassedOver)
        expect(after.before.Approval?.approval, "I-01").not.toBeNull();
    }
    if (after.endedAt === null || before.endedAt !== null || !isBegun) continue;
    if (!after.isPassedOver) endsInTime(world, stage, after);
    const open = stage.clusters.filter((it) => (after.clusters.get(it.cluster)?.end ?? null) === null);
    expect(
      open.every((it) => isStarted(after.clusters.get(it.cluster))),
      "I-01",
    ).toBe(true);
    expect(open.length, `I-01 ${run.name}`).toBeLessThanOrEqual(roundedDown(stage.maxFailures, stage.clusters.length));
  }
}

function endsInTime(world: World, stage: PlannedStage, after: StageProgress): void {
  for (const task of stage.after) {
    if (task.kind === "Approval") expect(after.after.Approval?.approval ?? null, "I-01").not.toBeNull();
    else {
      expect(world.now, "I-06").toBeGreaterThanOrEqual(later(after.finishedAt ?? world.now, task.wait));
      expect(world.clock, "I-06").not.toBe("unsound");
    }
  }
}

/** B, stages in which no cluster changes: of one that is passed over, nothing is ever written. */
function leavesAlone(
  { spots }: Passed,
  run: RunRecord,
  stages: readonly Staged[],
  start: readonly ClusterName[],
): void {
  for (const { stage, before, after } of stages) {
    if (!after.isPassedOver) continue;
    expect(before.isPassedOver || before.startedAt === null, "passed over").toBe(true);
    for (const { cluster } of stage.clusters)
      if (start.includes(cluster)) expect(spots.get(cluster)?.index, "passed over").toBe(indexOf(run));
  }
}

/** Never too many at a time, and nothing new behind too many failures. */
function withinBounds(
  { world, spots }: Passed,
  run: RunRecord,
  stages: readonly Staged[],
  start: readonly ClusterName[],
) {
  for (const it of stages) {
    const clusters = it.stage.clusters.map(({ cluster }) => cluster);
    const fresh = clusters.filter((cluster) => isNew(it, cluster));
    const failed = clusters.filter(
      (cluster) => isUnderWay(it.after.clusters.get(cluster)) && hasFailed(run, world.spots.get(cluster), world.now),
    );
    const active = clusters.filter(
      (cluster) => isUnderWay(it.after.clusters.get(cluster)) && !failed.includes(cluster),
    );
    const places = Math.max(1, roundedDown(it.stage.maxConcurrency, clusters.length));
    if (fresh.some((cluster) => active.includes(cluster))) expect(active.length, "I-02").toBeLessThanOrEqual(places);
    const failedBefore = clusters.filter(
      (cluster) =>
        isUnderWay(it.before.clusters.get(cluster)) &&
        isUnderWay(it.after.clusters.get(cluster)) &&
        hasFailed(run, spots.get(cluster), world.now),
    );
    if (failedBefore.length <= roundedDown(it.stage.maxFailures, clusters.length)) continue;
    expect(fresh, "I-07").toEqual([]);
    expect(
      clusters.filter((cluster) => start.includes(cluster)),
      "I-07",
    ).toEqual([]);
  }
}

/** The plan stays what it was, and every cluster of it is in one stage. */
function frozen(before: RunRecord, after: RunRecord): void {
  expect(after.plan, "I-05").toBe(before.plan);
  const listed = (after.plan?.stages ?? []).flatMap((it) => it.clusters.map(({ cluster }) => cluster));
  expect(new Set(listed).size, "I-05").toBe(listed.length);
  for (const [at, { clusters }] of after.stages.entries())
    for (const cluster of clusters.keys())
      expect(
        after.plan?.stages[at]?.clusters.some((it) => it.cluster === cluster),
        "I-05",
      ).toBe(true);
  if (before.end !== null) expect(after, "an end is for good").toBe(before);
}

/** A stopped run begins nothing and asks nobody. */
function stopped(before: RunRecord, stages: readonly Staged[], moves: readonly ClusterName[]): void {
  if (before.spec.state !== "Stop") return;
  expect(moves, "I-08").toEqual([]);
  for (const it of stages) {
    expect(
      it.stage.clusters.filter(({ cluster }) => isNew(it, cluster)),
      "I-08",
    ).toEqual([]);
    expect([it.after.before, it.after.after, it.after.endedAt], "I-08").toEqual([
      it.before.before,
      it.before.after,
      it.before.endedAt,
    ]);
  }
}

/** Only a request that stood before the pass is answered in it, under the rules of now; then it is what it is for good. */
function asked({ world }: Passed, { before, after }: Staged): void {
  for (const when of ["before", "after"] as const) {
    const [old, gate] = [before[when].Approval, after[when].Approval];
    if (gate === old || gate === null) continue;
    expect(old?.approval ?? null, "U7").toBeNull();
    if (gate.approval !== null) {
      expect({ ...gate, approval: null }, "T-04").toEqual(old);
      expect(gate.rules, "asked under the rules of now").toBe(world.rules);
    } else if (old !== null) {
      const isTooOld = world.maxAge !== null && world.now >= later(old.requestedAt, world.maxAge);
      expect(isTooOld || old.rules !== world.rules, "U8").toBe(true);
    }
  }
}

/** A cluster is in the hands of one run, and no older run writes what a newer one moved. */
function apart({ world, before, steps }: Passed): void {
  const runs = [...world.runs.values()];
  const open = runs.filter((it) => it.end === null);
  for (const cluster of world.members.keys()) {
    const holders = open.filter((it) => it.stages.some(({ clusters }) => isUnderWay(clusters.get(cluster))));
    expect(holders.length, `I-09 ${cluster}`).toBeLessThanOrEqual(1);
  }
  for (const [at, { start }] of steps.entries()) {
    const newer = runs.filter((it) => it.since > (before[at]?.since ?? 0));
    for (const cluster of start)
      expect(
        newer.some((it) => hasMoved(it, cluster)),
        "B 4",
      ).toBe(false);
  }
}

/** If the world stands still, nothing changes before `wakeAt`: not even what is waited for. */
function asleep({ world, before, steps }: Passed): void {
  const wakes = steps.flatMap(({ wakeAt }) => wakeAt ?? []);
  expect(
    wakes.every((it) => it > world.now),
    "wakeAt",
  ).toBe(true);
  for (const now of [world.now, ...wakes.map((it) => (it - 1) as Instant)]) {
    for (const [at, run] of [...world.runs.values()].reverse().entries()) {
      if (now > Math.min(...wakes, Number.POSITIVE_INFINITY)) continue;
      // What an older run brought somewhere, or let out of a stage, in this pass is news for the next one.
      if (steps.slice(at + 1).some((it, i) => it.run !== before[at + 1 + i])) continue;
      const again = stepRun(run, contextOf({ ...world, now }, run));
      expect(again.run, "wakeAt").toBe(run);
      expect([...again.start, ...again.remove], "wakeAt").toEqual([]);
      if ((steps[at]?.start.length ?? 0) === 0 && run.end === null)
        expect(again.waits, "wakeAt").toEqual(steps[at]?.waits);
    }
  }
}

function check(passed: Passed): void {
  for (const [at, step] of passed.steps.entries()) {
    const before = passed.before[at] ?? step.run;
    const stages = stagesOf(before, step.run);
    inOrder(passed, step.run, stages);
    leavesAlone(passed, step.run, stages, step.start);
    withinBounds(passed, step.run, stages, step.start);
    frozen(before, step.run);
    for (const it of stages) asked(passed, it);
    stopped(before, stages, [...step.start, ...step.remove]);
  }
  apart(passed);
  asleep(passed);
}

describe("whatever happens to runs", () => {
  const seen = { started: 0, failed: 0, stopped: 0, superseded: 0, skipped: 0, ended: 0 };

  const count = (world: World): void => {
    for (const run of world.runs.values()) {
      seen.ended += Number(run.end?.kind === "succeeded");
      seen.failed += Number(run.end?.kind === "failed");
      seen.stopped += Number(run.spec.state === "Stop");
      for (const { clusters } of run.stages)
        for (const it of clusters.values()) {
          seen.started += Number(isStarted(it));
          seen.superseded += Number(it.end?.kind === "superseded");
          seen.skipped += Number(it.end?.kind === "skipped");
        }
    }
  };

  it("I-01, I-02, I-05 to I-09 hold after every pass, and calm weather ends every run", () => {
    for (let seed = 0; seed < seeds; seed += 1) {
      const { world, next, calm } = walk(seed);
      try {
        for (let left = passes; left > 0; left -= 1) check(next());
        count(world);
        for (let left = 40; left > 0; left -= 1) check(calm());
        expect([...world.runs.values()].filter((it) => it.end === null).map((it) => it.name)).toEqual([]);
      } catch (cause) {
        throw new Error(`seed ${seed}: ${String(cause)}`, { cause });
      }
    }
  });

  it("has seen everything happen", () => {
    expect(Object.entries(seen).filter(([, times]) => times < 5)).toEqual([]);
  });
});
