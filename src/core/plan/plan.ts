import { type Target, versionsNamed } from "../model/binding.ts";
import { remembered, sameMap } from "../model/identity.ts";
import type { Intent } from "../model/intent.ts";
import { digestOf } from "../model/json.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { Placement } from "../model/placement.ts";
import type { Plan, Refusal, RenderedTarget, World } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";
import type { Trust } from "../model/trust.ts";
import { compareText, earliest, type PlacementKey } from "../model/value.ts";
import { latestOf, nextOverrideSnapshots } from "../render/override-snapshot.ts";
import { plannedIn } from "../rollout/run-plan.ts";
import { candidatesIn } from "../schedule/framework/cycle.ts";
import { conditionsAt } from "../status/conditions-at.ts";
import { actionsFor } from "./actions.ts";
import { type AllRuns, allRuns } from "./all-runs.ts";
import {
  type AnswersBefore,
  allTakenAway,
  answerReasons,
  judgedAnswers,
  keptAnswers,
  type RequestsByDigest,
} from "./approval/answers.ts";
import { consentOf } from "./approval/consent.ts";
import { nextFormerNames } from "./approval/former-names.ts";
import { indexRequests } from "./approval/request-index.ts";
import { isDecision } from "./decision.ts";
import { factsDueAt } from "./facts/collected-facts.ts";
import { fleetViewOf, trustedObservationsOf } from "./facts/members.ts";
import { record } from "./facts/record.ts";
import { guardDeletions, heldIndex } from "./guard/deletions.ts";
import { withHandOvers } from "./guard/settle-hand-overs.ts";
import { isKnownIdle, orphansOn, placeCached, removeCached, scheduleCached, withChangedFacts } from "./incremental.ts";
import { nextSequence, type PlanContext } from "./moves/context.ts";
import { type Move, manifestsOf } from "./moves/move.ts";
import { contentOf } from "./moves/version.ts";
import { openRequests } from "./open-requests.ts";
import { orphanReasons } from "./orphans.ts";
import { evictionsNow } from "./placement/evictions.ts";
import { isSuspended } from "./placement/removal.ts";
import { type PlacementResult, suspended } from "./placement/result.ts";
import { keptAsRecorded, quarantinesIn } from "./quarantine.ts";
import { fleetReasons, reasonsOf } from "./reasons.ts";
import { refuse } from "./refuse.ts";
import { nextRetry } from "./retries.ts";
import { wantsIn } from "./wants.ts";

/**
 * Decides everything: what to write down, what to do, and when to look again (`plan/README.md#a-pass`).
 *
 * Pure and total. The same world always gives the same plan, so a plan can be shown in a pull request, replayed in a
 * test, and computed by two daemons at once.
 */
export function plan(world: World): Plan {
  const refusal = refuse(world);
  if (refusal !== null) return refused(world, refusal);
  const context = contextOf(world);
  const results = placeAll(context);
  const runs = allRuns(results, context);
  const decided = ledgerOf(results, runs, context);
  const asked = indexRequests(decided);
  const answers = keptAnswers(decided.answers, {
    was: indexRequests(world.ledger),
    is: asked,
    files: world.intent.approvals,
  });
  const guarded: Ledger = { ...decided, answers, deletions: guardDeletions(decided, results, context) };
  const decides = isDecision(world.ledger, guarded);
  const ledger = decides ? { ...guarded, sequence: context.sequence } : kept(world.ledger, guarded);
  const all = [...results.values()];
  const rendered = all.flatMap((it) => it.begun).flatMap(renderedTarget);
  const { isHeld } = heldIndex(ledger.deletions);
  return {
    refusal: null,
    ledger,
    decides,
    actions: actionsFor(ledger, rendered, context, isKnownIdle),
    rendered,
    wakeAt: earliest(
      nextRetry(world),
      factsDueAt(world, ledger),
      world.history.reviewsAt,
      runs.wakeAt,
      ...all.map((it) => it.wakeAt),
    ),
    reasons: [
      ...trustReasons(context),
      ...answerReasons(guarded, answersThere(world), asked),
      ...fleetReasons(ledger, context),
      ...orphanReasons(ledger, context, orphansOn),
      ...all.flatMap((it) => [...it.reasons, ...reasonsOf(it, isHeld, context)]),
      ...runs.reasons,
    ],
  };
}

/** The ledger with what was decided, before its deletions are judged. */
function ledgerOf(
  results: ReadonlyMap<PlacementKey, PlacementResult>,
  { runs }: AllRuns,
  context: PlanContext,
): Ledger {
  const { ledger, world, overrides } = context;
  const { intent, ledger: before } = world;
  const records = [...results].flatMap(([key, it]) => (it.record === null ? [] : [[key, it.record] as const]));
  const placements = new Map(records);
  const judged = [...results.values()].flatMap((it) => it.evictions);
  return {
    ...ledger,
    sourceCommit: intent.commit,
    holds: sameHolds(before.holds, intent.holds) ? before.holds : intent.holds,
    overrides,
    placements: sameMap(placements, ledger.placements) ? ledger.placements : placements,
    runs,
    evictions: evictionsNow(judged, placements, context),
  };
}

const renderedTarget = (move: Move): readonly RenderedTarget[] => {
  const { record, binding, to } = move;
  return to === null ? [] : [{ cluster: binding.cluster, placement: record.key, manifests: manifestsOf(move) }];
};

const answersThere = ({ intent, history, ledger }: World): AnswersBefore => ({
  files: intent.approvals,
  unsigned: intent.fleet.unsignedApprovals,
  reviews: history.reviews,
  ledger,
});

const sameHolds = (a: Ledger["holds"], b: Ledger["holds"]): boolean =>
  a === b || (a.length === b.length && JSON.stringify(a) === JSON.stringify(b));

