import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isObject, type Json } from "../../../src/core/model/json.ts";
import { readAnyYaml, readYaml, type YamlDocument } from "../../../src/core/yaml/kyaml.ts";
import { readPlainYaml } from "../../../src/core/yaml/plain-yaml.ts";
import type { JsonPath } from "../../../src/core/yaml/problems.ts";
import { positionsIn, slicesOf } from "../../../src/core/yaml/text.ts";
import { memberNames, workloadOf } from "../../bench/workload.ts";
import { seeded } from "../intent/random.ts";
import { mutated, yamlText } from "./yaml-texts.ts";

const plain: readonly (readonly [ref: string, text: string, value: Json])[] = [
  ["nothing", "", null],
  ["comments and blank lines", "---\n# a\n\n   \n  # b\n", null],
  ["what stands behind three dashes", "--- # why\na: b\n", { a: "b" }],
  ["mappings in mappings", "a:\n  b:\n    c: d\n  e: f\ng: h", { a: { b: { c: "d" }, e: "f" }, g: "h" }],
  ["a missing value", "a:\nb: # none\nc:\n  -\n  - d\n", { a: null, b: null, c: [null, "d"] }],
  ["a list as far left as its key", "a:\n- b\n- c: d\n  e: f\ng: h\n", { a: ["b", { c: "d", e: "f" }], g: "h" }],
  ["lists on the lines of dashes", "- - a\n  -   b: c\n      d: e\n- f\n", [["a", { b: "c", d: "e" }], "f"]],
  ["comments anywhere", "# a\na: b # c\n      # d\nc:\n# e\n  # f\n  d: e#f #g\n", { a: "b", c: { d: "e#f" } }],
  ["keys in quotes", `"a b": c\n'd: e': f\n"1": g\n`, { "a b": "c", "d: e": "f", 1: "g" }],
  [
    "keys of other tools",
    "=(a): b\n$ref: c\n+(d*): {=(e)=: f}\n",
    { "=(a)": "b", $ref: "c", "+(d*)": { "=(e)=": "f" } },
  ],
  [
    "scalars as kubectl reads them",
    "- 1\n- -0.5\n- 1e3\n- true\n- ~\n- 1.10.0\n- 9007199254740993\n- 2026-11-21\n- =",
    [1, -0.5, 1000, true, null, "1.10.0", 9007199254740993n, "2026-11-21", "="],
  ],
  ["indicators inside of words", "- --a=b\n- :80\n- a:b\n- it's\n- x}, y\n", ["--a=b", ":80", "a:b", "it's", "x}, y"]],
  ["escapes", `- "a\\n\\t\\r\\"\\\\\\/"\n- 'it''s \\n'\n- ""\n`, ['a\n\t\r"\\/', "it's \\n", ""]],
  ["brackets", "a: [b, {c: d, 'e': \"f\"}, [], { }, 1 ] # g\n", { a: ["b", { c: "d", e: "f" }, [], {}, 1] }],
  [
    "a literal block",
    "a: |\n\n  b: c\n\n    # d\n\te: f\n  g  \n\nh: i\n".replace("\t", "  \t"),
    {
      a: "\nb: c\n\n  # d\n\te: f\ng  \n",
      h: "i",
    },
  ],
  ["chomping", "a: |-\n  b\n\nc: |+\n  d\n\n\ne: |\n  f\n", { a: "b", c: "d\n\n\n", e: "f\n" }],
  ["an indented beginning", "a: |2\n    b\n   c\n", { a: "  b\n c\n" }],
  ["an end without a new line", "a: |\n  b", { a: "b\n" }],
  ["a folded block", "a: >\n\n  b\n  c\n\n  d\n\n\n  e\n\nf: >-\n  g\n  h\n", { a: "\nb c\nd\n\ne\n", f: "g h" }],
  ["scalars of several lines", "a: b\n  c - d\n\n\n   e\nf:\n- g\n  h\n", { a: "b c - d\n\ne", f: ["g h"] }],
  ["quotes of several lines", `a: "b\n  c\n\n  d" # e\nf: 'g\n   h'\n`, { a: "b c\nd", f: "g h" }],
  [
    "brackets of several lines",
    "a: [b,\n  c\n  ]\nd: {\n\n  e: f,\n  g: [\n  h]}\n",
    { a: ["b", "c"], d: { e: "f", g: ["h"] } },
  ],
  [
    "B-14, B-16: ambiguous scalars in places",
    "a: [no, {b: 0644}]\r\nc:\r\n- d: on\r\n",
    { a: [false, { b: 420 }], c: [{ d: true }] },
  ],
  ["B-06: duplicate keys", "a: b\r\na: {c: {d: no, d: e}}\r\nf: {g: h, g: i, g: j}\r\n", { a: "b", f: { g: "h" } }],
  ["B-06: many duplicate keys", `${"a: b\n".repeat(501)}c: no\n`, { a: "b", c: false }],
  ["B-14: many ambiguous scalars", `a: [${Array(25).fill("no")}]\n`, { a: Array(25).fill(false) }],
  ["JSON", '{\n  "a": [\n    {"b":1,"c":"\\u0041\\x42"}\n  ],\n  "d": null\n}\n', { a: [{ b: 1, c: "AB" }], d: null }],
  [
    "line ends of Windows",
    "a: b\r\nc: |\r\n  d\r\n\r\n  e\r\nf:\r\n- 'g\r\n  h'\r\n",
    { a: "b", c: "d\n\ne\n", f: ["g h"] },
  ],
  ["line ends and spaces that are escaped", 'a: "b\\\n  c\\\n   \\ \\td  \n\n  e\\n\n  f"\n', { a: "bc \td\ne\n f" }],
  ["letters of all languages", "a: grüße 日本 😀 ⚠\ufe0f\n", { a: "grüße 日本 😀 ⚠\ufe0f" }],
];

