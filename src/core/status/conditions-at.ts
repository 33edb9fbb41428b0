import type { Binding } from "../model/binding.ts";
import { type Condition, settleConditions, type Verdict } from "../model/condition.ts";
import type { Instant } from "../model/value.ts";
import { type BindingContext, bindingVerdicts } from "./binding-conditions.ts";

/** Gives a binding its conditions; the present ones (`===`) where they are right already. */
export type ConditionsOf = (binding: Binding, context: BindingContext) => readonly Condition[];

/** The conditions of bindings at one moment; equal ones share one list: a hundred thousand need only a handful. */
export function conditionsAt(now: Instant): ConditionsOf {
  const made = new Map<string, readonly Verdict[]>();
  const settled = new Map<readonly Verdict[], Settled>();
  return (binding, context) => {
    const key = commonKey(binding, context);
    if (key === null) return settleConditions(binding.conditions, bindingVerdicts(binding, context), now);
    const verdicts = made.get(key) ?? bindingVerdicts(binding, context);
    made.set(key, verdicts);
    const last = settled.get(verdicts);
    if (last !== undefined && last.before === binding.conditions) return last.after;
    const after = settleConditions(binding.conditions, verdicts, now);
    settled.set(verdicts, { before: binding.conditions, after });
    return after;
  };
}

interface Settled {
  readonly before: readonly Condition[];
  readonly after: readonly Condition[];
}

/** All that a binding's verdicts depend on; null where that is an object, a failure or the member. */
function commonKey({ target, removal, facts, generation }: Binding, context: BindingContext): string | null {
  if (removal !== null || target === null || context.contactFailure !== null || context.failure !== null) return null;
  const { clusterOverrides, resourceOverrides, applyStrategy, sequence } = target;
  const overrides = clusterOverrides.length + resourceOverrides.length;
  const isFresh = facts !== null && facts.sequence === sequence;
  if (isFresh && (facts.objectFailures.length > 0 || facts.contested !== undefined)) return null;
  const said = isFresh ? `${facts.applied} ${facts.phase} ${facts.objectFailureCount}` : "nothing";
  return `${generation} ${context.heldBack} ${overrides} ${applyStrategy.type} ${said}`;
}
