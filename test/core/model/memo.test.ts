import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { remembered, rememberedPair } from "../../../src/core/model/identity.ts";

describe("remembered", () => {
  test("makes once for the same value, and again for one that only says the same", () => {
    let made = 0;
    const sizeOf = remembered((list: readonly number[]) => ({ size: list.length, made: ++made }));
    const list = [1, 2];
    expect(sizeOf(list)).toBe(sizeOf(list));
    expect(sizeOf([1, 2])).toEqual({ size: 2, made: 2 });
  });

  test("remembers what is nothing, too", () => {
    let made = 0;
    const nothing = remembered((_: object): null => {
      made += 1;
      return null;
    });
    const about = {};
    expect([nothing(about), nothing(about), made]).toEqual([null, null, 1]);
  });
});

describe("rememberedPair", () => {
  test("makes again when the second value is another one, and remembers the last", () => {
    let made = 0;
    const pair = rememberedPair((about: readonly number[], by: readonly number[]) => `${about} ${by} ${++made}`);
    const [about, one, two] = [[7], [1], [2]];
    expect([pair(about, one), pair(about, one), pair(about, two), pair(about, one)]).toEqual([
      "7 1 1",
      "7 1 1",
      "7 2 2",
      "7 1 3",
    ]);
  });

  test("holds nothing of a row in which each was asked about with the next, as long as its first is there", async () => {
    const pair = rememberedPair((_: object, __: object) => "compared");
    const first = {};
    const rest = comparedInARow(pair, first, 10);
    // What was looked at through a weak reference stays until the present job is over.
    await new Promise(setImmediate);
    collectGarbage();
    expect(rest.filter((it) => it.deref() !== undefined)).toEqual([]);
    expect(pair(first, first)).toBe("compared");
  });
});

/** Compares every state with the one before it, and lets go of all but the first. */
function comparedInARow(
  pair: (a: object, b: object) => unknown,
  first: object,
  length: number,
): readonly WeakRef<object>[] {
  let last = first;
  return Array.from({ length }, () => {
    const next = {};
    pair(last, next);
    last = next;
    return new WeakRef(next);
  });
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}
