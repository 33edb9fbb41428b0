import { describe, expect, it, test } from "vitest";
import {
  earliest,
  exactInstantText,
  type Instant,
  instantOf,
  instantText,
  type LabelSelector,
  selectorKeys,
  selects,
} from "../../../src/core/model/value.ts";
import { random } from "../schedule/random.ts";

const at = (millis: number): Instant => millis as Instant;

describe("an instant in words", () => {
  const cases: readonly { name: string; text: string; want: string | null }[] = [
    { name: "as it is written", text: "2026-11-21T12:00:00Z", want: "2026-11-21T12:00:00Z" },
    { name: "a leap day", text: "2024-02-29T23:59:59Z", want: "2024-02-29T23:59:59Z" },
    { name: "before 1970", text: "1969-12-31T23:59:59Z", want: "1969-12-31T23:59:59Z" },
    { name: "an offset, over midnight", text: "2026-01-01T00:30:00+01:00", want: "2025-12-31T23:30:00Z" },
    { name: "a negative offset", text: "2026-02-28T23:30:00-00:30", want: "2026-03-01T00:00:00Z" },
    { name: "a fraction", text: "2026-11-21t12:00:00.999z", want: "2026-11-21T12:00:00.999Z" },
    { name: "a tenth of a second", text: "2026-11-21T12:00:00.1Z", want: "2026-11-21T12:00:00.100Z" },
    { name: "less than a millisecond is dropped", text: "2026-11-21T12:00:00.0009999Z", want: "2026-11-21T12:00:00Z" },
    { name: "a fraction before 1970", text: "1969-12-31T23:59:59.5+00:00", want: "1969-12-31T23:59:59.500Z" },
    { name: "a leap second", text: "2016-12-31T23:59:60Z", want: "2017-01-01T00:00:00Z" },
    { name: "no leap year", text: "2025-02-29T00:00:00Z", want: null },
    { name: "no such month", text: "2026-13-01T00:00:00Z", want: null },
    { name: "no such day", text: "2026-04-31T00:00:00Z", want: null },
    { name: "day zero", text: "2026-04-00T00:00:00Z", want: null },
    { name: "no such hour", text: "2026-04-01T24:00:00Z", want: null },
    { name: "no such minute", text: "2026-04-01T00:60:00Z", want: null },
    { name: "no offset", text: "2026-11-21T12:00:00", want: null },
    { name: "a date alone", text: "2026-11-21", want: null },
  ];
  for (const { name, text, want } of cases)
    it(`${name}: ${text}`, () => {
      const read = instantOf(text);
      expect(read === null ? null : exactInstantText(read)).toBe(want);
    });

  it("is what the calendar says, for any millisecond of five centuries", () => {
    const { below } = random(1);
    for (let round = 0; round < 2000; round += 1) {
      const moment = at((below(16_000_000_000) - 8_000_000_000) * 1000 + below(2) * below(1000));
      const want = new Date(moment).toISOString().replace(".000Z", "Z");
      expect(exactInstantText(moment)).toBe(want);
      expect(instantText(moment)).toBe(want.replace(/\.\d+Z/, "Z"));
      expect(instantOf(want)).toBe(moment);
    }
  });
});

it("the earliest of several moments leaves out those that never come", () => {
  expect(earliest(null, at(7), at(3), null)).toBe(3);
  expect(earliest(null)).toBeNull();
  expect(earliest()).toBeNull();
});

const labels = { env: "prod", tier: "" };
const one = (
  key: string,
  operator: "In" | "NotIn" | "Exists" | "DoesNotExist",
  ...values: string[]
): LabelSelector => ({
  matchExpressions: [{ key, operator, values }],
});

// `schedule/README.md#clusteraffinity`.
test.each<{ name: string; selector: LabelSelector; want: boolean }>([
  { name: "an empty one selects everything", selector: {}, want: true },
  { name: "a label", selector: { matchLabels: { env: "prod" } }, want: true },
  { name: "another value", selector: { matchLabels: { env: "dev" } }, want: false },
  { name: "an empty value is not an absent one", selector: { matchLabels: { none: "" } }, want: false },
  { name: "In", selector: one("env", "In", "dev", "prod"), want: true },
  { name: "In, absent", selector: one("none", "In", "dev"), want: false },
  { name: "NotIn", selector: one("env", "NotIn", "prod"), want: false },
  { name: "Q10: NotIn holds for an absent key", selector: one("none", "NotIn", "prod"), want: true },
  { name: "Exists, although empty", selector: one("tier", "Exists"), want: true },
  { name: "DoesNotExist", selector: one("tier", "DoesNotExist"), want: false },
  { name: "an inherited name is no label", selector: one("constructor", "Exists"), want: false },
  {
    name: "all parts have to hold",
    selector: { matchLabels: { env: "prod" }, ...one("tier", "DoesNotExist") },
    want: false,
  },
])("a label selector: $name", ({ selector, want }) => {
  expect(selects(selector, labels)).toBe(want);
});

test("the keys it looks at are those of both parts", () => {
  expect(selectorKeys({ matchLabels: { a: "1" }, ...one("b", "Exists") })).toEqual(["a", "b"]);
});
