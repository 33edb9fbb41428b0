// Deletions of an update run that wait for a confirmation, while another run moves the same clusters.
import { expect, test } from "vitest";
import { objectKey } from "../../../../src/core/model/manifest.ts";
import { runKey } from "../../../../src/core/model/update-run.ts";
import type { PlacementKey } from "../../../../src/core/model/value.ts";
import { clusterOf, objectOf, placementOf, policyOf, runOf, strategyOf } from "../../../intent.ts";
import { World, write } from "../../../world.ts";

const web = "web" as PlacementKey;
/** More than may be deleted unasked. */
const settings = Array.from({ length: 11 }, (_, at) => objectOf("ConfigMap", `web/settings-${at}`, "zero"));
const strategy = strategyOf("rings", ["staging:env=staging", "prod:env=prod/1"]);

function create(world: World, name: string, state: "Run" | "Stop" = "Run"): void {
  const spec = { placement: web, strategy: strategy.key, resourceIndex: null, state };
  world.commit(() => world.runs.set(runKey(null, name), runOf(name, spec)));
}

const bring = (world: World, value: string): void =>
  world.commit(() => write(world, objectOf("Namespace", "web", value)));

function settle(world: World): void {
  for (let passes = 0; passes < 40; passes++) {
    const { isCommitted, plan } = world.pass();
    if (!isCommitted && plan.actions.length === 0) return;
  }
  expect.fail("it never rests");
}

const holders = (world: World): readonly string[] =>
  [...world.members.keys()].filter((it) => world.carried(it).some((line) => line.startsWith("ConfigMap")));

/** Five clusters, and an External placement that selects a namespace and what else there is of it. */
function fleet(): World {
  const world = new World();
  world.commit(() => {
    for (const [name, env] of [
      ["m1", "staging"],
      ["m2", "prod"],
      ["m3", "prod"],
      ["m4", "prod"],
      ["m5", "prod"],
    ] as const)
      world.join(clusterOf(name, [`env=${env}`]));
    write(world, objectOf("Namespace", "web", "zero"));
    world.placements.set(
      web,
      placementOf({ name: "web", policy: policyOf("PickAll", undefined), options: ["external"] }),
    );
    world.strategies.set(strategy.key, strategy);
  });
  return world;
}

const add = (world: World): void => {
  for (const it of settings) write(world, it);
};

test("what a newer run is to delete goes on waiting for its confirmation while an older one moves those clusters", () => {
  const world = fleet();
  world.commit(() => add(world));
  create(world, "zero");
  settle(world);
  expect(holders(world)).toEqual(["m1", "m2", "m3", "m4", "m5"]);

  // The older run is in its last stage when the newer one is planned, and goes on there.
  bring(world, "one");
  create(world, "first");
  world.pass();
  world.pass();
  world.commit(() => {
    for (const it of settings) world.objects.delete(objectKey(it.id));
  });
  create(world, "second");
  settle(world);
  expect(holders(world)).toEqual(["m1", "m2", "m3", "m4", "m5"]);
});

test("what an older run still brings to a cluster is counted there for the newer one that takes it away", () => {
  const world = fleet();
  create(world, "zero");
  settle(world);
  world.commit(() => add(world));
  create(world, "first");
  world.pass();
  world.pass();
  const before = holders(world);
  expect(before.length).toBeLessThan(5);
  world.commit(() => {
    for (const it of settings) world.objects.delete(objectKey(it.id));
  });
  create(world, "second");
  settle(world);
  expect(holders(world).length).toBeGreaterThan(before.length);
  const held = world.head.deletions.held.flatMap((it) => it.groups.flatMap(({ clusters }) => clusters));
  expect([...new Set(held)].sort()).toEqual(holders(world));
});

test("what a newer run is to delete goes on waiting while an older one only renames what those clusters carry", () => {
  const world = fleet();
  world.commit(() => add(world));
  create(world, "zero");
  settle(world);

  bring(world, "one");
  create(world, "between");
  passUntil(world, (names) => names.get("m3") === 1);
  // What comes back has a snapshot of its own: where it never left, the target gets another name, and nothing is written.
  // The cluster that joins keeps the stage open until then.
  create(world, "between", "Stop");
  world.commit(() => world.join(clusterOf("m6", ["env=prod"])));
  bring(world, "zero");
  create(world, "first");
  passUntil(world, (names) => names.get("m2") === 2);
  world.commit(() => {
    for (const it of settings) world.objects.delete(objectKey(it.id));
  });
  create(world, "second");
  passUntil(world, (names) => names.get("m5") === 2);
  settle(world);
  expect(holders(world)).toEqual(["m1", "m2", "m3", "m4", "m5", "m6"]);
});

/** Which snapshot each cluster is to carry. */
const namesOn = (world: World): ReadonlyMap<string, number | null> =>
  new Map(
    [...(world.head.placements.get(web)?.bindings.values() ?? [])].map((it) => [
      it.cluster,
      it.target?.resourceIndex ?? null,
    ]),
  );

function passUntil(world: World, isThere: (names: ReadonlyMap<string, number | null>) => boolean): void {
  for (let passes = 0; passes < 20; passes++) {
    world.pass();
    if (isThere(namesOn(world))) return;
  }
  expect.fail("it does not get there");
}
