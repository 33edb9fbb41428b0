import type { ClusterDecision } from "../model/ledger.ts";
import type { ClusterName, Instant } from "../model/value.ts";
import { type Cycle, classify, clustersOf, inOrder } from "./cycle.ts";
import { refusedDecision, surplusDecision } from "./decision.ts";
import { admit, prepare, rank } from "./framework.ts";
import type { Changes, Moves } from "./moves.ts";
import { pickAll } from "./pick-all.ts";
import { type FixedPick, pickFixed, pickNothing } from "./pick-fixed.ts";
import { pickN } from "./pick-n.ts";
import type { Profile } from "./profile.ts";

/** Decisions that a policy snapshot may hold, and how many of them explain clusters that were not selected. */
const maxDecisions = 1000;
const maxExplained = 20;

/** Where one placement goes, and why not elsewhere. */
export interface Schedule extends Changes {
  /** What is recorded: selected clusters first, then at most 20 that were not, with the reason; at most 1000 in all. */
  readonly decisions: readonly ClusterDecision[];
  /** Selected clusters for which `decisions` had no room. */
  readonly unlisted: number;
  readonly wanted: number;
  readonly found: number;
  readonly fulfilled: boolean;
  /** What people should know although it changed nothing. */
  readonly warnings: readonly string[];
  /** Nothing is to be recorded: KubeFleet's answer to an emptied PickFixed list (case `schedule/README.md#f6`). */
  readonly silent: boolean;
  /** When the schedule, once carried out, comes out differently by time alone; null when there is no such moment. */
  readonly wakeAt: Instant | null;
}

/**
 * Decides which clusters a placement runs on (`schedule/README.md#one-cycle`).
 *
 * Invariants: carried out and run again, it changes nothing; no order of candidates or standings matters; what stands
 * under the present policy moves only when its cluster leaves or fewer clusters are wanted.
 */
export function schedule(unordered: Cycle, profile: Profile): Schedule {
  const cycle = inOrder(unordered);
  const classes = classify(cycle);
  const { policy } = cycle;
  switch (policy.kind) {
    case "PickAll": {
      const moves = pickAll(cycle, classes, profile);
      return explained(cycle, moves, profile, selectedBy(moves).length);
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
    wakeAt,
  };
}

/**
 * Adds what is recorded to what moves (`schedule/README.md#what-is-recorded`).
 *
 * Explanations are judged after the picks, on every path alike: the next cycle, which finds the picks made, then says
 * the same, and explanations neither vanish nor flicker. Selected clusters use none of their slots (`#a-39`).
 */
function explained(cycle: Cycle, moves: Moves, { plugins }: Profile, wanted: number): Schedule {
  const selected = selectedBy(moves);
  const holders = new Set(selected.map((it) => it.cluster));
  const others = cycle.candidates.filter((it) => !holders.has(it.cluster.name));
  // Of all clusters those that leave have been judged, and are refused like any other.
  const leaving = cycle.policy.kind === "PickAll" ? new Set<never>() : leavingAfter(cycle, holders);
  const prepared = prepare({ ...cycle, holders, obsolete: new Set(), leaving }, plugins);
  const { fits, refused, wakeAt } = admit(others, prepared, maxExplained);
  const surplus = rank(fits, prepared).slice(0, maxExplained);
  const explanations = [
    ...surplus.map((it) => surplusDecision(it.candidate, it.score)),
    ...refused.slice(0, maxExplained - surplus.length).map(refusedDecision),
  ];
  return {
    create: moves.create,
    keep: moves.keep,
    drop: moves.drop,
    decisions: [...selected, ...explanations].slice(0, maxDecisions),
    unlisted: Math.max(0, selected.length - maxDecisions),
    wanted,
    found: selected.length,
    fulfilled: selected.length >= wanted,
    warnings: [],
    silent: false,
    wakeAt,
  };
}

const selectedBy = ({ create, keep, stay }: Moves): readonly ClusterDecision[] => [
  ...create,
  ...keep.map((it) => it.decision),
  ...stay.map((it) => it.decision),
];

/** Clusters whose removal will be pending once this cycle is carried out. */
const leavingAfter = ({ standings }: Cycle, holders: ReadonlySet<ClusterName>): ReadonlySet<ClusterName> =>
  clustersOf(standings.filter((it) => !holders.has(it.cluster) && !it.removing));
