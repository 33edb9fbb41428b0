import { expect, test } from "vitest";
import { check } from "../../../src/core/check/check.ts";
import type { Binding } from "../../../src/core/model/binding.ts";
import type { Ledger, PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { ObjectKey } from "../../../src/core/model/manifest.ts";
import type { Plan, World as Seen } from "../../../src/core/model/plan.ts";
import type { PlanDefect } from "../../../src/core/model/plan-defect.ts";
import { type RunRecord, runKey, type StageProgress, type UpdateRunSpec } from "../../../src/core/model/update-run.ts";
import {
  type ClusterName,
  type Digest,
  type Instant,
  minutes,
  type PlacementKey,
  type Sequence,
} from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { requested } from "../../gate.ts";
import { clusterOf, objectOf, placementOf, policyOf, runOf, strategyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

const web = "web" as PlacementKey;
const key = runKey(null, "r");
const [m1, m2, m3] = ["m1", "m2", "m3"] as ClusterName[] as [ClusterName, ClusterName, ClusterName];

type Case = readonly [seen: Seen, made: Plan];

const planned = (world: World): Case => {
  const seen = world.look();
  return [seen, plan(seen)];
};

/** A run over two stages: m1 with an hour to wait, then m2 and m3 one by one, which somebody allows before. */
function begun(state: UpdateRunSpec["state"] = "Run"): World {
  const world = new World();
  world.commit(() => {
    world.join(clusterOf("m1", ["env=one"]));
    for (const name of ["m2", "m3"]) world.join(clusterOf(name, ["env=two"]));
    write(world, objectOf("Namespace", "web", "one"));
    write(world, objectOf("Deployment", "web/app", "one"));
    const policy = policyOf("PickAll", undefined);
    world.placements.set(web, placementOf({ name: "web", policy, options: ["external"] }));
    const rings = strategyOf("rings", ["one:env=one/wait=60", "two:env=two/ask-before"]);
    world.strategies.set(rings.key, rings);
    world.runs.set(key, runOf("r", { placement: web, strategy: rings.key, resourceIndex: null, state }));
    world.fleet = { ...world.fleet, unsignedApprovals: "allow" };
  });
  return world;
}

/** The first stage is done, and its hour begins. */
function waiting(): World {
  const world = begun();
  world.pass();
  world.member("m1").turn({ phase: "available" });
  world.pass();
  return world;
}

/** The hour is over, and the second stage asks. */
function asking(): World {
  const world = waiting();
  world.wait(minutes(60));
  world.pass();
  return world;
}

/** Somebody allowed it: m2 is under way. */
function allowed(): World {
  const world = asking();
  const digest = world.head.runs.get(key)?.stages[1]?.before.Approval?.digest as Digest;
  world.commit(() =>
    world.approvals.push({
      path: "approvals/r.yaml",
      blob: "b" as never,
      digest,
      decision: "Approve",
      principal: "ann",
      comment: "",
      signature: null,
    }),
  );
  return world;
}

const withLedger = (made: Plan, change: (it: Ledger) => Partial<Ledger>): Plan => ({
  ...made,
  decides: true,
  ledger: { ...made.ledger, ...change(made.ledger) },
});
const withRun = (made: Plan, change: (it: RunRecord) => Partial<RunRecord>): Plan =>
  withLedger(made, ({ runs }) => {
    const run = runs.get(key) as RunRecord;
    return { runs: new Map([[key, { ...run, ...change(run) }]]) };
  });
const withStage = (made: Plan, at: number, change: Partial<StageProgress>): Plan =>
  withRun(made, ({ stages }) => ({ stages: stages.map((it, i) => (i === at ? { ...it, ...change } : it)) }));
const withBinding = (made: Plan, cluster: ClusterName, change: (it: Binding) => Partial<Binding>): Plan =>
  withLedger(made, ({ placements }) => {
    const record = placements.get(web) as PlacementRecord;
    const binding = record.bindings.get(cluster) as Binding;
    const bindings = new Map([...record.bindings, [cluster, { ...binding, ...change(binding) }] as const]);
    return { placements: new Map([...placements, [web, { ...record, bindings }]]) };
  });
const started = (seen: Seen, sequence: number) => ({
  startedAt: seen.now,
  sequence: sequence as Sequence,
  end: null,
});

const source = { path: "budgets/web.yaml", document: 0, line: 1, column: 1 };

const cases: readonly (readonly [
  promise: string,
  world: () => World,
  spoil: (made: Plan, seen: Seen) => Plan,
  fault: RegExp,
])[] = [
  [
    "I-01: a stage begins when the one before is over",
    waiting,
    (made, seen) => withStage(made, 1, { startedAt: seen.now, clusters: new Map([[m2, started(seen, 9)]]) }),
    /begins stage two of run r out of turn/,
  ],
  [
    "a stage that asks is not begun unasked",
    asking,
    (made, seen) => withStage(made, 1, { startedAt: seen.now, clusters: new Map([[m2, started(seen, 9)]]) }),
    /begins stage two of run r unasked/,
  ],
  [
    "I-02: one cluster at a time",
    allowed,
    (made, seen) => withStage(made, 1, { clusters: new Map([m2, m3].map((it) => [it, started(seen, 9)])) }),
    /has 2 clusters under way in stage two of run r, at most 1 may be/,
  ],
  [
    "I-05: a plan is written once",
    asking,
    (made) => withRun(made, ({ plan: frozen }) => ({ plan: frozen && { ...frozen, resourceIndex: 7 } })),
    /changes the plan of run r/,
  ],
  [
    "I-06: an hour is an hour",
    waiting,
    (made, seen) => withStage(made, 0, { endedAt: seen.now }),
    /ends stage one of run r before its time/,
  ],
  [
    "I-08: who is stopped starts nothing",
    allowed,
    (made) => withRun(made, ({ spec }) => ({ spec: { ...spec, state: "Stop" } })),
    /starts clusters in stage two of run r, which is not to run/,
  ],
  [
    "I-09: what moves is what a run says",
    allowed,
    (made) => withBinding(made, m2, ({ target }) => ({ target: target && { ...target, digest: "else" as Digest } })),
    /moves web on m2, which no run says/,
  ],
  [
    "nothing is taken away that no run says",
    allowed,
    (made) =>
      withBinding(made, m1, () => ({
        removal: { sequence: made.ledger.sequence, since: 0 as Instant, cause: "c" as never, propagation: "Delete" },
      })),
    /takes web from m1, which no run says/,
  ],
];

const messagesOf = (defects: readonly PlanDefect[]): string => defects.map((it) => it.message).join("\n");

test.each(cases)("%s", (_, world, spoil, fault) => {
  const [seen, made] = planned(world());
  expect(check(made, seen)).toEqual([]);
  expect(messagesOf(check(spoil(made, seen), seen))).toMatch(fault);
});

test("U7: an approval is for good, and so is an end", () => {
  const world = allowed();
  world.pass();
  const [seen, made] = planned(world);
  expect(check(made, seen)).toEqual([]);
  const gate = made.ledger.runs.get(key)?.stages[1]?.before.Approval ?? null;
  const forgotten = withStage(made, 1, { before: requested(gate && { ...gate, approval: null }) });
  expect(messagesOf(check(forgotten, seen))).toMatch(/forgets an approval of run r/);
  const over = { kind: "succeeded", at: seen.now } as const;
  const ended = { ...seen, ledger: withRun(made, () => ({ end: over })).ledger };
  expect(
    messagesOf(
      check(
        withRun(made, () => ({ end: null })),
        ended,
      ),
    ),
  ).toMatch(/goes on with run r, which has ended/);
});

/** Three clusters that carry web and work, and a budget that nobody asked for when it was planned what to evict. */
function evicting(edit: (world: World) => void): Case {
  const world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2", "m3"]) world.join(clusterOf(name));
    write(world, objectOf("Namespace", "web", "one"));
    world.placements.set(web, placementOf({ name: "web", policy: policyOf("PickAll", undefined), options: [] }));
  });
  world.pass();
  world.pass();
  world.commit(() => edit(world));
  return planned(world);
}

