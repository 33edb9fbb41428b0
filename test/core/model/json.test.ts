import { describe, expect, it } from "vitest";
import {
  canonicalJson,
  digestOf,
  type Json,
  member,
  memberAt,
  sameJson,
  textsOf,
} from "../../../src/core/model/json.ts";

describe("the canonical text", () => {
  const cases: readonly { name: string; value: Json; want: string }[] = [
    { name: "sorts keys at every level", value: { b: { d: 1, c: 2 }, a: [] }, want: '{"a":[],"b":{"c":2,"d":1}}' },
    {
      name: "sorts keys by code unit",
      value: { a: 1, B: 2, é: 3, "10": 4, "9": 5 },
      want: '{"10":4,"9":5,"B":2,"a":1,"é":3}',
    },
    { name: "keeps the order of lists", value: [2, 1, null, true], want: "[2,1,null,true]" },
    { name: "writes big integers exactly", value: [9_223_372_036_854_775_807n], want: "[9223372036854775807]" },
    { name: "escapes what JSON escapes", value: { '"': "\n\u2028" }, want: `{"\\"":"\\n\u2028"}` },
  ];
  for (const { name, value, want } of cases) it(name, () => expect(canonicalJson(value)).toBe(want));

  it("and the digest depend on what is said, not on how it was built", () => {
    expect(digestOf({ a: 1, b: [2] })).toBe(digestOf({ b: [2], a: 1 }));
    expect(digestOf({ a: 1, b: [2] })).not.toBe(digestOf({ a: 1, b: ["2"] }));
  });
});

describe("two values say the same", () => {
  const cases: readonly { name: string; a: Json | undefined; b: Json | undefined; want: boolean }[] = [
    { name: "whatever the order of keys", a: { x: 1, y: [{ z: null }] }, b: { y: [{ z: null }], x: 1 }, want: true },
    { name: "not when a key is missing", a: { x: 1 }, b: { x: 1, y: 1 }, want: false },
    { name: "not when as many keys are others", a: { x: 1, y: 1 }, b: { x: 1, z: 1 }, want: false },
    { name: "not when a list is ordered otherwise", a: [1, 2], b: [2, 1], want: false },
    { name: "not when one is a list and the other an object", a: [], b: {}, want: false },
    { name: "not when one is absent and the other null", a: undefined, b: null, want: false },
  ];
  for (const { name, a, b, want } of cases)
    it(name, () => expect([sameJson(a, b), sameJson(b, a)]).toEqual([want, want]));
});

describe("a member", () => {
  it("is the object's own, never an inherited one", () => {
    expect(member({ a: 1 }, "a")).toBe(1);
    expect(member({}, "constructor")).toBeNull();
    expect(member(["a"], "0")).toBeNull();
  });

  it("is followed as deep as the path goes", () => {
    expect(memberAt({ a: { b: "c" } }, "a", "b")).toBe("c");
    expect(memberAt({ a: "b" }, "a", "b")).toBeNull();
    expect(memberAt(undefined)).toBeNull();
  });
});

it("texts of an object leave out what is no text", () =>
  expect(textsOf({ a: "x", b: 1, c: null, d: { e: "y" } })).toEqual({ a: "x" }));
