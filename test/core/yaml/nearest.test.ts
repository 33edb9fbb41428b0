import { describe, expect, it } from "vitest";
import { nearest } from "../../../src/core/yaml/nearest.ts";

const cases: readonly (readonly [ref: string, word: string, known: readonly string[], want: string | null])[] = [
  ["a missing letter is a slip", "maxUnavailble", ["maxSurge", "maxUnavailable"], "maxUnavailable"],
  ["so are swapped letters", "prdo", ["prod", "dev"], "prod"],
  ["so is another case", "PICKALL", ["PickAll", "PickN"], "PickAll"],
  ["the nearest of several is meant", "canry", ["carry-all", "canary"], "canary"],
  ["a word of one or two letters is like no other", "eu", ["us", "en"], null],
  ["but its end may be missing", "we", ["web", "db"], "web"],
  ["another number is another cluster", "prod-4", ["prod-1", "prod-2"], null],
  ["a number written otherwise is the same", "prd-01", ["prod-1"], "prod-1"],
  ["a short word with another first letter is another word", "test", ["west", "rest"], null],
  ["half of a word is not enough", "staging", ["stable", "strange"], null],
  ["a long word does not excuse many slips", "environment-of-people", ["deployment-of-apples"], null],
];

describe("what somebody may have meant", () => {
  it.each(cases)("%s", (_, word, known, want) => {
    expect(nearest(word, known)).toBe(want);
  });
});
