import { type ForeignObject, type ForeignObjects, type HeldDeletion, maxForeignObjects } from "../../model/deletion.ts";
import type { Ledger, PlacementRecord } from "../../model/ledger.ts";
import { type ObjectId, type ObjectKey, objectKey } from "../../model/manifest.ts";
import { remembered } from "../../model/memo.ts";
import type { World } from "../../model/plan.ts";
import type { ClusterName, PlacementKey } from "../../model/value.ts";

/**
 * A Namespace or definition that its member did not give up, because it holds objects of others (`plan/README.md#d-4`).
 */
export interface Occupied {
  readonly cluster: ClusterName;
  readonly placement: PlacementKey;
  readonly id: ObjectId;
  readonly found: ForeignObjects;
}

/** What members say that they did not give up, with what it holds of others. */
export function occupiedIn({ placements }: Ledger, { observed }: Pick<World, "observed">): readonly Occupied[] {
  const all: Occupied[] = [];
  for (const [placement, { bindings }] of placements)
    for (const { cluster, leaving, removal } of leavingIn(bindings)) {
      // What is abandoned takes nothing along.
      if (removal?.propagation === "Abandon") continue;
      const seen = observed.get(cluster);
      const carried = seen?.kind === "reached" ? seen.inventory.placements.get(placement) : undefined;
      for (const { id } of leaving) {
        const outcome = carried?.entries.get(objectKey(id))?.outcome;
        if (outcome?.kind !== "lingering" || outcome.code !== "NamespaceNotEmpty") continue;
        // Where the list is missing, the member is asked again before anybody else is.
        if (outcome.others !== undefined) all.push({ cluster, placement, id, found: outcome.others });
      }
    }
  return all;
}

/** The bindings of a placement from which something leaves. */
export const leavingIn = remembered((bindings: PlacementRecord["bindings"]) =>
  [...bindings.values()].filter((it) => it.leaving.length > 0),
);

/** Whether there are few enough of them for somebody to judge. */
export const isListable = ({ found }: Occupied): boolean => found.count <= maxForeignObjects;

/** What may go along with an object, by the sets that name it; null where none of them is about others' objects. */
export type AlongLookup = (
  cluster: ClusterName,
  placement: PlacementKey,
  key: ObjectKey,
) => readonly ForeignObject[] | null;

/** Looks up what of others may go along by a set. */
export function alongIn(sets: readonly HeldDeletion[]): AlongLookup {
  const lists = new Map<string, readonly ForeignObject[]>();
  for (const { others } of sets)
    for (const { cluster, placement, id, objects } of others)
      lists.set(`${cluster} ${placement} ${objectKey(id)}`, objects);
  return (cluster, placement, key) => lists.get(`${cluster} ${placement} ${key}`) ?? null;
}

/**
 * Whether a set still tells truly what goes along with an object. Before it is confirmed it shows exactly what is there;
 * afterwards less may be there by now.
 */
export function stillTells(set: HeldDeletion, listed: readonly ForeignObject[], { found }: Occupied): boolean {
  const isListed = (it: ForeignObject): boolean => listed.some((other) => sameOther(it, other));
  if (found.count !== found.objects.length || !found.objects.every(isListed)) return false;
  return set.confirmed || listed.length === found.objects.length;
}

/** Whether it is the same object, and not one of the same name that was made since. */
const sameOther = (a: ForeignObject, b: ForeignObject): boolean => a.uid === b.uid && objectKey(a) === objectKey(b);
