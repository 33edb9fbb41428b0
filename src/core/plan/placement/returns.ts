import type { Binding, BindingFacts, Removal, Target } from "../../model/binding.ts";
import { conditionOf } from "../../model/condition.ts";
import { revised, revisedMap } from "../../model/identity.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import { type ObjectId, type ObjectKey, objectKey } from "../../model/manifest.ts";
import { type ClusterName, compareText } from "../../model/value.ts";
import type { Rendering } from "../../render/render.ts";
import { guardMoves } from "../guard/protection.ts";
import { carriedObjects } from "../moves/begin.ts";
import type { PlanContext } from "../moves/context.ts";
import type { Move } from "../moves/move.ts";
import type { PlacementProgress } from "../moves/progress.ts";
import { targetKeys, targetRendering } from "../moves/version.ts";

/**
 * A removal that waits for a confirmation is called off when its cluster is picked again: the placement came back, and
 * there is nothing left to confirm. The cluster carries what it carried, under a new sequence, so that a newer version
 * reaches it as an update does and not as a first placement. A removal that is already under way is finished, and
 * the cluster then gets the next target; so is an eviction, after which the scheduler may well pick the cluster again.
 * Where nothing is left but what holds others' objects, there is nothing to finish.
 *
 * While everything is there, calling off changes nothing on the member. Where something went already, or never came, or a
 * member was told to take it away and nobody knows yet whether it did, it may bring that: on a protected cluster that is a
 * change which somebody has to approve.
 */
export function callOffRemovals(before: PlacementProgress, context: PlanContext): PlacementProgress {
  const { record } = before;
  const returning = [...record.bindings.values()].filter(
    (it) => isReturning(it, record, context) || isAllThatStays(it, record, context),
  );
  if (returning.length === 0) return before;
  const moves = returning.flatMap((it) => moveOf(it, record, context) ?? []);
  const guarded = guardMoves(moves, before.guarded, context);
  const waiting = new Set(moves.filter((it) => guarded.waiting.has(it)).map((it) => it.binding));
  const back = new Set(returning.filter((it) => !waiting.has(it)));
  const bindings = revisedMap(record.bindings, (it) => (back.has(it) ? returned(it, record, context) : it));
  return { ...before, record: revised(record, { bindings }), moves: [...before.moves, ...moves], guarded };
}

export function isReturning(binding: Binding, record: PlacementRecord, context: PlanContext): boolean {
  const { removal, state, leaving, cluster } = binding;
  if (removal === null || state !== "Scheduled" || isEvicted(cluster, removal, record, context)) return false;
  const known = context.ledger.placements.get(record.key)?.bindings.get(cluster)?.leaving ?? [];
  return (
    leaving.some((it) => context.isHeld(cluster, record.key, it.id)) || known.some((it) => it.handOver !== undefined)
  );
}

/**
 * Whether all that still leaves is kept for what others want in it: that may never end (`plan/README.md#hand-over`). What a
 * placement wants is not decided by it, since it asks what others want.
 */
function isAllThatStays({ removal, state, leaving, cluster }: Binding, { key }: PlacementRecord, context: PlanContext) {
  if (removal === null || state !== "Scheduled" || leaving.length === 0) return false;
  return leaving.every(
    ({ id, handOver }) =>
      handOver === undefined && context.wants.isAnythingWantedIn({ cluster, placement: key }, id, true),
  );
}

/** Whether a removal is what an eviction came to, as long as that is on record. */
const isEvicted = (
  cluster: ClusterName,
  { since }: Removal,
  { key }: PlacementRecord,
  { ledger }: PlanContext,
): boolean =>
  [...ledger.evictions.values()].some((it) => {
    const executed = it.placement === key && it.cluster === cluster ? conditionOf(it.conditions, "Executed") : null;
    return executed?.status === "True" && executed.lastTransitionTime === since;
  });

