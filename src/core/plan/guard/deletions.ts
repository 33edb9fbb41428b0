import type { Binding } from "../../model/binding.ts";
import type { AcceptedBounds, DeletionLedger, ForeignObject } from "../../model/deletion.ts";
import type { DeletionBounds } from "../../model/fleet.ts";
import { type Json, sameJson } from "../../model/json.ts";
import type { Ledger } from "../../model/ledger.ts";
import { type ObjectId, type ObjectKey, objectKey } from "../../model/manifest.ts";
import { remembered } from "../../model/memo.ts";
import type { ClusterName, PlacementKey } from "../../model/value.ts";
import type { PlanContext } from "../moves/context.ts";
import { leavesOf } from "../moves/leaves.ts";
import type { Move } from "../moves/move.ts";
import { carriesData, judgeDeletions, type PlannedDeletion } from "./judge-deletions.ts";
import { type ObjectLookup, objectsIn } from "./objects-in.ts";
import { bindingsWithLeaving, othersBySet, refusedForOthers } from "./others-objects.ts";
import { approvedOthers, protectedOthers } from "./protected-others.ts";
import { noLongerHandedOver } from "./settle-hand-overs.ts";

/** Which objects wait for a confirmation, and which have it. */
export interface HeldIndex {
  readonly isHeld: (cluster: ClusterName, placement: PlacementKey, id: ObjectId) => boolean;
  /** What of others somebody confirmed to go along with a namespace or a definition; null where nobody confirmed any. */
  readonly confirmedOthers: (
    cluster: ClusterName,
    placement: PlacementKey,
    id: ObjectId,
  ) => readonly ForeignObject[] | null;
  /** Whether anything of a placement stands in any set, confirmed or not. */
  readonly isNamed: (placement: PlacementKey) => boolean;
}

/** Looks up held sets by object. Built once for what waits: that may be large, and wait for long. */
export const heldIndex = ({ held }: DeletionLedger): HeldIndex => indexOf(held);

const indexOf = remembered((held: DeletionLedger["held"]): HeldIndex => {
  const waiting = objectsIn(held.filter((it) => !it.confirmed).flatMap((it) => it.groups));
  const others = othersBySet(held.filter((it) => it.confirmed));
  const named = new Set(held.flatMap((it) => it.groups.map((group) => group.placement)));
  return {
    isHeld: (cluster, placement, id) => waiting(cluster, placement, objectKey(id)),
    confirmedOthers: (cluster, placement, id) => others(cluster, placement, objectKey(id)),
    isNamed: (placement) => named.has(placement),
  };
});

/** The moves of one placement. */
interface MovesOf {
  /** Those whose deletions are counted in this pass. */
  readonly counted: readonly Move[];
  /** Those that begin in this pass. */
  readonly begun: readonly Move[];
  /** Those that are still to come. */
  readonly pending: readonly Move[];
}

/** The guard's ledger once this plan's deletions are judged. */
export function guardDeletions(
  after: Ledger,
  results: ReadonlyMap<PlacementKey, MovesOf>,
  context: PlanContext,
): DeletionLedger {
  const { intent } = context.world;
  const bounds = boundsOf(after.deletions, context);
  const counted = [...results.values()].flatMap((it) => [
    ...deletionsBy(it.counted, context),
    ...unforeseenDeletions(it, context),
  ]);
  const isLost = lossIndex(after, results, context);
  return judgeDeletions({
    before: bounds === after.deletions.bounds ? after.deletions : { ...after.deletions, bounds },
    cause: intent.commit,
    planned: [...counted, ...noLongerWanted(after, context), ...overlooked(after, counted)],
    // What holds something that is wanted goes by nobody's confirmation (`plan/README.md#d-9`).
    occupied: refusedForOthers(after, context.world).filter(
      (it) => !context.wants.isAnythingWantedIn(it.cluster, it.placement, it.id),
    ),
    bounds: bounds.inForce,
    clusterCount: intent.clusters.size,
    objectsOn: objectCounter(after),
    confirmations: intent.confirmations,
    ledgerBefore: context.world.ledger,
    // Of what stays as recorded nobody knows what is still to go.
    isLeaving: (cluster, placement, key) => after.quarantines.has(placement) || isLost(cluster, placement, key),
    isReleased: releaseIndex(after),
    isProtected: protectedOthers(context),
    isApproved: approvedOthers(after, context),
    leftBy: (cluster, placement, key) => {
      const was = context.world.ledger.placements.get(placement)?.bindings.get(cluster);
      // What was called off and evicted in the same pass leaves by another removal.
      const now = after.placements.get(placement)?.bindings.get(cluster)?.removal;
      if (was?.removal == null || now?.sequence === was.removal.sequence) return null;
      return causesOf(was.leaving).get(key) === was.removal.cause ? "removal" : "edit";
    },
  });
}

