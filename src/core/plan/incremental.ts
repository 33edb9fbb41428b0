import { commonKeys, sameList, sameMap } from "../model/identity.ts";
import type { Intent } from "../model/intent.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import { rememberedPair } from "../model/memo.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import type { Placement } from "../model/placement.ts";
import type { TrustRecord } from "../model/trust.ts";
import { type ClusterName, earliest, type Instant } from "../model/value.ts";
import { overridesOf } from "../render/applicable-overrides.ts";
import { contentDigest } from "../render/resource-snapshot.ts";
import { type Selection, selectResources } from "../render/select.ts";
import { candidateOf } from "../schedule/framework/cycle.ts";
import { profiles } from "../schedule/profile.ts";
import { type CandidateChange, hasSameVerdict, isBeyondTheList } from "../schedule/schedule.ts";
import { changesSince, type FleetView } from "./facts/members.ts";
import { markObserved } from "./facts/observed-facts.ts";
import type { PlanContext } from "./moves/context.ts";
import { leavesOf } from "./moves/leaves.ts";
import { unjudgedOf } from "./placement/evictions.ts";
import { place } from "./placement/place.ts";
import { nothing, type PlacementResult, type TimedReasons } from "./placement/result.ts";
import { scheduleOf } from "./placement/schedule.ts";
import { reasonsOf } from "./reasons.ts";
import { recordsOf, runsOf } from "./runs/runs-of.ts";

/**
 * A decision about a placement in which nothing moves, and everything that it rested on.
 *
 * Invariant: it changes what a plan costs and nothing else. Whatever is not compared here has no part in it: the
 * sequence and the commit enter only what is decided anew, and what was observed of members only through the record.
 */
interface CachedDecision {
  readonly placement: Placement;
  readonly selection: Selection;
  /** The newest snapshot holds what is selected: as long as the selection stands, its content is there. */
  readonly isSelected: boolean;
  readonly overrides: readonly OverrideSnapshot[];
  readonly latestOverrides: readonly OverrideSnapshot[];
  readonly scopes: Intent["scopes"];
  readonly unusable: Intent["unusable"];
  readonly profile: Intent["fleet"]["profile"];
  /** Its update runs, all of them ended, and their documents. */
  readonly runs: readonly object[];
  /** What is protected, and from whom an approval counts. */
  readonly trust: TrustRecord | null;
  readonly fleetView: FleetView;
  /** It holds from this moment until time alone changes something. */
  readonly from: Instant;
  /** A new commit as such takes nothing away here. */
  readonly outlivesCommits: boolean;
  readonly scheduled: TimedReasons;
  /** What does not come from the scheduler, the reasons about its bindings included. */
  readonly others: TimedReasons;
}

const cachedDecisions = new WeakMap<PlacementRecord, CachedDecision>();

/** Decides a placement, or gives the result of an earlier pass where that still holds. */
export function placeCached(
  placement: Placement,
  before: PlacementRecord | null,
  context: PlanContext,
): PlacementResult {
  const known = before === null ? null : cachedResult(placement, before, context);
  if (known !== null) return known;
  const result = place(placement, before, context);
  keep(placement, result, context);
  return result;
}

/**
 * Keeps the decision about a placement in which nothing moves. Not where something leaves: that is work under way,
 * and waits for members and for people.
 */
function keep(placement: Placement, result: PlacementResult, context: PlanContext): void {
  const { record, standstill } = result;
  if (record === null || standstill === null) return;
  // What an eviction changed is observed anew.
  if (result.begun.length > 0) return;
  // Only conditions may be new, and nothing is decided by those: decided again, it comes out the same.
  markObserved(record, context);
  const snapshot = record.resourceSnapshots.at(-1);
  if (snapshot === undefined || isAtWork(record, result, context) || context.isNamed(record.key)) return;
  // What waits for an approval rests on what people say, and on who may say it.
  if (record.change !== null || result.isAsked) return;
  const { intent, now } = context.world;
  if (recordsOf(context.ledger, record.key).some((it) => it.end === null)) return;
  const { selection, scheduled, others, isSettled } = standstill;
  cachedDecisions.set(record, {
    placement,
    runs: runsAround(record, context),
    selection,
    isSelected: selection.kind === "selected" && snapshot.hash === contentDigest(selection.resources),
    overrides: overridesOf(record.key, snapshot.resources, context.latestOverrides, intent.scopes),
    latestOverrides: context.latestOverrides,
    scopes: intent.scopes,
    unusable: intent.unusable,
    profile: intent.fleet.profile,
    trust: context.consent.record,
    fleetView: context.fleetView,
    from: now,
    outlivesCommits: isSettled || context.isNewCommit,
    scheduled: { reasons: scheduled.reasons, wakeAt: scheduled.wakeAt },
    others: {
      reasons: [...others.reasons, ...reasonsOf(result, context.isHeld, context)],
      wakeAt: others.wakeAt,
    },
  });
}

const isAtWork = (
  { bindings }: PlacementRecord,
  { counted, reasons }: PlacementResult,
  context: PlanContext,
): boolean =>
  // Counted once and for all only when the pass is committed.
  counted.some((it) => leavesOf(it, context).length > 0) ||
  reasons.some((it) => it.kind === "contentLost") ||
  [...bindings.values()].some((it) => it.removal !== null || it.leaving.length > 0);

