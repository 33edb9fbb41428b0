import { clusterGrantsOf, type Tenant } from "../model/fleet.ts";
import { rememberedPair, sameList, sameMap } from "../model/identity.ts";
import type { Intent } from "../model/intent.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import type { Placement } from "../model/placement.ts";
import type { TrustRecord } from "../model/trust.ts";
import type { ClusterName } from "../model/value.ts";
import { overridesOf } from "../render/applicable-overrides.ts";
import { contentDigest } from "../render/resource-snapshot.ts";
import { type Selection, selectResources } from "../render/select.ts";
import { candidateOf } from "../schedule/framework/cycle.ts";
import type { CandidateChange } from "../schedule/framework/plugin.ts";
import { profiles } from "../schedule/profile.ts";
import { hasSameOutcome, hasSameVerdict, isLookedPast } from "../schedule/same-outcome.ts";
import { changesSince, type FleetView } from "./facts/members.ts";
import type { PlanContext } from "./moves/context.ts";
import { isOnlyHandingOver } from "./moves/hand-over.ts";
import { leavesOf } from "./moves/leaves.ts";
import type { PlacementResult } from "./placement/result.ts";
import { recordsOf, runsOf } from "./runs/runs-of.ts";

/**
 * Everything that a decision about a placement in which nothing moves rested on, its record and time apart.
 *
 * Invariant: it changes what a plan costs and nothing else. Whatever is not compared here has no part in it: the
 * sequence and the commit enter only what is decided anew, and what was observed of members only through the record.
 */
export interface DecisionBasis {
  readonly placement: Placement;
  /** Where it may go, as its tenant is granted. */
  readonly grants: readonly Tenant[];
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
  /** A new commit as such takes nothing away here. */
  readonly outlivesCommits: boolean;
}

/**
 * What the decision about a placement rests on; null where something moves or leaves: that is work under way, and waits
 * for members and for people.
 */
export function decisionBasisOf(
  placement: Placement,
  result: PlacementResult,
  context: PlanContext,
): DecisionBasis | null {
  const { record, standstill } = result;
  if (record === null || standstill === null) return null;
  const snapshot = record.resourceSnapshots.at(-1);
  // No run ever brought anything of it.
  const isUnrolled = snapshot === undefined && record.spec.strategy.type === "External";
  if (snapshot === undefined && !isUnrolled) return null;
  if (isAtWork(record, result, context) || context.isNamed(record.key)) return null;
  // What waits for an approval rests on what people say, and on who may say it.
  if (record.change !== null || result.isAsked) return null;
  if (recordsOf(context.ledger, record.key).some((it) => it.end === null)) return null;
  const { intent } = context.world;
  const { selection, isSettled } = standstill;
  return {
    placement,
    grants: clusterGrantsOf(placement.source, intent.tenants),
    runs: runsAround(record, context),
    selection,
    isSelected:
      snapshot === undefined || (selection.kind === "selected" && snapshot.hash === contentDigest(selection.resources)),
    overrides: overridesOf(record.key, snapshot?.resources ?? [], context.latestOverrides, intent.scopes),
    latestOverrides: context.latestOverrides,
    scopes: intent.scopes,
    unusable: intent.unusable,
    profile: intent.fleet.profile,
    trust: context.consent.record,
    fleetView: context.fleetView,
    outlivesCommits: isSettled || context.isNewCommit,
  };
}

const isAtWork = (
  { bindings }: PlacementRecord,
  { counted, pending, reasons }: PlacementResult,
  context: PlanContext,
): boolean =>
  // Counted once and for all only when the pass is committed.
  counted.some((it) => leavesOf(it, context).length > 0) ||
  // What others are to take over once its turn comes is counted as soon as they do not want it any more.
  pending.some((it) => leavesOf(it, context).some(({ fate }) => fate === "handOver")) ||
  reasons.some((it) => it.kind === "contentLost") ||
  // What only waits to be handed over is looked after before the placement is decided.
  [...bindings.values()].some((it) => (it.removal !== null || it.leaving.length > 0) && !isOnlyHandingOver(it));

const runsAround = ({ key }: PlacementRecord, { ledger, world }: PlanContext): readonly object[] => [
  ...runsOf(world.intent, key),
  ...recordsOf(ledger, key),
];

/** With more of them than this, running the whole cycle is no more work than comparing. */
const mostCompared = 32;

/** Whether the scheduler says of all members that moved what it said of them before. */
export function isScheduledAlike(
  basis: DecisionBasis,
  { namespace, policySnapshots, bindings }: PlacementRecord,
  moved: ReadonlySet<ClusterName>,
  context: PlanContext,
): boolean {
  if (moved.size === 0) return true;
  if (moved.size > mostCompared) return false;
  const { policy } = basis.placement.spec;
  const { intent, now } = context.world;
  const profile = profiles[intent.fleet.profile];
  const latest = policySnapshots.at(-1) ?? { index: 0, verdict: null };
  const { candidates } = context;
  const cycle = { policy, namespace, grants: clusterGrantsOf(basis.placement.source, intent.tenants), candidates, now };
  const changes = changesIn(basis.fleetView, context.fleetView);
  for (const name of moved) {
    const change = changes.get(name) ?? null;
    if (change === null) return false;
    if (isLookedPast(cycle, change, profile)) continue;
    if (hasSameOutcome(cycle, change, { binding: bindings.get(name) ?? null, latest }, profile)) continue;
    if (!hasSameVerdict(cycle, change, profile)) return false;
  }
  return true;
}

