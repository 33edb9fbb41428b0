import type { Inventory, InventoryEntry, InventoryPlacement } from "../../../core/model/inventory.ts";
import { type Json, sameJson } from "../../../core/model/json.ts";
import type { Observation } from "../../../core/model/observation.ts";
import { isSameLiveObject } from "./live-objects.ts";

/** The next observation with every unchanged part of the one before: `===` shows what changed, at every level. */
export function reuseUnchanged(before: Observation | null, next: Observation): Observation {
  if (before === null) return next;
  if (before.kind === "unreachable" || next.kind === "unreachable") return isSameFailure(before, next) ? before : next;
  const properties = reuseUnchangedMap(before.properties, next.properties, (a, b) => a === b);
  const inventory = reuseUnchangedInventory(before.inventory, next.inventory);
  const objects = reuseUnchangedMap(before.objects, next.objects, isSameLiveObject);
  const unlisted = sameSet(before.unlisted, next.unlisted) ? before.unlisted : next.unlisted;
  const isSame =
    before.clusterUid === next.clusterUid &&
    before.properties === properties &&
    before.inventory === inventory &&
    before.objects === objects &&
    before.unlisted === unlisted &&
    before.collected === next.collected &&
    before.namespaces === next.namespaces;
  return isSame ? before : { ...next, properties, inventory, objects, unlisted };
}

const isSameFailure = (before: Observation, next: Observation): boolean =>
  before.kind === "unreachable" &&
  next.kind === "unreachable" &&
  before.code === next.code &&
  before.message === next.message;

/** The same for an inventory alone. */
export function reuseUnchangedInventory(before: Inventory, next: Inventory): Inventory {
  if (before === next) return before;
  const placements = reuseUnchangedMap(before.placements, next.placements, samePlacement, reuseUnchangedEntries);
  const isSame = placements === before.placements && before.fleet === next.fleet && before.epoch === next.epoch;
  return isSame ? before : { ...next, placements };
}

const samePlacement = (a: InventoryPlacement, b: InventoryPlacement): boolean =>
  a.sequence === b.sequence &&
  a.digest === b.digest &&
  reuseUnchangedMap(a.entries, b.entries, sameEntry) === a.entries;

const reuseUnchangedEntries = (a: InventoryPlacement, b: InventoryPlacement): InventoryPlacement => ({
  ...b,
  entries: reuseUnchangedMap(a.entries, b.entries, sameEntry),
});

const sameEntry = (a: InventoryEntry, b: InventoryEntry): boolean =>
  a.digest === b.digest &&
  a.uid === b.uid &&
  a.sequence === b.sequence &&
  a.fingerprint === b.fingerprint &&
  a.version === b.version &&
  a.adopted === b.adopted &&
  sameRepairs(a.repairs, b.repairs) &&
  (a.outcome === b.outcome || sameJson(a.outcome as unknown as Json, b.outcome as unknown as Json));

const sameRepairs = (a: InventoryEntry["repairs"], b: InventoryEntry["repairs"]): boolean =>
  a === b || (a?.count === b?.count && a?.since === b?.since && a?.last === b?.last);

/** The old map when both are equal and in the same order; otherwise the new one with the old values that are equal. */
function reuseUnchangedMap<K, V>(
  before: ReadonlyMap<K, V>,
  next: ReadonlyMap<K, V>,
  same: (a: V, b: V) => boolean,
  partly: (a: V, b: V) => V = (_, b) => b,
): ReadonlyMap<K, V> {
  if (before === next) return before;
  const carried = new Map<K, V>();
  const order = before.keys();
  let isSame = before.size === next.size;
  for (const [key, value] of next) {
    const was = before.get(key);
    const isKept = was !== undefined && (was === value || same(was, value));
    isSame &&= isKept && order.next().value === key;
    carried.set(key, isKept ? was : was === undefined ? value : partly(was, value));
  }
  return isSame ? before : carried;
}

const sameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a === b || (a.size === b.size && [...a].every((it) => b.has(it)));
