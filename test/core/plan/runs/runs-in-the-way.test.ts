// Which runs are in the way of people and of other runs, and which only look as if they were.
import { describe, expect, test } from "vitest";
import { type RunRecord, runKey } from "../../../../src/core/model/update-run.ts";
import {
  type BlobId,
  type ClusterName,
  type Digest,
  minutes,
  type PlacementKey,
} from "../../../../src/core/model/value.ts";
import { reasonText } from "../../../../src/core/report/reason-text.ts";
import { clusterOf, objectOf, placementOf, policyOf, runOf, strategyOf } from "../../../intent.ts";
import { World, write } from "../../../world.ts";

const web = "web" as PlacementKey;

/** m1 in staging, m2 and m3 in production, and what a policy picks of them. */
function prepared(stages: readonly string[], policy = policyOf("PickAll", undefined)): World {
  const world = new World();
  world.commit(() => {
    for (const [name, env] of [
      ["m1", "staging"],
      ["m2", "prod"],
      ["m3", "prod"],
    ] as const)
      world.join(clusterOf(name, [`env=${env}`]));
    write(world, objectOf("Namespace", "web", "zero"));
    world.placements.set(web, placementOf({ name: "web", policy, options: ["external"] }));
    const strategy = strategyOf("rings", stages);
    world.strategies.set(strategy.key, strategy);
  });
  return world;
}

function create(world: World, name: string, stages: readonly string[] | null = null): void {
  const strategy = strategyOf(stages === null ? "rings" : `rings-${name}`, stages ?? []);
  const spec = { placement: web, strategy: strategy.key, resourceIndex: null, state: "Run" } as const;
  world.commit(() => {
    if (stages !== null) world.strategies.set(strategy.key, strategy);
    world.runs.set(runKey(null, name), runOf(name, spec));
  });
}

function stop(world: World, name: string): void {
  const run = world.runs.get(runKey(null, name)) ?? expect.fail(`no run ${name}`);
  world.commit(() => world.runs.set(run.key, { ...run, spec: { ...run.spec, state: "Stop" } }));
}

const bring = (world: World, value: string): void =>
  world.commit(() => write(world, objectOf("Namespace", "web", value)));

function settle(world: World): readonly string[] {
  for (let passes = 0; passes < 30; passes++) {
    const { isCommitted, plan } = world.pass();
    if (!isCommitted && plan.actions.length === 0) return plan.reasons.map(reasonText);
  }
  return expect.fail("it never rests");
}

const runIn = (world: World, name: string): RunRecord =>
  world.head.runs.get(runKey(null, name)) ?? expect.fail(`no run ${name}`);

const endOf = (world: World, name: string): string => {
  const { end } = runIn(world, name);
  return end === null ? "goes on" : end.kind === "failed" ? end.code : end.kind;
};

const said = (world: World, name: string, type: string): string => {
  const found = runIn(world, name).conditions.find((it) => it.type === type);
  return found === undefined ? "nothing" : `${found.status} ${found.reason}: ${found.message}`;
};

const rings = ["staging:env=staging", "prod:env=prod/ask-before/2"];

/** A first version everywhere, then a run that is stopped in staging, and one that takes all of it over. */
function takenOver(): World {
  const world = prepared(["staging:env=staging", "prod:env=prod/2"]);
  create(world, "zero");
  settle(world);
  bring(world, "one");
  create(world, "first");
  world.pass();
  stop(world, "first");
  world.pass();
  bring(world, "two");
  create(world, "second");
  settle(world);
  return world;
}

