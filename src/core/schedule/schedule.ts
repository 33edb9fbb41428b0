import type { ClusterDecision } from "../model/binding.ts";
import type { Instant } from "../model/value.ts";
import { explainUnselected } from "./explain.ts";
import { type BindingChanges, type Cycle, classify, sortedCycle } from "./framework/cycle.ts";
import { type CycleResult, type FixedPick, pickAll, pickFixed, pickN, pickNothing } from "./pick.ts";
import type { Profile } from "./profile.ts";

/** Limit of a policy snapshot. */
const maxDecisions = 1000;

/** The clusters of one placement, and why not others. */
export interface Schedule extends BindingChanges {
  /** What is recorded: selected clusters first, then at most 20 that were not, with the reason; at most 1000 in all. */
  readonly decisions: readonly ClusterDecision[];
  /** Selected clusters for which `decisions` had no room. */
  readonly unlisted: number;
  readonly wanted: number;
  readonly found: number;
  readonly fulfilled: boolean;
  /** Problems that do not change the result. */
  readonly warnings: readonly string[];
  /** Why the cycle came to no end, if that is so: nothing more is moved, and the condition is Unknown. */
  readonly failure: string | null;
  /** Nothing is to be recorded: KubeFleet's answer to an emptied PickFixed list (case `schedule/README.md#f6`). */
  readonly silent: boolean;
  /** When time alone would change the result once it is carried out; null when there is no such moment. */
  readonly wakeAt: Instant | null;
}

/**
 * Decides which clusters a placement runs on (`schedule/README.md#one-cycle`).
 *
 * Invariants: run again after being carried out, it changes nothing; the order of candidates and bindings does not
 * matter; bindings of the present policy change only when their cluster leaves or fewer clusters are wanted.
 */
export function schedule(unordered: Cycle, profile: Profile): Schedule {
  const cycle = sortedCycle(unordered);
  const classes = classify(cycle);
  const { policy } = cycle;
  switch (policy.kind) {
    case "PickAll": {
      const moves = pickAll(cycle, classes, profile);
      return explained(cycle, moves, profile, moves.selected.length);
    }
    case "PickN": {
      const moves = pickN(policy.numberOfClusters, cycle, classes, profile);
      return explained(cycle, moves, profile, policy.numberOfClusters);
    }
    case "PickFixed": {
      const silent = policy.clusterNames.length === 0 && !profile.emptyListMeansNone;
      const pick = silent ? pickNothing(classes) : pickFixed(cycle, policy, classes, profile);
      return { ...fixedSchedule(pick), silent };
    }
  }
}

function fixedSchedule({ changes, decisions, warnings, wakeAt }: FixedPick): Omit<Schedule, "silent"> {
  const found = decisions.filter((it) => it.selected).length;
  return {
    ...changes,
    decisions: decisions.slice(0, maxDecisions),
    unlisted: Math.max(0, found - maxDecisions),
    wanted: decisions.length,
    found,
    fulfilled: found === decisions.length,
    warnings,
    failure: null,
    wakeAt,
  };
}

/** Adds the decisions to be recorded (`schedule/README.md#what-is-recorded`). */
function explained(cycle: Cycle, result: CycleResult, profile: Profile, wanted: number): Schedule {
  const { create, keep, drop, selected, failure } = result;
  const { decisions, wakeAt, warnings } = explainUnselected(cycle, result, profile, wanted);
  return {
    create,
    keep,
    drop,
    decisions: [...selected, ...decisions].slice(0, maxDecisions),
    unlisted: Math.max(0, selected.length - maxDecisions),
    wanted,
    found: selected.length,
    fulfilled: failure === null && selected.length >= wanted,
    warnings,
    failure,
    silent: false,
    wakeAt,
  };
}
