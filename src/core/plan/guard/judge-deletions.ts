import {
  type CascadedDeletion,
  type DeletionGroup,
  type DeletionLedger,
  type HeldDeletion,
  takesOthersAlong,
} from "../../model/deletion.ts";
import type { DeletionBounds } from "../../model/fleet.ts";
import { sameMap } from "../../model/identity.ts";
import { kindKey, type ObjectId, type ObjectKey, objectKey } from "../../model/manifest.ts";
import { type ClusterName, compareText, type PlacementKey } from "../../model/value.ts";

import { plainId } from "../moves/begin.ts";
import { type ConfirmationInput, withConfirmations } from "./confirmations.ts";
import { deletionDigest } from "./deletion-digest.ts";
import { type ObjectLookup, objectsIn } from "./objects-in.ts";
import { type HoldsOthers, isListable, listsCurrentOthers, othersBySet } from "./others-objects.ts";
import type { ProtectionLookup } from "./protected-others.ts";

/** One object that a decision takes away from one member. */
export interface PlannedDeletion {
  readonly cluster: ClusterName;
  readonly placement: PlacementKey;
  readonly id: ObjectId;
  /** The whole placement leaves the member; false: only its selection or an override changed. */
  readonly wholePlacement: boolean;
}

export interface GuardInput extends ConfirmationInput {
  readonly before: DeletionLedger;
  /** What this pass newly decided to take away, adopted and abandoned objects apart. */
  readonly planned: readonly PlannedDeletion[];
  /** What members did not delete, because it holds objects of others. */
  readonly occupied: readonly HoldsOthers[];
  readonly bounds: DeletionBounds;
  /** Members of the fleet. */
  readonly clusterCount: number;
  /** Objects that a member carries of us, by what we recorded; each once. Asked only beyond the fixed bound. */
  readonly objectsOn: (cluster: ClusterName) => number;
  /** Whether the object is still to go: not wanted again, not gone, not abandoned, its member still here. */
  readonly isLeaving: ObjectLookup;
  /** Whether it is released where it leaves, unless somebody confirms that it goes with objects of others. */
  readonly isReleased: ObjectLookup;
  /**
   * Where this pass cancelled the removal of the placement: whether the object was leaving by that removal or by an earlier
   * edit. What is still deleted there needs a new confirmation. Null where nothing was cancelled.
   */
  readonly leftBy: (cluster: ClusterName, placement: PlacementKey, key: ObjectKey) => "removal" | "edit" | null;
  /** Whether the placement's quarantine ends with this pass: what was confirmed of it before that needs a new confirmation. */
  readonly isPlannedAgain: (placement: PlacementKey) => boolean;
  /** Whether what goes along belongs to a protected place: then nobody can confirm it by a file. */
  readonly isProtected: ProtectionLookup;
}

/**
 * Decides which deletions may happen and which wait for a person (`plan/README.md#d-3`, `#d-4`).
 *
 * What one source commit takes away is counted across passes. When it passes the bounds, everything it newly takes away
 * waits: a bound that let some of it through would delete by accident, only less of it.
 * Kinds that carry others' data with them wait even below the bounds, unless their whole placement leaves; and whatever
 * turns out to hold objects of others waits for somebody who confirms those very objects.
 */
export function judgeDeletions(input: GuardInput): DeletionLedger {
  return withConfirmations(withNewSets(input), input);
}

function withNewSets(input: GuardInput): DeletionLedger {
  const { before, cause, planned, occupied } = input;
  const kept = stillHeld(input);
  const unchanged = kept === before.held ? before : { ...before, held: kept };
  const isKept = objectsIn(kept.flatMap((it) => it.groups));
  const fresh = planned.filter((it) => !isKept(it.cluster, it.placement, objectKey(it.id)));
  const known = othersBySet(kept);
  const withOthers = occupied.filter(
    (it) => isListable(it) && known(it.cluster, it.placement, objectKey(it.id)) === null,
  );
  if (fresh.length + withOthers.length === 0) return unchanged;

  const permitted =
    before.cause === cause || before.permitted.size === 0 ? before.permitted : new Map<ClusterName, number>();
  const [carrying, plain] = partition(fresh, (it) => !it.wholePlacement && carriesData(it.id));
  const counts = plain.length === 0 ? permitted : tally(permitted, plain);
  const passes = isWithin(counts, input);
  const added = [
    ...heldSets(passes ? "kind" : "bounds", passes ? carrying : fresh, input),
    ...heldSetsWithOthers(withOthers, input),
  ];
  const held = added.length === 0 ? kept : [...kept, ...added];
  const next = passes ? counts : permitted;
  return { ...before, cause, permitted: sameMap(next, before.permitted) ? before.permitted : next, held };
}

