import { describe, expect, test } from "vitest";
import {
  at,
  type Codec,
  distinct,
  group,
  groupIfAt,
  listIfAny,
  listOf,
  type Members,
  mapOf,
  nullable,
  object,
  objectOf,
  optional,
  or,
  orNull,
  type ReadContext,
  unionOf,
  unlessEmpty,
} from "../../../src/core/ledger/codec/codec.ts";
import {
  base64Of,
  boolean,
  choice,
  countOrPercentCodec,
  decodedOnce,
  duration,
  embedded,
  flag,
  instant,
  integer,
  integerText,
  json,
  labels,
  number,
  objectId,
  string,
} from "../../../src/core/ledger/codec/scalars.ts";
import type { Json } from "../../../src/core/model/json.ts";
import type { DurationMs, Instant } from "../../../src/core/model/value.ts";

const contextOf = (path: ReadContext["path"] = null): ReadContext => ({
  problem: null,
  problemPath: [],
  path,
  instants: new Map(),
});

interface Point {
  readonly x: number;
  readonly note?: string;
}
const point = object<Point>({ x: integer, note: optional(string) });
const inner = at<Point>(["deep", "down"], point);
const nested = objectOf(group<{ readonly inner: Point; readonly flat: string }>({ inner, flat: string }));
type Shape = { readonly kind: "Dot" } | { readonly kind: "Line"; readonly length: number };
const shape = objectOf(unionOf<Shape>("type", { Dot: {}, Line: { length: integer } }));
const maybeBoth = objectOf(
  group<{ readonly both: { readonly a: string; readonly b: string } | null }>({
    both: groupIfAt(["notes", "a"], { a: at(["notes", "a"], string), b: at(["notes", "b"], string) }),
  }),
);

const pairs = <T>(codec: Codec<T>, ...all: readonly (readonly [value: T, written: Json | undefined])[]) =>
  all.map(([value, written]) => ({ codec: codec as Codec<unknown>, value, written }));

type Fits<Written, T> = Written extends Members<T> ? true : false;
const lacksMember: Fits<{ readonly x: Codec<number> }, { readonly x: number; readonly y: string }> = false;
const lacksOptional: Fits<{ readonly x: Codec<number> }, Point> = false;
const lacksChoice: Fits<{ readonly kind: Codec<"a"> }, { readonly kind: "a" | "b" }> = false;
const hasOldChoice: Fits<{ readonly kind: Codec<"a" | "b"> }, { readonly kind: "a" }> = false;
const isComplete: Fits<{ readonly x: Codec<number>; readonly note: Codec<string | undefined> }, Point> = true;

test("the compiler asks for every member, and for every choice of a member", () => {
  expect([lacksMember, lacksOptional, lacksChoice, hasOldChoice, isComplete]).toEqual([
    false,
    false,
    false,
    false,
    true,
  ]);
});

