import type { Binding, ClusterDecision } from "../model/binding.ts";
import type { PolicySnapshot } from "../model/ledger.ts";
import type { PlacementPolicy } from "../model/placement.ts";
import { compareText, type Instant } from "../model/value.ts";
import { explainUnselected, maxExplained } from "./explain.ts";
import { type BindingChanges, type Candidate, type Cycle, classify, sortedCycle } from "./framework/cycle.ts";
import { filterCandidates, preparePlugins, rankCandidates, warningsOf } from "./framework/judging.ts";
import type { CandidateChange, Ranked, Situation } from "./framework/plugin.ts";
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

/**
 * Whether a cycle gives the same result although a candidate that the placement is not on has changed: every plugin
 * gives the same verdict on it, to the word. So relabelling a cluster only affects placements that look at the label.
 *
 * False only means that the cycle has to run. True needs plugins that judge every candidate by itself.
 */
export function hasSameVerdict(
  policy: PlacementPolicy,
  { was, is }: CandidateChange,
  profile: Profile,
  now: Instant,
): boolean {
  if (was.cluster.name !== is.cluster.name) return false;
  if (policy.kind === "PickFixed") return !policy.clusterNames.includes(is.cluster.name);
  if (!isSeenAlike({ was, is }, policy, profile)) return false;
  const [before, after] = [was, is].map((candidate) => {
    const prepared = preparePlugins(aloneWith(candidate, policy, now), profile.plugins);
    const { fits, refused, wakeAt } = filterCandidates([candidate], prepared, 1);
    return {
      score: rankCandidates(fits, prepared)[0]?.score,
      refused: refused[0],
      wakeAt,
      warnings: warningsOf(prepared),
    };
  });
  return (
    before?.warnings.join("\n") === after?.warnings.join("\n") &&
    before?.wakeAt === after?.wakeAt &&
    before?.refused?.plugin === after?.refused?.plugin &&
    before?.refused?.because === after?.refused?.because &&
    before?.score?.topology === after?.score?.topology &&
    before?.score?.affinity === after?.score?.affinity &&
    before?.score?.stickiness === after?.score?.stickiness
  );
}

/** Whether the verdicts on all other candidates rest on the same. */
const isSeenAlike = ({ was, is }: CandidateChange, policy: PlacementPolicy, { plugins }: Profile): boolean =>
  plugins.every((it) => it.othersSee === undefined || it.othersSee(was, policy) === it.othersSee(is, policy));

const aloneWith = (candidate: Candidate, policy: PlacementPolicy, now: Instant): Situation => ({
  policy,
  namespace: null,
  candidates: [candidate],
  now,
  holders: nobody,
  obsolete: nobody,
  leaving: nobody,
});

const nobody: ReadonlySet<never> = new Set();

/**
 * Whether a cycle that was carried out gives the same result although contact with a candidate was lost or found again:
 * the placement is on it under the policy in force, stays there whatever becomes of it, and nobody judges it.
 *
 * `latest` is the index of the policy snapshot in force. False only means that the cycle has to run: the clusters that
 * PickFixed names are judged in every one.
 */
export const staysInTouchOrNot = (
  policy: PlacementPolicy,
  change: CandidateChange,
  { state, removal, policySnapshot, latest }: PlacedBinding,
  profile: Profile,
): boolean =>
  policy.kind !== "PickFixed" &&
  change.was.cluster === change.is.cluster &&
  change.was.facts === change.is.facts &&
  state !== "Unscheduled" &&
  removal === null &&
  policySnapshot === latest &&
  isSeenAlike(change, policy, profile);

interface PlacedBinding extends Pick<Binding, "state" | "removal" | "policySnapshot"> {
  readonly latest: number;
}

/**
 * Whether a cycle gives the same result although a candidate changed that the placement is not on and that its record
 * does not list: the placement has all that it wants, the list of those that are not needed is full, and the candidate
 * does not come to stand in it. So a member out of contact only affects placements that are on it, or next to it.
 *
 * `recorded` is the verdict on the policy in force. False only means that the cycle has to run.
 */
export function isBeyondTheList(
  policy: PlacementPolicy,
  { was, is: candidate }: CandidateChange,
  recorded: NonNullable<PolicySnapshot["verdict"]>,
  { plugins }: Profile,
  now: Instant,
): boolean {
  const { decisions, condition } = recorded;
  if (policy.kind !== "PickN" || condition.status !== "True") return false;
  if (plugins.some((it) => (it.othersSee?.(candidate, policy) ?? "") !== "")) return false;
  const { name } = candidate.cluster;
  const surplus = decisions.filter((it) => !it.selected && it.score !== null);
  if (surplus.length < maxExplained || decisions.some((it) => it.cluster === name)) return false;
  const prepared = preparePlugins(aloneWith(candidate, policy, now), plugins);
  if (was.facts !== candidate.facts && !isWarnedAlike(warningsOf(prepared), aloneWith(was, policy, now), plugins))
    return false;
  const [ranked] = rankCandidates(filterCandidates([candidate], prepared, 0).fits, prepared);
  return ranked === undefined || surplus.every((it) => isBehind(ranked, it));
}

const isWarnedAlike = (warnings: readonly string[], before: Situation, plugins: Profile["plugins"]): boolean =>
  warningsOf(preparePlugins(before, plugins)).join("\n") === warnings.join("\n");

const isBehind = ({ candidate, score }: Ranked, { cluster, score: listed }: ClusterDecision): boolean =>
  listed !== null &&
  (score.topology - listed.topology ||
    score.affinity - listed.affinity ||
    compareText(candidate.cluster.name, cluster)) < 0;
