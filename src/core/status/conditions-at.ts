import type { Binding } from "../model/binding.ts";
import { type Condition, settleConditions, type Verdict } from "../model/condition.ts";
import type { Instant } from "../model/value.ts";
import { type BindingContext, bindingVerdicts } from "./binding-conditions.ts";

/** Gives a binding its conditions; those that it has (`===`) where they say what they should. */
export type ConditionsOf = (binding: Binding, context: BindingContext) => readonly Condition[];

/**
 * The conditions of bindings at one moment, for one plan.
 *
 * Bindings that have the same to say share one list: a hundred thousand of them come to a handful, in memory too.
 */
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

/** All that the verdicts of a binding depend on; null where they tell of an object, of a failure or of its member. */
function commonKey({ target, removal, facts, generation }: Binding, context: BindingContext): string | null {
  if (removal !== null || target === null || context.trouble !== null || context.failure !== null) return null;
  const { clusterOverrides, resourceOverrides, applyStrategy, sequence } = target;
  const overrides = clusterOverrides.length + resourceOverrides.length;
  const isFresh = facts !== null && facts.sequence === sequence;
  if (isFresh && (facts.troubles.length > 0 || facts.contests !== undefined)) return null;
  const said = isFresh ? `${facts.applied} ${facts.phase} ${facts.troubleCount}` : "nothing";
  return `${generation} ${context.heldBack} ${overrides} ${applyStrategy.type} ${said}`;
}
