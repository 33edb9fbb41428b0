import { expect, test } from "vitest";
import { marked } from "../../../src/core/apply/mark.ts";
import { withOwnEntry } from "../../../src/core/apply/takeover.ts";
import type { InventoryEntry } from "../../../src/core/model/inventory.ts";
import type { Manifest } from "../../../src/core/model/manifest.ts";
import type { PlacementActions } from "../../../src/core/model/plan.ts";
import type { Epoch, PlacementKey, Sequence } from "../../../src/core/model/value.ts";

const [web, shop] = ["web" as PlacementKey, "shop" as PlacementKey];
const action = { placement: web, sequence: 7 as Sequence } as PlacementActions;

const entry = (uid: string | null, sequence: number): InventoryEntry =>
  ({ uid, sequence: sequence as Sequence, adopted: false }) as InventoryEntry;

/** What stands there, as it was written last. */
function written(by: PlacementKey, sequence: number): Manifest {
  const write = { placement: by, fleet: "f", epoch: 1 as Epoch, sequence: sequence as Sequence };
  const object = marked({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "b" } }, write);
  return { ...object, metadata: { ...(object["metadata"] as object), uid: "u1" } } as Manifest;
}

test.each([
  ["the new owner knows it by its uid, however long ago it wrote it", entry("u1", 6), written(web, 2), "own"],
  ["the new owner has written it by a claim whose result is missing", entry(null, 6), written(web, 7), "own"],
  ["the new owner has written it before its claim", entry(null, 6), written(web, 2), "given"],
  ["the new owner had another one of that name", entry("u2", 6), written(web, 7), "given"],
  ["whoever hands it over has written it last", entry("u1", 6), written(shop, 5), "given"],
  ["the new owner never had it", null, written(shop, 5), "given"],
] as const)("D 9: of an object that is handed over, where %s: whose entry counts", (_, own, live, counts) => {
  const given = { from: shop, upTo: 6 as Sequence, entry: entry(null, 5) };
  const known = withOwnEntry(given, { kind: "present", live }, { fleet: "f", action, entry: own });
  expect(known?.entry).toBe(counts === "own" ? own : given.entry);
});
