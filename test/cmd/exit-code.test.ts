import { expect, test } from "vitest";
import { type ExitCode, exitCodes, worst } from "../../src/cmd/terminal/exit-code.ts";
import { codeOfReasons } from "../../src/cmd/terminal/outcome.ts";
import type { Reason } from "../../src/core/model/reason.ts";
import type { Instant, PlacementKey } from "../../src/core/model/value.ts";
import { reasonText } from "../../src/core/report/reason-text.ts";

test("of several exit codes, 70 goes before 69, 69 before 2, 2 before 3, and 3 before 1", () => {
  const { done, problems, stuck, changed, repository, defect } = exitCodes;
  const ordered: readonly ExitCode[] = [done, problems, stuck, changed, repository, defect];
  for (const [at, a] of ordered.entries())
    for (const [place, b] of ordered.entries()) expect(worst(a, b)).toBe(ordered[Math.max(at, place)]);
  expect([worst(), ordered]).toEqual([0, [0, 1, 3, 2, 69, 70]]);
});

test("D 10: a placement in quarantine ends in 70, and is named with what was found wrong with its plan", () => {
  const placement = "web" as PlacementKey;
  const violations = [{ code: "TargetSequenceWrong", message: "dates the target of web on m1 wrongly" }] as const;
  const quarantined: Reason = { kind: "quarantined", placement, since: 0 as Instant, violations };
  const stuck: Reason = { kind: "selectionFailed", placement, message: "no such kind" };
  expect([codeOfReasons([]), codeOfReasons([stuck]), codeOfReasons([stuck, quarantined])]).toEqual([0, 3, 70]);
  expect(reasonText(quarantined)).toBe(
    "web: stays as recorded until the source changes, because of a defect in Flotilla: " +
      "TargetSequenceWrong: the plan dates the target of web on m1 wrongly",
  );
});
