import type { Binding } from "../../src/core/model/binding.ts";
import type { Plan, World } from "../../src/core/model/plan.ts";
import type { PlacementKey, Sequence } from "../../src/core/model/value.ts";
import { plan } from "../../src/core/plan/plan.ts";

/**
 * The plan for a world, with a defect in what it decides anew of one placement: nothing but the check sees that its targets
 * and removals are dated wrongly.
 */
export function planWithDefect(world: World, placement: string): Plan {
  const decided = plan(world);
  const key = placement as PlacementKey;
  const record = decided.ledger.placements.get(key);
  if (record === undefined || decided.refusal !== null) return decided;
  const old = world.ledger.placements.get(key)?.bindings;
  const bindings = new Map([...record.bindings].map(([name, it]) => [name, misdated(it, old?.get(name))]));
  if ([...bindings].every(([name, it]) => it === record.bindings.get(name))) return decided;
  const placements = new Map(decided.ledger.placements).set(key, { ...record, bindings });
  return { ...decided, ledger: { ...decided.ledger, placements } };
}

const wrong = 999_999 as Sequence;

function misdated(binding: Binding, was: Binding | undefined): Binding {
  const { target, removal } = binding;
  const isNew = target !== null && target.sequence !== was?.target?.sequence;
  const isGoing = removal !== null && was?.removal == null;
  if (!isNew && !isGoing) return binding;
  return {
    ...binding,
    target: isNew ? { ...target, sequence: wrong } : target,
    removal: isGoing ? { ...removal, sequence: wrong } : removal,
  };
}
