import type { PlacementPolicy, RollingUpdate } from "../model/placement.ts";
import { type ClusterName, compareText, earliest, type Instant } from "../model/value.ts";
import {
  type Budget,
  budgetOf,
  explainAdditions,
  explainRemovals,
  explainUpdates,
  type RolloutBinding,
} from "./budget.ts";
import { turnsAt } from "./readiness.ts";

/** Everything that decides how far one placement's rollout may go now. */
export interface RolloutState {
  readonly policy: PlacementPolicy;
  readonly rollingUpdate: RollingUpdate;
  /** At most one per cluster. */
  readonly bindings: readonly RolloutBinding[];
}

/** What may start now, what may not, and why not. Clusters are ordered by name. */
export interface RollOut {
  /** Scheduled clusters that get their first version. */
  readonly bind: readonly ClusterName[];
  /** Bound clusters that get the new version: failed ones first, which lose nothing by it. */
  readonly update: readonly ClusterName[];
  /** Unscheduled clusters whose removal is admitted. */
  readonly remove: readonly ClusterName[];
  /** What the budget holds back, in up to three groups: updates, additions, clusters picked again too early. */
  readonly heldBack: readonly Waiting[];
  readonly pendingRemovals: Waiting | null;
  /** When time alone would let another cluster start; null when there is no such moment or nothing waits. */
  readonly wakeAt: Instant | null;
}

/** Clusters that wait for the same thing. */
interface Waiting {
  readonly clusters: readonly ClusterName[];
  /** Ready, needed, budget: in numbers, so that people can see what would unblock it (`rollout/README.md#b-7`). */
  readonly arithmetic: string;
}

/**
 * Decides which clusters of a placement may change now (`rollout/README.md#numbers` to `#what-may-start`).
 *
 * Invariants: updates and removals never leave fewer ready clusters than the budget asks for; a cluster that is known
 * not to be ready costs nothing; one that nobody can see counts as not ready and as still holding.
 */
export function rollOut({ policy, rollingUpdate, bindings: unordered }: RolloutState): RollOut {
  const bindings = inOrder(unordered);
  const budget = budgetOf(policy, rollingUpdate, bindings);
  const removals = admitRemovals(bindings.filter(isRemovalCandidate), budget);
  const updates = admitUpdates(bindings.filter(isUpdateCandidate), budget);
  const additions = splitAt(bindings.filter(isAdditionCandidate), budget.additions);
  const heldBack = [
    waiting(updates.held, () => explainUpdates(budget, updates.readyTaken)),
    waiting(additions.held, () => explainAdditions(budget)),
    waiting(bindings.filter(isPickedTooEarly), () => "what was there before has to be gone first"),
  ].flatMap((it) => it ?? []);
  const pendingRemovals = waiting(removals.held, () => explainRemovals(budget));
  const nothingWaits = heldBack.length === 0 && pendingRemovals === null;
  return {
    bind: names(additions.taken),
    update: names([...bindings.filter(isRetry), ...updates.taken]),
    remove: names(removals.taken),
    heldBack,
    pendingRemovals,
    wakeAt: nothingWaits ? null : earliest(...bindings.map((it) => turnsAt(it.readiness))),
  };
}

function inOrder(bindings: readonly RolloutBinding[]): readonly RolloutBinding[] {
  const isOrdered = bindings.every((it, at) => at === 0 || (bindings[at - 1] as RolloutBinding).cluster < it.cluster);
  return isOrdered ? bindings : [...bindings].sort((a, b) => compareText(a.cluster, b.cluster));
}

const isRemovalCandidate = ({ state, removing }: RolloutBinding): boolean => state === "Unscheduled" && !removing;

const isOutOfDate = ({ state, removing, upToDate }: RolloutBinding): boolean =>
  state === "Bound" && !removing && !upToDate;

const isAdditionCandidate = ({ state, removing, upToDate }: RolloutBinding): boolean =>
  state === "Scheduled" && !removing && !upToDate;

const isPickedTooEarly = ({ state, removing }: RolloutBinding): boolean => state === "Scheduled" && removing;

/** A failed cluster is unavailable already, so the newest version cannot hurt: outside of any budget. */
const isRetry = (it: RolloutBinding): boolean => isOutOfDate(it) && it.readiness.kind === "failed";

const isUpdateCandidate = (it: RolloutBinding): boolean => isOutOfDate(it) && it.readiness.kind !== "failed";

interface Admitted {
  readonly taken: readonly RolloutBinding[];
  readonly held: readonly RolloutBinding[];
}

/**
 * Removing a cluster that is known not to be ready is free (`rollout/README.md#b-3`). One that nobody can see may be
 * serving, and its removal would be carried out the moment it comes back; one that was not heard since it got its
 * target may have come up. They take nothing of the budget, and go only while it is not overdrawn: as many as needed
 * are ready without them.
 */
function admitRemovals(candidates: readonly RolloutBinding[], { removals }: Budget): Admitted {
  let left = removals;
  return split(candidates, ({ readiness }) => {
    if (isKnownDown(readiness)) return true;
    const takes = readiness.kind === "available" ? 1 : 0;
    if (left < takes) return false;
    left -= takes;
    return true;
  });
}

const isKnownDown = (it: RolloutBinding["readiness"]): boolean =>
  it.kind === "failed" || it.kind === "untrackable" || (it.kind === "progressing" && it.isHeard);

/**
 * A ready cluster needs a budget and uses it up; one that is not ready anyway uses up nothing
 * (`rollout/README.md#b-11`).
 *
 * One that has answered, and is known to be down, does not need any left either: as long as the budget is not
 * overdrawn, those that are not ready are no more than may be, and it is one of them. So a fix reaches the cluster that
 * waits for it, and a version that is none reaches no more clusters than it would among healthy ones (`#i-03`).
 */
function admitUpdates(candidates: readonly RolloutBinding[], { updates }: Budget): Admitted & { readyTaken: number } {
  let readyTaken = 0;
  const admitted = split(candidates, (it) => {
    if (updates - readyTaken < (isDown(it) ? 0 : 1)) return false;
    if (it.readiness.kind === "available") readyTaken += 1;
    return true;
  });
  return { ...admitted, readyTaken };
}

/** Its member answered, and did not say that it is available: only then does a deadline run. */
const isDown = ({ readiness }: RolloutBinding): boolean =>
  readiness.kind === "progressing" && readiness.failsAt !== null;

function split(candidates: readonly RolloutBinding[], admits: (it: RolloutBinding) => boolean): Admitted {
  const taken: RolloutBinding[] = [];
  const held: RolloutBinding[] = [];
  for (const candidate of candidates) (admits(candidate) ? taken : held).push(candidate);
  return { taken, held };
}

const splitAt = (candidates: readonly RolloutBinding[], count: number): Admitted => ({
  taken: candidates.slice(0, Math.max(0, count)),
  held: candidates.slice(Math.max(0, count)),
});

const names = (bindings: readonly RolloutBinding[]): readonly ClusterName[] => bindings.map((it) => it.cluster);

const waiting = (held: readonly RolloutBinding[], arithmetic: () => string): Waiting | null =>
  held.length === 0 ? null : { clusters: names(held), arithmetic: arithmetic() };
