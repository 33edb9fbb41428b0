import type { Binding, PendingRemoval } from "../../model/binding.ts";
import { remembered } from "../../model/identity.ts";
import type { Ledger } from "../../model/ledger.ts";
import { type ObjectId, type ObjectKey, objectKey } from "../../model/manifest.ts";
import type { ClusterName, PlacementKey } from "../../model/value.ts";
import { isOutOfQuarantine, type Owner, type PlanContext } from "../moves/context.ts";
import { nextOwner } from "../moves/hand-over.ts";
import { deletedBy } from "../moves/leaves.ts";
import type { Move } from "../moves/move.ts";
import type { PlannedDeletion } from "./judge-deletions.ts";
import type { ObjectLookup } from "./objects-in.ts";
import { bindingsWithLeaving } from "./others-objects.ts";

// What is lost is what leaves and is wanted for good by nobody else: deleted at once, or handed over to somebody who is to
// lose it as well. It is counted when that becomes so, by the ledger that a pass leaves, and once: whatever was lost by the
// ledger before it, under the same commit, was counted then.

/** The moves of one placement. */
export interface MovesOf {
  /** Those whose deletions are counted in this pass. */
  readonly counted: readonly Move[];
  /** Those that begin in this pass. */
  readonly begun: readonly Move[];
  /** Those that are still to come. */
  readonly pending: readonly Move[];
}

/** All that is newly lost: by moves, begun or still to come, and where a hand-over came to nothing. */
export function countedDeletions(
  after: Ledger,
  results: ReadonlyMap<PlacementKey, MovesOf>,
  context: PlanContext,
): readonly PlannedDeletion[] {
  const sharing = new Set([...context.wants.sharedObjects().values()].flat());
  return [
    ...[...results].flatMap(([placement, it]) => [
      ...deletionsBy(it.counted, wantedNowOrLater(it, after, context), context),
      ...unforeseenDeletions(it, { after, isSharing: sharing.has(placement) }, context),
    ]),
    ...endedHandOvers(after, context),
  ];
}

/** Whether somebody else is to have an object that leaves. */
type IsWanted = (move: Pick<Move, "record" | "binding">, key: ObjectKey) => boolean;

const wantedBy =
  (ledger: Ledger, { wants }: PlanContext): IsWanted =>
  (move, key) =>
    wants.isWantedForGood(ledger, ownerOf(move), key);

const ownerOf = ({ record, binding }: Pick<Move, "record" | "binding">): Owner => ({
  cluster: binding.cluster,
  placement: record.key,
});

/** What begins to leave in this pass without being handed over is deleted, whoever wants it by the ledger that comes of it. */
function wantedNowOrLater({ begun }: MovesOf, after: Ledger, context: PlanContext): IsWanted {
  const clusters = new Set(begun.map((it) => it.binding.cluster));
  const isWantedAfter = wantedBy(after, context);
  return (move, key) =>
    isWantedAfter(move, key) &&
    (!clusters.has(move.binding.cluster) || nextOwner(ownerOf(move), key, context) !== null);
}

/**
 * What moves take away for good: adopted objects and abandoned ones apart. Each object once, whoever takes it: two runs
 * that are planned in one pass may both say that it goes.
 */
function deletionsBy(moves: readonly Move[], isWanted: IsWanted, context: PlanContext): readonly PlannedDeletion[] {
  const found = new Map<string, PlannedDeletion>();
  for (const move of moves) {
    const { cluster } = move.binding;
    for (const id of lostBy(move, isWanted, context)) {
      const key = `${cluster} ${objectKey(id)}`;
      if (!found.has(key))
        found.set(key, { cluster, placement: move.record.key, id, wholePlacement: move.to === null });
    }
  }
  return [...found.values()];
}

const lostBy = (
  move: Pick<Move, "record" | "binding" | "to">,
  isWanted: IsWanted,
  context: PlanContext,
): readonly ObjectId[] => deletedBy(move, (key) => isWanted(move, key), context);

interface Sight {
  readonly after: Ledger;
  /** Others want, or wanted, something that the placement has. */
  readonly isSharing: boolean;
}

/**
 * What moves that were counted in an earlier pass delete by now and did not delete then: an object that was there before us
 * was made anew by us, another run brought more than there was, or nobody wants any more what was to be handed over.
 */
function unforeseenDeletions(
  moves: MovesOf,
  { after, isSharing }: Sight,
  context: PlanContext,
): readonly PlannedDeletion[] {
  const { counted, begun, pending } = moves;
  const changed = [...begun, ...pending].filter((it) => isSharing || !isSeenBefore(it, context));
  if (changed.length === 0) return none;
  const isWanted = wantedNowOrLater(moves, after, context);
  const wasWanted = wantedBy(context.world.ledger, context);
  const known = new Set(deletionsBy(counted, isWanted, context).map(onCluster));
  for (const move of changed) {
    const binding = bindingBefore(move, context);
    const before = binding === null ? none : lostBy({ ...move, binding }, wasWanted, context);
    for (const id of before) known.add(onCluster({ cluster: move.binding.cluster, id }));
  }
  return deletionsBy(changed, isWanted, context).filter((it) => !known.has(onCluster(it)));
}

