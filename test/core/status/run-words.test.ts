import { describe, expect, it, test } from "vitest";
import type { Verdict } from "../../../src/core/model/condition.ts";
import type { RunRecord, RunWait } from "../../../src/core/model/update-run.ts";
import { runVerdicts } from "../../../src/core/status/run-conditions.ts";
import { later } from "./record.ts";
import { asked, b, c, canary, digest, done, failed, root, run, skipped, superseded } from "./staged-run.ts";

describe("the messages of a run", () => {
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
      "stage canary (1 of 2): in progress: a; waiting, 1 at a time: b",
    ],
    [
      "name what has to be approved, and why an answer does not count",
      run({ stages: [done, asked] }),
      [{ kind: "task", task: "Approval", stage: "prod", when: "before", digest, because: "bob left the project" }],
      `stage prod (2 of 2): waits for the before-stage approval of request digest ${digest}; bob left the project`,
    ],
    [
      "say what keeps a run whose gates are open",
      run(),
      [canary.held, canary.clusters],
      "stage canary (1 of 2): starts nothing new: ann may not have approved it; " +
        "in progress: a; waiting, 1 at a time: b",
    ],
    [
      "name the instant of a wait, and a clock that is not to be believed",
      run(),
      [{ kind: "task", task: "TimedWait", stage: "canary", until: later, clock: "unsound" }],
      "stage canary (1 of 2): waits until 2026-11-21T12:05:00Z, and for our clock to agree with the members'",
    ],
    [
      "say when nobody could see the clock jump",
      run(),
      [{ kind: "task", task: "TimedWait", stage: "canary", until: later, clock: "unseen" }],
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
