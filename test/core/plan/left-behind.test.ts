// What a placement left behind that has no say in it any more is in nobody's way (`apply/README.md#left-behind`).
import { expect, test } from "vitest";
import { emptyInventory } from "../../../src/core/model/inventory.ts";
import type { PlacementKey } from "../../../src/core/model/value.ts";
import { clusterOf, keyOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

const [space, config] = [keyOf("Namespace", "shop"), keyOf("ConfigMap", "shop/config")];

function place(world: World, name: string, namespaces: string): void {
  const policy = policyOf("PickAll", undefined);
  world.placements.set(name as PlacementKey, placementOf({ name, policy, options: [`ns=${namespaces}`] }));
}

function settle(world: World): void {
  for (let pass = 0; pass < 8; pass++) world.pass();
}

/** The cluster left with what `shop` had there, its inventory is lost, and it is to come back. */
function left(): World {
  const world = new World();
  const m1 = clusterOf("m1");
  world.commit(() => {
    world.join(m1);
    for (const name of ["shop", "other"]) write(world, objectOf("Namespace", name, "-"));
    write(world, objectOf("ConfigMap", "shop/config", "one"));
    place(world, "shop", "shop,other");
  });
  settle(world);
  world.commit(() => world.clusters.delete(m1.name));
  world.pass();
  world.member("m1").inventory = emptyInventory;
  return world;
}

const ownerOf = (world: World, key: typeof space): string | undefined => {
  const live = world.member("m1").objects.get(key);
  const isAdopted = world
    .member("m1")
    .inventory.placements.get("web" as PlacementKey)
    ?.entries.get(key)?.adopted;
  return live === undefined ? "nobody" : `${live.mark?.label}${isAdopted === true ? ", as there before" : ""}`;
};

test("a placement that is there again and carries something else leaves to others what bears its mark", () => {
  const world = left();
  world.commit(() => {
    world.join(clusterOf("m1"));
    place(world, "shop", "other");
    place(world, "web", "shop");
  });
  settle(world);
  expect([space, config].map((it) => ownerOf(world, it))).toEqual(["web, as there before", "web, as there before"]);
  expect(ownerOf(world, keyOf("Namespace", "other"))).toBe("shop");
});

test("a placement that is there again and is to carry it keeps what bears its mark", () => {
  const world = left();
  world.commit(() => {
    world.join(clusterOf("m1"));
    place(world, "web", "shop");
  });
  settle(world);
  expect([space, config].map((it) => ownerOf(world, it))).toEqual(["shop", "shop"]);
});

test("what somebody else has, and a placement never got, is no orphan once nothing explains it (D 7)", () => {
  const world = new World();
  world.commit(() => {
    world.join(clusterOf("m1"));
    write(world, objectOf("Namespace", "shop", "-"));
    write(world, objectOf("ConfigMap", "shop/config", "one"));
    const policy = policyOf("PickAll", undefined);
    const options = ["ns=shop", "never-take-over"];
    world.placements.set("shop" as PlacementKey, placementOf({ name: "shop", policy, options }));
  });
  world.member("m1").make(config);
  settle(world);
  const { inventory } = world.member("m1");
  const entry = inventory.placements.get("shop" as PlacementKey)?.entries.get(config);
  expect([entry?.uid, entry?.outcome.kind]).toEqual([null, "failed"]);
  world.commit(() => world.clusters.delete(clusterOf("m1").name));
  settle(world);
  world.commit(() => {
    world.join(clusterOf("m1"));
    world.placements.delete("shop" as PlacementKey);
  });
  settle(world);
  const orphans = world.pass().plan.reasons.filter((it) => it.kind === "orphans");
  expect(orphans).toMatchObject([{ placement: "shop", objects: 1 }]);
});
