import { expect, test } from "vitest";
import type { Condition } from "../../../src/core/model/condition.ts";
import type { Instant } from "../../../src/core/model/value.ts";
import { runPageRows } from "../../../src/core/report/tables.ts";
import { planOf, progress, run, stage, succeeded } from "../../cmd/rollout-ledger.ts";

const condition = (type: string, status: Condition["status"], message: string): Condition => ({
  type,
  status,
  reason: "",
  message,
  observedGeneration: 1,
  lastTransitionTime: 0 as Instant,
});

test("runs that are not over come newest first, with how far they are; those that succeeded need no row", () => {
  const ended = { startedAt: 0 as Instant, sequence: null, end: { kind: "succeeded", at: 0 as Instant } } as const;
  const waiting = run("two", 9, {
    plan: planOf(3, [stage("canary", ["a"]), stage("prod", ["b", "c"])]),
    stages: [progress({ clusters: new Map([["a" as never, ended]]) }), progress()],
    conditions: [condition("Initialized", "True", ""), condition("Progressing", "False", "stage prod: waits | x")],
  });
  const failed = run("one", 4, {
    plan: null,
    end: { kind: "failed", at: 0 as Instant, code: "NotExternal", message: "m" },
    conditions: [condition("Initialized", "False", "NotExternal: m")],
  });
  const shown = (text: string): string => text.replaceAll("|", "\\|");
  expect(runPageRows([succeeded("zero", 1, 0), failed, waiting], shown)).toEqual([
    "| [two](runs/two/run.yaml) | web | 3 | 1/3 | stage prod: waits \\| x |",
    "| [one](runs/one/run.yaml) | web |  |  | NotExternal: m |",
  ]);
});
