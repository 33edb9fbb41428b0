import { expect, test } from "vitest";
import { type LabelSelector, selectorKeys, selects } from "../../../src/core/model/selector.ts";

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
