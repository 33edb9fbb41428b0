import { digestOf } from "../model/digest.ts";
import type { DeletionBounds } from "../model/fleet.ts";
import type { DeletionGroup, DeletionLedger, HeldDeletion } from "../model/ledger.ts";
import { type ObjectId, objectKey } from "../model/manifest.ts";
import { kindKey } from "../model/scope.ts";
import { type ClusterName, type Commit, compareText, type Digest, type PlacementKey } from "../model/value.ts";
import { sameMap } from "./identity.ts";
import { type ObjectLookup, objectsIn } from "./objects-in.ts";

/** One object that a decision takes away from one member. */
export interface Doom {
  readonly cluster: ClusterName;
  readonly placement: PlacementKey;
  readonly id: ObjectId;
  /** The placement leaves the member as a whole; false: only its selection or an override changed. */
  readonly whole: boolean;
  /** A namespace that its member did not give up, because it holds objects of others. */
  readonly foreign: boolean;
}

export interface GuardInput {
  readonly before: DeletionLedger;
  readonly cause: Commit;
  /** What this pass newly decided to take away, adopted and abandoned objects apart. */
  readonly dooms: readonly Doom[];
  readonly bounds: DeletionBounds;
  /** Members of the fleet. */
  readonly clusterCount: number;
  /** Objects that a member carries of us, by what we recorded. */
  readonly objectsOn: (cluster: ClusterName) => number;
  readonly confirmations: ReadonlySet<Digest>;
  /** Whether the object is still to go: not wanted again, not gone, its member still here. */
  readonly isDoomed: ObjectLookup;
}

/**
 * Decides which deletions may happen and which wait for a person (`RULINGS.md` D 3, D 4).
 *
 * What one source commit takes away is counted across passes. When it passes the bounds, everything it newly takes away
 * waits: a bound that let some of it through would delete by accident, only less of it.
 * Kinds that carry others' data with them wait even below the bounds, unless their whole placement leaves.
 */
export function guardDeletions(input: GuardInput): DeletionLedger {
  const { before, cause, dooms } = input;
  const kept = stillHeld(input);
  if (dooms.length === 0) return kept === before.held ? before : { ...before, held: kept };
  const isKept = objectsIn(kept.flatMap((it) => it.groups));
  const fresh = dooms.filter((it) => !it.foreign && !isKept(it.cluster, it.placement, objectKey(it.id)));
  // Who confirmed a deletion did not know yet that others' objects stand in the namespace: asked for once more.
  const isKnown = objectsIn(kept.filter((it) => it.because === "foreign").flatMap((it) => it.groups));
  const foreign = dooms.filter((it) => it.foreign && !isKnown(it.cluster, it.placement, objectKey(it.id)));
  if (fresh.length + foreign.length === 0) return kept === before.held ? before : { ...before, held: kept };

  const permitted =
    before.cause === cause || before.permitted.size === 0 ? before.permitted : new Map<ClusterName, number>();
  const [precious, plain] = partition(fresh, (it) => !it.whole && isPrecious(it.id));
  const counts = plain.length === 0 ? permitted : tally(permitted, plain);
  const passes = isWithin(counts, input);
  const added = [
    ...heldSets(passes ? "kind" : "bounds", passes ? precious : fresh, input),
    ...heldSets("foreign", foreign, input),
  ];
  const held = added.length === 0 ? kept : [...kept, ...added];
  const next = passes ? counts : permitted;
  return { ...before, cause, permitted: sameMap(next, before.permitted) ? before.permitted : next, held };
}

/** `RULINGS.md` D 4. Custom resources go with their definition, files with their volume, everything with its namespace. */
const preciousKinds: ReadonlySet<string> = new Set([
  "/Namespace",
  "/PersistentVolume",
  "/PersistentVolumeClaim",
  "apiextensions.k8s.io/CustomResourceDefinition",
]);

/** Whether an object takes others' data along when it goes (`RULINGS.md` D 4). */
export const isPrecious = (id: ObjectId): boolean => preciousKinds.has(kindKey(id));

