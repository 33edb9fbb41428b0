// The examples of RFC 6902, appendix A, and what implementations of it differ in, as far as overrides may ask for it: of its
// operations add, remove and replace, below an object.
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../../src/core/model/json.ts";
import { applyOperations } from "../../../src/core/render/json-patch.ts";
import { patch } from "./repository.ts";

type Case = readonly [name: string, document: JsonObject, lines: readonly string[], want: JsonObject | "fails"];

const appendix: readonly Case[] = [
  ["A.1 adding an object member", { foo: "bar" }, ['add /baz "qux"'], { baz: "qux", foo: "bar" }],
  ["A.2 adding an array element", { foo: ["bar", "baz"] }, ['add /foo/1 "qux"'], { foo: ["bar", "qux", "baz"] }],
  ["A.3 removing an object member", { baz: "qux", foo: "bar" }, ["remove /baz"], { foo: "bar" }],
  ["A.4 removing an array element", { foo: ["bar", "qux", "baz"] }, ["remove /foo/1"], { foo: ["bar", "baz"] }],
  ["A.5 replacing a value", { baz: "qux", foo: "bar" }, ['replace /baz "boo"'], { baz: "boo", foo: "bar" }],
  [
    "A.10 adding a nested member object",
    { foo: "bar" },
    ['add /child {"grandchild":{}}'],
    { foo: "bar", child: { grandchild: {} } },
  ],
  ["A.12 adding to a nonexistent target", { foo: "bar" }, ['add /baz/bat "qux"'], "fails"],
  ["A.14 ~ escape ordering", { "/": 9, "~1": 10 }, ["replace /~01 11"], { "/": 9, "~1": 11 }],
  ["A.16 adding an array value", { foo: ["bar"] }, ['add /foo/- ["abc","def"]'], { foo: ["bar", ["abc", "def"]] }],
];