// What the library has to decide on. The ids are those of `yaml/README.md#hostile-input`.
const declined: readonly (readonly [ref: string, text: string])[] = [
  ["B-03: control characters", "a: b\u0000\n"],
  ["B-04: marks that turn text around, and marks nobody sees", "a: b\u202e\n"],
  ["B-05: tabs that indent", "a:\n\tb: c\n"],
  ["B-05: tabs that part", "a:\tb\n"],
  ["B-07: anchors", "a: &b c\n"],
  ["B-07: aliases", "a: *b\n"],
  ["B-08: merge keys", "<<: {a: b}\n"],
  ["B-09: tags", "a: !!binary YQ==\n"],
  ["B-10: 64 levels", `${"- ".repeat(64)}a\n`],
  ["B-10: 20,000 brackets", `a: ${"[".repeat(20_000)}`],
  ["B-12: more than 50,000 values", `a:\n${"- b\n".repeat(49_999)}`],
  ["B-15: ambiguous keys", "y: a\n"],
  ["B-17: integers beyond 64 bits", "a: 9223372036854775808\n"],
  ["B-18: what JSON has no number for", "a: .inf\n"],
  ["B-19: keys that are no text", "1: a\n"],
  ["B-19: keys that are lists", "? [a]\n: b\n"],
  ["B-21: next line", "a: b\u0085c\n"],
  ["B-22: reserved keys", "__proto__: a\n"],
  ["B-24: templates", "a: {{ .x }}\n"],
  ["directives", "%YAML 1.2\n---\na: b\n"],
  ["three dots", "a: b\n...\n"],
  ["a text behind three dashes", "--- a\n"],
  ["scalars below their key", "a:\n  b\n"],
  ["rare escapes", 'a: "\\e[1m"\n'],
  ["line ends that are escaped before a blank line", 'a: "b\\\n\n  c"\n'],
  ["spaces that are escaped at the end of a line", 'a: "b\\  \n  c"\n'],
  ["scalars of several lines with a comment", "a: b # c\n  d\n"],
  ["quotes that go on too far left", 'a:\n  b: "c\n d"\n'],
  ["brackets that go on too far left", "a: [b,\nc]\n"],
  ["comments in brackets", "a: [b, # c\n  d]\n"],
  ["B-21: carriage returns that end no line", "a: b\rc\n"],
  ["a comment too near", 'a: "b"#c\n'],
  ["a mapping on the line of its key", "a: b: c\n"],
  ["a list on the line of its key", "a: - b\n"],
  ["lines between two levels", "a:\n    b: c\n  d: e\n"],
  ["lines deeper than their neighbours", "a: b\n  c: d\n"],
  ["a list and a mapping side by side", "- a\nb: c\n"],
  ["keys longer than 1,000 characters", `${"k".repeat(1025)}: a\n`],
  ["blocks that nothing is in", "a: |\nb: c\n"],
  ["blocks with lines of spaces", "a: |\n     \n  b\n"],
  ["folded blocks with indented lines", "a: >\n  b\n    c\n"],
];