const evict = (world: World, name: string, cluster: ClusterName): void =>
  void world.evictions.set(name, { name, placement: web, cluster, source });

const within = (seen: Seen, count: number): Seen => ({
  ...seen,
  intent: {
    ...seen.intent,
    budgets: new Map([[web, { placement: web, bound: "minAvailable", limit: { count }, source }]]),
  },
});

test("I-54: no more is evicted than the budget allows", () => {
  const [seen, made] = evicting((world) => evict(world, "e", m1));
  expect(check(made, within(seen, 2))).toEqual([]);
  expect(check(made, within(seen, 3)).map((it) => it.message)).toEqual([
    "evicts 1 available clusters of web and leaves 2, at least 3 must stay",
  ]);
  const kind = "placement.kubernetes-fleet.io/ClusterResourcePlacementDisruptionBudget";
  const unusable = new Set([`${kind}//web` as ObjectKey]);
  const unread = { ...seen, intent: { ...seen.intent, budgets: new Map(), unusable } };
  expect(check(made, unread).map((it) => it.message)).toEqual([
    "evicts from web, whose disruption budget cannot be read",
  ]);
});

test("I-54: two evictions of one cluster take away one cluster", () => {
  const [seen, made] = evicting((world) => {
    evict(world, "e1", m1);
    evict(world, "e2", m1);
  });
  expect(made.ledger.evictions.size).toBe(2);
  expect(check(made, within(seen, 2))).toEqual([]);
  expect(check(made, within(seen, 3)).map((it) => it.message)).toEqual([
    "evicts 1 available clusters of web and leaves 2, at least 3 must stay",
  ]);
});

test("I-54: what gets a new target beside an eviction is not available", () => {
  const [seen, made] = evicting((world) => {
    const placement = placementOf({ name: "web", policy: policyOf("PickAll", undefined), options: ["unavailable=1"] });
    world.placements.set(web, placement);
    write(world, objectOf("Namespace", "web", "two"));
    evict(world, "e", m3);
  });
  expect(check(made, within(seen, 1))).toEqual([]);
  expect(check(made, within(seen, 2)).map((it) => it.message)).toEqual([
    "evicts 1 available clusters of web and leaves 1, at least 2 must stay",
  ]);
});

test("E22: what only reports differences may be evicted, whatever its budget says", () => {
  const world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2", "m3"]) world.join(clusterOf(name));
    write(world, objectOf("Namespace", "web", "one"));
    const placement = placementOf({ name: "web", policy: policyOf("PickAll", undefined), options: [] });
    const applyStrategy = { ...placement.spec.strategy.applyStrategy, type: "ReportDiff" } as const;
    const strategy = { ...placement.spec.strategy, applyStrategy };
    world.placements.set(web, { ...placement, spec: { ...placement.spec, strategy } });
    world.budgets.set(web, { placement: web, bound: "minAvailable", limit: { count: 3 }, source });
  });
  world.pass();
  world.pass();
  world.commit(() => world.evictions.set("e", { name: "e", placement: web, cluster: m1, source }));
  const [seen, made] = planned(world);
  expect(check(made, seen)).toEqual([]);
  expect(made.ledger.evictions.get("e")?.conditions.map((it) => `${it.type} ${it.status}`)).toEqual([
    "Valid True",
    "Executed True",
  ]);
});
