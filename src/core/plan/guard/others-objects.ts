import { type ForeignObject, type ForeignObjects, type HeldDeletion, maxForeignObjects } from "../../model/deletion.ts";
import { remembered } from "../../model/identity.ts";
import type { InventoryPlacement } from "../../model/inventory.ts";
import type { Ledger, PlacementRecord } from "../../model/ledger.ts";
import { type ObjectId, type ObjectKey, objectKey } from "../../model/manifest.ts";
import type { World } from "../../model/plan.ts";
import type { ClusterName, PlacementKey } from "../../model/value.ts";

/**
 * A Namespace or CustomResourceDefinition that its member did not delete, because it holds objects of others (`plan/README.md#d-4`).
 */
export interface HoldsOthers {
  readonly cluster: ClusterName;
  readonly placement: PlacementKey;
  readonly id: ObjectId;
  readonly found: ForeignObjects;
}

/** What members report as not deleted because of others' objects, with those objects. */
export function refusedForOthers(
  { placements }: Ledger,
  { observed }: Pick<World, "observed">,
): readonly HoldsOthers[] {
  const all: HoldsOthers[] = [];
  for (const [placement, { bindings }] of placements)
    for (const { cluster, leaving, removal } of bindingsWithLeaving(bindings)) {
      // What is abandoned takes nothing along.
      if (removal?.propagation === "Abandon") continue;
      const seen = observed.get(cluster);
      const carried = seen?.kind === "reached" ? seen.inventory.placements.get(placement) : undefined;
      if (carried === undefined || !isAnyRefused(carried)) continue;
      for (const { id } of leaving) {
        const outcome = carried.entries.get(objectKey(id))?.outcome;
        if (outcome?.kind !== "lingering" || outcome.code !== "NamespaceNotEmpty") continue;
        // Where the list is missing, the member is asked again before anybody else is.
        if (outcome.others !== undefined) all.push({ cluster, placement, id, found: outcome.others });
      }
    }
  return all;
}

const isAnyRefused = remembered(({ entries }: InventoryPlacement): boolean =>
  [...entries.values()].some(({ outcome }) => outcome.kind === "lingering" && outcome.code === "NamespaceNotEmpty"),
);

/** The bindings of a placement from which something leaves. */
export const bindingsWithLeaving = remembered((bindings: PlacementRecord["bindings"]) =>
  [...bindings.values()].filter((it) => it.leaving.length > 0),
);

/** Whether they are few enough for a person to review. */
export const isListable = ({ found }: HoldsOthers): boolean => found.count <= maxForeignObjects;

/** Others' objects that may be deleted with an object, by the sets that name it; null where none of them does. */
type OthersLookup = (cluster: ClusterName, placement: PlacementKey, key: ObjectKey) => readonly ForeignObject[] | null;

/** Looks up the objects of others in held sets. */
export function othersBySet(sets: readonly HeldDeletion[]): OthersLookup {
  const lists = new Map<string, readonly ForeignObject[]>();
  for (const { others } of sets)
    for (const { cluster, placement, id, objects } of others)
      lists.set(`${cluster} ${placement} ${objectKey(id)}`, objects);
  return (cluster, placement, key) => lists.get(`${cluster} ${placement} ${key}`) ?? null;
}

/**
 * Whether a set still lists others' objects as they are. Before it is confirmed it has to list exactly what is there;
 * afterwards less may be there by now.
 */
export function listsCurrentOthers(
  set: HeldDeletion,
  listed: readonly ForeignObject[],
  { found }: HoldsOthers,
): boolean {
  const isListed = (it: ForeignObject): boolean => listed.some((other) => sameOther(it, other));
  if (found.count !== found.objects.length || !found.objects.every(isListed)) return false;
  return set.confirmed || listed.length === found.objects.length;
}

/** Whether it is the same object, not a new one of the same name. */
const sameOther = (a: ForeignObject, b: ForeignObject): boolean => a.uid === b.uid && objectKey(a) === objectKey(b);
