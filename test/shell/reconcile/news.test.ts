// When news that decides nothing is committed: soon where it ends something, gathered otherwise, and never too often.

import { expect, test } from "vitest";
import { type DurationMs, type Instant, later, seconds } from "../../../src/core/model/value.ts";
import { firstPace, type NewsPace, newsDue, paceAfter } from "../../../src/shell/reconcile/news.ts";
import type { Passed } from "../../../src/shell/reconcile/pass.ts";

const start = Date.parse("2026-11-21T12:00:00Z") as Instant;
const at = (after: number): Instant => later(start, seconds(after));

/** The pace after a pass that committed, and took so long. */
function committed(pace: NewsPace, after: number, took: number, decides: boolean): NewsPace {
  const result = { committed: "c1", plan: { decides } } as unknown as Passed;
  return paceAfter(pace, result, { began: at(after), now: at(after + took) });
}

const waits = (pace: NewsPace): Readonly<Record<"final" | "routine", DurationMs>> => ({
  final: (pace.finalAfter - pace.committedAt) as DurationMs,
  routine: (pace.routineAfter - pace.committedAt) as DurationMs,
});

test("a process that begins commits final news at once, and gathers the rest for ten seconds", () => {
  const pace = firstPace(start);
  expect([newsDue(pace, "final"), newsDue(pace, "routine"), newsDue(pace, null)]).toEqual([start, at(10), null]);
});

test("after a decision final news is due within a second, and the rest after ten", () => {
  expect(waits(committed(firstPace(start), 5, 0.05, true))).toEqual({ final: 800, routine: 10_000 });
});

test("commits that take long are rare: never more than a tenth of the time", () => {
  expect(waits(committed(firstPace(start), 5, 2, true))).toEqual({ final: 20_000, routine: 20_000 });
});

test("what comes up and fails again and again makes ever fewer commits, up to one in ten seconds", () => {
  let pace = committed(firstPace(start), 1, 0, true);
  const seen: number[] = [];
  for (let count = 0, time = 1; count < 6; count++) {
    time += waits(pace).final / 1000;
    pace = committed(pace, time, 0, false);
    seen.push(waits(pace).final);
  }
  expect(seen).toEqual([1600, 3200, 6400, 10_000, 10_000, 10_000]);
});

test.each([
  ["a decision", 20, true],
  ["a calm minute", 70, false],
])("after %s final news is due soon again", (_, after, decides) => {
  const tired = [1, 2, 3, 4, 5].reduce((pace, time) => committed(pace, time, 0, false), firstPace(start));
  expect(waits(tired).final).toBe(10_000);
  expect(waits(committed(tired, after, 0, decides)).final).toBe(800);
});

test("a pass that commits nothing changes nothing", () => {
  const pace = firstPace(start);
  expect(paceAfter(pace, { committed: null } as Passed, { began: at(1), now: at(2) })).toBe(pace);
});
