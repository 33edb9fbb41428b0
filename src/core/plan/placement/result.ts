import type { Binding } from "../../model/binding.ts";
import { conditionOf, settleConditions } from "../../model/condition.ts";
import { revised, revisedMap } from "../../model/identity.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import type { EvictionRecord } from "../../model/placement.ts";
import type { Reason } from "../../model/reason.ts";
import type { RunRecord } from "../../model/update-run.ts";
import { type ClusterName, earliest, type Instant } from "../../model/value.ts";
import type { Selection } from "../../render/select.ts";
import type { Readiness } from "../../rollout/readiness.ts";
import { placementVerdicts } from "../../status/placement-conditions.ts";
import type { ChangeRequestResult } from "../approval/change-request.ts";
import { askForOthers } from "../guard/protected-others.ts";
import { changeOf, isAnyAsked } from "../guard/protection.ts";
import { askForEnds } from "../guard/settle-hand-overs.ts";
import type { PlanContext } from "../moves/context.ts";
import type { Move } from "../moves/move.ts";
import { type PlacementProgress, unmoved } from "../moves/progress.ts";
import { recordsOf } from "../runs/runs-of.ts";
import { carryOutEvictions } from "./evictions.ts";
import type { RolloutResult } from "./rollout.ts";

/** What a pass comes to for one placement. */
export interface PlacementResult {
  /** Null when the placement is gone from every member and is forgotten. */
  readonly record: PlacementRecord | null;
  /** Its update runs; null where they were not decided with it. */
  readonly runs: readonly RunRecord[] | null;
  /** Evictions that were judged with it. */
  readonly evictions: readonly EvictionRecord[];
  /** Moves that begin in this pass. */
  readonly begun: readonly Move[];
  /** Moves that are still to come. */
  readonly pending: readonly Move[];
  /** Moves whose deletions the guard counts in this pass. */
  readonly counted: readonly Move[];
  /** Something of it has to be approved, or was, or may have to be. */
  readonly isAsked: boolean;
  /** Reasons about the placement. */
  readonly reasons: readonly Reason[];
  /** Reasons about its bindings; null where they have not been worked out. */
  readonly bindingReasons: readonly Reason[] | null;
  /** Of its clusters, where it was looked at. */
  readonly readiness: ReadonlyMap<ClusterName, Readiness>;
  readonly wakeAt: Instant | null;
  /** What is known of a placement in which nothing moves; null where anything does. */
  readonly standstill: Standstill | null;
}

/** A placement in which nothing moves: what that was decided by, and its reasons. */
interface Standstill {
  readonly selection: Selection;
  /** Every cluster is on the version that it should have, so that a new commit as such takes nothing away. */
  readonly isSettled: boolean;
  readonly scheduled: TimedReasons;
  /** What does not come from the scheduler. */
  readonly others: TimedReasons;
}

/** Reasons, and when time alone may change them. */
export interface TimedReasons {
  readonly reasons: readonly Reason[];
  readonly wakeAt: Instant | null;
}

/** Nothing is left of a placement. */
export const forgotten = ({ begun, counted }: PlacementProgress): PlacementResult => ({
  ...nothing,
  record: null,
  begun,
  counted,
});

/** There was nothing to decide. */
export const nothing: Omit<PlacementResult, "record"> = {
  runs: null,
  evictions: [],
  begun: [],
  pending: [],
  counted: [],
  isAsked: false,
  reasons: [],
  bindingReasons: [],
  readiness: new Map(),
  wakeAt: null,
  standstill: null,
};

/**
 * Judges the evictions by what the rollout left, asks for what has to be approved, adds the conditions, and gives back
 * `before` itself when nothing differs from it. `runs` is null where no runs were decided with the placement.
 */
export function finished(
  before: PlacementRecord | null,
  rollout: RolloutResult,
  runs: readonly RunRecord[] | null,
  context: PlanContext,
): PlacementResult {
  const { key } = rollout.progress.record;
  const eviction = { plan: context, before, runs: runs ?? recordsOf(context.ledger, key) };
  const { progress, evictions } = carryOutEvictions(rollout.progress, eviction);
  const { record } = progress;
  const guarded = askForEnds(record, askForOthers(record, progress.guarded, context), context);
  const asked = changeOf(progress.record, guarded, context);
  const judged = { ...rollout, progress: { ...progress, guarded } };
  return { ...concluded(before, judged, asked, context), runs, evictions };
}