describe("what is described once", () => {
  test.each([
    ...pairs(string, ["a", "a"]),
    ...pairs(integer, [3, 3]),
    ...pairs(integerText, [3, "3"]),
    ...pairs(number, [-1.5, -1.5]),
    ...pairs(boolean, [true, true], [false, false]),
    ...pairs(flag, [true, true], [false, undefined]),
    ...pairs(instant, [1_700_000_000_123 as Instant, "2023-11-14T22:13:20.123Z"]),
    ...pairs(duration, [90_000 as DurationMs, "90s"], [1500 as DurationMs, "1500ms"]),
    ...pairs(countOrPercentCodec, [{ count: 3 }, 3], [{ percent: 25 }, "25%"]),
    ...pairs(base64Of(), ["abc", "YWJj"]),
    ...pairs(
      labels,
      [
        { a: "1", b: "2" },
        { a: "1", b: "2" },
      ],
      [{}, {}],
    ),
    ...pairs(json, [{ any: [1, null] }, { any: [1, null] }]),
    ...pairs(objectId, [{ group: "apps", kind: "Deployment", namespace: null, name: "web" }, "apps/Deployment//web"]),
    ...pairs(nullable(string), [null, undefined], ["a", "a"]),
    ...pairs(orNull(string), [null, null], ["a", "a"]),
    ...pairs(or("", string), ["", undefined], ["a", "a"]),
    ...pairs(or(0, integer, true), [0, 0]),
    ...pairs(
      listOf(integer),
      [[], []],
      [
        [1, 2],
        [1, 2],
      ],
    ),
    ...pairs(listIfAny(integer), [[], undefined], [[1], [1]]),
    ...pairs(mapOf<string, number>(integer), [new Map([["a", 1]]), { a: 1 }], [new Map(), {}]),
    ...pairs(unlessEmpty(mapOf<string, number>(integer)), [new Map(), undefined]),
    ...pairs(embedded(listIfAny(integer)), [[], undefined], [[1, 2], "[1,2]"]),
    ...pairs(
      point,
      [{ x: 1 }, { x: 1 }],
      [
        { x: 1, note: "n" },
        { x: 1, note: "n" },
      ],
    ),
    ...pairs(nested, [
      { inner: { x: 1 }, flat: "f" },
      { deep: { down: { x: 1 } }, flat: "f" },
    ]),
    ...pairs(
      shape,
      [{ kind: "Dot" }, { type: "Dot" }],
      [
        { kind: "Line", length: 2 },
        { type: "Line", length: 2 },
      ],
    ),
    ...pairs(maybeBoth, [{ both: null }, {}], [{ both: { a: "1", b: "2" } }, { notes: { a: "1", b: "2" } }]),
  ])("is written as $written and read back: $value", ({ codec, value, written }) => {
    expect(codec.write(value)).toEqual(written);
    const context = contextOf();
    expect(codec.read(written ?? null, "it", context)).toEqual(value);
    expect(context.problem).toBeNull();
  });

  test.each<readonly [wrong: string, codec: Codec<unknown>, json: Json, path: readonly (string | number)[]]>([
    ['"it" is missing', string as Codec<unknown>, null, []],
    ['"it" is not a string', string as Codec<unknown>, 1, []],
    ['"it" is not a count', integer as Codec<unknown>, -1, []],
    ['"it" is neither true nor left out', flag as Codec<unknown>, false, []],
    ['"it" is not a time in RFC 3339', instant as Codec<unknown>, "today", []],
    ['"it" is not one of a, b', choice("a", "b") as Codec<unknown>, "c", []],
    ['"it" is not an object', point as Codec<unknown>, [], []],
    ['"x" is missing', point as Codec<unknown>, {}, ["x"]],
    ['"it" is not a list', listOf(integer) as Codec<unknown>, {}, []],
    ['"it" is not a count', listOf(integer) as Codec<unknown>, [0, "no"], [1]],
    ['"x" is not a count', nested as Codec<unknown>, { deep: { down: { x: "one" } } }, ["deep", "down", "x"]],
    ['"b" is not a count', mapOf<string, number>(integer) as Codec<unknown>, { a: 1, b: "-" }, ["b"]],
    ['"it" is not JSON', embedded(point) as Codec<unknown>, "{", []],
    ['"it" says it twice', distinct(listOf(string), (it) => it, "says it twice") as Codec<unknown>, ["a", "a"], []],
  ])("that does not fit: %s", (wrong, codec, value, path) => {
    const context = contextOf([]);
    codec.read(value, "it", context);
    expect([context.problem, context.problemPath]).toEqual([wrong, path]);
    expect(context.path).toEqual([]);
  });
});

test("what many objects say is decoded once, unless something was wrong with it", () => {
  const codec = decodedOnce(listOf(integer));
  const [good, bad] = [[1, 2], ["no"]];
  expect(codec.read(good, "it", contextOf())).toBe(codec.read(good, "it", contextOf()));
  for (let time = 0; time < 2; time++) {
    const context = contextOf();
    codec.read(bad, "it", context);
    expect(context.problem).toBe('"it" is not a count');
  }
});
