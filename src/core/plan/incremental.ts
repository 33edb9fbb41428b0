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
import { profiles } from "../schedule/profile.ts";
import { type CandidateChange, hasSameVerdict, isBeyondTheList } from "../schedule/schedule.ts";
import { hasBeenHeard } from "./facts/hear.ts";
import { changesSince, type Roster } from "./facts/members.ts";
import type { PlanContext } from "./moves/context.ts";
import { leavesOf } from "./moves/leaves.ts";
import { unjudgedOf } from "./placement/evictions.ts";
import { place } from "./placement/place.ts";
import { nothing, type PlacementResult, type Told } from "./placement/result.ts";
import { scheduleOf } from "./placement/schedule.ts";
import { reasonsOf } from "./reasons.ts";
import { recordsOf, runsOf } from "./runs/runs-of.ts";

/**
 * A placement about which there was nothing to decide, and everything that this rested on.
 *
 * Invariant: it can be seen in what a plan costs and nowhere else. Whatever is not compared here has no part in it: the
 * sequence and the commit enter only what is decided anew, and what members say only through the record.
 */
interface Recollection {
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
  readonly roster: Roster;
  /** It stands from this moment until something turns by itself. */
  readonly from: Instant;
  /** A new commit takes nothing away here just by being one. */
  readonly isForeseen: boolean;
  readonly scheduled: Told;
  /** What does not come from the scheduler, what is to be said of its bindings included. */
  readonly others: Told;
}

const recollections = new WeakMap<PlacementRecord, Recollection>();

/** Decides a placement, or says what is known of it from an earlier pass. */
export function placeOnce(placement: Placement, before: PlacementRecord | null, context: PlanContext): PlacementResult {
  const known = before === null ? null : recall(placement, before, context);
  if (known !== null) return known;
  const result = place(placement, before, context);
  remember(placement, result, context);
  return result;
}

/**
 * Keeps what was found out about a placement in which nothing moves. Not where something leaves: that is work under way,
 * and waits for members and for people.
 */
function remember(placement: Placement, result: PlacementResult, context: PlanContext): void {
  const { record, standstill } = result;
  if (record === null || standstill === null) return;
  // Only what is said of it may be new, and nothing is decided by that: decided again, it comes out the same.
  hasBeenHeard(record, context);
  const snapshot = record.resourceSnapshots.at(-1);
  if (snapshot === undefined || isAtWork(record, result, context) || context.isNamed(record.key)) return;
  // What waits for an approval rests on what people say, and on who may say it.
  if (record.change !== null || result.isAsked) return;
  const { intent, now } = context.world;
  if (recordsOf(context.ledger, record.key).some((it) => it.end === null)) return;
  const { selection, scheduled, others, isSettled } = standstill;
  recollections.set(record, {
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
    roster: context.roster,
    from: now,
    isForeseen: isSettled || context.isNewCommit,
    scheduled: { reasons: scheduled.reasons, wakeAt: scheduled.wakeAt },
    others: {
      reasons: [...others.reasons, ...reasonsOf(result, context.isHeld, context)],
      wakeAt: others.wakeAt,
    },
  });
}

const isAtWork = (
  { bindings }: PlacementRecord,
  { begun, counted, reasons }: PlacementResult,
  context: PlanContext,
): boolean =>
  begun.length > 0 ||
  // Counted once and for all only when the pass is committed.
  counted.some((it) => leavesOf(it, context).length > 0) ||
  reasons.some((it) => it.kind === "contentLost") ||
  [...bindings.values()].some((it) => it.removal !== null || it.leaving.length > 0);

/** What is known about a placement, if all that it rested on is as it was; null when it has to be decided anew. */
function recall(placement: Placement, record: PlacementRecord, context: PlanContext): PlacementResult | null {
  const known = recollections.get(record);
  if (known === undefined || !stands(known, placement, record, context)) return null;
  // It rests on what is decided: an eviction is judged by that.
  if (unjudgedOf(record.key, context).length > 0) return null;
  const { moved } = changesSince(known.roster, context.roster);
  for (const name of commonKeys(moved, record.bindings)) if (!isRelabelledOnly(name, known, context)) return null;
  const scheduled = isJudgedAlike(known, record, moved, context) ? known.scheduled : scheduleOf(record, context);
  if ("record" in scheduled && scheduled.record !== record) return null;
  if (known.roster !== context.roster) recollections.set(record, brought(known, scheduled, context));
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
  known: Recollection,
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
function changeOf(name: ClusterName, { roster }: Recollection, context: PlanContext): CandidateChange | null {
  const was = roster.get(name);
  const is = context.roster.get(name);
  if (was == null || is == null || was.cluster === null || is.cluster === null) return null;
  return { was: { ...was, cluster: was.cluster }, is: { ...is, cluster: is.cluster } };
}

/** Whether of a member that the placement is on nothing but its document changed, which no override looks at. */
function isRelabelledOnly(name: ClusterName, known: Recollection, context: PlanContext): boolean {
  const was = known.roster.get(name);
  const is = context.roster.get(name);
  const isHeardAlike = was !== undefined && is !== undefined && (was.said === null) === (is.said === null);
  return isHeardAlike && was.contactFailure === is.contactFailure && known.overrides.length === 0;
}

/** The same, resting on what this plan sees. */
const brought = (known: Recollection, { reasons, wakeAt }: Told, context: PlanContext): Recollection => ({
  ...known,
  scheduled: { reasons, wakeAt },
  roster: context.roster,
  from: context.world.now,
  latestOverrides: context.latestOverrides,
  scopes: context.world.intent.scopes,
  unusable: context.world.intent.unusable,
});

function stands(known: Recollection, placement: Placement, record: PlacementRecord, context: PlanContext): boolean {
  const { intent, now } = context.world;
  const until = earliest(known.scheduled.wakeAt, known.others.wakeAt);
  return (
    now >= known.from &&
    (until === null || now < until) &&
    known.profile === intent.fleet.profile &&
    known.trust === context.consent.record &&
    sameUnusable(known.unusable, intent.unusable) &&
    sameScopes(known.scopes, intent.scopes) &&
    (known.isForeseen || !context.isNewCommit) &&
    !context.isNamed(record.key) &&
    sameList(known.runs, runsAround(record, context)) &&
    // A selection is of one placement: another one, or this one edited, has another.
    selectResources(placement, intent) === known.selection &&
    (known.isSelected || canGetPlannedVersion(record, context)) &&
    sameOverrides(known, record, context)
  );
}

const sameUnusable = (a: Intent["unusable"], b: Intent["unusable"]): boolean => a === b || a.size + b.size === 0;

const sameScopes = rememberedPair((a: Intent["scopes"], b: Intent["scopes"]) => sameMap(a, b));

/** Whether the content that a cluster may be brought to can be had. */
const canGetPlannedVersion = ({ resourceSnapshots }: PlacementRecord, { content }: PlanContext): boolean =>
  resourceSnapshots.at(-1)?.resources.every((it) => content(it.digest) !== null) === true;

const sameOverrides = (
  known: Recollection,
  { key, resourceSnapshots }: PlacementRecord,
  context: PlanContext,
): boolean =>
  known.latestOverrides === context.latestOverrides ||
  sameList(
    known.overrides,
    overridesOf(key, resourceSnapshots.at(-1)?.resources ?? [], context.latestOverrides, context.world.intent.scopes),
  );