const onCluster = ({ cluster, id }: Pick<PlannedDeletion, "cluster" | "id">): string => `${cluster} ${objectKey(id)}`;

const bindingBefore = ({ record, binding }: Move, { world }: PlanContext): Binding | null => {
  const was = world.ledger.placements.get(record.key)?.bindings.get(binding.cluster);
  return was?.uid === binding.uid ? was : null;
};

/** Whether the pass before saw what the move takes away: what the cluster carries, and what of that was there before us. */
function isSeenBefore(move: Move, context: PlanContext): boolean {
  const { binding } = move;
  const was = bindingBefore(move, context);
  if (was === binding || binding.target === null) return true;
  if (was === null || was.target?.digest !== binding.target.digest) return false;
  return sameObjects(was.facts?.adopted ?? none, binding.facts?.adopted ?? none);
}

const sameObjects = (a: readonly ObjectId[], b: readonly ObjectId[]): boolean =>
  a === b || (a.length === b.length && a.every((it, at) => objectKey(it) === objectKey(b[at] as ObjectId)));

/**
 * What was to be handed over and is lost by now: nobody takes it any more, or whoever would is to lose it too
 * (`plan/README.md#d-9`). Once a quarantine is over, that may be all that leaves. What begins to leave in this pass is counted
 * with its move.
 */
function endedHandOvers(after: Ledger, context: PlanContext): readonly PlannedDeletion[] {
  const { ledger, world, isNewCommit } = context;
  const found: PlannedDeletion[] = [];
  // By the same ledger the same is lost.
  if (!isNewCommit && isDecidedAlike(world.ledger, after)) return found;
  for (const [placement, { bindings }] of after.placements)
    for (const { cluster, leaving, removal } of bindingsWithLeaving(bindings)) {
      if (removal?.propagation === "Abandon") continue;
      const wasKept = isOutOfQuarantine(placement, context);
      const was = ledger.placements.get(placement)?.bindings.get(cluster)?.leaving ?? none;
      const before = wasKept ? leavingKeys(was) : handedOver(was);
      if (before.size === 0) continue;
      const isLostBy = (at: Ledger, key: ObjectKey): boolean =>
        !context.wants.isWantedForGood(at, { cluster, placement }, key);
      for (const { id, released, handOver } of leaving) {
        const key = objectKey(id);
        if (released || !before.has(key)) continue;
        const isLost = handOver === undefined || isLostBy(after, key);
        if (isLost && (isNewCommit || wasKept || !isLostBy(world.ledger, key)))
          found.push({ cluster, placement, id, wholePlacement: removal !== null });
      }
    }
  return found;
}

const isDecidedAlike = (a: Ledger, b: Ledger): boolean =>
  a.placements === b.placements && a.runs === b.runs && a.quarantines === b.quarantines;

const nothingHanded: ReadonlySet<ObjectKey> = new Set();

const handedOver = remembered((leaving: readonly PendingRemoval[]): ReadonlySet<ObjectKey> => {
  const keys = leaving.flatMap((it) => (it.handOver === undefined ? [] : objectKey(it.id)));
  return keys.length === 0 ? nothingHanded : new Set(keys);
});

const leavingKeys = remembered(
  (leaving: readonly PendingRemoval[]): ReadonlySet<ObjectKey> => new Set(leaving.map((it) => objectKey(it.id))),
);

/** Looks up what is still to go. Gathered once per binding: what waits may be large. */
export function lossIndex(
  after: Ledger,
  results: ReadonlyMap<PlacementKey, MovesOf>,
  context: PlanContext,
): ObjectLookup {
  const losses = new Map<Binding, ReadonlySet<ObjectKey>>();
  const isWanted = wantedBy(after, context);
  return (cluster, placement, key) => {
    const record = after.placements.get(placement);
    const binding = record?.bindings.get(cluster);
    if (record === undefined || binding === undefined) return false;
    const known = losses.get(binding);
    if (known !== undefined) return known.has(key);
    const toCome = (movesByCluster(results.get(placement)?.pending ?? none).get(cluster) ?? none).flatMap((it) =>
      lostBy(it, isWanted, context),
    );
    const isLeft = ({ id, handOver }: PendingRemoval): boolean =>
      handOver === undefined || !isWanted({ record, binding }, objectKey(id));
    const leaving = binding.removal?.propagation === "Abandon" ? none : binding.leaving.filter(isLeft);
    const loss = new Set([...leaving.map((it) => it.id), ...toCome].map(objectKey));
    losses.set(binding, loss);
    return loss.has(key);
  };
}

const none: readonly never[] = [];

const movesByCluster = remembered((moves: readonly Move[]): ReadonlyMap<ClusterName, readonly Move[]> => {
  const found = new Map<ClusterName, Move[]>();
  for (const it of moves) {
    const known = found.get(it.binding.cluster);
    if (known === undefined) found.set(it.binding.cluster, [it]);
    else known.push(it);
  }
  return found;
});
