import { commonKeys, rememberedPair, sameList } from "../model/identity.ts";
import type { Intent } from "../model/intent.ts";
import type { Inventory } from "../model/inventory.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { Placement } from "../model/placement.ts";
import type { World } from "../model/plan.ts";
import type { TrustRecord } from "../model/trust.ts";
import { type ClusterName, earliest, type PlacementKey } from "../model/value.ts";
import { untilAsked } from "./actions.ts";
import {
  type DecisionBasis,
  decisionBasisOf,
  isRelabelledOnly,
  isScheduledAlike,
  isUnchanged,
  refreshed,
} from "./decision-basis.ts";
import { calmFrom } from "./facts/contests.ts";
import { changesSince, type FleetView } from "./facts/members.ts";
import { type ObservationContext, withObservedFacts } from "./facts/observed-facts.ts";
import { type Finding, findings, holdsAt } from "./finding.ts";
import { isEnding } from "./guard/settle-hand-overs.ts";
import type { PlanContext } from "./moves/context.ts";
import { isOnlyHandingOver, nextOwnersOf } from "./moves/hand-over.ts";
import { explainsAlike, type OrphanCounts, type OrphanInput, orphansIn } from "./orphans.ts";
import { unjudgedOf } from "./placement/evictions.ts";
import { place } from "./placement/place.ts";
import { removePlacement } from "./placement/removal.ts";
import { nothing, type PlacementResult, type TimedReasons } from "./placement/result.ts";
import { scheduleOf } from "./placement/schedule.ts";
import { reasonsOf } from "./reasons.ts";
import { recordsOf } from "./runs/runs-of.ts";

// What was found out stands beside the decisions, and changes what a plan costs and nothing else: cost follows change.
// Everywhere else in this room it is decided as if for the first time.

const membersChanged = (before: FleetView, after: FleetView): ReadonlySet<ClusterName> =>
  changesSince(before, after).all;

/** Records that hold all that was observed. */
const complete = findings<PlacementRecord, FleetView, ClusterName, true>(membersChanged);

/** The placement with what the members say of it, of which only those are heard that changed since it last held all. */
export function withChangedFacts(record: PlacementRecord, context: ObservationContext): PlacementRecord {
  const { fleetView: basis, now } = context;
  let next = record;
  complete(record, { basis, keys: record.bindings, now }, (members) => {
    next = withObservedFacts(record, context, members);
    return next === record ? { found: true, until: calmFrom(record, context.trustedObservations) } : null;
  });
  return next;
}

/** What else it rests on that a placement asks nothing of any member. */
interface Surroundings {
  readonly fleetView: FleetView;
  /** Those for whom it keeps something: their turn may come. */
  readonly nextOwners: readonly (PlacementRecord | null)[];
  /** What is kept for them is rendered by these. */
  readonly scopes: Intent["scopes"] | null;
}

const isSameAround = (before: Surroundings, after: Surroundings): boolean =>
  before.scopes === after.scopes && sameList(before.nextOwners, after.nextOwners);

const idleRecords = () =>
  findings<PlacementRecord, Surroundings, ClusterName, true>(
    (before, after) => (isSameAround(before, after) ? membersChanged(before.fleetView, after.fleetView) : null),
    (before, after) => before.fleetView === after.fleetView && isSameAround(before, after),
  );

/** Records that ask nothing of any member; patience is the world's, and a process nearly always has the same one. */
const asksNothing: Readonly<Record<World["patience"], ReturnType<typeof idleRecords>>> = {
  none: idleRecords(),
  retryAt: idleRecords(),
};