describe("a stopped run whose clusters newer runs have all taken counts as over", () => {
  test("it says so, and nobody is told to let it go on", () => {
    const world = takenOver();
    expect([endOf(world, "first"), endOf(world, "second")]).toEqual(["superseded", "succeeded"]);
    expect(said(world, "first", "Succeeded")).toContain("run second has taken over what was left");
    expect(settle(world).filter((it) => it.includes("first"))).toEqual([]);
  });

  test("no cluster is kept from being evicted", () => {
    const world = takenOver();
    world.commit(() =>
      world.evictions.set("off", {
        name: "off",
        placement: web,
        cluster: "m2" as ClusterName,
        source: world.runs.get(runKey(null, "first"))?.source ?? expect.fail("no source"),
      }),
    );
    world.pass();
    expect(world.head.evictions.get("off")?.conditions.map((it) => `${it.type} ${it.status}`)).toEqual([
      "Valid True",
      "Executed True",
    ]);
  });

  test("no newer run is kept from other stages", () => {
    const world = takenOver();
    bring(world, "three");
    create(world, "third", ["all/3"]);
    settle(world);
    expect(endOf(world, "third")).toBe("succeeded");
  });

  test("while it has a cluster left it stays stopped", () => {
    const world = prepared(["staging:env=staging", "prod:env=prod/2"]);
    create(world, "first");
    world.pass();
    stop(world, "first");
    bring(world, "two");
    create(world, "second");
    world.pass();
    expect(endOf(world, "first")).toBe("goes on");
  });
});

describe("stages have to be the same only while a run has something left to do on members", () => {
  test("what members say in the same pass counts: one that is done there is in nobody's way", () => {
    const world = prepared(["staging:env=staging", "prod:env=prod/2"]);
    create(world, "first");
    // The members are done before anybody hears it; the next run comes with other stages in just that pass.
    while (!world.carried("m3").some((it) => it.startsWith("Namespace web zero"))) world.pass();
    bring(world, "one");
    create(world, "second", ["all/3"]);
    settle(world);
    expect([endOf(world, "first"), endOf(world, "second")]).toEqual(["succeeded", "succeeded"]);
  });

  test("a wait behind the last stage is in nobody's way", () => {
    const world = prepared(["staging:env=staging", "prod:env=prod/2/wait=60"]);
    create(world, "first");
    settle(world);
    expect(endOf(world, "first")).toBe("goes on");
    bring(world, "one");
    create(world, "second", ["all/3"]);
    settle(world);
    expect([endOf(world, "first"), endOf(world, "second")]).toEqual(["goes on", "succeeded"]);
    world.wait(minutes(60));
    settle(world);
    expect(endOf(world, "first")).toBe("succeeded");
  });

  test("a run that waits for an approval is in the way", () => {
    const world = prepared(rings);
    create(world, "first");
    settle(world);
    create(world, "second", ["all/3"]);
    settle(world);
    expect(endOf(world, "second")).toBe("StrategiesDiffer");
  });
});

test("where nobody signs, an approval that answers nothing is answered all the same", () => {
  const world = prepared(rings);
  world.fleet = { ...world.fleet, unsignedApprovals: "allow" };
  create(world, "first");
  settle(world);
  const digest = "ab".repeat(32) as Digest;
  const file = {
    blob: "stray" as BlobId,
    digest,
    decision: "Approve",
    principal: "ann",
    comment: "",
    signature: null,
  } as const;
  world.commit(() => world.approvals.push({ ...file, path: "approvals/stray.yaml" }));
  expect(settle(world).join()).toMatch(/FLT1201: approvals\/stray\.yaml answers no request that is open/);
  const asked = runIn(world, "first").stages[1]?.before.Approval?.digest ?? expect.fail("nobody is asked");
  world.commit(() => world.approvals.splice(0, 1, { ...file, path: "approvals/first.yaml", digest: asked }));
  expect(settle(world).join()).not.toMatch(/FLT1201/);
  expect(endOf(world, "first")).toBe("succeeded");
  // It was used: that is history, and no problem.
  expect(settle(world).join()).not.toMatch(/FLT1201/);
});

describe("a run says", () => {
  test("what it waits for before it is planned, with the numbers", () => {
    const world = prepared(rings, policyOf("PickN", "4"));
    create(world, "first");
    const reasons = settle(world);
    expect(said(world, "first", "Initialized")).toMatch(/^Unknown UpdateRunInitializing: .*3 of 4/);
    expect(reasons.filter((it) => it.includes("run first")).join()).toMatch(/3 of 4/);
  });

  test("which clusters joined since it was planned, and goes on without them", () => {
    const world = prepared(rings);
    create(world, "first");
    world.pass();
    world.commit(() => world.join(clusterOf("m4", ["env=prod"])));
    expect(settle(world)).toContain(
      "web: run first: skipped, since picked after the plan was made: m4; the next run brings it there",
    );
    expect(said(world, "first", "Progressing")).toContain("m4");
  });
});
