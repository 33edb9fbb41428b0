import { type Inventory, mostTombstones } from "../model/inventory.ts";
import { remembered } from "../model/memo.ts";
import type { PlacementKey, Sequence } from "../model/value.ts";

/**
 * Whether a member refuses whatever older decisions still want of a placement: one as late as `sequence` was claimed there.
 *
 * An executor that froze before its claim would otherwise come back after a removal that the member has never heard of,
 * and write what nobody explains any more. Where as many later removals are remembered as there is room for, a tombstone
 * of this one would be the first to go: that is as good as a member can be told.
 */
export function isFenced(inventory: Inventory, placement: PlacementKey, sequence: Sequence): boolean {
  const carried = inventory.placements.get(placement);
  if (carried !== undefined) return carried.sequence >= sequence;
  const oldest = oldestKept(inventory);
  return oldest !== null && oldest >= sequence;
}

/** The oldest removal that a full memory keeps; null while there is room. A thousand removed at once ask about it. */
const oldestKept = remembered(({ placements }: Inventory): Sequence | null => {
  const removals: Sequence[] = [];
  for (const it of placements.values()) if (it.entries.size === 0) removals.push(it.sequence);
  return removals.sort((a, b) => b - a)[mostTombstones - 1] ?? null;
});
