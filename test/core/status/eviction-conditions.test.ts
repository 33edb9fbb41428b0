import { expect, test } from "vitest";
import { evictionVerdicts } from "../../../src/core/status/eviction-conditions.ts";
import { terse } from "./record.ts";

const valid = "Valid True ClusterResourcePlacementEvictionValid";
const cases = [
  {
    kind: "invalid",
    want: ["Valid False ClusterResourcePlacementEvictionInvalid"],
  },
  {
    kind: "refused",
    want: [valid, "Executed False ClusterResourcePlacementEvictionNotExecuted"],
  },
  {
    kind: "executed",
    want: [valid, "Executed True ClusterResourcePlacementEvictionExecuted"],
  },
] as const;

test.each(cases)("what is $kind says so in the last condition", ({ kind, want }) => {
  const verdicts = evictionVerdicts({ kind, message: "because" });
  expect(verdicts.map(terse)).toEqual(want);
  expect(verdicts.at(-1)?.message).toBe("because");
  expect(verdicts.every((it) => it.observedGeneration === 1)).toBe(true);
});

test("a message is cut to what a status may hold", () =>
  expect(evictionVerdicts({ kind: "refused", message: "x".repeat(900) }).at(-1)?.message).toHaveLength(512));
