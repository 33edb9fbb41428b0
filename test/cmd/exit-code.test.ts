import { expect, test } from "vitest";
import { type ExitCode, exitCodes, worst } from "../../src/cmd/terminal/exit-code.ts";

test("of several exit codes, 70 goes before 69, 69 before 2, 2 before 3, and 3 before 1", () => {
  const { done, problems, stuck, changed, repository, defect } = exitCodes;
  const ordered: readonly ExitCode[] = [done, problems, stuck, changed, repository, defect];
  for (const [at, a] of ordered.entries())
    for (const [place, b] of ordered.entries()) expect(worst(a, b)).toBe(ordered[Math.max(at, place)]);
  expect([worst(), ordered]).toEqual([0, [0, 1, 3, 2, 69, 70]]);
});
