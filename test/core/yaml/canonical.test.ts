import { deepStrictEqual } from "node:assert/strict";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Json } from "../../../src/core/model/json.ts";
import { emitDocuments, emitYaml } from "../../../src/core/yaml/canonical.ts";
import { readCanonical } from "../../../src/core/yaml/canonical-read.ts";
import { readYamlStream } from "../../../src/core/yaml/read-stream.ts";
import { seeded } from "../intent/random.ts";

describe("the canonical text", () => {
  const cases: readonly { readonly name: string; readonly value: Json; readonly want: string }[] = [
    { name: "maps keep their order", value: { b: 1, a: { c: true } }, want: "b: 1\na:\n  c: true\n" },
    { name: "lists stand under their key", value: { a: [1, { b: 2, c: 3 }] }, want: "a:\n- 1\n- b: 2\n  c: 3\n" },
    { name: "lists nest", value: [[1, [2]], []], want: "- - 1\n  - - 2\n- []\n" },
    { name: "empty stays visible", value: { a: {}, b: [], c: "", d: null }, want: 'a: {}\nb: []\nc: ""\nd: null\n' },
    { name: "lines are escaped", value: { a: "x\ny\n" }, want: 'a: "x\\ny\\n"\n' },
    {
      name: "big integers are exact",
      value: [9007199254740993n, -(10n ** 20n)],
      want: "- 9007199254740993\n- -100000000000000000000\n",
    },
    {
      name: "big floats stay floats",
      value: [1e20, 1.5e300, 1e-7, -0],
      want: "- 1.0e+20\n- 1.5e+300\n- 1.0e-7\n- -0.0\n",
    },
    { name: "a list at the top", value: [{ a: [] }], want: "- a: []\n" },
    { name: "a scalar at the top", value: "web", want: "web\n" },
    {
      name: "odd keys are quoted",
      value: { "a b": 1, on: 2, "1": 3, "": 4 },
      want: '"1": 3\n"a b": 1\n"on": 2\n"": 4\n',
    },
    { name: "long keys are marked", value: { ["k".repeat(1001)]: [1] }, want: `? ${"k".repeat(1001)}\n:\n- 1\n` },
  ];
  test.each(cases)("$name", ({ value, want }) => {
    expect(emitYaml(value)).toBe(want);
    expect(readCanonical(want)).toEqual([value]);
  });

  const bare = ["web", "nginx:1.25", "kubernetes-fleet.io/parent-CRP", "/Namespace//shop", "waits for 2 of 3"];
  test.each([...bare, 'no cluster "x"'])("%s stands bare", (text) => {
    expect(emitYaml(text)).toBe(`${text}\n`);
  });

  const special = [
    "no",
    "On",
    "NULL",
    "~",
    "y",
    ".nan",
    "1",
    "0x1f",
    "1_000",
    "1:30",
    "2026-11-21",
    "=",
    "<<",
    "-",
    "- a",
  ];
  const shaped = [
    "a: b",
    "a:",
    "a #b",
    " a",
    "a ",
    "#a",
    "*a",
    "&a",
    "!a",
    "%a",
    "@a",
    "`a",
    "{a",
    "[a",
    "a\tb",
    "é",
    "'a",
    "?",
  ];
  test.each([...special, ...shaped, "\u2028", "\u0085", "a\u007f", "\ufeff"])("%j stands in quotes", (text) => {
    expect(emitYaml(text)).toMatch(/^"[\x20-\x7eé]*"\n$/);
    expect(readCanonical(emitYaml(text))).toEqual([text]);
  });
});

// Node's own comparison: it tells -0 from 0 and is not led astray by members called __proto__.
describe("emitter, reader and the YAML library say the same", () => {
  test("of thousands of random values", () => {
    const random = seeded(20261121);
    for (let round = 0; round < 4000; round++) {
      const values = Array.from({ length: random.below(3) + 1 }, () => random.json(4));
      const text = emitDocuments(values);
      deepStrictEqual(readCanonical(text), values);
      if (round % 4 === 0) deepStrictEqual(byLibrary(text), values);
    }
  });

  test("of every single character", () => {
    for (let code = 0; code < 0x10000; code += code < 0x2100 ? 1 : 97) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const it = String.fromCharCode(code);
      const value = { [`k${it}`]: [it, `a${it}`, `${it}a`, `a${it}b`, `a ${it} b`] };
      deepStrictEqual(readCanonical(emitYaml(value)), [value]);
      if (code < 0x100 || code % 7 === 0) deepStrictEqual(byLibrary(emitYaml(value)), [value]);
    }
  });
});