/**
 * `plan/README.md#d-4`. Custom resources go with their definition, files with their volume, everything with its
 * namespace.
 */
const kindsWithData: ReadonlySet<string> = new Set([
  "/Namespace",
  "/PersistentVolume",
  "/PersistentVolumeClaim",
  "apiextensions.k8s.io/CustomResourceDefinition",
]);

/** Whether deleting an object deletes others' data with it (`plan/README.md#d-4`). */
export const carriesData = (id: ObjectId): boolean => kindsWithData.has(kindKey(id));

/** How many objects a held set names, and on which clusters. */
export function extentOf(held: Pick<HeldDeletion, "groups">): {
  readonly objects: number;
  readonly clusters: readonly ClusterName[];
} {
  const clusters = new Set(held.groups.flatMap((it) => it.clusters));
  const objects = held.groups.reduce((sum, it) => sum + it.clusters.length * it.objects.length, 0);
  return { objects, clusters: [...clusters].sort(compareText) };
}

function isWithin(counts: ReadonlyMap<ClusterName, number>, input: GuardInput): boolean {
  const { bounds, clusterCount, objectsOn } = input;
  if (counts.size > Math.max(bounds.clusters, Math.floor((clusterCount * bounds.percentOfClusters) / 100)))
    return false;
  for (const [cluster, count] of counts) {
    if (count <= bounds.objectsPerCluster) continue;
    if (count > Math.floor((objectsOn(cluster) * bounds.percentPerCluster) / 100)) return false;
  }
  return true;
}

function tally(
  permitted: ReadonlyMap<ClusterName, number>,
  planned: readonly PlannedDeletion[],
): ReadonlyMap<ClusterName, number> {
  const counts = new Map(permitted);
  const seen = new Set<string>();
  for (const { cluster, id } of planned) {
    // What two placements lose at once is one object.
    const object = `${cluster} ${objectKey(id)}`;
    if (!seen.has(object)) counts.set(cluster, (counts.get(cluster) ?? 0) + 1);
    seen.add(object);
  }
  return new Map([...counts].sort(([a], [b]) => compareText(a, b)));
}

/** In protected places a set for each placement, since it is approved with the change of that. */
function heldSetsWithOthers(occupied: readonly HoldsOthers[], input: GuardInput): readonly HeldDeletion[] {
  const [guarded, free] = partition(occupied, (it) => input.isProtected(cascadeOf(it)));
  const placements = [...new Set(guarded.map((it) => it.placement))].sort(compareText);
  return [
    ...heldSets("foreign", free, input),
    ...placements.flatMap((key) =>
      heldSets(
        "protected",
        guarded.filter((it) => it.placement === key),
        input,
      ),
    ),
  ];
}

const cascadeOf = ({ placement, cluster, id, found }: HoldsOthers): CascadedDeletion => ({
  placement,
  cluster,
  id: plainId(id),
  objects: found.objects,
});

type ObjectOnCluster = Pick<PlannedDeletion, "cluster" | "placement" | "id">;

/** A set under a digest that no set and no confirmation ever had. */
function heldSets(
  because: HeldDeletion["because"],
  asked: readonly (ObjectOnCluster & Partial<Pick<HoldsOthers, "found">>)[],
  { before, cause, ledgerBefore }: GuardInput,
): readonly HeldDeletion[] {
  if (asked.length === 0) return [];
  const others = asked.flatMap(({ cluster, placement, id, found }): readonly CascadedDeletion[] =>
    found === undefined ? [] : [{ placement, cluster, id: plainId(id), objects: found.objects }],
  );
  const judged = before.confirmations;
  const isTaken = (it: HeldDeletion["digest"]): boolean =>
    judged.has(it) || before.held.some((held) => held.digest === it);
  const digest = deletionDigest({ because, objects: asked, others }, ledgerBefore, isTaken);
  return [{ cause, because, digest, confirmed: false, groups: groupsOf(asked), others }];
}

