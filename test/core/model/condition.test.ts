import { describe, expect, it } from "vitest";
import { type Condition, settleConditions, type Verdict } from "../../../src/core/model/condition.ts";
import type { Instant } from "../../../src/core/model/value.ts";

const noon = 1000 as Instant;
const later = 2000 as Instant;

const verdict = (type: string, more: Partial<Verdict> = {}): Verdict => ({
  type,
  status: "True",
  reason: "Done",
  message: "it is done",
  observedGeneration: 1,
  ...more,
});
const condition = (type: string, more: Partial<Condition> = {}): Condition => ({
  ...verdict(type),
  lastTransitionTime: noon,
  ...more,
});

const before = [condition("Applied"), condition("Available")];

describe("settled conditions", () => {
  const cases: readonly { name: string; verdicts: readonly Verdict[]; want: readonly Condition[] }[] = [
    {
      name: "a status that turns has turned now; the others turned when they did",
      verdicts: [verdict("Applied"), verdict("Available", { status: "False", reason: "No" })],
      want: [
        condition("Applied"),
        condition("Available", { status: "False", reason: "No", lastTransitionTime: later }),
      ],
    },
    {
      name: "other words and another generation are no transition",
      verdicts: [verdict("Applied", { reason: "Other", message: "other", observedGeneration: 2 })],
      want: [condition("Applied", { reason: "Other", message: "other", observedGeneration: 2 })],
    },
    {
      name: "they stand in the order of the verdicts, and what is not asked for is gone",
      verdicts: [verdict("Available"), verdict("New")],
      want: [condition("Available"), condition("New", { lastTransitionTime: later })],
    },
    { name: "none are asked for", verdicts: [], want: [] },
  ];
  for (const { name, verdicts, want } of cases)
    it(name, () => expect(settleConditions(before, verdicts, later)).toEqual(want));

  it("are the very same when nothing differs", () =>
    expect(settleConditions(before, [verdict("Applied"), verdict("Available")], later)).toBe(before));

  it("keep the identity of those that did not change", () => {
    const after = settleConditions(before, [verdict("Applied"), verdict("Available", { message: "still" })], later);
    expect([after[0] === before[0], after[1] === before[1]]).toEqual([true, false]);
  });
});