/** What counts under this commit: a bound that it tightens at once, one that it loosens from the next one on. */
function boundsOf({ bounds }: DeletionLedger, { world, isNewCommit }: PlanContext): AcceptedBounds {
  const declared = world.intent.fleet.guards;
  if (bounds === null) return { declared, inForce: declared };
  if (!isNewCommit) return bounds;
  const stricter = (key: keyof DeletionBounds): number => Math.min(bounds.declared[key], declared[key]);
  const inForce: DeletionBounds = {
    objectsPerCluster: stricter("objectsPerCluster"),
    percentPerCluster: stricter("percentPerCluster"),
    clusters: stricter("clusters"),
    percentOfClusters: stricter("percentOfClusters"),
  };
  const next: AcceptedBounds = { declared, inForce };
  return sameJson(bounds as unknown as Json, next as unknown as Json) ? bounds : next;
}

/**
 * What moves take away for good: adopted objects and abandoned ones apart. Each object once, whoever takes it: two runs
 * that are planned in one pass may both say that it goes.
 */
function deletionsBy(moves: readonly Move[], context: PlanContext): readonly PlannedDeletion[] {
  const found = new Map<string, PlannedDeletion>();
  for (const move of moves) {
    const { cluster } = move.binding;
    for (const id of deletedBy(move, context)) {
      const key = `${cluster} ${objectKey(id)}`;
      if (!found.has(key))
        found.set(key, { cluster, placement: move.record.key, id, wholePlacement: move.to === null });
    }
  }
  return [...found.values()];
}

const deletedBy = (move: Pick<Move, "record" | "binding" | "to">, context: PlanContext): readonly ObjectId[] =>
  leavesOf(move, context).flatMap(({ object, fate }) => (fate === "delete" ? object : []));

/**
 * What moves that were counted in an earlier pass delete by now and did not delete then: an object that was there before us
 * was made anew by us, or another run brought more than there was.
 */