describe("the reader", () => {
  test("gives null for whatever would be written differently", () => {
    const random = seeded(7);
    for (let round = 0; round < 20_000; round++) {
      const text = mutated(emitDocuments([random.json(3)]), random);
      const read = readCanonical(text);
      if (read !== null) expect(emitDocuments(read)).toBe(text);
    }
  });

  const deviating = [
    ...["a: 1", "a:  1\n", "a: 1 \n", "a: 1 # note\n", "# note\na: 1\n", "\n", "a: 'b'\n", 'a: "b"\n', '"a": 1\n'],
    ...[
      "a: 01\n",
      "a: 1.0\n",
      "a: +1\n",
      "a: 1e3\n",
      "a: no\n",
      "a: ~\n",
      "a:\n",
      "a: {b: 1}\n",
      "a: [1]\n",
      "a: b: c\n",
    ],
    ...["a:\n  - 1\n", "a:\n    b: 1\n", "a: 1\na: 2\n", "a: |\n  b\n", "---\na: 1\n", "a: 1\n---\n", "a: 1\n...\n"],
    ...[
      'b: 1\n"1": 2\n',
      '"2": 1\n"1": 2\n',
      "? a\n: 1\n",
      'a: "\\u0041"\n',
      'a: "\\x"\n',
      'a: "b\n',
      "a: 1\r\n",
      "- 1\n - 2\n",
    ],
  ];
  test.each(deviating)("does not take %j for canonical", (text) => {
    expect(readCanonical(text)).toBeNull();
  });

  test("keeps a member called __proto__", () => {
    const value: Json = JSON.parse('{"__proto__":{"a":1},"constructor":2}');
    deepStrictEqual(readCanonical(emitYaml(value)), [value]);
    expect(Object.keys(readCanonical(emitYaml(value))?.[0] ?? {})).toEqual(["__proto__", "constructor"]);
  });
});

describe("any YAML can be read as state", () => {
  test("with the values of the canonical form", () => {
    const read = readYamlStream("# by hand\na: {b: [1, 9007199254740993]}\n---\nc: |\n  d\n  e\n");
    expect(read).toEqual({ documents: [{ a: { b: [1, 9007199254740993n] } }, { c: "d\ne\n" }] });
  });

  test("or is refused with what is wrong", () => {
    expect(readYamlStream("a: [1\n")).toEqual({ error: expect.stringContaining("Flow sequence") });
    expect(readYamlStream("a: 1\na: 2\n")).toEqual({ error: expect.stringContaining("unique") });
  });

  test("or is nested too deep", () => {
    expect(readYamlStream("- ".repeat(20_000))).toEqual({ error: expect.any(String) });
  });

  test("unless it is a bomb", () => {
    const levels = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`);
    expect(readYamlStream(["a0: &a0 [x]", ...levels, ""].join("\n"))).toEqual({
      error: expect.stringContaining("alias"),
    });
  });
});

function byLibrary(text: string): readonly Json[] {
  return parseAllDocuments(text, { schema: "core", intAsBigInt: true }).map((it) => {
    expect(it.errors).toEqual([]);
    return numbered(it.toJS());
  });
}

const numbered = (value: Json): Json => {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(numbered);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, numbered(it)]));
};

/** The text with one character taken out, doubled, replaced or put elsewhere. */
function mutated(text: string, random: ReturnType<typeof seeded>): string {
  const at = random.below(text.length);
  const other = ["", " ", "\n", '"', ":", "-", "0", "a", "\\", "#"][random.below(10)] ?? "";
  return random.below(2) === 0
    ? text.slice(0, at) + other + text.slice(at)
    : text.slice(0, at) + other + text.slice(at + 1);
}
