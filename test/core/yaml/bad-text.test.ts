import { describe, expect, it } from "vitest";
import { decodeBlob, maxDocuments } from "../../../src/core/intent/documents.ts";
import { maxProblems } from "../../../src/core/yaml/problems.ts";
import { seeded } from "../intent/random.ts";
import { bytesOf, codesOf, problemsOf } from "../intent/reading.ts";

const map = (data: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: web}\ndata:\n${data}`;

const object = (fields: string): string => map(fields).replace("\ndata:", "\nx:");

type Case = readonly [id: string, ref: string, text: string | Uint8Array, want: readonly string[]];

// The bad inputs of `yaml/README.md#hostile-input`: where, how bad and which code.
const cases: readonly Case[] = [
  ["B-01", "a byte that is no UTF-8", new Uint8Array([97, 58, 32, 0xc3, 0x28]), ["0:0 error FLT1001"]],
  ["B-02", "UTF-16", new Uint8Array([0xff, 0xfe, 97, 0]), ["0:0 error FLT1001"]],
  ["B-02", "a UTF-8 byte order mark passes", `\ufeff${map("  a: b\n")}`, ["0:0 warning FLT1021"]],
  ["B-03", "a control character", map("  a: b\u0000c\n"), ["5:7 error FLT1002"]],
  ["B-03", "an escaped control character passes", map('  a: "\\e[1m"\n'), []],
  ["B-04", "a bidi override in a value", map("  a: b\u202ec\n"), ["5:7 warning FLT1003"]],
  ["B-04", "a zero-width space in a key", map('  "a\\u200bb": c\n'), ["5:3 error FLT1003"]],
  ["B-05", "a tab as indentation", map("\ta: b\n"), ["5:1 error FLT1004"]],
  ["B-06", "a duplicate key", map("  a: b\n  a: c\n"), ["6:3 error FLT1005"]],
  ["B-07", "an alias is reported once", map("  a: &x b\n  c: *x\n  d: *x\n"), ["5:9 error FLT1006"]],
  ["B-08", "a merge key", map("  <<: {a: b}\n"), ["5:3 error FLT1006"]],
  ["B-09", "a tag", map("  a: !!binary YQ==\n"), ["5:15 error FLT1007"]],
  ["B-09", "a tag of some language", map('  a: !!js/function "x"\n'), ["5:20 error FLT1007"]],
  ["B-10", "20,000 brackets", "[".repeat(20_000), ["1:1 error FLT1008"]],
  [
    "B-10",
    "65 levels, of which the rest is read",
    map(`  a: ${"[".repeat(65)}${"]".repeat(65)}\n`),
    ["5:68 error FLT1008"],
  ],
  ["B-11", "a file beyond 1 MiB", `a: ${"x".repeat(1024 * 1024)}`, ["0:0 error FLT1009"]],
  ["B-12", "50,001 values", map(`  a: [${"1,".repeat(50_000)}]\n`), ["5:7973 error FLT1010"]],
  ["B-13", "an empty file", "", ["0:0 note FLT1020"]],
  ["B-13", "comments only", "# nothing\n---\n# here\n", ["0:0 note FLT1020"]],
  ["B-14", "words that are booleans", object("  a: no\n"), ["5:6 warning FLT1011"]],
  ["B-15", "a key that is a boolean", map("  y: b\n"), ["5:3 warning FLT1011"]],
  [
    "B-16",
    "numbers that are not what they look like",
    object("  - 010\n  - 0b11\n  - 1_000\n  - 0x1F\n  - 10\n"),
    ["5:5 warning FLT1012", "6:5 warning FLT1012", "7:5 warning FLT1012", "8:5 warning FLT1012"],
  ],
  ["B-17", "an integer beyond 64 bits", map("  a: 9223372036854775808\n"), ["5:6 error FLT1013"]],
  ["B-18", "a number that JSON has not", map("  a: .inf\n"), ["5:6 error FLT1014"]],
  ["B-19", "a key that is a list", map("  ? [a]\n  : b\n"), ["5:5 error FLT1015"]],
  ["B-19", "a key that is null", map("  ~: b\n"), ["5:3 error FLT1015"]],
  ["B-19", "a key that is a number", map("  1: b\n"), ["5:3 error FLT1015"]],
  ["B-20", "an alias of itself", "&a [*a]\n", ["1:4 error FLT1006"]],
  ["B-21", "CRLF passes", map("  a: b\n").replaceAll("\n", "\r\n"), []],
  ["B-21", "CR alone", map("  a: b\rc: d\n"), ["5:7 error FLT1016"]],
  ["B-21", "NEL", map("  a: b\u0085c\n"), ["5:7 error FLT1016"]],
  ["B-22", "a reserved key", map("  __proto__: b\n"), ["5:3 error FLT1017"]],
  ["B-22", "the name of a constructor is a name like any other", map("  constructor: b\n"), []],
  ["B-23", "JSON without a comma", '{"apiVersion": "v1"\n"kind": "ConfigMap"}', ["2:1 error FLT1018"]],
  [
    "B-23",
    "JSON with a comma too many passes",
    `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"},}`,
    [],
  ],
  ["B-24", "a template that nobody rendered", map("  a: {{ .Values.x }}\n"), ["5:7 error FLT1019"]],
  ["B-24", "a template between lines", map("  a: b\n{{- if .x }}\n  c: d\n{{ end }}\n"), ["6:1 error FLT1019"]],
  ["B-24", "a template inside a text passes", map('  a: "{{ $labels.x }}"\n'), []],
  [
    "B-91",
    "a List inside a List",
    "apiVersion: v1\nkind: List\nitems:\n  - {apiVersion: v1, kind: List, items: []}\n",
    ["4:5 error FLT1402"],
  ],
  ["", "a directive", `%YAML 1.1\n---\n${map("  a: b\n")}`, ["1:1 error FLT1022"]],
  ["", "a document after three dots", `${map("  a: b\n")}...\na: b\n`, ["7:1 error FLT1022"]],
  ["", "a broken quote", map('  a: "b\n'), ["6:1 error FLT1022"]],
];