/** Null where nothing on the member changes by it: all that it carried is there for sure, or there was nothing. */
function moveOf(binding: Binding, record: PlacementRecord, context: PlanContext): Move | null {
  const { target, facts } = binding;
  if (target === null) return null;
  const there = untouched(binding, record, context);
  const isComplete =
    facts?.applied === "applied" && carriedObjects(binding, record, context).every((it) => there.has(objectKey(it)));
  if (isComplete) return null;
  const { deleteAdopted } = record.spec.strategy;
  // Protection judges it even where it fails to render: what is leaving there is known.
  const rendering = (): Rendering | null => {
    const it = targetRendering(binding, record, context);
    return it?.kind === "rendered" ? it : null;
  };
  return { record, cause: "return", binding, to: { target, rendering, deleteAdopted }, gate: null };
}

/**
 * What leaves and no member was told to take away: it waits for a confirmation, or for a next owner whose turn has not
 * come. What was told once may be done at any moment, whatever was seen of the member last.
 */
function untouched({ cluster, leaving }: Binding, { key }: PlacementRecord, context: PlanContext): Set<ObjectKey> {
  const { placements } = context.world.ledger;
  const before = placements.get(key)?.bindings.get(cluster)?.leaving ?? [];
  const handedOver = new Set(before.flatMap((it) => (it.handOver === undefined ? [] : objectKey(it.id))));
  const others = handedOver.size === 0 ? [] : [...placements.values()].filter((it) => it.key !== key);
  const isTaken = (it: ObjectKey): boolean => others.some((other) => mayHave(it, other, cluster, context));
  const isWaiting = (id: ObjectId): boolean =>
    handedOver.has(objectKey(id)) ? !isTaken(objectKey(id)) : context.isHeld(cluster, key, id);
  return new Set(leaving.flatMap(({ id }) => (isWaiting(id) ? objectKey(id) : [])));
}

/** Whether a placement was to carry an object there by the last decision, or is still to let go of it: it may have taken it. */
function mayHave(key: ObjectKey, record: PlacementRecord, cluster: ClusterName, context: PlanContext): boolean {
  const binding = record.bindings.get(cluster);
  if (binding === undefined) return false;
  return targetKeys(binding, record, context).has(key) || binding.leaving.some(({ id }) => objectKey(id) === key);
}

function returned(binding: Binding, record: PlacementRecord, context: PlanContext): Binding {
  const { target, leaving, generation } = binding;
  const back = { ...binding, removal: null, facts: null, generation: generation + 1 };
  if (target === null) return back;
  const keeps = new Set(carriedObjects(binding, record, context).map(objectKey));
  return {
    ...back,
    // Of another sequence they prove nothing of the target, but what was there before us still was.
    facts: withReleased(binding, target, context.world.ledger.placements.get(record.key), context),
    state: "Bound",
    target: { ...target, sequence: context.sequence, startedAt: context.world.now },
    leaving: leaving.filter((it) => !keeps.has(objectKey(it.id))),
  };
}

/**
 * What is known of the cluster, with what was found to have been there before us while it was to leave, released by now or
 * not: if it leaves after all, it is released as it was to be (`plan/README.md#d-11`).
 */
function withReleased(
  { cluster, facts, leaving }: Binding,
  { sequence }: Target,
  before: PlacementRecord | undefined,
  { world }: PlanContext,
): BindingFacts | null {
  const known = facts?.adopted ?? [];
  const left = before?.bindings.get(cluster)?.leaving ?? [];
  const adopted = new Map(known.map((it) => [objectKey(it), it]));
  for (const { id, released } of [...left, ...leaving]) if (released) adopted.set(objectKey(id), id);
  if (adopted.size === known.length) return facts;
  const sorted = [...adopted].sort(([a], [b]) => compareText(a, b)).map(([, id]) => id);
  return { ...(facts ?? { ...unheard, sequence, since: world.now }), adopted: sorted };
}

const unheard = { applied: "pending", phase: "progressing", objectFailures: [], objectFailureCount: 0 } as const;
