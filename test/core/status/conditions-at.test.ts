import { describe, expect, test } from "vitest";
import type { Binding } from "../../../src/core/model/binding.ts";
import { settleConditions } from "../../../src/core/model/condition.ts";
import { type BindingContext, bindingVerdicts } from "../../../src/core/status/binding-conditions.ts";
import { conditionsAt } from "../../../src/core/status/conditions-at.ts";
import { binding, facts, fine, heldBack, later, noon, objectFailure, target, unreachable } from "./record.ts";

const failing: BindingContext = { ...fine, failure: { code: "OverriddenFailed", message: "no such path" } };
const states: readonly (readonly [string, Partial<Binding>, BindingContext])[] = [
  ["available", { facts: facts() }, fine],
  ["nothing heard", { facts: null }, fine],
  ["heard of another target", { facts: facts({ sequence: 1 as never }) }, fine],
  ["held back", { facts: facts() }, heldBack],
  ["out of reach", { facts: facts() }, { ...fine, contactFailure: unreachable }],
  ["cannot be rendered", { facts: facts() }, failing],
  ["not admitted", { target: null, facts: null }, fine],
  ["untrackable", { facts: facts({ phase: "untrackable" }) }, fine],
  ["overridden", { target: target(0, { clusterOverrides: ["a-0"] }), facts: facts() }, fine],
  ["of a later generation", { generation: 9, facts: facts() }, fine],
  [
    "in trouble",
    { facts: facts({ phase: "failed", objectFailures: [objectFailure("Available", "a")], objectFailureCount: 1 }) },
    fine,
  ],
  [
    "in another trouble",
    { facts: facts({ phase: "failed", objectFailures: [objectFailure("Available", "b")], objectFailureCount: 1 }) },
    fine,
  ],
];

describe("conditions that are shared are those that each binding would have had for itself", () => {
  test.each(states)("%s", (_, state, context) => {
    const conditionsOf = conditionsAt(later);
    // Whatever came before must not show.
    for (const [, other, its] of states) conditionsOf({ ...binding("c1"), ...other }, its);
    for (const before of [[], binding("c1").conditions]) {
      const own = { ...binding("c1"), ...state, conditions: before };
      expect(conditionsOf(own, context)).toEqual(settleConditions(before, bindingVerdicts(own, context), later));
    }
  });
});

test("bindings that have the same to say have one list, and one that says it already keeps its own", () => {
  const conditionsOf = conditionsAt(noon);
  const fresh = { ...binding("c1"), conditions: [] };
  const first = conditionsOf(fresh, fine);
  expect(conditionsOf({ ...fresh, cluster: "c2" as Binding["cluster"] }, fine)).not.toEqual([]);
  expect(conditionsOf({ ...fresh, cluster: "c2" as Binding["cluster"] }, fine)).toBe(first);
  const own = structuredClone(first);
  expect(conditionsOf({ ...fresh, conditions: own }, fine)).toBe(own);
});