/** What became of the members that moved; null where one joined or left, or its document cannot be used. */
const changesIn = rememberedPair(
  (before: FleetView, after: FleetView): ReadonlyMap<ClusterName, CandidateChange | null> => {
    const changeOf = (name: ClusterName): CandidateChange | null => {
      const was = before.get(name);
      const is = after.get(name);
      if (was == null || is == null || was.cluster === null || is.cluster === null) return null;
      return { was: candidateOf(was.cluster, was), is: candidateOf(is.cluster, is) };
    };
    return new Map([...changesSince(before, after).moved].map((it) => [it, changeOf(it)]));
  },
);

/** Whether of a member that the placement is on nothing but facts changed, or its document, which no override looks at. */
export function isRelabelledOnly(name: ClusterName, basis: DecisionBasis, context: PlanContext): boolean {
  const was = basis.fleetView.get(name);
  const is = context.fleetView.get(name);
  const isAskedAlike =
    was !== undefined && is !== undefined && (was.observation === null) === (is.observation === null);
  const isReadAlike = was?.cluster === is?.cluster || basis.overrides.length === 0;
  return isAskedAlike && was.contactFailure === is.contactFailure && isReadAlike;
}

/** The same, as this plan sees it. */
export const refreshed = (basis: DecisionBasis, { fleetView, latestOverrides, world }: PlanContext): DecisionBasis => ({
  ...basis,
  fleetView,
  latestOverrides,
  scopes: world.intent.scopes,
  unusable: world.intent.unusable,
});

/** Whether all that a decision rested on is as it was, members apart. */
export function isUnchanged(
  basis: DecisionBasis,
  placement: Placement,
  record: PlacementRecord,
  context: PlanContext,
): boolean {
  return (
    basis.trust === context.consent.record &&
    !context.isNamed(record.key) &&
    comparisons.every((isAsBefore) => isAsBefore(basis, placement, record, context)) &&
    (basis.isSelected || isContentAvailable(record, context))
  );
}

type Comparison = typeof isUnchanged;

/** Of every part of the intent, whether it is as it was as far as the decision goes by it; null: it does not, and why. */
const partsAsBefore: { readonly [Part in keyof Intent]: Comparison | null } = {
  fleet: (basis, _, __, { world }) => basis.profile === world.intent.fleet.profile,
  unusable: (basis, _, __, { world }) => sameUnusable(basis.unusable, world.intent.unusable),
  scopes: (basis, _, __, { world }) => sameScopes(basis.scopes, world.intent.scopes),
  commit: (basis, _, __, { isNewCommit }) => basis.outlivesCommits || !isNewCommit,
  runs: (basis, _, record, context) => sameList(basis.runs, runsAround(record, context)),
  // A selection is of one placement: another one, or this one edited, has another.
  placements: (basis, placement, _, { world }) => selectResources(placement, world.intent) === basis.selection,
  overrides: (basis, _, record, context) => sameOverrides(basis, record, context),
  // What is selected of them is compared with the placement.
  objects: null,
  // Whoever asks compares the members that changed.
  clusters: null,
  // What follows from them is recorded of members.
  prices: null,
  // Runs that have ended do not look at theirs again.
  strategies: null,
  // Where one is not judged yet, whoever asks decides anew; only evictions look at budgets.
  evictions: null,
  budgets: null,
  // By these the trust file comes into force, which is compared.
  hasTrust: null,
  trust: null,
  // What waits for an approval has no basis, and what waits for a confirmation is named.
  approvals: null,
  confirmations: null,
  // What is held stands in the other parts as it is in force; that it is held is said of the fleet as a whole.
  holds: null,
  suspects: null,
  // What else they keep out is not in the other parts.
  tenants: (basis, placement, _, { world }) =>
    sameList(basis.grants, clusterGrantsOf(placement.source, world.intent.tenants)),
  // They ask for nothing.
  problems: null,
  files: null,
};

const comparisons: readonly Comparison[] = Object.values(partsAsBefore).filter((it) => it !== null);

const sameUnusable = (a: Intent["unusable"], b: Intent["unusable"]): boolean => a === b || a.size + b.size === 0;

const sameScopes = rememberedPair((a: Intent["scopes"], b: Intent["scopes"]) => sameMap(a, b));

/** Whether the content that a cluster may be brought to can be had. */
const isContentAvailable = ({ resourceSnapshots }: PlacementRecord, { content }: PlanContext): boolean =>
  resourceSnapshots.at(-1)?.resources.every((it) => content(it.digest) !== null) === true;

const sameOverrides = (
  basis: DecisionBasis,
  { key, resourceSnapshots }: PlacementRecord,
  context: PlanContext,
): boolean =>
  basis.latestOverrides === context.latestOverrides ||
  sameList(
    basis.overrides,
    overridesOf(key, resourceSnapshots.at(-1)?.resources ?? [], context.latestOverrides, context.world.intent.scopes),
  );
