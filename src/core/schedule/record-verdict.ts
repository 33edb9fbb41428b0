import { known } from "../model/assert.ts";
import type { ClusterDecision } from "../model/binding.ts";
import { type Condition, settleConditions, type Verdict } from "../model/condition.ts";
import { remembered } from "../model/identity.ts";
import type { PolicySnapshot } from "../model/ledger.ts";
import type { ClusterName, Instant } from "../model/value.ts";
import type { Schedule } from "./schedule.ts";

/** Warnings that the condition's message quotes; all of them are in the decisions of their clusters. */
const warningsInMessage = 3;

/**
 * Records the result of the scheduler on its policy snapshot (`schedule/README.md#what-is-recorded`).
 *
 * Gives back `snapshot` itself when the generation, the decisions (in any order) and the condition's status and reason
 * are already recorded. The transition time moves only with the status.
 */
export function recordVerdict(
  snapshot: PolicySnapshot,
  schedule: Schedule,
  /** Of the placement. */
  generation: number,
  now: Instant,
): PolicySnapshot {
  const before = snapshot.verdict;
  if (schedule.silent) return snapshot;
  if (schedule.failure !== null) return failedSnapshot(snapshot, schedule.failure, generation, now);
  const verdict = verdictOf(schedule, generation);
  const sameSelection = before !== null && sameDecisions(before.decisions, schedule.decisions);
  if (sameSelection && before.observedGeneration === generation && saysTheSame(before.condition, verdict)) {
    return snapshot;
  }
  const settled = settleConditions(before === null ? [] : [before.condition], [verdict], now);
  return {
    ...snapshot,
    verdict: {
      observedGeneration: generation,
      condition: known(settled[0], "one verdict settles to one condition"),
      decisions: sameSelection ? before.decisions : schedule.decisions,
    },
  };
}

/** What was decided before stands; the condition says why nothing is decided now (`schedule/README.md#a-46`). */
function failedSnapshot(snapshot: PolicySnapshot, failure: string, generation: number, now: Instant): PolicySnapshot {
  const before = snapshot.verdict;
  const verdict: Verdict = {
    type: "Scheduled",
    status: "Unknown",
    reason: "SchedulingFailed",
    message: failure,
    observedGeneration: generation,
  };
  const isSaid = before?.observedGeneration === generation && saysTheSame(before.condition, verdict);
  if (isSaid) return snapshot;
  const settled = settleConditions(before === null ? [] : [before.condition], [verdict], now);
  const condition = known(settled[0], "one verdict settles to one condition");
  return { ...snapshot, verdict: { observedGeneration: generation, condition, decisions: before?.decisions ?? [] } };
}

const verdictOf = (schedule: Schedule, observedGeneration: number): Verdict => ({
  type: "Scheduled",
  status: schedule.fulfilled ? "True" : "False",
  reason: schedule.fulfilled ? "SchedulingPolicyFulfilled" : "SchedulingPolicyUnfulfilled",
  message: messageOf(schedule),
  observedGeneration,
});

function messageOf({ found, wanted, fulfilled, unlisted, warnings }: Schedule): string {
  const clusters = (count: number): string => (count === 1 ? "1 cluster" : `${count} clusters`);
  const more = warnings.length - warningsInMessage;
  return [
    fulfilled ? `picked ${clusters(found)}` : `found ${found} of ${clusters(wanted)}; the decisions say why not more`,
    ...(unlisted > 0 ? [`${unlisted} of them are not listed`] : []),
    ...warnings.slice(0, warningsInMessage),
    ...(more > 0 ? [`${more} more warnings stand in the decisions`] : []),
  ].join("; ");
}

/** Whether two conditions have the same status and reason, regardless of message and times. */
export const saysTheSame = (a: Said, b: Said): boolean => a.status === b.status && a.reason === b.reason;

type Said = Pick<Condition, "status" | "reason">;

/** Whether the decisions are the same, in whatever order. */
export function sameDecisions(before: readonly ClusterDecision[], after: readonly ClusterDecision[]): boolean {
  if (before.length !== after.length) return false;
  // Most of what is selected is the very same, in the same order.
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  return same === 0
    ? sameInAnyOrder(before, after, placesIn(before))
    : sameInAnyOrder(before.slice(same), after.slice(same), placesOf(before.slice(same)));
}

function sameInAnyOrder(
  before: readonly ClusterDecision[],
  after: readonly ClusterDecision[],
  places: ReadonlyMap<ClusterName, number>,
): boolean {
  // A hand-made record may list one cluster twice and omit another, and a hub may have two bindings on one.
  if (places.size < before.length) return sameListings(before, after);
  const isMet = new Uint8Array(before.length);
  for (const it of after) {
    const place = places.get(it.cluster);
    const old = place === undefined ? undefined : before[place];
    if (place === undefined || old === undefined || (old !== it && !sameDecision(old, it))) return false;
    if (isMet[place] === 1) return false;
    isMet[place] = 1;
  }
  return true;
}

/** Whether two lists say the same of the same clusters; of those that they name twice, the last one counts. */
function sameListings(before: readonly ClusterDecision[], after: readonly ClusterDecision[]): boolean {
  const byCluster = new Map(before.map((it) => [it.cluster, it]));
  if (byCluster.size !== new Set(after.map((it) => it.cluster)).size) return false;
  return after.every((it) => {
    const old = byCluster.get(it.cluster);
    return old !== undefined && sameDecision(old, it);
  });
}

function placesOf(decisions: readonly ClusterDecision[]): ReadonlyMap<ClusterName, number> {
  const places = new Map<ClusterName, number>();
  for (let at = 0; at < decisions.length; at++) places.set((decisions[at] as ClusterDecision).cluster, at);
  return places;
}

const placesIn = remembered(placesOf);

/** Whether two decisions have the same outcome, reason and scores. */
export const sameDecision = (a: ClusterDecision, b: ClusterDecision): boolean =>
  a.selected === b.selected &&
  a.reason === b.reason &&
  a.score?.affinity === b.score?.affinity &&
  a.score?.topology === b.score?.topology;