/** What a confirmation names: over (cluster, group, kind, namespace, name) of every object, sorted (`RULINGS.md` D 3). */
export function deletionDigest(objects: readonly Pick<Doom, "cluster" | "id">[]): Digest {
  const rows = objects.map(({ cluster, id }) => [cluster, id.group, id.kind, id.namespace ?? "", id.name]);
  return digestOf(rows.map((it) => it.join("/")).sort(compareText));
}

/** How many objects a held set names, and on which clusters. */
export function extentOf(held: HeldDeletion): { readonly objects: number; readonly clusters: readonly ClusterName[] } {
  const clusters = new Set(held.groups.flatMap((it) => it.clusters));
  const objects = held.groups.reduce((sum, it) => sum + it.clusters.length * it.objects.length, 0);
  return { objects, clusters: [...clusters].sort(compareText) };
}

function isWithin(counts: ReadonlyMap<ClusterName, number>, input: GuardInput): boolean {
  const { bounds, clusterCount, objectsOn } = input;
  if (counts.size > Math.max(bounds.clusters, Math.floor((clusterCount * bounds.percentOfClusters) / 100)))
    return false;
  for (const [cluster, count] of counts) {
    const share = Math.floor((objectsOn(cluster) * bounds.percentPerCluster) / 100);
    if (count > Math.max(bounds.objectsPerCluster, share)) return false;
  }
  return true;
}

function tally(permitted: ReadonlyMap<ClusterName, number>, dooms: readonly Doom[]): ReadonlyMap<ClusterName, number> {
  const counts = new Map(permitted);
  for (const { cluster } of dooms) counts.set(cluster, (counts.get(cluster) ?? 0) + 1);
  return new Map([...counts].sort(([a], [b]) => compareText(a, b)));
}

function heldSets(
  because: HeldDeletion["because"],
  dooms: readonly Doom[],
  { cause, confirmations }: GuardInput,
): readonly HeldDeletion[] {
  if (dooms.length === 0) return [];
  const digest = deletionDigest(dooms);
  return [{ cause, because, digest, confirmed: confirmations.has(digest), groups: groupsOf(dooms) }];
}

/** Groups objects that the same clusters lose by the same placement, so that a placement on a hundred clusters is one entry. */
function groupsOf(dooms: readonly Doom[]): readonly DeletionGroup[] {
  const lists = new Map<string, { placement: PlacementKey; cluster: ClusterName; objects: Map<string, ObjectId> }>();
  for (const { placement, cluster, id } of dooms) {
    const key = `${placement} ${cluster}`;
    const list = lists.get(key) ?? { placement, cluster, objects: new Map() };
    list.objects.set(objectKey(id), id);
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

/** Held sets without what is no longer to go, with the confirmations that came in. `before.held` itself when nothing changed. */
function stillHeld({ before, confirmations, isDoomed }: GuardInput): readonly HeldDeletion[] {
  const next = before.held.flatMap((held): HeldDeletion[] => {
    const groups = held.groups.flatMap((group): DeletionGroup[] => remaining(group, isDoomed));
    if (groups.length === 0) return [];
    const confirmed = held.confirmed || confirmations.has(held.digest);
    const same = groups.length === held.groups.length && groups.every((it, at) => it === held.groups[at]);
    return [same && confirmed === held.confirmed ? held : { ...held, confirmed, groups: same ? held.groups : groups }];
  });
  return next.length === before.held.length && next.every((it, at) => it === before.held[at]) ? before.held : next;
}

/** The group itself while all of it is still to go; otherwise what is left of it, per cluster. */
function remaining(group: DeletionGroup, isDoomed: GuardInput["isDoomed"]): DeletionGroup[] {
  const { placement } = group;
  const left = (cluster: ClusterName): readonly ObjectId[] =>
    group.objects.filter((it) => isDoomed(cluster, placement, objectKey(it)));
  const lists = group.clusters.map((cluster) => ({ cluster, objects: left(cluster) }));
  if (lists.every((it) => it.objects.length === group.objects.length)) return [group];
  return [
    ...groupsOf(
      lists.flatMap(({ cluster, objects }) =>
        objects.map((id) => ({ cluster, placement, id, whole: true, foreign: false })),
      ),
    ),
  ];
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(test), items.filter((it) => !test(it))];
}
