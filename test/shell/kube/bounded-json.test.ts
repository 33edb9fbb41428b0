import { expect, test } from "vitest";
import { parseBoundedJson } from "../../../src/shell/kube/client/bounded-json.ts";

const cases: readonly (readonly [what: string, text: string, tokens: number])[] = [
  ["a list", "[1,2,3]", 3],
  ["empty lists", "[[],[],[]]", 6],
  ["names and values", '{"a":1,"b":{"c":2}}', 6],
  ["a text that looks like more", '{"a":"[[[,,,:::{{{"}', 2],
  ["a text with quotes in it", '["a\\",[[[,\\\\",[]]', 3],
  ["a text that ends in a backslash", '["a\\\\",[]]', 3],
];

test.each(cases)("%s counts as its names and values do", (_, text, tokens) => {
  const value = JSON.parse(text);
  expect(parseBoundedJson(text, tokens)).toEqual(value);
  expect(parseBoundedJson(text, tokens - 1)).toBeUndefined();
});

test("what is no JSON is undefined, wherever it breaks off", () => {
  for (const text of ["", "[", '["a', '["a\\', '{"a":}', "nonsense, nonsense"]) {
    expect(parseBoundedJson(text)).toBeUndefined();
    expect(parseBoundedJson(text, 1)).toBeUndefined();
  }
});