/** Whether a placement asks nothing of any member, by the ledger as it is decided. */
export function isKnownIdle(record: PlacementRecord, ledger: Ledger, context: PlanContext): boolean {
  const { now, patience, intent } = context.world;
  const owners = nextOwnersOf(record.bindings);
  const basis: Surroundings = {
    fleetView: context.fleetView,
    nextOwners: owners.map((it) => ledger.placements.get(it) ?? null),
    scopes: owners.length === 0 ? null : intent.scopes,
  };
  const present = { basis, keys: record.bindings, now };
  const look = (members: Iterable<ClusterName>) => {
    const asked = untilAsked(record, members, ledger, context);
    return asked === null ? null : { found: true as const, until: asked.until };
  };
  return asksNothing[patience](record, present, look) !== null;
}

/** What orphans on a member are counted by, besides its inventory. */
interface Explanation {
  readonly cluster: ClusterName;
  readonly placements: Ledger["placements"];
}

const recordsChanged = rememberedPair(
  (before: Ledger["placements"], after: Ledger["placements"]): ReadonlySet<PlacementKey> => {
    const changed = new Set<PlacementKey>();
    for (const [key, record] of after) if (!explainsAlike(before.get(key), record)) changed.add(key);
    for (const key of before.keys()) if (!after.has(key)) changed.add(key);
    return changed;
  },
);

const orphans = findings<Inventory, Explanation, PlacementKey, OrphanCounts>(
  (before, after) => (before.cluster === after.cluster ? recordsChanged(before.placements, after.placements) : null),
  (before, after) => before.cluster === after.cluster && before.placements === after.placements,
);

const noOrphans: OrphanCounts = new Map();

/** Orphans on a member by placement, of which only those are counted again that the ledger explains in another way. */
export function orphansOn(input: OrphanInput): OrphanCounts {
  const { cluster, inventory, ledger, context } = input;
  const basis = { cluster, placements: ledger.placements };
  const found = orphans(inventory, { basis, keys: inventory.placements, now: context.world.now }, (keys, before) => ({
    found: orphansIn(input, keys, before ?? noOrphans),
    until: null,
  }));
  return found ?? noOrphans;
}

/** Where a placement goes, and what else is to be said of it while nothing moves. */
interface Decision {
  readonly scheduled: TimedReasons;
  /** What does not come from the scheduler, the reasons about its bindings included. */
  readonly others: TimedReasons;
}

const decisions = new WeakMap<PlacementRecord, Finding<DecisionBasis, Decision>>();

/** Runs the scheduler over a placement that is asked for, or gives it as it is where an earlier pass left it there. */
export const scheduleCached: typeof scheduleOf = (record, context) => {
  const placement = context.world.intent.placements.get(record.key);
  const known = placement === undefined ? null : validDecision(placement, record, context);
  if (known === null) return scheduleOf(record, context);
  const { moved } = changesSince(known.basis.fleetView, context.fleetView);
  const isAlike = isScheduledAlike(known.basis, record, moved, context);
  return isAlike ? { record, ...known.found.scheduled } : scheduleOf(record, context);
};

/** Decides a placement, or gives the result of an earlier pass where that still holds. */
export function placeCached(
  placement: Placement,
  before: PlacementRecord | null,
  context: PlanContext,
): PlacementResult {
  const known = before === null || isEnding(before, context) ? null : validDecision(placement, before, context);
  if (before === null || known === null) return decided(placement, before, context, scheduleOf);
  const { moved } = changesSince(known.basis.fleetView, context.fleetView);
  const scheduled = scheduleCached(before, context);
  const schedule: typeof scheduleOf = (it) => (it === before ? scheduled : scheduleOf(it, context));
  const isOff = [...commonKeys(moved, before.bindings)].every((it) => isRelabelledOnly(it, known.basis, context));
  if (!isOff || scheduled.record !== before) return decided(placement, before, context, schedule);
  const found = { ...known.found, scheduled: { reasons: scheduled.reasons, wakeAt: scheduled.wakeAt } };
  if (known.basis.fleetView !== context.fleetView) keep(before, found, refreshed(known.basis, context), context);
  return {
    ...nothing,
    record: before,
    runs: before.spec.strategy.type === "External" ? recordsOf(context.ledger, before.key) : null,
    reasons: [...found.scheduled.reasons, ...found.others.reasons],
    wakeAt: earliest(found.scheduled.wakeAt, found.others.wakeAt),
  };
}

