import { expect, test } from "vitest";
import type { Reason } from "../../src/core/model/reason.ts";
import { newlyDenied, reasonLines, reasonsOfAll } from "../../src/core/report/reason-lines.ts";

const denial = (path: string, isNew: boolean): Reason => ({
  kind: "answerDenied",
  isNew,
  path,
  principal: "ann",
  code: "FLT1205",
  message: "four eyes",
});

test("answers that do not count are listed once, and counted from then on", () => {
  const line = (path: string): string => `notice: ${path} of ann does not count: FLT1205: four eyes`;
  expect(reasonLines([denial("a", true), denial("b", true)], "recorded")).toEqual([line("a"), line("b")]);
  const mixed = [denial("a", true), denial("b", false), denial("c", false)];
  expect(reasonLines(mixed, "recorded")).toEqual([
    line("a"),
    "notice: 2 files under approvals/ do not count, as reported before: flotilla get approvals shows why, and flotilla prune removes them",
  ]);
  expect(reasonLines([denial("b", false)], "foretold")).toEqual([
    "notice: 1 file under approvals/ does not count, as reported before: flotilla get approvals shows why, and flotilla prune removes it",
  ]);
});

test("of several passes, what was new in any of them is listed at the end", () => {
  const last = [denial("a", false), denial("b", false)];
  const first = new Set(newlyDenied([denial("a", true), denial("b", false)]));
  expect(newlyDenied(reasonsOfAll(last, first))).toEqual(["a"]);
});
