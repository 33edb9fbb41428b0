import { expect, test } from "vitest";
import { marked } from "../../../src/core/apply/mark.ts";
import { decideHandOver, decideKnown, withOwnEntry } from "../../../src/core/apply/takeover.ts";
import type { InventoryEntry } from "../../../src/core/model/inventory.ts";
import type { Manifest, ObjectKey } from "../../../src/core/model/manifest.ts";
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

const late = "late" as PlacementKey;
const key = "/ConfigMap/b/a" as ObjectKey;
const had = { ...entry("u1", 5), outcome: { kind: "applied" } } as const;

test.each([
  ["the one before wrote last", written(shop, 5), had, [shop], "taken"],
  ["a placement wrote late that has no say in it any more", written(late, 3), had, [shop], "taken"],
  ["a placement wrote late that still has a say in it", written(late, 3), had, [shop, late], "not taken"],
  ["a placement wrote by a later decision", written(late, 9), had, [shop], "not taken"],
  [
    "another placement wrote, since the one before had only claimed it",
    written(late, 3),
    { ...had, outcome: { kind: "claimed" } },
    [shop],
    "not taken",
  ],
  [
    "a placement wrote late, and it is another object by now",
    written(late, 3),
    { ...had, uid: "u2" },
    [shop],
    "not taken",
  ],
] as const)("D 9: an object that %s: whether it is handed over", (_, live, given, holders, decided) => {
  const claimant = { fleet: "f", epoch: 1 as Epoch, action, key, holders: new Map([[key, holders]]) };
  const offer = { from: shop, upTo: 6 as Sequence, entry: given };
  const decision = decideHandOver({ kind: "present", live }, claimant, offer);
  expect(decision === null ? "not taken" : "taken").toBe(decided);
  if (decision !== null) expect(decision).toEqual({ kind: "write", uid: "u1", adopted: false, live: null });
});

const going = written(web, 6);
const goingLive = {
  ...going,
  metadata: { ...(going["metadata"] as object), deletionTimestamp: "2026-01-01T00:00:00Z" },
};

test.each([
  ["stands there", "u1", going, "write"],
  ["stands there and is being deleted", "u1", goingLive, "wait"],
  ["is gone, and another one there is being deleted", "u2", goingLive, "write"],
] as const)("I 14: an object that is known by its uid and %s: how it is gone about", (_, uid, live, decided) => {
  const claimant = { fleet: "f", epoch: 1 as Epoch, action, key, holders: new Map() };
  expect(decideKnown({ kind: "present", live }, { uid, adopted: false }, claimant, [])).toMatchObject({
    kind: decided,
    uid,
  });
});

test.each([
  ["bears the mark of the other one", written(shop, 2), [web, shop], [shop], "leave"],
  ["bears its own mark", written(web, 2), [web, shop], [shop], "write"],
  ["bears the mark of the other one, which has no say in it any more", written(shop, 2), [web], [shop], "write"],
  ["bears the mark of the other one, which does not list it", written(shop, 2), [web, shop], [], "write"],
] as const)(
  "D 9: an object that two placements list and are to carry, and that %s",
  (_, live, holders, sharers, decided) => {
    const claimant = { fleet: "f", epoch: 1 as Epoch, action, key, holders: new Map([[key, holders]]) };
    const decision = decideKnown({ kind: "present", live }, { uid: "u1", adopted: false }, claimant, sharers);
    expect(decision.kind).toBe(decided);
    if (decision.kind === "leave") expect(decision.failure.message).toBe("placement shop owns it");
  },
);