describe("bad text is named and placed", () => {
  for (const [id, ref, text, want] of cases)
    it(`${id} ${ref}`, () => {
      expect(codesOf(text)).toEqual(want);
    });

  it("B-34 a pointer of Git LFS is no harmless text", () => {
    const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
    expect(decodeBlob(bytesOf(pointer)).documents).toMatchObject([{ kind: "unidentified" }]);
    expect(codesOf(pointer)).toEqual(["0:0 error FLT1105"]);
  });

  it("B-12 more documents than anybody keeps in one file", () => {
    const { documents } = decodeBlob(bytesOf("a: b\n---\n".repeat(maxDocuments + 5)));
    expect(documents.length).toBe(maxDocuments + 1);
    expect(documents.at(-1)).toMatchObject({ kind: "unidentified", problems: [{ code: "FLT1010" }] });
  });

  it("at most twenty problems of a document are listed, errors before warnings", () => {
    const lines = `${"  - 010\n".repeat(30)}  - &a b\n`;
    const codes = codesOf(object(lines));
    expect(codes.length).toBe(maxProblems + 1);
    expect(codes.filter((it) => it.includes("error"))).toEqual(["35:8 error FLT1006"]);
    expect(codes.some((it) => it.includes("FLT1024"))).toBe(true);
  });
});

describe("messages say what is wrong and what to do", () => {
  const cases: readonly [text: string, want: string][] = [
    [
      map("  a: b\n  a: c\n"),
      "6:3: error FLT1005: data.a: duplicate key, first at line 5; remove one of the two; kubectl would silently use the last",
    ],
    [
      object("  a: 0777\n"),
      "5:6: warning FLT1012: x.a: ambiguous number (got 0777, which kubectl reads as 511); write it as a plain decimal, or quote it if it is meant as a string",
    ],
  ];
  for (const [text, want] of cases)
    it(want.slice(0, 60), () => {
      expect(problemsOf(text)).toEqual([want]);
    });

  it("B-95 never with a value of a Secret", () => {
    const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: web}\n";
    const texts = [
      "data: {password: hunter2!}",
      "stringData: {pin: 0777}",
      "stringData: {pin: 99999999999999999999}",
      'stringData:\n  a: "hunter2\n',
    ];
    for (const text of texts) {
      const said = problemsOf(secret + text).join("\n");
      expect(said).not.toBe("");
      expect(said).not.toMatch(/hunter2|0777|511|99999/);
    }
  });
});

describe("time grows with the size of a file and not faster", () => {
  // Each of these took minutes in some reader before it was bounded.
  const texts: Readonly<Record<string, string>> = {
    quotes: '"'.repeat(50_000),
    brackets: "[".repeat(1_000_000),
    dashes: "- ".repeat(500_000),
    duplicates: "a: 1\n".repeat(20_000),
    aliases: `a: &a 1\nb: [${"*a,".repeat(20_000)}]`,
    "markers of documents": "---\n".repeat(100_000),
    "keys of one mapping": `a:\n${Array.from({ length: 10_000 }, (_, at) => `  k${at}: v\n`).join("")}`,
  };
  for (const [name, text] of Object.entries(texts))
    it(name, { timeout: 10_000 }, () => {
      expect(decodeBlob(bytesOf(text)).documents.length).toBeGreaterThan(0);
    });
});

it("whatever the bytes, reading them ends in documents and never in an exception", () => {
  const random = seeded(8);
  const seed = `${map("  a: b\n  c: 'd'\n")}---\n${object('  - {e: [f, "g"]}\n  - |\n    h\n')}`;
  const spice = [..."{}[]:,-?|>&*!%@`'\"#\n\t \\~", "\u0000", "\u202e", "---\n", "<<: ", "{{ x }}", "\ud800"];
  for (let round = 0; round < 400; round += 1) {
    let text = seed;
    for (let edit = 0; edit < 4; edit += 1) {
      const at = random.below(text.length);
      const piece = random.pick(spice);
      text = text.slice(0, at) + piece + text.slice(at + random.below(3));
    }
    for (const it of decodeBlob(bytesOf(text)).documents) expect(it.line).toBeGreaterThan(0);
  }
});