/** The placement as it was decided last: what it is to be cannot be read now. What its runs would do rests on that, too. */
export const suspended = (before: PlacementRecord, context: PlanContext): PlacementResult => ({
  ...concluded(before, paused(unmoved(before)), { change: before.change, reasons: [], wakeAt: null }, context),
  runs: recordsOf(context.ledger, before.key),
});

function concluded(
  before: PlacementRecord | null,
  rollout: RolloutResult,
  asked: ChangeRequestResult,
  context: PlanContext,
): PlacementResult {
  const { record, begun, counted, guarded } = rollout.progress;
  const evicted = new Set(begun.filter((it) => it.cause === "eviction").map((it) => it.binding.cluster));
  const bindings = revisedMap(record.bindings, (binding, cluster): Binding => {
    const conditions = context.conditionsOf(binding, {
      contactFailure: context.ledger.clusters.get(cluster)?.contactFailure ?? null,
      heldBack: rollout.heldBack.has(cluster) && !evicted.has(cluster),
      failure: rollout.unrenderable.get(cluster) ?? null,
    });
    return conditions === binding.conditions ? binding : { ...binding, conditions };
  });
  const told = revised(record, { bindings, change: asked.change });
  const verdicts = placementVerdicts(told, rollout.arithmetic);
  const next = revised(told, { conditions: settleConditions(told.conditions, verdicts, context.world.now) });
  return {
    record: before !== null && revised(before, next) === before ? before : next,
    runs: null,
    evictions: [],
    begun,
    pending: pendingIn(rollout.progress),
    counted,
    isAsked: isAnyAsked(guarded),
    reasons: [...startReasons(begun), ...rollout.reasons, ...asked.reasons],
    bindingReasons: null,
    readiness: rollout.readiness,
    wakeAt: earliest(rollout.wakeAt, asked.wakeAt),
    standstill: null,
  };
}

/**
 * The moves that have not begun, each from its cluster's binding by now: another run may have brought something, or renamed
 * what is there.
 */
function pendingIn({ record, moves, begun }: PlacementProgress): readonly Move[] {
  const started = new Set(begun);
  return moves.flatMap((move) => {
    const binding = record.bindings.get(move.binding.cluster);
    if (binding === undefined || started.has(move) || !isAnnounced(move)) return [];
    return binding === move.binding ? [move] : [{ ...move, record, binding }];
  });
}

/**
 * The deletions of an eviction, and those of a whole placement whose file was removed, are counted cluster by cluster,
 * where they begin, and asked about anew there.
 */
const isAnnounced = ({ cause, binding }: Move): boolean =>
  cause === "removal" ? binding.state === "Unscheduled" : cause !== "eviction";

/** New versions that begin to move, in the order of the moves. */
function startReasons(begun: readonly Move[]): readonly Reason[] {
  const started = new Map<number, ClusterName[]>();
  for (const { to, binding } of begun) {
    if (to === null) continue;
    const clusters = started.get(to.target.resourceIndex);
    if (clusters === undefined) started.set(to.target.resourceIndex, [binding.cluster]);
    else clusters.push(binding.cluster);
  }
  const placement = begun[0]?.record.key;
  return placement === undefined
    ? []
    : [...started].map(([resourceIndex, clusters]) => ({ kind: "started", placement, resourceIndex, clusters }));
}

/** A rollout in which nothing moves. */
export const still = (progress: PlacementProgress): RolloutResult => ({
  progress,
  reasons: [],
  // Whoever waited for the budget goes on waiting.
  heldBack: new Set([...progress.record.bindings.values()].filter(isHeldBack).map((it) => it.cluster)),
  arithmetic: null,
  unrenderable: new Map(),
  readiness: new Map(),
  wakeAt: null,
  isSettled: false,
});

/** A rollout that cannot go on now: clusters that the placement leaves are still to be left. */
export function paused(progress: PlacementProgress): RolloutResult {
  const { record } = progress;
  const moves = [...record.bindings.values()]
    .filter((it) => it.state === "Unscheduled" && it.removal === null)
    .map((binding): Move => ({ record, cause: "rollout", binding, to: null, gate: null }));
  return still({ ...progress, moves: [...progress.moves, ...moves] });
}

const isHeldBack = ({ conditions }: Binding): boolean => conditionOf(conditions, "RolloutStarted")?.status === "False";
