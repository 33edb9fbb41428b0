// What is said where two placements want one object on a cluster, and one of them has it (D 9).
import { expect, test } from "vitest";
import type { PlacementKey } from "../../../src/core/model/value.ts";
import { minutes } from "../../../src/core/model/value.ts";
import { reasonText } from "../../../src/core/report/reason-text.ts";
import { clusterOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

function place(world: World, name: string, where: string, options: readonly string[]): void {
  const policy = where === "" ? policyOf("PickAll", undefined) : policyOf("PickFixed", where);
  world.placements.set(name as PlacementKey, placementOf({ name, policy, options }));
}

/** What is said of objects that two want, once nothing moves any more. */
function conflictsAfter(world: World): readonly string[] {
  for (let pass = 0; pass < 8; pass++) {
    world.pass();
    world.wait(minutes(2));
  }
  const reasons = world.pass().plan.reasons.map(reasonText);
  return reasons.filter((it) => / keeps (?:it;|that)/.test(it));
}

/** `shop` has two namespaces on m1, and `next`, which is placed everywhere, has them on m2. */
function crossed(): World {
  const world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2"]) world.join(clusterOf(name));
    for (const name of ["shop", "extra"]) write(world, objectOf("Namespace", name, "-"));
    place(world, "shop", "m1", ["ns=shop,extra"]);
  });
  conflictsAfter(world);
  world.commit(() => place(world, "next", "", ["ns=shop,extra", "unavailable=1"]));
  return world;
}

test("while both files ask for it, somebody has to take it out of one of them", () => {
  expect(conflictsAfter(crossed())).toEqual([
    "next: Namespace extra, Namespace shop on m1: shop places the same and keeps it; take it out of one of placements/next.yaml and placements/shop.yaml",
  ]);
});

test("where the one that has it only waits for its own update, its rollout has to go on", () => {
  const world = crossed();
  conflictsAfter(world);
  world.commit(() => {
    place(world, "shop", "", ["ns=shop", "unavailable=25%"]);
    place(world, "next", "", ["ns=extra", "unavailable=1"]);
  });
  // Each waits for the other one on the cluster where it is not ready, and may not update the one where it is.
  expect(conflictsAfter(world)).toEqual([
    "next: Namespace extra on m1: shop keeps that until its next version gets there",
    "shop: Namespace shop on m2: next keeps that until its next version gets there",
  ]);
  world.commit(() => place(world, "shop", "", ["ns=shop", "unavailable=100%"]));
  expect(conflictsAfter(world)).toEqual([]);
  expect(["m1", "m2"].map((it) => world.carried(it).length)).toEqual([2, 2]);
});

test("who waits for the one that has it is told of that one, whoever else goes on wanting it", () => {
  const world = crossed();
  conflictsAfter(world);
  world.commit(() => place(world, "third", "m1", ["ns=extra"]));
  conflictsAfter(world);
  world.commit(() => {
    place(world, "shop", "", ["ns=shop", "unavailable=25%"]);
    place(world, "next", "", ["ns=extra", "unavailable=1"]);
  });
  expect(conflictsAfter(world)).toEqual([
    "next: Namespace extra on m1: shop keeps that until its next version gets there",
    "shop: Namespace shop on m2: next keeps that until its next version gets there",
    "third: Namespace extra on m1: shop keeps that until its next version gets there",
  ]);
});
