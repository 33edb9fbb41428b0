// Runs of the program that end, over staged update runs that take their time.
import { expect, test } from "vitest";
import type { Reason } from "../../../src/core/model/reason.ts";
import type { TaskKind, TaskWaitOf } from "../../../src/core/model/stage-task.ts";
import { type Digest, type Instant, minutes, type PlacementKey, type RunKey } from "../../../src/core/model/value.ts";
import { taskKinds, taskType } from "../../../src/core/rollout/tasks/tasks.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import { isInFlight, runUntilSettled } from "../../../src/shell/reconcile/settle.ts";
import { once } from "./stage.ts";
import { type StagedFleet, stagedFleet } from "./staged-fleet.ts";

const settled = ({ ports }: StagedFleet) => {
  const signal = new AbortController().signal;
  return runUntilSettled(ports, newMemory(), { settings: once, wait: minutes(1), signal, report: () => {} });
};

const one: ReadonlyMap<string, string> = new Map([["m1", "canary"]]);

test("a stage that takes seventy clusters one by one is taken to its end", async () => {
  const members = new Map(Array.from({ length: 70 }, (_, it) => [`m${it}`, "prod"]));
  const fleet = stagedFleet(members, { prod: "maxConcurrency: 1" });
  expect(await settled(fleet)).toMatchObject({ kind: "settled", ranOut: false });
  expect((await fleet.recorded()).end?.kind).toBe("succeeded");
});

test("whom a run waits for is a person, so no limit runs out", async () => {
  const fleet = stagedFleet(one, { canary: "beforeStageTasks: [{type: Approval}]" });
  expect(await settled(fleet)).toMatchObject({ kind: "settled", ranOut: false });
  expect((await fleet.recorded()).stages[0]?.before.Approval?.approval).toBe(null);
});

test("a timed wait that ends after the limit is not waited for", async () => {
  const fleet = stagedFleet(one, { canary: "afterStageTasks: [{type: TimedWait, waitTime: 1h}]" });
  expect(await settled(fleet)).toMatchObject({ kind: "settled", ranOut: true });
});

const waits: { readonly [Kind in TaskKind]: TaskWaitOf<Kind> } = {
  Approval: { kind: "task", task: "Approval", stage: "canary", when: "after", digest: "d" as Digest, because: null },
  TimedWait: { kind: "task", task: "TimedWait", stage: "canary", until: 0 as Instant, clock: "sound" },
};

test.each(taskKinds)(
  "members are asked again and again about a stage that waits for %s if only they end that",
  (kind) => {
    const reason: Reason = { kind: "run", placement: "web" as PlacementKey, run: "first" as RunKey, wait: waits[kind] };
    expect(isInFlight([reason])).toBe(taskType(kind).endsBy === "members");
  },
);
