import { expect, test } from "vitest";
import { isFenced } from "../../../src/core/apply/actions.ts";
import {
  emptyInventory,
  type Inventory,
  type InventoryEntry,
  maxTombstones,
} from "../../../src/core/model/inventory.ts";
import type { Digest, PlacementKey, Sequence } from "../../../src/core/model/value.ts";
import { keyOf } from "../../intent.ts";

const web = "web" as PlacementKey;
const entry = { outcome: { kind: "applied" } } as InventoryEntry;

/** An inventory of placements by sequence; one that carries something is marked with a plus. */
const inventoryOf = (placements: Readonly<Record<string, string | number>>): Inventory => ({
  ...emptyInventory,
  placements: new Map(
    Object.entries(placements).map(([name, said]) => [
      name as PlacementKey,
      {
        sequence: Number.parseInt(String(said), 10) as Sequence,
        digest: "" as Digest,
        entries: new Map(String(said).endsWith("+") ? [[keyOf("ConfigMap", `${name}/config`), entry]] : []),
      },
    ]),
  ),
});
const others = (count: number, said: string | number): Readonly<Record<string, string | number>> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`other-${at}`, said]));

test.each([
  ["a member that never heard of the placement is not fenced", {}, false],
  ["one that claimed an older target is not", { web: 5 }, false],
  ["one that claimed the removal is", { web: 6 }, true],
  ["one that claimed something later is", { web: 7 }, true],
  ["a memory full of later removals has no room for this one", others(maxTombstones, 6), true],
  ["a memory full of older removals has", others(maxTombstones, 5), false],
  ["one with a place left has", others(maxTombstones - 1, 6), false],
  ["what is still carried takes no place", others(maxTombstones, "6+"), false],
] as const)("%s", (_, placements, want) => {
  expect(isFenced(inventoryOf(placements), web, 6 as Sequence)).toBe(want);
});
