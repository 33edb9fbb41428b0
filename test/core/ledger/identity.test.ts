import { deepStrictEqual } from "node:assert/strict";
import { describe, expect, test } from "vitest";
import { keepIdentity, reuseIntent } from "../../../src/core/ledger/identity.ts";
import type { Digest } from "../../../src/core/model/value.ts";
import { read } from "../intent/reading.ts";

describe("what is read again", () => {
  const before = {
    same: { list: [1, { a: "b" }] },
    map: new Map([
      ["a", { x: 1 }],
      ["b", { x: 2 }],
    ]),
    list: [{ at: 0 }, { at: 1 }],
    value: null,
  };

  test("is the value itself where all of it says the same", () => {
    expect(keepIdentity(before, structuredClone(before))).toBe(before);
    expect(keepIdentity(undefined, before)).toBe(before);
  });

  test("keeps at every level what stays", () => {
    const after = structuredClone({ ...before, list: [{ at: 0 }, { at: 2 }, { at: 3 }] });
    after.map.set("b", { x: 3 });
    const found = keepIdentity(before, after);
    deepStrictEqual(found, after);
    expect(found.same).toBe(before.same);
    expect(found.map.get("a")).toBe(before.map.get("a"));
    expect(found.list[0]).toBe(before.list[0]);
  });

  test("is another map where only its order is another", () => {
    const [a, b] = [{ x: 1 }, { x: 2 }];
    const found = keepIdentity(
      new Map(Object.entries({ a, b })),
      new Map(Object.entries({ b: { ...b }, a: { ...a } })),
    );
    expect([...found.keys()]).toEqual(["b", "a"]);
    expect([found.get("a"), found.get("b")].map((it) => it === a || it === b)).toEqual([true, true]);
  });

  test("loses no member, whatever its name", () => {
    const after: object = JSON.parse('{"__proto__": {"a": 1}, "b": 2}');
    expect(JSON.stringify(keepIdentity<object>({ b: 1 }, after))).toBe('{"__proto__":{"a":1},"b":2}');
  });
});

describe("an intent that is read again", () => {
  test("is the earlier one where every member says the same, and otherwise shares what stays", () => {
    const before = read({});
    const again = { ...before, objects: new Map(), confirmations: new Set<Digest>(), holds: [] };
    expect(reuseIntent(before, again)).toBe(before);
    const next = reuseIntent(before, { ...again, confirmations: new Set(["d" as Digest]) });
    expect([next.confirmations.size, next.objects === before.objects]).toEqual([1, true]);
    expect(reuseIntent(null, again)).toBe(again);
  });
});
