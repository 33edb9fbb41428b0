// Worlds in which a plausible planner would delete or overwrite what it must not.
import { beforeEach, expect, test } from "vitest";
import { maxTombstones } from "../../../src/core/model/inventory.ts";
import { objectKey } from "../../../src/core/model/manifest.ts";
import { clusterGroup, placementGroup } from "../../../src/core/model/names.ts";
import type { ClusterName, PlacementKey } from "../../../src/core/model/value.ts";
import { clusterOf, keyOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

let world: World;
beforeEach(() => {
  world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2"]) world.join(clusterOf(name, ["env=prod"]));
    write(world, objectOf("Namespace", "web", "-"));
    write(world, objectOf("ConfigMap", "web/config", "one"));
    place();
  });
});

const web = "web" as PlacementKey;
const everything = ["ConfigMap web/config one", "Namespace web -"];

function place(kind = "PickAll", argument?: string): void {
  world.placements.set(web, placementOf({ name: "web", policy: policyOf(kind, argument), options: [] }));
}

function settle(): void {
  for (let pass = 0; pass < 10; pass++) world.pass();
  world.flush();
}

test("one cluster under two names: the second name gets nothing, and takes nothing away", () => {
  world.commit(() => world.join(clusterOf("m3", ["env=prod"])));
  world.members.set("m3" as ClusterName, world.member("m1"));
  settle();
  expect(world.head.clusters.get("m3" as ClusterName)?.contactFailure).toMatchObject({
    code: "IdentityChanged",
    message: "it is the same cluster as m1",
  });
  world.commit(() => place("PickFixed", "m1"));
  settle();
  expect(world.carried("m1")).toEqual(everything);
});

test("a second name never takes a cluster from the name that joined first", () => {
  settle();
  world.commit(() => world.join(clusterOf("a0", ["env=prod"])));
  world.members.set("a0" as ClusterName, world.member("m1"));
  settle();
  expect(world.head.clusters.get("m1" as ClusterName)?.contactFailure).toBeNull();
  expect(world.head.clusters.get("a0" as ClusterName)?.contactFailure?.code).toBe("IdentityChanged");
});

test("a leaving object whose mark somebody took off is theirs: it stays, and is waited for no longer", () => {
  settle();
  const config = world.member("m1").objects.get(keyOf("ConfigMap", "web/config"));
  if (config === undefined) throw new Error("it was placed");
  config.mark = null;
  world.commit(() => world.placements.delete(web));
  settle();
  expect(world.carried("m1")).toContain("ConfigMap web/config one (not ours)");
  // The namespace holds somebody else's object now, and waits for a person (D 4).
  const left = world.head.placements.get(web)?.bindings.get("m1" as ClusterName)?.leaving;
  expect(left?.map((it) => it.id.kind)).toEqual(["Namespace"]);
  expect(world.head.deletions.held.map((it) => it.because)).toEqual(["foreign"]);
});

test.each([
  [
    "its placement",
    () => world.placements.delete(web),
    { group: placementGroup, kind: "ClusterResourcePlacement", name: "web" },
  ],
  [
    "a member",
    () => world.clusters.delete("m2" as ClusterName),
    { group: clusterGroup, kind: "MemberCluster", name: "m2" },
  ],
])("%s, accepted once and unusable now with nothing to hold, is neither removed nor left", (_, lose, id) => {
  settle();
  const before = world.head;
  world.commit(() => {
    lose();
    world.unusable = new Set([objectKey({ ...id, namespace: null })]);
  });
  settle();
  expect([world.carried("m1"), world.carried("m2")]).toEqual([everything, everything]);
  expect(world.head.placements.get(web)?.bindings).toEqual(before.placements.get(web)?.bindings);
  expect([...world.head.clusters.keys()]).toEqual(["m1", "m2"]);
});

test("a selected object, accepted once and unusable now with nothing to hold, is not deselected", () => {
  settle();
  world.commit(() => {
    world.objects.delete(keyOf("ConfigMap", "web/config"));
    world.unusable = new Set([keyOf("ConfigMap", "web/config")]);
  });
  settle();
  expect(world.carried("m1")).toHaveLength(2);
  expect(world.head.placements.get(web)?.resourceSnapshots).toHaveLength(1);
});

test("no commit permits itself what it deletes: a bound that it loosens counts from the next one", () => {
  world.commit(() => {
    for (const name of ["m3", "m4", "m5"]) world.join(clusterOf(name, ["env=prod"]));
  });
  settle();
  world.commit(() => {
    world.fleet = { ...world.fleet, guards: { ...world.fleet.guards, clusters: 100 } };
    world.placements.delete(web);
  });
  settle();
  expect(world.head.deletions.held.map((it) => [it.because, it.confirmed])).toEqual([["bounds", false]]);
  expect(world.carried("m5")).toEqual(everything);
});

test("an executor that froze before its claim comes too late after the removal, and leaves no orphans", () => {
  world.pass({ isLate: true });
  world.commit(() => world.placements.delete(web));
  settle();
  expect(world.head.placements.size).toBe(0);
  const refusals = world.late.splice(0).flatMap((it) => world.act(it));
  expect(refusals).toEqual(["m1: overtaken by a later action", "m2: overtaken by a later action"]);
  settle();
  expect(["m1", "m2"].flatMap((it) => world.carried(it))).toEqual([]);
});

test("a fleet that removes more placements than a member remembers comes to rest", () => {
  const names = Array.from({ length: maxTombstones + 20 }, (_, at) => `p${at}`);
  world.commit(() => {
    for (const name of names)
      world.placements.set(
        name as PlacementKey,
        placementOf({ name, policy: policyOf("PickFixed", "m1"), options: ["ns=web"] }),
      );
  });
  world.pass({ isLate: true });
  world.commit(() => {
    for (const name of names) world.placements.delete(name as PlacementKey);
  });
  settle();
  expect([...world.head.placements.keys()]).toEqual([web]);
  expect(world.pass().plan.actions).toEqual([]);
});
