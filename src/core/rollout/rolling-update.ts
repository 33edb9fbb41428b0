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
import { readinessChangesAt } from "./readiness.ts";

/** Everything that decides how far the rollout of one placement may go now. */
export interface RolloutState {
  readonly policy: PlacementPolicy;
  readonly rollingUpdate: RollingUpdate;
  /** At most one per cluster. */
  readonly bindings: readonly RolloutBinding[];
}

/** Which clusters may start now, which may not, and why. Ordered by name. */
export interface RolloutDecision {
  /** Scheduled clusters that get a version for the first time. */
  readonly bind: readonly ClusterName[];
  /** Bound clusters that get the new version: failed ones first. */
  readonly update: readonly ClusterName[];
  /** Unscheduled clusters whose removal is admitted. */
  readonly remove: readonly ClusterName[];
  /** What has to wait, in up to three groups: updates, additions, clusters picked again before they were cleaned up. */
  readonly heldBack: readonly Waiting[];
  readonly pendingRemovals: Waiting | null;
  /** When time alone lets another cluster start; null when there is no such moment or nothing waits. */
  readonly wakeAt: Instant | null;
}

/** Clusters that wait for the same reason. */
interface Waiting {
  readonly clusters: readonly ClusterName[];
  /** Ready, needed and budget as numbers, so that people see what would unblock it (`rollout/README.md#b-7`). */
  readonly arithmetic: string;
}

/**
 * Decides which clusters of a placement may change now (`rollout/README.md#numbers` to `#what-may-start`).
 *
 * Invariants: updates and removals never leave fewer ready clusters than the budget requires; a cluster known not to be
 * ready costs nothing; an unreachable one counts as not ready, and as still holding the placement.
 */
export function decideRollout({ policy, rollingUpdate, bindings: unordered }: RolloutState): RolloutDecision {
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
    wakeAt: nothingWaits ? null : earliest(...bindings.map((it) => readinessChangesAt(it.readiness))),
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

/** A failed cluster is unavailable already, so the newest version costs no budget. */
const isRetry = (it: RolloutBinding): boolean => isOutOfDate(it) && it.readiness.kind === "failed";

const isUpdateCandidate = (it: RolloutBinding): boolean => isOutOfDate(it) && it.readiness.kind !== "failed";

interface Admitted {
  readonly taken: readonly RolloutBinding[];
  readonly held: readonly RolloutBinding[];
}

/**
 * Removing a cluster known not to be ready is free (`rollout/README.md#b-3`). An unreachable one may be serving, and
 * would lose the placement the moment it comes back; one that has not reported since it got its target may have become
 * ready. Those cost no budget, but go only while it is not overdrawn: enough clusters are ready without them.
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
 * Updating a ready cluster costs budget; updating one that is not ready costs none (`rollout/README.md#b-11`), but needs
 * some to be left.
 *
 * A cluster that has reported that it is not ready needs none left either, as long as the budget is not overdrawn: it is
 * one of those that may be unavailable. So a fix reaches the cluster that needs it, and a bad version reaches no more
 * clusters than it would among healthy ones (`#i-03`).
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

/** Its member has reported that it is not available: only then does a deadline run. */
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