/** The ledger as it is committed although it decides nothing: news about members, under the next sequence. */
export const sealed = (ledger: Ledger): Ledger => ({ ...ledger, sequence: nextSequence(ledger) });

function refused(world: World, refusal: Refusal): Plan {
  const nothing = { actions: [], rendered: [], wakeAt: null, reasons: [] };
  return { refusal, ledger: world.ledger, decides: false, ...nothing };
}

/** The ledger itself when nothing in it differs. */
const kept = (before: Ledger, after: Ledger): Ledger =>
  (Object.keys(after) as (keyof Ledger)[]).every((key) => before[key] === after[key]) ? before : after;

/**
 * What the placements of a plan are decided by. It is decided first which trust file is in force; what people answered is
 * judged by the one that was in force before.
 */
export function contextOf(world: World): PlanContext {
  const observed = withTrust(record({ ...world, ledger: founded(world) }, withChangedFacts), world.intent);
  const recorded = { ...observed, quarantines: quarantinesIn(world) };
  const consent = consentOf(world, recorded, nextSequence(recorded));
  const before = contextIn(world, recorded, { record: recorded.trust, closed: consent.closed });
  const requests = (trust: Trust): RequestsByDigest => openRequests(before, trust);
  const [answers, takenAway] = [judgedAnswers(world, requests), allTakenAway(world, requests)];
  const formerNames = nextFormerNames(recorded.clusters, {
    before: world.ledger,
    trust: consent.record?.trust ?? null,
    sequence: nextSequence(recorded),
  });
  const next = { ...recorded, formerNames, answers, takenAway, trust: consent.record };
  return kept(recorded, next) === recorded ? before : contextIn(world, next, consent);
}

function contextIn(world: World, ledger: Ledger, consent: PlanContext["consent"]): PlanContext {
  const { intent } = world;
  const overrides = nextOverrideSnapshots(ledger.overrides, intent.overrides, overridesInUse(ledger));
  const { isHeld, isNamed } = heldIndex(ledger.deletions);
  const context: PlanContext = {
    world,
    ledger,
    consent,
    fleetView: fleetViewOf(world, ledger),
    trustedObservations: trustedObservationsOf(world, ledger),
    candidates: candidatesIn(intent.clusters, ledger.clusters),
    sequence: nextSequence(ledger),
    content: contentOf(world),
    overrides,
    latestOverrides: latestOf(overrides, intent.overrides),
    isNewCommit: intent.commit !== world.ledger.sourceCommit,
    isHeld,
    isNamed,
    conditionsOf: conditionsAt(world.now),
    wants: wantsIn(() => context, scheduleCached),
  };
  return context;
}

/** The fleet gets its name with its first decision, and keeps it. */
function founded({ ledger, intent, now }: World): Ledger {
  if (ledger.fleet !== "") return ledger;
  return { ...ledger, fleet: digestOf(["Fleet", intent.commit, now]).slice(0, 16) };
}

/** Once it was said who may approve, nothing that is not signed counts, whatever becomes of the folder. */
const withTrust = (ledger: Ledger, { hasTrust }: Intent): Ledger =>
  ledger.hasTrust || !hasTrust ? ledger : { ...ledger, hasTrust };

/** Why nobody's word counts, where that is so. */
const trustReasons = ({ consent: { closed } }: PlanContext): readonly Reason[] =>
  closed === null ? [] : [{ kind: "trustRefused", code: closed.code, message: closed.because }];

/** Names of the override snapshots that a target was made with, or will be by the plan of an unfinished run. */
function overridesInUse({ placements, runs, overrides }: Ledger): ReadonlySet<string> {
  if (overrides.length === 0) return new Set();
  return new Set([...[...placements.values()].flatMap((it) => overridesIn(it.bindings)), ...overridesPlanned(runs)]);
}

const overridesPlanned = remembered((runs: Ledger["runs"]): readonly string[] =>
  [...runs.values()].flatMap(({ plan, end }) =>
    plan === null || end !== null ? [] : [...plannedIn(plan).values()].flatMap(overridesOf),
  ),
);

const overridesIn = remembered((bindings: PlacementRecord["bindings"]): readonly string[] => [
  ...new Set([...bindings.values()].flatMap((it) => versionsNamed(it).flatMap(overridesOf))),
]);

const overridesOf = ({
  clusterOverrides,
  resourceOverrides,
}: Pick<Target, "clusterOverrides" | "resourceOverrides">): readonly string[] => [
  ...clusterOverrides,
  ...resourceOverrides,
];

/** Every placement that is asked for or still stands somewhere, decided, in the order of their keys. */
function placeAll(context: PlanContext): ReadonlyMap<PlacementKey, PlacementResult> {
  const { placements } = context.world.intent;
  const records: ReadonlyMap<PlacementKey, PlacementRecord> = context.ledger.placements;
  const keys = [...new Set([...placements.keys(), ...records.keys()])].sort(compareText);
  const results = new Map<PlacementKey, PlacementResult>();
  for (const key of keys) {
    const quarantine = context.ledger.quarantines.get(key);
    const it =
      quarantine === undefined
        ? placeOne(placements.get(key), records.get(key) ?? null, context)
        : keptAsRecorded(key, quarantine, context.world);
    if (it !== null) results.set(key, it);
  }
  return results;
}

function placeOne(
  placement: Placement | undefined,
  recorded: PlacementRecord | null,
  context: PlanContext,
): PlacementResult | null {
  const before = recorded === null ? null : withHandOvers(recorded, context);
  if (before !== null && isSuspended(before, context.world.intent)) return suspended(before, context);
  if (placement === undefined) return before === null ? null : removeCached(before, context);
  return placeCached(placement, before, context);
}
