// What an External placement selects and no run has rolled out is on record, so that nobody is told that all is in place.
import { expect, test } from "vitest";
import { runKey, type UpdateRunSpec } from "../../../../src/core/model/update-run.ts";
import type { PlacementKey } from "../../../../src/core/model/value.ts";
import { summaryOf } from "../../../../src/core/status/summary.ts";
import { clusterOf, objectOf, placementOf, policyOf, runOf, strategyOf } from "../../../intent.ts";
import { World, write } from "../../../world.ts";

const web = "web" as PlacementKey;

function placed(option: "external" | "rolling"): World {
  const world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2"]) world.join(clusterOf(name, ["env=prod"]));
    write(world, objectOf("Namespace", "web", "zero"));
    const options = option === "external" ? ["external"] : [];
    world.placements.set(web, placementOf({ name: "web", policy: policyOf("PickAll", undefined), options }));
    const all = strategyOf("all", ["all"]);
    world.strategies.set(all.key, all);
  });
  return settled(world);
}

function settled(world: World): World {
  for (let pass = 0; pass < 8; pass++) world.pass();
  return world;
}

const rollOut = (
  world: World,
  name: string,
  resourceIndex: string | null = null,
  state: UpdateRunSpec["state"] = "Run",
): void =>
  world.commit(() => {
    const spec = { placement: web, strategy: strategyOf("all", []).key, resourceIndex, state };
    world.runs.set(runKey(null, name), runOf(name, spec));
  });

const edit = (world: World, value: string): void =>
  world.commit(() => write(world, objectOf("Namespace", "web", value)));

const recordIn = ({ head }: World) => head.placements.get(web) ?? expect.fail("web is recorded");
const stateIn = (world: World): string => summaryOf(recordIn(world)).state;

test("before the first run, and after every edit, until a run brings it", () => {
  const world = placed("external");
  expect(recordIn(world).unrolled).not.toBeNull();
  rollOut(world, "first");
  expect([recordIn(settled(world)).unrolled, stateIn(world)]).toEqual([null, "Available"]);
  edit(world, "one");
  expect([recordIn(settled(world)).unrolled === null, stateIn(world)]).toEqual([false, "AwaitingRun"]);
  rollOut(world, "second");
  expect([recordIn(settled(world)).unrolled, stateIn(world)]).toEqual([null, "Available"]);
});

test("a run that has a plan brings nothing until somebody starts it", () => {
  const world = placed("external");
  rollOut(world, "first");
  settled(world);
  edit(world, "one");
  rollOut(world, "second", null, "Initialize");
  expect([recordIn(settled(world)).unrolled === null, stateIn(world)]).toEqual([false, "AwaitingRun"]);
  rollOut(world, "second", null, "Run");
  expect([recordIn(settled(world)).unrolled, stateIn(world)]).toEqual([null, "Available"]);
});

test("a rollback leaves the newest content unrolled, and a revert of the edit ends that", () => {
  const world = placed("external");
  rollOut(world, "first");
  settled(world);
  edit(world, "one");
  rollOut(world, "second");
  settled(world);
  rollOut(world, "back", "0");
  expect(stateIn(settled(world))).toBe("AwaitingRun");
  edit(world, "zero");
  expect(stateIn(settled(world))).toBe("Available");
});

test("content that is edited back and forth without a run writes nothing twice", () => {
  const world = placed("external");
  rollOut(world, "first");
  settled(world);
  edit(world, "one");
  settled(world);
  const { plan } = world.pass();
  expect([plan.decides, plan.ledger === world.head]).toEqual([false, true]);
});

test("a placement that rolls out by itself has nothing of the kind", () => {
  const world = placed("rolling");
  edit(world, "one");
  world.pass();
  expect(recordIn(world).unrolled).toBeNull();
});
