import { check } from "../check/check.ts";
import type { Plan, World } from "../model/plan.ts";
import type { DefectSubject, PlanDefect, Violation } from "../model/plan-defect.ts";
import type { PlacementKey } from "../model/value.ts";
import { plan } from "../plan/plan.ts";

/** Plans for a world. */
export type Planner = (world: World) => Plan;

/** A plan that passed its check; or what is wrong with the one that was made. */
export type Decided =
  | { readonly kind: "sound"; readonly plan: Plan }
  | { readonly kind: "unsound"; readonly plan: Plan; readonly faults: readonly PlanDefect[] };

/**
 * Plans, and has the plan checked. Where every violation names a placement, it is planned once more with those placements
 * kept as recorded: that plan has to pass the whole check, and then puts them in quarantine (`plan/README.md#d-10`).
 */
export function decide(world: World, planner: Planner = plan): Decided {
  const first = planner(world);
  const faults = check(first, world);
  if (faults.length === 0) return { kind: "sound", plan: first };
  const unsound = violationsByPlacement(faults, first, world);
  if (unsound === null) return { kind: "unsound", plan: first, faults };
  const without: World = { ...world, unsound };
  const second = planner(without);
  const left = check(second, without);
  return left.length === 0
    ? { kind: "sound", plan: second }
    : { kind: "unsound", plan: first, faults: [...faults, ...left] };
}

/** Null where a violation names no placement: nobody can tell what it would take to do without. */
function violationsByPlacement(faults: readonly PlanDefect[], plan: Plan, world: World): World["unsound"] | null {
  const found = new Map<PlacementKey, Violation[]>();
  for (const { subject, code, message } of faults) {
    const placements = placementsOf(subject, plan, world);
    if (placements.length === 0) return null;
    for (const it of placements) found.set(it, [...(found.get(it) ?? []), { code, message }]);
  }
  return found;
}

function placementsOf(subject: DefectSubject, { ledger }: Plan, world: World): readonly PlacementKey[] {
  switch (subject.kind) {
    case "placement":
    case "binding":
    case "object":
      return [subject.placement];
    case "run":
    case "stage": {
      const run = ledger.runs.get(subject.run) ?? world.ledger.runs.get(subject.run);
      return run === undefined ? [] : [run.spec.placement];
    }
    case "deletion": {
      const sets = [...ledger.deletions.held, ...world.ledger.deletions.held];
      const set = sets.find((it) => it.digest === subject.digest);
      return [...new Set(set?.groups.map((it) => it.placement))];
    }
    case "ledger":
    case "trustFile":
    case "approvalFile":
    case "cluster":
      return [];
  }
}
