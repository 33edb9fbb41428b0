import type { Binding } from "../../model/binding.ts";
import type { AcceptedBounds, DeletionLedger, ForeignObject } from "../../model/deletion.ts";
import type { DeletionBounds } from "../../model/fleet.ts";
import { remembered } from "../../model/identity.ts";
import type { Inventory } from "../../model/inventory.ts";
import { type Json, sameJson } from "../../model/json.ts";
import type { Ledger, PlacementRecord } from "../../model/ledger.ts";
import { type ObjectId, type ObjectKey, objectKey } from "../../model/manifest.ts";
import type { ClusterName, PlacementKey } from "../../model/value.ts";
import { keysOf, snapshotOf } from "../../render/resource-snapshot.ts";
import { isOutOfQuarantine, type Owner, type PlanContext } from "../moves/context.ts";
import { carriesData, judgeDeletions, type PlannedDeletion } from "./judge-deletions.ts";
import { countedDeletions, lossIndex, type MovesOf } from "./losses.ts";
import { type ObjectLookup, objectsIn } from "./objects-in.ts";
import { bindingsWithLeaving, othersBySet, refusedForOthers } from "./others-objects.ts";
import { approvedOthers, protectedOthers } from "./protected-others.ts";

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

/** The guard's ledger once this plan's deletions are judged. */
export function guardDeletions(
  after: Ledger,
  results: ReadonlyMap<PlacementKey, MovesOf>,
  context: PlanContext,
): DeletionLedger {
  const { intent } = context.world;
  const bounds = boundsOf(after.deletions, context);
  const counted = countedDeletions(after, results, context);
  const isLost = lossIndex(after, results, context);
  return judgeDeletions({
    before: bounds === after.deletions.bounds ? after.deletions : { ...after.deletions, bounds },
    cause: intent.commit,
    planned: [...counted, ...overlooked(after, counted)],
    // What holds something that is wanted goes by nobody's confirmation (`plan/README.md#d-9`).
    occupied: refusedForOthers(after, context.world).filter(
      (it) => !context.wants.isAnythingWantedIn(it, it.id, removalIn(after, it) !== null),
    ),
    bounds: bounds.inForce,
    clusterCount: intent.clusters.size,
    objectsOn: objectCounter(context),
    confirmations: intent.confirmations,
    ledgerBefore: context.world.ledger,
    // Of what stays as recorded nobody knows what is still to go.
    isLeaving: (cluster, placement, key) => after.quarantines.has(placement) || isLost(cluster, placement, key),
    isReleased: releaseIndex(after),
    isPlannedAgain: (placement) => isOutOfQuarantine(placement, context),
    isProtected: protectedOthers(context),
    isApproved: approvedOthers(after, context),
    leftBy: (cluster, placement, key) => {
      const was = context.world.ledger.placements.get(placement)?.bindings.get(cluster);
      // What was called off and evicted in the same pass leaves by another removal.
      const now = removalIn(after, { cluster, placement });
      if (was?.removal == null || now?.sequence === was.removal.sequence) return null;
      return causesOf(was.leaving).get(key) === was.removal.cause ? "removal" : "edit";
    },
  });
}

const removalIn = ({ placements }: Ledger, { cluster, placement }: Owner): Binding["removal"] =>
  placements.get(placement)?.bindings.get(cluster)?.removal ?? null;

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
    for (const { cluster, id } of dataGoingByEdits(bindings))
      if (!isAsked(cluster, placement, objectKey(id))) found.push({ cluster, placement, id, wholePlacement: false });
  return found;
}

const dataGoingByEdits = remembered((bindings: PlacementRecord["bindings"]) =>
  bindingsWithLeaving(bindings).flatMap(({ cluster, leaving, removal }) =>
    leaving.flatMap(({ id, released, handOver }) =>
      removal === null && !released && handOver === undefined && carriesData(id) ? { cluster, id } : [],
    ),
  ),
);

/**
 * Objects that a member carried of us before this pass: what its targets held, each once, whoever wants it as well, and of
 * that what its inventory lists as written. Where it does not answer, what it said it had got. What a commit brings does
 * not widen what it may take away, and neither does what never arrived.
 */
const objectCounter =
  ({ world, trustedObservations }: PlanContext) =>
  (cluster: ClusterName): number => {
    const member = trustedObservations.get(cluster);
    const listed = member === undefined ? null : writtenIn(member.inventory);
    const found = new Set<ObjectKey>();
    for (const record of world.ledger.placements.values()) {
      const { target = null, facts = null } = record.bindings.get(cluster) ?? {};
      const isHeard = facts !== null && facts.sequence === target?.sequence && facts.applied !== "pending";
      const snapshot = target === null ? null : snapshotOf(record, target.resourceIndex);
      if (snapshot === null || (listed === null && !isHeard)) continue;
      for (const key of keysOf(snapshot)) if (listed === null || listed.has(key)) found.add(key);
    }
    return found.size;
  };

function writtenIn({ placements }: Inventory): ReadonlySet<ObjectKey> {
  const found = new Set<ObjectKey>();
  for (const { entries } of placements.values()) for (const [key, { uid }] of entries) if (uid !== null) found.add(key);
  return found;
}
