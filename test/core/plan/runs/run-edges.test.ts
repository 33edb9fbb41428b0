// What runs and evictions do where several rules meet.
import { expect, test } from "vitest";
import { runKey, type StageProgress } from "../../../../src/core/model/update-run.ts";
import {
  type ClusterName,
  type Digest,
  minutes,
  type PlacementKey,
  seconds,
} from "../../../../src/core/model/value.ts";
import { reasonText } from "../../../../src/core/report/reason-text.ts";
import { clusterOf, keyOf, objectOf, placementOf, policyOf, runOf, strategyOf } from "../../../intent.ts";
import { play } from "../../../script.ts";
import { morning, World, write } from "../../../world.ts";
import { isReproducible, standsStill } from "../any-weather.ts";

const web = "web" as PlacementKey;

function prepared(stages: readonly string[], ...options: readonly string[]): World {
  const world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2", "m3"]) world.join(clusterOf(name, [name === "m1" ? "env=canary" : "env=prod"]));
    write(world, objectOf("Namespace", "web", "zero"));
    world.placements.set(web, placementOf({ name: "web", policy: policyOf("PickAll", undefined), options }));
    const all = strategyOf("all", stages);
    world.strategies.set(all.key, all);
  });
  return world;
}

function create(world: World, name: string): void {
  const strategy = strategyOf("all", []).key;
  const spec = { placement: web, strategy, resourceIndex: null, state: "Run" } as const;
  world.commit(() => world.runs.set(runKey(null, name), runOf(name, spec)));
}

test("a run that failed is spoken of as long as it is there, also of a placement that rolls out by itself", () => {
  const world = prepared(["all"]);
  create(world, "lost");
  for (let pass = 0; pass < 8; pass++) {
    const { seen, plan } = world.pass();
    isReproducible(seen, plan, `pass ${pass}`);
    expect(plan.reasons.filter((it) => it.kind === "runFailed").length).toBe(1);
  }
});

test("I-12: nothing moves while what the plan says cannot be sent", () => {
  const world = prepared(["all"], "external");
  create(world, "first");
  world.pass();
  const [run] = [...world.head.runs.values()];
  const plan = run?.plan;
  if (run === undefined || plan == null) throw new Error("no plan");
  const stages = plan.stages.map((stage) => ({
    ...stage,
    clusters: stage.clusters.map((it) => (it.cluster === "m2" ? { ...it, digest: "another" as Digest } : it)),
  }));
  world.head = { ...world.head, runs: new Map([[run.key, { ...run, plan: { ...plan, stages } }]]) };
  for (let pass = 0; pass < 5; pass++) world.pass();
  standsStill(world.look(), "at last");
  expect(world.pass().plan.reasons).toContainEqual(expect.objectContaining({ kind: "renderFailed", cluster: "m2" }));
  expect(world.head.placements.get(web)?.bindings.get("m2" as ClusterName)?.target ?? null).toBeNull();
});

test.each([
  ["behind", -3600, 61],
  ["ahead", 3600, 0],
])("I-06: a wait that begins while our clock is an hour %s does not end early", (_name, offset, left) => {
  const world = prepared(["canary:env=canary/wait=1", "prod:env=prod"], "external");
  create(world, "first");
  world.pass();
  world.clockOffset = seconds(offset);
  for (let pass = 0; pass < 3; pass++) world.pass();
  const stage = (): StageProgress | undefined => world.head.runs.get(runKey(null, "first"))?.stages[0];
  expect(stage()?.finishedAt).not.toBeNull();
  // Somebody sets it right, and with that time passes by our clock alone.
  world.clockOffset = seconds(0);
  world.wait(minutes(60));
  world.pass();
  expect([stage()?.endedAt != null, (stage()?.finishedAt ?? 0) - morning]).toEqual([
    left === 0,
    // Members tell the time down to the second.
    left === 0 ? 0 : 3_601_000,
  ]);
  world.wait(minutes(left));
  world.pass();
  expect(stage()?.endedAt).not.toBeNull();
});

test("B 2: a run without an index waits for what cannot be read, and rolls out no older version instead", () => {
  const world = prepared(["all"], "external");
  create(world, "first");
  for (let pass = 0; pass < 8; pass++) world.pass();
  const space = keyOf("Namespace", "web");
  world.commit(() => {
    world.objects.delete(space);
    world.unusable = new Set([space]);
  });
  create(world, "second");
  const { plan } = world.pass();
  expect(world.head.runs.get(runKey(null, "second"))).toMatchObject({ plan: null, end: null });
  expect(plan.reasons.map(reasonText)).toContain(
    "web: run second: waits for Namespace web, which is selected and whose file cannot be used",
  );
  world.commit(() => {
    write(world, objectOf("Namespace", "web", "two"));
    world.unusable = new Set();
  });
  for (let pass = 0; pass < 8; pass++) world.pass();
  expect(world.carried("m3")).toEqual(["Namespace web two"]);
});

const many = ["write Namespace web one", ...Array.from({ length: 14 }, (_, at) => `write ConfigMap web/c${at} one`)];

/** What a person reads from the last settling on. */
const lastOf = (script: readonly string[]): readonly string[] => {
  const lines = play(script.join("\n")).trimEnd().split("\n");
  return lines.slice(lines.lastIndexOf("> settle") + 1);
};

test.each(["PickAll", "PickAll external"])(
  "an eviction whose deletions wait for a confirmation waits with them, though %s picks the cluster again",
  (policy) => {
    const placed = ["cluster m1", "cluster m2", ...many, `place web ${policy}`, "strategy all all", "run r1 web all"];
    const script = [...(policy === "PickAll" ? placed.slice(0, -2) : placed), "settle", "evict e1 web m1"];
    expect(lastOf([...script, "pass", "pass", "settle"])[2]).toContain("15 deletions on 1 cluster wait for");
    const after = lastOf([...script, "pass", "pass", "confirm", "settle", "show m1 m2", "settle"]);
    expect(after).toEqual(["  settled in 1 passes", "  nothing is decided, nothing is done"]);
    const shown = play([...script, "pass", "pass", "confirm", "pass", "show m1"].join("\n")).split("> show m1")[1];
    expect(shown?.trim()).toBe("");
  },
);

test("a cluster that a run was to take off is picked again: nobody has to confirm what is wanted", () => {
  const script = ["cluster m1", "cluster m2", ...many, "place web PickFixed m1,m2 external", "strategy all all"];
  const held = ["run r1 web all", "settle", "place web PickFixed m2 external", "run r2 web all", "settle"];
  expect(lastOf([...script, ...held])).toContain(
    "  ? web: run r2, stage kubernetes-fleet.io/deleteStage: in progress: m1",
  );
  const back = ["place web PickFixed m1,m2 external", "run r3 web all", "settle", "settle"];
  expect(lastOf([...script, ...held, ...back])).toEqual([
    "  settled in 1 passes",
    "  nothing is decided, nothing is done",
  ]);
});