/** Groups objects that the same clusters lose by the same placement, so that a placement on a hundred clusters is one entry. */
function groupsOf(planned: readonly ObjectOnCluster[]): readonly DeletionGroup[] {
  const lists = new Map<string, { placement: PlacementKey; cluster: ClusterName; objects: Map<string, ObjectId> }>();
  for (const { placement, cluster, id } of planned) {
    const key = `${placement} ${cluster}`;
    const list = lists.get(key) ?? { placement, cluster, objects: new Map() };
    list.objects.set(objectKey(id), plainId(id));
    lists.set(key, list);
  }
  const groups = new Map<string, { placement: PlacementKey; clusters: ClusterName[]; objects: ObjectId[] }>();
  for (const { placement, cluster, objects } of [...lists].sort(([a], [b]) => compareText(a, b)).map(([, it]) => it)) {
    const keys = [...objects.keys()].sort(compareText);
    const same = `${placement} ${keys.join(" ")}`;
    const group = groups.get(same) ?? {
      placement,
      clusters: [],
      objects: keys.map((it) => objects.get(it) as ObjectId),
    };
    group.clusters.push(cluster);
    groups.set(same, group);
  }
  return [...groups.values()];
}

/** Held sets without what is no longer to go, and what is asked about anew. `before.held` itself when nothing changed. */
function stillHeld(input: GuardInput): readonly HeldDeletion[] {
  const { before, isLeaving, isReleased, isPlannedAgain, leftBy, isProtected, occupied, planned } = input;
  if (before.held.length === 0) return before.held;
  const isCounted = objectsIn(
    planned.map(({ placement, cluster, id }) => ({ placement, clusters: [cluster], objects: [id] })),
  );
  const renewed = outdated(before.held, occupied);
  // Released with its removal, an object that holds others' is counted nowhere, and asked about anew all the same.
  const isAskedAnew = (held: HeldDeletion, ...[cluster, placement, key]: Parameters<ObjectLookup>): boolean => {
    const by = leftBy(cluster, placement, key);
    const isAgain = held.confirmed && isPlannedAgain(placement);
    if (by === null && !isAgain) return false;
    return isCounted(cluster, placement, key) || ((isAgain || by === "removal") && takesOthersAlong(held));
  };
  const next = before.held.flatMap((held): HeldDeletion[] => {
    // Once something is protected, or not any more, others are asked about it.
    const isMisjudged = !held.confirmed && held.others.some((it) => isProtected(it) !== (held.because === "protected"));
    const stays: ObjectLookup = (cluster, placement, key) =>
      isLeaving(cluster, placement, key) &&
      (takesOthersAlong(held) || !isReleased(cluster, placement, key)) &&
      !isAskedAnew(held, cluster, placement, key) &&
      !(takesOthersAlong(held) && (renewed(cluster, placement, key) || isMisjudged));
    const groups = held.groups.flatMap((group): DeletionGroup[] => remaining(group, stays));
    if (groups.length === 0) return [];
    if (groups.length === held.groups.length && groups.every((it, at) => it === held.groups[at])) return [held];
    const others = held.others.filter((it) => stays(it.cluster, it.placement, objectKey(it.id)));
    return [{ ...held, groups, others }];
  });
  return next.length === before.held.length && next.every((it, at) => it === before.held[at]) ? before.held : next;
}

/** What holds other objects by now than a set says that is about them. */
function outdated(sets: readonly HeldDeletion[], occupied: readonly HoldsOthers[]): ObjectLookup {
  const withOthers = sets.filter(takesOthersAlong).map((set) => ({ set, along: othersBySet([set]) }));
  return objectsIn(
    occupied.flatMap((it) => {
      const { cluster, placement, id } = it;
      const isListed = withOthers.some(({ set, along }) => {
        const listed = along(cluster, placement, objectKey(id));
        return listed !== null && listsCurrentOthers(set, listed, it);
      });
      return isListed ? [] : [{ placement, clusters: [cluster], objects: [id] }];
    }),
  );
}

/** The group itself while all of it is still to go; otherwise what is left of it, per cluster. */
function remaining(group: DeletionGroup, stays: ObjectLookup): DeletionGroup[] {
  const { placement } = group;
  const left = (cluster: ClusterName): readonly ObjectId[] =>
    group.objects.filter((it) => stays(cluster, placement, objectKey(it)));
  const lists = group.clusters.map((cluster) => ({ cluster, objects: left(cluster) }));
  if (lists.every((it) => it.objects.length === group.objects.length)) return [group];
  return [...groupsOf(lists.flatMap(({ cluster, objects }) => objects.map((id) => ({ cluster, placement, id }))))];
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(test), items.filter((it) => !test(it))];
}