/** The decision of an earlier pass, if everything that it rested on is as it was, members apart. */
function validDecision(
  placement: Placement,
  record: PlacementRecord,
  context: PlanContext,
): Finding<DecisionBasis, Decision> | null {
  const known = decisions.get(record);
  if (known === undefined || !holdsAt(known, context.world.now)) return null;
  if (!isUnchanged(known.basis, placement, record, context)) return null;
  // An eviction is judged by what is decided.
  return unjudgedOf(record.key, context).length > 0 ? null : known;
}

/** What is removed, from where, and by whose word: a member that changed is looked at with all the others. */
interface RemovalBasis {
  readonly fleetView: FleetView;
  readonly trust: TrustRecord | null;
}

/** Placements whose files were removed and that only wait to hand over what they have. */
const handingOver = findings<PlacementRecord, RemovalBasis, ClusterName, TimedReasons>(
  (before, after) => (before.trust === after.trust ? membersChanged(before.fleetView, after.fleetView) : null),
  (before, after) => before.trust === after.trust && before.fleetView === after.fleetView,
);

/** Decides a placement whose file was removed, or gives the result of an earlier pass where that still holds. */
export function removeCached(before: PlacementRecord, context: PlanContext): PlacementResult {
  const isOpen = unjudgedOf(before.key, context).length > 0 || context.isNamed(before.key) || isEnding(before, context);
  if (isOpen || before.change !== null) return removePlacement(before, context);
  const basis = { fleetView: context.fleetView, trust: context.consent.record };
  let result: PlacementResult | null = null;
  const found = handingOver(before, { basis, keys: before.bindings, now: context.world.now }, (members, known) => {
    if (known !== null && [...members].length === 0) return { found: known, until: null };
    result = removePlacement(before, context);
    const { record, reasons, wakeAt, isAsked } = result;
    const isWaiting = [...before.bindings.values()].every((it) => it.removal !== null && isOnlyHandingOver(it));
    if (record !== before || isAsked || !isWaiting) return null;
    const all = [...reasons, ...reasonsOf(result, context.isHeld, context)];
    const until = earliest(wakeAt, calmFrom(before, context.trustedObservations));
    return { found: { reasons: all, wakeAt }, until };
  });
  return result ?? (found === null ? removePlacement(before, context) : { ...nothing, record: before, ...found });
}

function keep(record: PlacementRecord, found: Decision, basis: DecisionBasis, { world }: PlanContext): void {
  const until = earliest(found.scheduled.wakeAt, found.others.wakeAt);
  decisions.set(record, { found, basis, from: world.now, until });
}

/** Decides a placement, and keeps the decision where nothing moves. */
function decided(
  placement: Placement,
  before: PlacementRecord | null,
  context: PlanContext,
  schedule: typeof scheduleOf,
): PlacementResult {
  const result = place(placement, before, context, schedule);
  const { record, standstill } = result;
  // What an eviction changed is observed anew.
  if (record === null || standstill === null || result.begun.length > 0) return result;
  // Only conditions may be new, and nothing is decided by those: decided again, it comes out the same.
  const until = calmFrom(record, context.trustedObservations);
  const present = { basis: context.fleetView, keys: record.bindings, now: context.world.now };
  complete(record, present, () => ({ found: true, until }));
  const basis = decisionBasisOf(placement, result, context);
  if (basis === null) return result;
  const { scheduled, others } = standstill;
  const reasons = [...others.reasons, ...reasonsOf(result, context.isHeld, context)];
  const found = {
    scheduled: { reasons: scheduled.reasons, wakeAt: scheduled.wakeAt },
    others: { reasons, wakeAt: others.wakeAt },
  };
  keep(record, found, basis, context);
  return result;
}
