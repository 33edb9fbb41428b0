import { describe, expect, test } from "vitest";
import { settleConditions } from "../../../src/core/model/condition.ts";
import type { EvictionRecord } from "../../../src/core/model/placement.ts";
import type { RunRecord } from "../../../src/core/model/update-run.ts";
import type { ClusterName, PlacementKey } from "../../../src/core/model/value.ts";
import { currentProblems } from "../../../src/core/report/current-problems.ts";
import { evictionVerdicts } from "../../../src/core/status/eviction-conditions.ts";
import { at, planOf, run, succeeded } from "../../cmd/rollout-ledger.ts";
import { eviction, read } from "../intent/reading.ts";

const runText = (name: string): string =>
  `apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ClusterStagedUpdateRun\nmetadata: {name: ${name}}\n` +
  "spec: {placementName: web, stagedRolloutStrategyName: canary-first, state: Run}\n";

const judged = (name: string, kind: "executed" | "refused" | "invalid"): EvictionRecord => ({
  name,
  uid: name,
  placement: "web" as PlacementKey,
  cluster: "east" as ClusterName,
  found: null,
  conditions: settleConditions([], evictionVerdicts({ kind, message: "judged" }), at("10:00:00")),
});

const recorded = (runs: readonly RunRecord[], evictions: readonly EvictionRecord[]) => ({
  runs: new Map(runs.map((it) => [it.key, it])),
  evictions: new Map(evictions.map((it) => [it.name, it])),
});

const failed = run("r", 1, {
  plan: planOf(1, []),
  end: { kind: "failed", at: at("10:00:00"), code: "PlacementNotFound", message: "it is gone" },
});

/** What was found wrong with objects whose placement, strategy and cluster are gone. */
const cases: readonly (readonly [name: string, text: string, ReturnType<typeof recorded>, want: readonly number[]])[] =
  [
    ["a run that nobody recorded yet", runText("r"), recorded([], []), [4, 4]],
    ["a run that is under way", runText("r"), recorded([run("r", 1, { plan: planOf(1, []) })], []), [4, 4]],
    ["a run that succeeded", runText("r"), recorded([succeeded("r", 1, 1)], []), []],
    ["a run that failed half-way", runText("r"), recorded([failed], []), []],
    ["a run that never began", runText("r"), recorded([{ ...failed, plan: null }], []), [4, 4]],
    ["an eviction that nobody judged yet", eviction("e", "web", "east"), recorded([], []), [4, 4]],
    ["an eviction that was executed", eviction("e", "web", "east"), recorded([], [judged("e", "executed")]), []],
    ["an eviction that was refused", eviction("e", "web", "east"), recorded([], [judged("e", "refused")]), []],
    [
      "an eviction that names what never was",
      eviction("e", "web", "east"),
      recorded([], [judged("e", "invalid")]),
      [4, 4],
    ],
    [
      "of several in one file, each by itself",
      [runText("old"), runText("r"), eviction("e", "web", "east")].join("---\n"),
      recorded([succeeded("old", 1, 1)], [judged("e", "executed")]),
      [9, 9],
    ],
  ];

describe("what is missing is a problem for", () => {
  test.each(cases)("%s", (_, text, record, want) => {
    const intent = read({ "a.yaml": text });
    expect(currentProblems(intent, record).map((it) => it.line)).toEqual(want);
  });

  test("history, where what it says is broken", () => {
    const intent = read({ "a.yaml": runText("r").replace("state: Run", "state: Walk") });
    expect(currentProblems(intent, recorded([succeeded("r", 1, 1)], []))).toEqual(intent.problems);
    expect(intent.problems).not.toEqual([]);
  });
});
