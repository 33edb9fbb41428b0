import { describe, expect, test } from "vitest";
import { withoutDocuments } from "../../../src/cmd/edits/found-document.ts";

const [a, b, c] = ["a: 1 # first\n", "b: |\n  --- no end\n  two\n", "# about c\nc: 3\n"];

const cases: readonly (readonly [name: string, text: string, doomed: readonly number[], want: string | null])[] = [
  ["the only one: the file goes", a, [0], ""],
  ["all of them: the file goes", `---\n${a}---\n${b}`, [0, 1], ""],
  ["the first", `${a}---\n${b}---\n${c}`, [0], `${b}---\n${c}`],
  ["the first, where the file begins with a marker", `---\n${a}---\n${b}`, [0], `---\n${b}`],
  ["one between", `${a}---\n${b}---\n${c}`, [1], `${a}---\n${c}`],
  ["the last", `${a}---\n${b}---\n${c}`, [2], `${a}---\n${b}`],
  ["comments before the first stay with it", `# about a\n---\n${a}---\n${b}`, [1], `# about a\n---\n${a}`],
  ["what is left besides it is empty: the file goes", `${a}---\n`, [0], ""],
  ["a file that is no YAML is left alone", "a: [\n---\nb: 1\n", [1], null],
];

describe("a file without some documents", () => {
  test.each(cases)("%s", (_, text, doomed, want) => {
    const left = withoutDocuments(text, new Set(doomed));
    expect(left === null ? null : left.kind === "text" ? left.text : "").toBe(want);
  });
});