const disputed: readonly Case[] = [
  ["add replaces what is there, null too", { foo: null }, ["add /foo 1"], { foo: 1 }],
  [
    "add takes null, false and 0 for values",
    {},
    ["add /a null", "add /b false", "add /c 0"],
    { a: null, b: false, c: 0 },
  ],
  [
    "replace takes them, too",
    { a: 1, b: 1, c: 1 },
    ["replace /a null", "replace /b false", "replace /c 0"],
    { a: null, b: false, c: 0 },
  ],
  ["a digit is a key of an object", { foo: 1 }, ['add /0 "bar"'], { foo: 1, 0: "bar" }],
  [
    "add into an object in a list",
    { baz: [{ qux: "hello" }] },
    ['add /baz/0/foo "world"'],
    { baz: [{ qux: "hello", foo: "world" }] },
  ],
  ["add at the length of a list appends", { l: ["foo", "sil"] }, ['add /l/2 "bar"'], { l: ["foo", "sil", "bar"] }],
  ["add beyond the length of a list", { l: ["foo", "sil"] }, ['add /l/3 "bar"'], "fails"],
  ["add of a name to a list", { l: ["foo", "sil"] }, ["add /l/bar 42"], "fails"],
  ["add with an exponent for an index", { l: ["foo", "sil"] }, ['add /l/1e0 "bar"'], "fails"],
  ["replace with an exponent for an index", { l: [""] }, ["replace /l/1e0 false"], "fails"],
  ["remove with an exponent for an index", { l: [1, 2, 3, 4] }, ["remove /l/1e0"], "fails"],
  ["replace with a leading zero", { l: ["foo", "bar"] }, ['replace /l/00 "x"'], "fails"],
  [
    "a list as a value is not flattened",
    { l: ["foo", "sil"] },
    ['add /l/1 ["bar","baz"]'],
    { l: ["foo", ["bar", "baz"], "sil"] },
  ],
  ["nor is one that replaces", { l: ["foo", "sil"] }, ['replace /l/1 ["bar","baz"]'], { l: ["foo", ["bar", "baz"]] }],
  ["- appends to a list in a list", { l: [1, [2, [3]]] }, ['add /l/1/1/- {"foo":1}'], { l: [1, [2, [3, { foo: 1 }]]] }],
  ["removes see what those before have left", { l: [1, 2, 3, 4] }, ["remove /l/1", "remove /l/2"], { l: [1, 3] }],
  ["remove of a value that is null", { foo: null }, ["remove /foo"], {}],
  ["remove of a member that is not there", { foo: "bar" }, ["remove /baz"], "fails"],
  ["remove of an element that is not there", { l: ["foo", "bar"] }, ["remove /l/2"], "fails"],
  ["remove at -", { l: ["foo"] }, ["remove /l/-"], "fails"],
  ["replace of a member that is not there", { bar: "baz" }, ["replace /foo false"], "fails"],
  ["replace below a member that is not there", { bar: "baz" }, ["replace /foo/bar false"], "fails"],
  ["add below a text", { bar: "baz" }, ["add /bar/0 1"], "fails"],
  ["all of it or nothing", { foo: 1 }, ["add /bar 2", "remove /baz"], "fails"],
  [
    "odd keys",
    { "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6, "m~n": 8, "a/b": 1 },
    ["remove /c%d", "remove /e^f", "remove /g|h", "remove /i\\j", 'remove /k"l', "remove /m~0n", "remove /a~1b"],
    {},
  ],
];

describe.each([
  ["the examples of the RFC", appendix],
  ["what implementations differ in", disputed],
] as const)("JSON Patch: %s", (_, cases) => {
  it.each(cases)("%s", (_name, document, lines, want) => {
    const { action } = patch([], ...lines);
    const before = structuredClone(document);
    const patched = applyOperations(document, action.kind === "JSONPatch" ? action.operations : []);
    expect(patched.kind === "patched" ? patched.document : "fails").toEqual(want);
    expect(document).toEqual(before);
  });
});

describe("what is patched shares nothing with anybody", () => {
  const value: Json = { list: [{ deep: "one" }] };
  const twice = [
    { op: "add", path: "/a", value },
    { op: "add", path: "/b", value },
    { op: "replace", path: "/a/list/0/deep", value: "two" },
  ] as const;

  it("one value at two places is two values, and the override's stays as it is", () => {
    const patched = applyOperations({}, twice);
    expect(patched).toMatchObject({ document: { a: { list: [{ deep: "two" }] }, b: { list: [{ deep: "one" }] } } });
    expect(value).toEqual({ list: [{ deep: "one" }] });
  });

  it("two objects that one override is applied to have a value each", () => {
    const add = [{ op: "add", path: "/a", value }] as const;
    const [one, other] = [applyOperations({}, add), applyOperations({}, add)];
    if (one.kind !== "patched" || other.kind !== "patched") throw new Error("both are patched");
    expect(one.document["a"]).toEqual(other.document["a"]);
    expect(one.document["a"]).not.toBe(other.document["a"]);
    expect(one.document["a"]).not.toBe(value);
  });

  it.each([
    ["/__proto__/polluted"],
    ["/a/__proto__/polluted"],
    ["/constructor/prototype/polluted"],
    ["/a/constructor/prototype/polluted"],
    ["/toString/polluted"],
  ])("nothing is written to what all objects inherit: %s", (path) => {
    const patched = applyOperations({ a: {} }, [{ op: "add", path, value: "yes" }]);
    expect(patched.kind).toBe("failed");
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
  });

  it("nor by a value that brings a key of that name", () => {
    const hostile = JSON.parse('{"__proto__": {"polluted": "yes"}}') as Json;
    const patched = applyOperations({}, [{ op: "add", path: "/a", value: hostile }]);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    if (patched.kind === "patched") expect((patched.document["a"] as { polluted?: string }).polluted).toBeUndefined();
  });
});
