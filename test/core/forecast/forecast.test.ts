// How a rollout would go, by the real planner over members that exist in the forecast only.
import { expect, test } from "vitest";
import { eventsOf, type ForecastEvent, type RolloutFocus } from "../../../src/core/forecast/events.ts";
import { type ForecastSetup, forecast } from "../../../src/core/forecast/forecast.ts";
import type { Forecast } from "../../../src/core/forecast/timeline.ts";
import { placementKey } from "../../../src/core/model/placement.ts";
import type { World as Seen } from "../../../src/core/model/plan.ts";
import { runKey, strategyKey } from "../../../src/core/model/update-run.ts";
import { type ClusterName, type DurationMs, minutes, seconds } from "../../../src/core/model/value.ts";
import { clusterOf, keyOf, objectOf, placementOf, policyOf, runOf, strategyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";
import { RunStorm } from "../plan/runs/run-storm.ts";

const web = placementKey(null, "web");
const day = minutes(24 * 60);

/** Members with labels, and `web` on all of them, available, in its first version. */
function worldWith(members: readonly string[], options: readonly string[]): World {
  const world = new World();
  world.commit(() => {
    for (const it of members) {
      const [name = "", ...labels] = it.split(" ");
      world.join(clusterOf(name, labels));
    }
    edit(world, "v1");
    const placement = placementOf({ name: "web", policy: policyOf("PickAll", undefined), options });
    world.placements.set(web, placement);
  });
  return world;
}

const edit = (world: World, value: string): void => {
  for (const it of [objectOf("Namespace", "web", "x"), objectOf("ConfigMap", "web/settings", value)]) write(world, it);
};

/** Passes until all is quiet, as members carry it out for real. */
function settle(world: World): World {
  for (let pass = 0; pass < 20; pass++) world.pass();
  world.flush();
  return world;
}

const threeStages = ["canary:env=canary", "second:env=second/50%/wait=60", "rest:env=rest/2"];
const members = ["a1 env=canary", "b1 env=second", "b2 env=second", "c1 env=rest", "c2 env=rest", "c3 env=rest"];

/** `web`, External, carried everywhere in its first version, and a run of the second one. */
function staged(stages: readonly string[]): World {
  const world = worldWith(members, ["external"]);
  const start = (name: string): void => {
    const spec = { placement: web, strategy: strategyKey(null, "s"), resourceIndex: null, state: "Run" } as const;
    world.runs.set(runKey(null, name), runOf(name, spec));
  };
  settle(world);
  world.commit(() => {
    world.strategies.set(strategyKey(null, "s"), strategyOf("s", ["all/9"]));
    start("first");
  });
  settle(world);
  world.commit(() => {
    world.strategies.set(strategyKey(null, "s"), strategyOf("s", stages));
    edit(world, "v2");
    start("next");
  });
  return world;
}

const names = (...all: readonly string[]): ReadonlySet<ClusterName> => new Set(all as readonly ClusterName[]);
const failing = (...all: readonly (readonly [string, DurationMs | null])[]) =>
  new Map(all as readonly (readonly [ClusterName, DurationMs | null])[]);

const foresee = (world: World, supposed: Partial<ForecastSetup> = {}): Forecast => foreseeIn(world.look(), supposed);

function foreseeIn(seen: Seen, supposed: Partial<ForecastSetup>): Forecast {
  return forecast(seen, {
    focus: { placement: web, run: runKey(null, "next") },
    landing: seconds(30),
    failing: failing(),
    silent: names(),
    approveAfter: seconds(0),
    until: day,
    mostPasses: 500,
    ...supposed,
  });
}

const ofPlacement = { focus: { placement: web, run: null } };

/** `+30 lands b1`: seconds since the start, what happens, to whom. */
function linesOf({ events, start }: Forecast): readonly string[] {
  const whom = (it: ForecastEvent): readonly (string | number)[] => {
    const { at: _, kind, ...rest } = it;
    if ("until" in rest) return [rest.stage, (rest.until - start) / 1000];
    if ("cluster" in rest) return [rest.cluster];
    return Object.values(rest);
  };
  return events.map((it) => [`+${(it.at - start) / 1000}`, it.kind, ...whom(it)].join(" "));
}

const down = ({ unavailable, start }: Forecast): readonly string[] =>
  unavailable.map(({ at, clusters }) => `+${(at - start) / 1000} ${clusters.join(" ")}`.trimEnd());

test("a staged run goes in order, waits as its strategy says, and ends at the earliest moment", () => {
  const told = foresee(staged(threeStages));
  expect(linesOf(told)).toEqual([
    "+0 planned 1 3 6 0",
    "+0 stageBegins canary",
    "+0 starts a1",
    "+30 lands a1",
    "+30 stageEnds canary",
    "+30 stageBegins second",
    "+30 starts b1",
    "+60 lands b1",
    "+60 starts b2",
    "+90 lands b2",
    "+90 timer second 3690",
    "+3690 stageEnds second",
    "+3690 stageBegins rest",
    "+3690 starts c1",
    "+3690 starts c2",
    "+3720 lands c1",
    "+3720 lands c2",
    "+3720 starts c3",
    "+3750 lands c3",
    "+3750 stageEnds rest",
    "+3750 succeeded",
  ]);
  expect([told.ending.kind, (told.end - told.start) / 1000, told.unreached]).toEqual(["done", 3750, []]);
  expect(down(told)).toEqual(["+0 a1", "+30 b1", "+60 b2", "+90", "+3690 c1 c2", "+3720 c3", "+3750"]);
});

test("a cluster that fails in the second stage holds the run there, and the third is never reached", () => {
  const told = foresee(staged(threeStages), { failing: failing(["b1", null]) });
  expect(linesOf(told).slice(5)).toEqual([
    "+30 stageBegins second",
    "+30 starts b1",
    "+60 fails b1",
    "+60 holds second starts nothing new: b1 did not come up, and 0 may fail",
    "+330 holds second in progress for more than five minutes: b1",
  ]);
  expect([told.ending.kind, told.unreached]).toEqual(["waits", ["b2", "c1", "c2", "c3"]]);
  expect(down(told)).toEqual(["+0 a1", "+30 b1"]);
});

const asked = ["canary:env=canary/ask-before", "second:env=second/9", "rest:env=rest/9/ask-after"];

test.each<readonly [string, Partial<ForecastSetup>, readonly string[], number]>([
  ["nobody ever does", { approveAfter: null }, ["+0 approvalNeeded canary before"], 6],
  [
    "somebody does at once",
    {},
    ["+0 approvalNeeded canary before", "+0 approved canary before", "+0 stageBegins canary"],
    0,
  ],
  [
    "somebody does after an hour",
    { approveAfter: minutes(60) },
    ["+0 approvalNeeded canary before", "+3600 approved canary before", "+3600 stageBegins canary"],
    0,
  ],
])("a run that needs an approval waits for it: %s", (_, supposed, next, unreached) => {
  const told = foresee(staged(asked), supposed);
  expect(linesOf(told).slice(1, 4)).toEqual(next);
  expect([told.ending.kind, told.unreached.length]).toEqual([unreached === 0 ? "done" : "waits", unreached]);
});

test("a rolling update of 25 % of eight clusters takes two from service at a time", () => {
  const world = settle(worldWith(["m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"], ["unavailable=25%"]));
  world.commit(() => edit(world, "v2"));
  const told = foresee(world, ofPlacement);
  expect(down(told)).toEqual(["+0 m1 m2", "+30 m3 m4", "+60 m5 m6", "+90 m7 m8", "+120"]);
  expect([told.ending.kind, (told.end - told.start) / 1000]).toEqual(["done", 120]);
});

test("a cluster that breaks on the way keeps the rolling update from taking more from service", () => {
  const world = settle(worldWith(["m1", "m2", "m3", "m4"], ["unavailable=1"]));
  world.commit(() => edit(world, "v2"));
  const told = foresee(world, { ...ofPlacement, failing: failing(["m2", seconds(45)]) });
  expect(linesOf(told)).toEqual(["+0 starts m1", "+30 lands m1", "+30 starts m2", "+45 fails m2"]);
  expect([told.ending.kind, told.unreached]).toEqual(["waits", ["m3", "m4"]]);
});

test("a cluster that breaks when all is done is still told of", () => {
  const world = settle(worldWith(["m1", "m2"], []));
  expect(linesOf(foresee(world, { ...ofPlacement, failing: failing(["m2", minutes(10)]) }))).toEqual(["+600 fails m2"]);
  const told = foresee(world, { ...ofPlacement, failing: failing(["m2", minutes(10)]), until: minutes(5) });
  expect([told.ending.kind, linesOf(told)]).toEqual(["done", []]);
});

test("what failed when it was last heard goes on failing until another version is there", () => {
  const world = settle(worldWith(["m1", "m2"], []));
  world.member("m1").refuses.set(keyOf("ConfigMap", "web/settings"), "quota exceeded");
  world.commit(() => edit(world, "v2"));
  for (let pass = 0; pass < 5; pass++) world.pass();
  world.flush();
  const before = foresee(world, ofPlacement);
  expect([before.ending.kind, linesOf(before), down(before), before.unreached]).toEqual([
    "waits",
    [],
    ["+0 m1"],
    ["m2"],
  ]);
  world.commit(() => edit(world, "v3"));
  const after = foresee(world, ofPlacement);
  expect([after.ending.kind, linesOf(after)]).toEqual([
    "done",
    ["+0 starts m1", "+30 lands m1", "+30 starts m2", "+60 lands m2"],
  ]);
});

test("clusters that get a placement for the first time lose nothing", () => {
  const told = foresee(worldWith(["m1", "m2"], []), ofPlacement);
  expect(linesOf(told)).toEqual(["+0 starts m1", "+0 starts m2", "+30 lands m1", "+30 lands m2"]);
  expect([told.ending.kind, down(told)]).toEqual(["done", []]);
});

test("a silent cluster counts as not available, and nothing is brought there", () => {
  const told = foresee(staged(threeStages), { silent: names("b1") });
  expect(linesOf(told).filter((it) => it.includes("b1"))).toEqual([
    "+30 starts b1",
    "+330 holds second in progress for more than five minutes: b1",
  ]);
  expect(down(told)).toEqual(["+0 a1 b1", "+30 b1"]);
});

test("what goes is told, and is no loss", () => {
  const world = settle(worldWith(["m1 env=a", "m2 env=b"], []));
  world.commit(() => {
    const placement = placementOf({ name: "web", policy: policyOf("PickAll", "env=a"), options: [] });
    world.placements.set(web, placement);
    world.clusters.delete("m2" as ClusterName);
    world.join(clusterOf("m2", ["env=c"]));
    world.join(clusterOf("m3", ["env=a"]));
  });
  const told = foresee(world, ofPlacement);
  expect([linesOf(told), down(told)]).toEqual([["+0 starts m3", "+0 leaves m2", "+0 gone m2", "+30 lands m3"], []]);
});

test("a run that was under way goes on from where it is, and its timer from when it began", () => {
  const world = staged(threeStages);
  settle(world);
  world.wait(minutes(20));
  const told = foresee(world);
  expect(linesOf(told).slice(0, 3)).toEqual(["+2400 stageEnds second", "+2400 stageBegins rest", "+2400 starts c1"]);
});

test.each<readonly [string, Partial<ForecastSetup>, string]>([
  ["the time that was to be foreseen", { until: minutes(30) }, "time"],
  ["so many passes", { mostPasses: 3 }, "passes"],
])("it goes no further than %s", (_, supposed, ending) => {
  const told = foresee(staged(threeStages), supposed);
  expect([told.ending.kind, told.unreached]).toEqual([ending, expect.arrayContaining(["c1", "c2", "c3"])]);
});

test("what a team places follows its namespace to where that is brought first", () => {
  const world = worldWith(["a1", "b1"], []);
  const key = placementKey("shop", "team");
  const one = (kind: string, name: string, selectionScope: "NamespaceOnly" | "NamespaceWithResources") => [
    { group: "", version: "v1", kind, name, labelSelector: null, selectionScope },
  ];
  for (const it of ["a1", "b1"]) world.member(it).namespaces = "listed";
  world.commit(() => {
    const made = placementOf({ name: "team", policy: policyOf("PickAll", undefined), options: [] });
    const spec = { ...made.spec, resourceSelectors: one("ConfigMap", "mine", "NamespaceWithResources") };
    write(world, objectOf("Namespace", "shop", "x"));
    write(world, objectOf("ConfigMap", "shop/mine", "x"));
    world.placements.set(key, { ...made, key, scope: "Namespaced", namespace: "shop", spec });
  });
  settle(world);
  const ofTeam = { focus: { placement: key, run: null } };
  expect(linesOf(foresee(world, ofTeam)).filter((it) => it.includes("lands"))).toEqual([]);
  world.commit(() => {
    const made = placementOf({ name: "shop", policy: policyOf("PickFixed", "a1"), options: [] });
    const spec = { ...made.spec, resourceSelectors: one("Namespace", "shop", "NamespaceOnly") };
    world.placements.set(placementKey(null, "shop"), { ...made, spec });
  });
  expect(linesOf(foresee(world, ofTeam)).filter((it) => it.includes("lands"))).toEqual(["+30 lands a1"]);
});

test("the same world gives the same forecast, and stays as it is", () => {
  const world = staged(threeStages);
  const before = structuredClone(world.head);
  const [one, two] = [foresee(world), foresee(world)];
  expect(two).toEqual(one);
  expect(world.head).toEqual(before);
});

/** What happens when members are real, as the same events: members whose objects are available at once. */
function lived(world: World, focus: RolloutFocus): readonly ForecastEvent[] {
  const events: ForecastEvent[] = [];
  for (let pass = 0, still = 0; pass < 60 && still < 2; pass++) {
    const { now } = world;
    const before = world.news ?? world.head;
    const { plan } = world.pass();
    events.push(...eventsOf(focus, { before, after: plan.ledger, reasons: plan.reasons, now }));
    const isStill = !plan.decides && plan.actions.length === 0;
    still = isStill ? still + 1 : 0;
    if (isStill && plan.wakeAt !== null) world.now = plan.wakeAt;
  }
  return events;
}

test.each<readonly [string, () => World, RolloutFocus]>([
  ["a staged run", () => staged(threeStages), { placement: web, run: runKey(null, "next") }],
  [
    "a rolling update",
    () => {
      const world = settle(worldWith(members, ["unavailable=2"]));
      world.commit(() => edit(world, "v2"));
      return world;
    },
    ofPlacement.focus,
  ],
  ["a first placement", () => worldWith(members, []), ofPlacement.focus],
])("what is foreseen is what then happens: %s", (_, make, focus) => {
  const world = make();
  const told = foresee(world, { focus, landing: seconds(0) });
  expect(told.events.length).toBeGreaterThan(5);
  expect(lived(world, focus)).toEqual(told.events);
});

test("whatever a storm left on record can be foreseen: every plan passes its check, and it comes to an end", () => {
  const endings = new Set<string>();
  for (let seed = 1; seed <= 8; seed++) {
    const storm = new RunStorm(seed);
    for (let step = 0; step < 30; step++) {
      storm.step();
      const { world } = storm;
      const newest = [...world.runs.keys()].findLast((it) => world.head.runs.get(it)?.end == null);
      if (newest === undefined) continue;
      const seen = { ...world.look(), ledger: world.head, observed: new Map() };
      const setup = { focus: { placement: web, run: newest }, failing: failing(["m1", step % 2 === 0 ? null : day]) };
      endings.add(foreseeIn(seen, { ...setup, until: minutes(30 * 24 * 60) }).ending.kind);
    }
  }
  expect([...endings].sort()).toEqual(["done", "failed", "waits"]);
});