function unforeseenDeletions({ counted, begun, pending }: MovesOf, context: PlanContext): readonly PlannedDeletion[] {
  const changed = [...begun, ...pending].filter((it) => !isSeenBefore(it, context));
  if (changed.length === 0) return none;
  const known = new Set(deletionsBy(counted, context).map(onCluster));
  for (const move of changed) {
    const binding = bindingBefore(move, context);
    const before = binding === null ? none : deletedBy({ ...move, binding }, context);
    for (const id of before) known.add(onCluster({ cluster: move.binding.cluster, id }));
  }
  return deletionsBy(changed, context).filter((it) => !known.has(onCluster(it)));
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

/** Looks up what is still to go. Gathered once per binding: what waits may be large. */
function lossIndex(
  { placements }: Ledger,
  results: ReadonlyMap<PlacementKey, MovesOf>,
  context: PlanContext,
): ObjectLookup {
  const losses = new Map<Binding, ReadonlySet<ObjectKey>>();
  return (cluster, placement, key) => {
    const binding = placements.get(placement)?.bindings.get(cluster);
    if (binding === undefined) return false;
    const toCome = (): readonly ObjectId[] =>
      movesByCluster(results.get(placement)?.pending ?? [])
        .get(cluster)
        ?.flatMap((it) => deletedBy(it, context)) ?? [];
    const leaving =
      binding.removal?.propagation === "Abandon"
        ? []
        : binding.leaving.flatMap((it) => (it.handOver === undefined ? it.id : []));
    const loss = losses.get(binding) ?? new Set([...leaving, ...toCome()].map(objectKey));
    losses.set(binding, loss);
    return loss.has(key);
  };
}

/** Looks up what is released where it leaves, so that nobody has to confirm it. */
const releaseIndex =
  ({ placements }: Ledger): ObjectLookup =>
  (cluster, placement, key) =>
    releasedBy(placements.get(placement)?.bindings.get(cluster)?.leaving ?? none).has(key);

const none: readonly never[] = [];

const causesOf = remembered(
  (leaving: Binding["leaving"]) => new Map(leaving.map((it) => [objectKey(it.id), it.cause] as const)),
);

const releasedBy = remembered(
  (leaving: Binding["leaving"]): ReadonlySet<ObjectKey> =>
    new Set(leaving.flatMap((it) => (it.released ? objectKey(it.id) : []))),
);

const movesByCluster = remembered((moves: readonly Move[]): ReadonlyMap<ClusterName, readonly Move[]> => {
  const found = new Map<ClusterName, Move[]>();
  for (const it of moves) {
    const known = found.get(it.binding.cluster);
    if (known === undefined) found.set(it.binding.cluster, [it]);
    else known.push(it);
  }
  return found;
});

/**
 * What takes others' data along and leaves by an edit although nobody was asked: it was not ours when the edit was counted,
 * and was made anew by us before its cluster's turn came.
 */
function overlooked(
  { placements, deletions }: Ledger,
  counted: readonly PlannedDeletion[],
): readonly PlannedDeletion[] {
  const isAsked = objectsIn([
    ...deletions.held.flatMap((it) => it.groups),
    ...counted.map(({ placement, cluster, id }) => ({ placement, clusters: [cluster], objects: [id] })),
  ]);
  const found: PlannedDeletion[] = [];
  for (const [placement, { bindings }] of placements)
    for (const { cluster, leaving, removal } of bindingsWithLeaving(bindings)) {
      if (removal !== null) continue;
      for (const { id, released, handOver } of leaving)
        if (!released && handOver === undefined && carriesData(id) && !isAsked(cluster, placement, objectKey(id)))
          found.push({ cluster, placement, id, wholePlacement: false });
    }
  return found;
}

/** What others were to take over and want no more: a deletion from now on (`plan/README.md#d-9`). */
function noLongerWanted({ placements }: Ledger, { ledger }: PlanContext): readonly PlannedDeletion[] {
  const found: PlannedDeletion[] = [];
  for (const [placement, { bindings }] of placements)
    for (const { cluster, leaving, removal } of bindingsWithLeaving(bindings)) {
      const before = ledger.placements.get(placement)?.bindings.get(cluster)?.leaving ?? none;
      if (leaving === before || removal?.propagation === "Abandon") continue;
      for (const { id, released } of noLongerHandedOver(leaving, before))
        if (!released) found.push({ cluster, placement, id, wholePlacement: removal !== null });
    }
  return found;
}

/** Objects that a member carries of us by the record: what its targets hold. Counted when first asked. */
function objectCounter({ placements }: Ledger): (cluster: ClusterName) => number {
  let counts: Map<ClusterName, number> | null = null;
  return (cluster) => {
    if (counts === null) {
      counts = new Map();
      for (const { bindings, resourceSnapshots } of placements.values()) {
        const sizes = new Map(resourceSnapshots.map((it) => [it.index, it.resources.length]));
        for (const { cluster: name, target } of bindings.values())
          counts.set(name, (counts.get(name) ?? 0) + (target === null ? 0 : (sizes.get(target.resourceIndex) ?? 0)));
      }
    }
    return counts.get(cluster) ?? 0;
  };
}
