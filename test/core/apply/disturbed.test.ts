// Which placements of a member somebody has to look at, object by object.
import { expect, test } from "vitest";
import { disturbedPlacements } from "../../../src/core/apply/disturbed.ts";
import { emptyInventory, type InventoryEntry } from "../../../src/core/model/inventory.ts";
import type { ObjectKey } from "../../../src/core/model/manifest.ts";
import type { LiveObject } from "../../../src/core/model/observation.ts";
import type { Digest, Instant, PlacementKey, Sequence } from "../../../src/core/model/value.ts";

const entry: InventoryEntry = {
  version: "v1",
  digest: "d" as Digest,
  uid: "u",
  adopted: false,
  sequence: 1 as Sequence,
  fingerprint: "f" as Digest,
  outcome: { kind: "applied" },
};
const live: LiveObject = {
  uid: "u",
  generation: 0,
  fingerprint: "f" as Digest,
  health: { phase: "available" },
  terminating: false,
  mark: "mark",
};
const [web, shop] = ["web", "shop"] as [PlacementKey, PlacementKey];
const [first, second] = ["/ConfigMap/a/first", "/ConfigMap/a/second"] as [ObjectKey, ObjectKey];

/** A member with two objects of one placement and one of another, of which the second is told. */
function disturbed(changed: Partial<InventoryEntry>, seen: Partial<LiveObject> | null): readonly PlacementKey[] {
  const carried = { sequence: 1 as Sequence, digest: "d" as Digest };
  const entries = new Map([
    [first, entry],
    [second, { ...entry, ...changed }],
  ]);
  const inventory = {
    ...emptyInventory,
    placements: new Map([
      [shop, { ...carried, entries: new Map([[first, entry]]) }],
      [web, { ...carried, entries }],
    ]),
  };
  const objects = new Map([[first, live], ...(seen === null ? [] : [[second, { ...live, ...seen }] as const])]);
  const base = {
    kind: "reached",
    clusterUid: "c",
    properties: new Map([["k8s.io/k8s-version", "v1.36.3"]]),
    unlisted: new Set<string>(),
  } as const;
  return [...disturbedPlacements({ ...base, inventory, objects })];
}

test("nothing is disturbed while everything is as it was applied", () => {
  expect(disturbed({}, {})).toEqual([]);
});

const retryAt = 0 as Instant;
test.each<[string, Partial<InventoryEntry>, Partial<LiveObject> | null]>([
  ["is gone", {}, null],
  ["was changed", {}, { fingerprint: "g" as Digest }],
  ["was made anew", {}, { uid: "v" }],
  ["is being deleted", {}, { terminating: true }],
  ["is not available yet", {}, { health: { phase: "progressing", message: "soon" } }],
  ["failed", {}, { health: { phase: "failed", message: "no" } }],
  ["tells nothing about itself", {}, { health: { phase: "untrackable" } }],
  ["was taken over", { adopted: true }, {}],
  ["was repaired", { repairs: { count: 1, since: 0 as Instant, last: 0 as Instant } }, {}],
  ["is claimed only", { outcome: { kind: "claimed" }, uid: "u" }, {}],
  ["could not be written", { outcome: { kind: "failed", code: "KindUnknown", message: "", attempts: 1, retryAt } }, {}],
  ["stays behind", { outcome: { kind: "lingering", code: "Terminating", message: "" } }, {}],
])("a placement is disturbed when one of its objects %s", (_, changed, seen) => {
  expect(disturbed(changed, seen)).toEqual([web]);
});
