import { expect, test } from "vitest";
import type { PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { RunRecord } from "../../../src/core/model/update-run.ts";
import { chooseRollback, type RollbackChoice } from "../../../src/core/report/rollback-choice.ts";
import { at, ledgerOf, on, planOf, run, succeeded, web } from "../../cmd/rollout-ledger.ts";

const everywhere = (index: number) => web([on("east", index), on("west", index)]);
const failed = (name: string, since: number, index: number): RunRecord =>
  run(name, since, {
    plan: planOf(index, []),
    end: { kind: "failed", at: at("11:00:00"), code: "PolicyChanged", message: "" },
  });
const chosen = (index: number, strategy = "canary-first"): RollbackChoice => ({ kind: "chosen", index, strategy });

const rows: readonly (readonly [string, PlacementRecord, readonly RunRecord[], RollbackChoice])[] = [
  ["what the run before the last one brought", everywhere(3), [succeeded("a", 1, 1), succeeded("b", 2, 3)], chosen(1)],
  [
    "what the last one that went through brought, while a newer is stuck",
    web([on("east", 3), on("west", 2)]),
    [succeeded("a", 1, 2), run("b", 2, { plan: planOf(3, []) })],
    chosen(2),
  ],
  [
    "the same when the newer one failed",
    web([on("east", 3), on("west", 1)]),
    [succeeded("a", 1, 1), failed("b", 2, 3)],
    chosen(1),
  ],
  [
    "what most clusters carry, when the first run is stuck",
    web([on("east", 3), on("north", 1), on("west", 1)]),
    [run("a", 2, { plan: planOf(3, []) })],
    chosen(1),
  ],
  ["the next older version, when only one run went through", everywhere(3), [succeeded("a", 1, 3)], chosen(2)],
  [
    "older again after a rollback, not forward",
    everywhere(2),
    [succeeded("a", 1, 2), succeeded("b", 2, 3), succeeded("c", 3, 2)],
    chosen(1),
  ],
  ["nothing that is no longer kept", everywhere(3), [succeeded("a", 1, 0), succeeded("b", 2, 3)], chosen(2)],
  ["a run without a plan has brought nothing", everywhere(3), [succeeded("a", 1, 3), run("b", 2)], chosen(2)],
];
test.each(rows)("without --to: %s", (_, placement, runs, want) => {
  expect(chooseRollback(ledgerOf([placement], runs), placement, { index: null, strategy: null })).toEqual(want);
});

test("what is named is taken", () => {
  const ledger = ledgerOf([everywhere(3)], [succeeded("a", 1, 3)]);
  expect(chooseRollback(ledger, everywhere(3), { index: "3", strategy: "all" })).toEqual(chosen(3, "all"));
});

test.each([
  [
    "no older version",
    everywhere(1),
    [succeeded("a", 1, 1)],
    null,
    "there is no version of web before the current one; give one with --to: 1, 2, 3",
  ],
  [
    "a version that is not kept",
    everywhere(3),
    [succeeded("a", 1, 3)],
    "7",
    "no resource snapshot 7 of web is kept; give one of 1, 2, 3",
  ],
  [
    "an index that only looks like one (U19)",
    everywhere(3),
    [succeeded("a", 1, 3)],
    "01",
    "no resource snapshot 01 of web is kept; give one of 1, 2, 3",
  ],
  ["no run yet", everywhere(3), [], null, "web has had no run yet; give its strategy with --strategy"],
  [
    "no External placement",
    web([], { type: "RollingUpdate" }),
    [],
    null,
    "web rolls out by itself, without runs; revert the commit that brought the version",
  ],
] as const)("what is missing is said: %s", (_, placement, runs, index, says) => {
  const choice = chooseRollback(ledgerOf([placement], runs), placement, { index, strategy: null });
  expect(choice.kind === "refused" ? `${choice.message}; ${choice.fix}` : choice).toBe(says);
});
