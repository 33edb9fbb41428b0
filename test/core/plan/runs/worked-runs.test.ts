// Worked cases of update runs (`rollout/README.md#cases-of-staged-runs`) that only the whole planner can show.
import { expect, test } from "vitest";
import { known } from "../../../../src/core/model/assert.ts";
import { runKey } from "../../../../src/core/model/update-run.ts";
import type { ClusterName, Digest, PlacementKey } from "../../../../src/core/model/value.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf, policyOf, runOf, strategyOf } from "../../../intent.ts";
import { play } from "../../../script.ts";
import { World, write } from "../../../world.ts";

const web = "web" as PlacementKey;

/** Three clusters, a strategy that takes them one by one, and content. */
function prepared(...options: readonly string[]): World {
  const world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2", "m3"]) world.join(clusterOf(name, ["env=prod"]));
    write(world, objectOf("Namespace", "web", "zero"));
    const policy = policyOf("PickAll", undefined);
    world.placements.set(web, placementOf({ name: "web", policy, options: ["external", ...options] }));
    const all = strategyOf("all", ["all"]);
    world.strategies.set(all.key, all);
  });
  return world;
}

function create(world: World, name: string, resourceIndex: string | null = null): void {
  const strategy = strategyOf("all", []).key;
  const key = runKey(null, name);
  world.commit(() => world.runs.set(key, runOf(name, { placement: web, strategy, resourceIndex, state: "Run" })));
}

function settle(world: World): void {
  for (let passes = 0; passes < 20; passes++) {
    const { isCommitted, plan } = world.pass();
    if (!isCommitted && plan.actions.length === 0) return;
  }
}

const endOf = (world: World, name: string): string => {
  const end = world.head.runs.get(runKey(null, name))?.end ?? null;
  return end === null ? "goes on" : end.kind === "failed" ? end.code : end.kind;
};
const indexOn = (world: World, cluster: string): number | undefined =>
  world.head.placements.get(web)?.bindings.get(cluster as ClusterName)?.target?.resourceIndex;

test.each([
  ["7", "SnapshotNotFound"],
  ["01", "SnapshotNotFound"],
  ["0", "succeeded"],
])("U19: index %j where 0 and 1 are kept: %s", (index, outcome) => {
  const world = prepared();
  create(world, "first");
  settle(world);
  world.commit(() => write(world, objectOf("Namespace", "web", "one")));
  create(world, "second");
  settle(world);
  create(world, "asked", index);
  settle(world);
  expect(endOf(world, "asked")).toBe(outcome);
});

test("U34: editing the state of a run that is over changes nothing at all", () => {
  const world = prepared();
  create(world, "first");
  settle(world);
  const before = world.head.runs.get(runKey(null, "first"));
  world.commit(() => {
    const run = known(world.runs.get(runKey(null, "first")), "no run");
    world.runs.set(run.key, { ...run, spec: { ...run.spec, state: "Stop" } });
  });
  settle(world);
  expect(world.head.runs.get(runKey(null, "first"))).toBe(before);
});

test("U35: a run that is removed midway leaves its clusters as they are, and no other run minds", () => {
  const world = prepared();
  create(world, "first");
  settle(world);
  world.commit(() => write(world, objectOf("Namespace", "web", "one")));
  create(world, "second");
  world.pass();
  world.commit(() => world.runs.delete(runKey(null, "second")));
  settle(world);
  expect(["m1", "m2", "m3"].map((it) => indexOn(world, it))).toEqual([1, 0, 0]);
  expect([...world.head.runs.keys()]).toEqual(["first"]);
});

test("U37: an override that comes after the plan was made waits for the next run", () => {
  const world = prepared();
  world.commit(() => write(world, objectOf("ConfigMap", "web/config", "zero")));
  create(world, "first");
  world.pass();
  const config = keyOf("ConfigMap", "web/config");
  world.commit(() => world.overrides.set("loud", overrideOf("loud", config, "env=prod", "delete")));
  settle(world);
  expect(world.carried("m3")).toEqual(["ConfigMap web/config zero", "Namespace web zero"]);
  create(world, "second");
  settle(world);
  expect(world.carried("m3")).toEqual(["Namespace web zero"]);
});

test("U38: a snapshot that an unfinished run names outlives the history limit (A 51)", () => {
  const world = prepared("history=2");
  create(world, "zero");
  settle(world);
  world.commit(() => write(world, objectOf("Namespace", "web", "one")));
  create(world, "one");
  settle(world);
  create(world, "back", "0");
  world.pass();
  world.commit(() => write(world, objectOf("Namespace", "web", "two")));
  create(world, "two");
  world.pass();
  const kept = (): readonly (number | undefined)[] | undefined =>
    world.head.placements.get(web)?.resourceSnapshots.map((it) => it.index);
  expect(kept()).toEqual([0, 1, 2]);
  settle(world);
  expect(endOf(world, "back")).toBe("succeeded");
  expect(["m1", "m2", "m3"].map((it) => indexOn(world, it))).toEqual([2, 2, 2]);
});

test("U44: a run without an index rolls out what this commit holds, however young (B 2)", () => {
  const world = prepared();
  create(world, "first");
  settle(world);
  world.commit(() => {
    write(world, objectOf("Namespace", "web", "one"));
    const strategy = strategyOf("all", []).key;
    world.runs.set(runKey(null, "now"), runOf("now", { placement: web, strategy, resourceIndex: null, state: "Run" }));
  });
  settle(world);
  expect(world.carried("m1")).toEqual(["Namespace web one"]);
});

test("I-12: what renders to something else than the plan says is not sent, and said", () => {
  const world = prepared();
  create(world, "first");
  world.pass();
  const run = known(world.head.runs.get(runKey(null, "first")), "no run");
  const frozen = known(run.plan, "no plan");
  const stages = frozen.stages.map((stage) => ({
    ...stage,
    clusters: stage.clusters.map((it) => (it.cluster === "m2" ? { ...it, digest: "another" as Digest } : it)),
  }));
  world.head = { ...world.head, runs: new Map([[run.key, { ...run, plan: { ...frozen, stages } }]]) };
  const { plan } = world.pass();
  expect(world.carried("m2")).toEqual([]);
  expect(plan.reasons).toContainEqual(expect.objectContaining({ kind: "renderFailed", cluster: "m2" }));
});

test("B 4: a run with other stages is refused while an older one is under way", () => {
  const told = play(
    [
      "cluster m1 env=canary",
      "write Namespace web one",
      "place web PickAll external",
      "strategy rings canary:env=canary/ask-before",
      "strategy others all",
      "run r1 web rings",
      "pass",
      "run r2 web others",
      "pass",
    ].join("\n"),
  );
  expect(told).toContain("run r2 failed: StrategiesDiffer: run r1 of placement web is under way with other stages");
});