describe("plain YAML", () => {
  it.each(plain)("is %s", (_, text, value) => {
    expect([readPlainYaml(text)?.value, ...differences(text, everywhere)]).toEqual([value]);
  });

  it.each(declined)("is not: %s", (_, text) => {
    expect(readPlainYaml(text)).toBe(null);
  });

  it("is what a repository of today holds", () => {
    const repository = readdirSync("examples-repo", { recursive: true, encoding: "utf8" })
      .filter((it) => it.endsWith(".yaml"))
      .map((it) => readFileSync(`examples-repo/${it}`, "utf8"));
    const workload = workloadOf({ members: memberNames(9), placements: 4, picks: 3, objects: "all" });
    const texts = [...repository, ...workload.map(([, text]) => text)];
    const slices = texts.flatMap((it) => slicesOf(it).map(({ text }) => text));
    expect(slices.filter((it) => readPlainYaml(it) === null)).toEqual([]);
    expect(texts.flatMap((it) => differences(it, everywhere))).toEqual([]);
  });

  it("is read as the library reads it, or not at all", () => {
    const given = [...plain, ...declined].map(([, text]) => text).filter((it) => it.length < 500);
    const found: string[] = [];
    let accepted = 0;
    for (let seed = 1; seed <= 8_000; seed += 1) {
      const random = seeded(seed);
      const text = random.below(4) === 0 ? random.pick(given) : yamlText(random);
      const texts = slicesOf(random.below(4) === 0 ? text : mutated(text, random));
      accepted += texts.filter((it) => readPlainYaml(it.text) !== null).length;
      found.push(...texts.flatMap((it) => differences(it.text, atItsBegin)));
    }
    expect(found.slice(0, 3)).toEqual([]);
    expect(accepted).toBeGreaterThan(2_500);
  }, 60_000);

  it("takes time that grows with the text, and no more", () => {
    const size = 1024 * 1024 - 10;
    const texts = [`a: [${"b ".repeat(size / 2)}]`, `a: "${"\\\\".repeat(size / 2)}"`, `- '${"''".repeat(size / 2)}'`];
    const broken = [
      `a: "${'\\"'.repeat(size / 2)}`,
      "k.".repeat(size / 2),
      "- ".repeat(size / 2),
      "- |\n\n".repeat(size / 5),
    ];
    expect(texts.map((it) => readPlainYaml(it) === null)).toEqual([false, false, false]);
    expect(broken.map((it) => readPlainYaml(it))).toEqual([null, null, null, null]);
  });
});

type Places = (value: Json) => readonly JsonPath[];

const atItsBegin: Places = () => [[]];

const everywhere: Places = (value) => [[], ...pathsIn(value)];

function pathsIn(value: Json): readonly JsonPath[] {
  const steps = Array.isArray(value) ? [...value.keys()] : Object.keys(isObject(value) ? value : {});
  return steps.flatMap((step): readonly JsonPath[] => {
    const inner = (value as Readonly<Record<string | number, Json>>)[step] ?? null;
    return [[step], ...pathsIn(inner).map((it) => [step, ...it])];
  });
}

/** What the short way and the long way say differently about a text: values, the order of keys, problems and places. */
function differences(text: string, places: Places): readonly string[] {
  if (readPlainYaml(text) === null) return [];
  const slice = { text, line: 1 };
  const [short, long] = [readYaml, readAnyYaml].map((read) => sayings(read(slice, positionsIn(slice)), places));
  return short === long ? [] : [`${JSON.stringify(text)}\n  is ${long}\n not ${short}`];
}

function sayings(yaml: YamlDocument, places: Places): string {
  const { begin, value, textProblems, offsetOf } = yaml;
  const offsets = places(value).map((it) => [offsetOf(it, "key"), offsetOf(it, "value")]);
  return JSON.stringify({ begin, value, textProblems, offsets }, (_, it) => (typeof it === "bigint" ? `${it}n` : it));
}