/** The result of an earlier pass, if everything that it rested on is as it was; null when the placement has to be decided anew. */
function cachedResult(placement: Placement, record: PlacementRecord, context: PlanContext): PlacementResult | null {
  const known = cachedDecisions.get(record);
  if (known === undefined || !isValid(known, placement, record, context)) return null;
  // It rests on what is decided: an eviction is judged by that.
  if (unjudgedOf(record.key, context).length > 0) return null;
  const { moved } = changesSince(known.fleetView, context.fleetView);
  for (const name of commonKeys(moved, record.bindings)) if (!isRelabelledOnly(name, known, context)) return null;
  const scheduled = isJudgedAlike(known, record, moved, context) ? known.scheduled : scheduleOf(record, context);
  if ("record" in scheduled && scheduled.record !== record) return null;
  if (known.fleetView !== context.fleetView) cachedDecisions.set(record, refreshed(known, scheduled, context));
  const { others } = known;
  return {
    ...nothing,
    record,
    runs: record.spec.strategy.type === "External" ? recordsOf(context.ledger, record.key) : null,
    reasons: [...scheduled.reasons, ...others.reasons],
    wakeAt: earliest(scheduled.wakeAt, others.wakeAt),
  };
}

const runsAround = ({ key }: PlacementRecord, { ledger, world }: PlanContext): readonly object[] => [
  ...runsOf(world.intent, key),
  ...recordsOf(ledger, key),
];

/** With more of them than this, running the whole cycle is no more work than comparing. */
const mostCompared = 32;

/** Whether the scheduler says of all members that moved what it said of them before. */
function isJudgedAlike(
  known: CachedDecision,
  { policySnapshots, bindings }: PlacementRecord,
  moved: ReadonlySet<ClusterName>,
  context: PlanContext,
): boolean {
  if (moved.size === 0) return true;
  if (moved.size > mostCompared) return false;
  const { policy } = known.placement.spec;
  const { intent, now } = context.world;
  const profile = profiles[intent.fleet.profile];
  const verdict = policySnapshots.at(-1)?.verdict ?? null;
  return [...moved].every((name) => {
    const change = changeOf(name, known, context);
    if (change === null) return false;
    if (hasSameVerdict(policy, change, profile, now)) return true;
    return verdict !== null && !bindings.has(name) && isBeyondTheList(policy, change.is, verdict, profile, now);
  });
}

/** What became of a member; null where it joined or left, or its document cannot be used. */
function changeOf(name: ClusterName, { fleetView }: CachedDecision, context: PlanContext): CandidateChange | null {
  const was = fleetView.get(name);
  const is = context.fleetView.get(name);
  if (was == null || is == null || was.cluster === null || is.cluster === null) return null;
  return { was: candidateOf(was.cluster, was.contactFailure), is: candidateOf(is.cluster, is.contactFailure) };
}

/** Whether of a member that the placement is on nothing but its document changed, which no override looks at. */
function isRelabelledOnly(name: ClusterName, known: CachedDecision, context: PlanContext): boolean {
  const was = known.fleetView.get(name);
  const is = context.fleetView.get(name);
  const isAskedAlike =
    was !== undefined && is !== undefined && (was.observation === null) === (is.observation === null);
  return isAskedAlike && was.contactFailure === is.contactFailure && known.overrides.length === 0;
}

/** The same decision, resting on what this plan sees. */
const refreshed = (known: CachedDecision, { reasons, wakeAt }: TimedReasons, context: PlanContext): CachedDecision => ({
  ...known,
  scheduled: { reasons, wakeAt },
  fleetView: context.fleetView,
  from: context.world.now,
  latestOverrides: context.latestOverrides,
  scopes: context.world.intent.scopes,
  unusable: context.world.intent.unusable,
});

function isValid(known: CachedDecision, placement: Placement, record: PlacementRecord, context: PlanContext): boolean {
  const { intent, now } = context.world;
  const until = earliest(known.scheduled.wakeAt, known.others.wakeAt);
  return (
    now >= known.from &&
    (until === null || now < until) &&
    known.profile === intent.fleet.profile &&
    known.trust === context.consent.record &&
    sameUnusable(known.unusable, intent.unusable) &&
    sameScopes(known.scopes, intent.scopes) &&
    (known.outlivesCommits || !context.isNewCommit) &&
    !context.isNamed(record.key) &&
    sameList(known.runs, runsAround(record, context)) &&
    // A selection is of one placement: another one, or this one edited, has another.
    selectResources(placement, intent) === known.selection &&
    (known.isSelected || isContentAvailable(record, context)) &&
    sameOverrides(known, record, context)
  );
}

const sameUnusable = (a: Intent["unusable"], b: Intent["unusable"]): boolean => a === b || a.size + b.size === 0;

const sameScopes = rememberedPair((a: Intent["scopes"], b: Intent["scopes"]) => sameMap(a, b));

/** Whether the content that a cluster may be brought to can be had. */
const isContentAvailable = ({ resourceSnapshots }: PlacementRecord, { content }: PlanContext): boolean =>
  resourceSnapshots.at(-1)?.resources.every((it) => content(it.digest) !== null) === true;

const sameOverrides = (
  known: CachedDecision,
  { key, resourceSnapshots }: PlacementRecord,
  context: PlanContext,
): boolean =>
  known.latestOverrides === context.latestOverrides ||
  sameList(
    known.overrides,
    overridesOf(key, resourceSnapshots.at(-1)?.resources ?? [], context.latestOverrides, context.world.intent.scopes),
  );
