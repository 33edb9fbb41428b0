import { describe, expect, it } from "vitest";
import {
  afterOtherWrite,
  afterRepair,
  backoffTimes,
  isBackingOff,
  isFight,
  roundedRepairs,
} from "../../../src/core/apply/fight.ts";
import type { Repairs } from "../../../src/core/model/inventory.ts";
import { type DurationMs, type Instant, later, minutes, seconds } from "../../../src/core/model/value.ts";

const noon = Date.UTC(2026, 10, 21, 12) as Instant;
const at = (second: number): Instant => later(noon, seconds(second));

/** What is known after repairs at these seconds. */
const repairsAt = (...times: readonly number[]): Repairs | undefined =>
  times.reduce<Repairs | undefined>((known, it) => afterRepair(known, at(it)), undefined);

describe("repairs of one object", () => {
  const cases: readonly (readonly [name: string, times: readonly number[], count: number, since: number])[] = [
    ["a first one counts from itself", [0], 1, 0],
    ["three at once are three", [0, 0, 0], 3, 0],
    ["three within ten minutes are three", [0, 300, 599], 3, 0],
    ["of three in more than ten minutes, the last two count", [0, 300, 600], 2, 300],
    ["and a fourth then makes three", [0, 300, 600, 700], 3, 300],
    ["one after ten quiet minutes is a first one again", [0, 1, 2, 602], 1, 602],
    ["a fight goes on for as long as no ten minutes are quiet", [0, 1, 2, 601, 1200, 1799], 6, 0],
    ["a clock that is set back loses no count", [0, 1, 2, -3600], 4, 0],
  ];
  it.each(cases)("%s", (_, times, count, since) => {
    expect(repairsAt(...times)).toEqual({ count, since: at(since), last: at(times.at(-1) ?? 0) });
  });

  it("are forgotten with the next other write once they held for ten minutes", () => {
    expect(afterOtherWrite(repairsAt(0), at(599))).toEqual(repairsAt(0));
    expect(afterOtherWrite(repairsAt(0), at(600))).toBeUndefined();
    expect(afterOtherWrite(undefined, at(0))).toBeUndefined();
  });
});

describe("an object that was changed again", () => {
  it("is put right at once twice more, and then ever more rarely, every five minutes in the end", () => {
    const pauses: number[] = [];
    let known: Repairs | undefined;
    let now = noon;
    while (pauses.length < 12) {
      known = afterRepair(known, now);
      const pause = ([...Array(600).keys()].find((second) => !isBackingOff(known, later(now, seconds(second)))) ??
        -1) as number;
      pauses.push(pause);
      now = later(now, seconds(pause));
    }
    expect(pauses).toEqual([0, 0, 5, 10, 20, 40, 80, 160, 300, 300, 300, 300]);
  });

  const cases: readonly (readonly [
    name: string,
    known: Repairs | undefined,
    second: number,
    left: boolean,
    fight: boolean,
  ])[] = [
    ["that never was before is no fight", undefined, 0, false, false],
    ["for the second time in an hour is no fight", repairsAt(0, 1), 1, false, false],
    ["for the third time is left for five seconds", repairsAt(0, 1, 2), 6, true, true],
    ["and no longer", repairsAt(0, 1, 2), 7, false, true],
    ["is no fight once a repair held for ten minutes", repairsAt(0, 1, 2), 602, false, false],
    ["is put right at once where the clock was set back", repairsAt(0, 1, 2), -3600, false, true],
  ];
  it.each(cases)("%s", (_, known, second, left, fight) => {
    expect([isBackingOff(known, at(second)), isFight(known, at(second))]).toEqual([left, fight]);
  });

  it("wakes the planner when it may be put right, and when the fight is over", () => {
    expect(backoffTimes(repairsAt(0, 1) as Repairs)).toEqual([]);
    expect(backoffTimes(repairsAt(0, 1, 2) as Repairs)).toEqual([at(7), at(602)]);
    const long = { count: 10_000, since: noon, last: noon };
    expect(backoffTimes(long)).toEqual([later(noon, minutes(5)), later(noon, minutes(10))]);
  });

  it("is told by a count that changes ever more rarely", () => {
    const told = Array.from({ length: 3_000 }, (_, it) => roundedRepairs(it + 3));
    expect([...new Set(told)]).toEqual([3, 6, 12, 24, 48, 96, 192, 384, 768, 1536]);
    expect(told.every((it, index) => it <= index + 3)).toBe(true);
  });
});

it("an hour of a controller that never gives in brings 19 repairs", () => {
  let known: Repairs | undefined;
  let count = 0;
  for (let now = noon; now < later(noon, minutes(60)); now = later(now, 100 as DurationMs)) {
    if (isBackingOff(known, now)) continue;
    known = afterRepair(known, now);
    count += 1;
  }
  expect(count).toBe(19);
});
