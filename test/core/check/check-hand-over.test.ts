// What the second opinion says of a plan that takes away what another placement wants (D 9).
import { describe, expect, test } from "vitest";
import { check } from "../../../src/core/check/check.ts";
import { type ObjectKey, objectIdOf } from "../../../src/core/model/manifest.ts";
import type { Placement } from "../../../src/core/model/placement.ts";
import type { ObjectRemoval, Plan } from "../../../src/core/model/plan.ts";
import { runKey } from "../../../src/core/model/update-run.ts";
import type { ClusterName, PlacementKey, Sequence } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf, policyOf, runOf, strategyOf } from "../../intent.ts";
import { clientSide } from "../../strategy.ts";
import { World, write } from "../../world.ts";

const config = keyOf("ConfigMap", "shop/config");
const space = keyOf("Namespace", "shop");
const shop = "shop" as PlacementKey;

/** `shop` has its namespace with a ConfigMap on m1; `web` is what `others` says. */
function inPlace(others: (world: World) => void): World {
  const world = new World();
  world.commit(() => {
    world.join(clusterOf("m1"));
    write(world, objectOf("Namespace", "shop", "-"));
    write(world, objectOf("ConfigMap", "shop/config", "one"));
    world.placements.set(shop, placementOf({ name: "shop", policy: policyOf("PickAll", undefined), options: [] }));
  });
  for (let pass = 0; pass < 4; pass++) world.pass();
  world.commit(() => others(world));
  for (let pass = 0; pass < 4; pass++) world.pass();
  return world;
}

const wanting = (name: string, kind = "PickAll", argument?: string, ...options: readonly string[]) =>
  function add(world: World): void {
    const words = { name, policy: policyOf(kind, argument), options: ["ns=shop", ...options] };
    world.placements.set(name as PlacementKey, placementOf(words));
  };

const external = (world: World): void => wanting("web", "PickAll", undefined, "external")(world);

function reporting(world: World): void {
  external(world);
  const web = world.placements.get("web" as PlacementKey) ?? expect.fail("no placement");
  const { strategy } = web.spec;
  const applyStrategy = { ...strategy.applyStrategy, type: "ReportDiff" } as typeof strategy.applyStrategy;
  world.placements.set(web.key, { ...web, spec: { ...web.spec, strategy: { ...strategy, applyStrategy } } });
}

function overridden(world: World): void {
  external(world);
  world.overrides.set("loud", overrideOf("loud", config, "env=dev", "delete"));
}

/** A document that was never usable: nobody can tell what is asked for. */
function unreadable(world: World): void {
  external(world);
  world.unusable = new Set([keyOf("ConfigMap", "elsewhere/unread")]);
}

/** One selector of it meets what is never placed. */
function odd(world: World): void {
  external(world);
  write(world, objectOf("ConfigMap", "shop/kube-root-ca.crt", "-"));
}

/** Whether a plan that takes `key` of shop off m1 is complained about because of who wants it. */
function isCaught(world: World, key: ObjectKey, how: ObjectRemoval["how"] = "delete"): boolean {
  const seen = world.look();
  const sound = plan(seen);
  const entry = world.member("m1").inventory.placements.get(shop)?.entries.get(key);
  const removal: ObjectRemoval = {
    id: { ...objectIdOf(key), version: "v1" },
    key,
    uid: entry?.uid ?? "none",
    how,
    cascadesTo: [],
  };
  const actions: Plan["actions"] = [
    {
      cluster: "m1" as ClusterName,
      clusterUid: world.member("m1").uid,
      fleet: sound.ledger.fleet,
      epoch: sound.ledger.epoch,
      placements: [
        {
          placement: shop,
          sequence: 1 as Sequence,
          digest: null,
          applyStrategy: clientSide,
          apply: [],
          remove: [removal],
          forget: [],
          recover: [],
        },
      ],
      holders: new Map(),
    },
  ];
  return check({ ...sound, actions }, seen).some((it) => it.code === "WantedObjectRemoved");
}

test.each([
  ["carries", wanting("web"), true],
  ["is to carry by its next run", wanting("web", "PickAll", undefined, "external"), true],
  ["would only report by its next run", reporting, false],
  ["is to carry by its next run, as far as overrides let it,", overridden, false],
  ["is to carry by its next run, unless what cannot be read says otherwise,", unreadable, false],
  ["is to carry by its next run, with what is never placed,", odd, false],
  ["is not on the cluster and would carry by its next run", wanting("web", "PickFixed", "m2", "external"), false],
  ["is not on the cluster and would carry", wanting("web", "PickFixed", "m2"), false],
  ["does not select", (world: World) => world.placements.delete("web" as PlacementKey), false],
])("what another placement %s is not taken away: %#", (_, others, caught) => {
  const world = inPlace(others);
  expect([isCaught(world, config), isCaught(world, config, "release"), isCaught(world, space)]).toEqual([
    caught,
    caught,
    caught,
  ]);
});

test("what a run under way is to bring for another placement is not taken away, and what none brings may be", () => {
  const first = runKey(null, "first");
  const web = "web" as PlacementKey;
  const world = inPlace((it) => {
    wanting("web", "PickAll", undefined, "external")(it);
    const gated = strategyOf("gated", ["all/ask-before"]);
    it.strategies.set(gated.key, gated);
    it.runs.set(first, runOf("first", { placement: web, strategy: gated.key, resourceIndex: null, state: "Run" }));
  });
  expect(world.head.runs.get(first)).toMatchObject({ end: null, plan: { resourceIndex: 0 } });
  expect(world.head.placements.get(web)?.bindings.get("m1" as ClusterName)?.target).toBeNull();
  expect([isCaught(world, config), isCaught(world, config, "release"), isCaught(world, space)]).toEqual([
    true,
    true,
    true,
  ]);
  // It selects none of that any more: what the run brings is wanted as long as it is under way.
  const elsewhere = placementOf({
    name: "web",
    policy: policyOf("PickAll", undefined),
    options: ["ns=web", "external"],
  });
  world.commit(() => world.placements.set(web, elsewhere));
  expect(isCaught(world, config)).toBe(true);
  world.commit(() => world.runs.delete(first));
  for (let pass = 0; pass < 3; pass++) world.pass();
  expect([isCaught(world, config), isCaught(world, config, "release")]).toEqual([false, false]);
});

test("a Namespace with something in it that another placement wants is not deleted, and may be let go", () => {
  const world = inPlace((it) => {
    const inShop = placementOf({ name: "web", policy: policyOf("PickAll", undefined), options: [] });
    const selector = { group: "", version: "v1", kind: "ConfigMap", name: "config", labelSelector: null };
    const spec = { ...inShop.spec, resourceSelectors: [{ ...selector, selectionScope: "NamespaceOnly" as const }] };
    const key = "shop/web" as PlacementKey;
    it.placements.set(key, { ...inShop, key, scope: "Namespaced", namespace: "shop", spec });
  });
  expect([isCaught(world, space), isCaught(world, space, "release")]).toEqual([true, false]);
});

function elsewhere(world: World): void {
  const words = { name: "shop", policy: policyOf("PickAll", undefined), options: ["ns=elsewhere", "unavailable=1"] };
  world.placements.set(shop, placementOf(words));
}

test.each([
  ["is to leave a cluster as a whole", (world: World) => world.placements.delete(shop)],
  ["is to carry something else", elsewhere],
])("what another placement %s and has is not taken for left behind", (_, change) => {
  const world = inPlace(() => {});
  world.commit(() => {
    change(world);
    wanting("web")(world);
  });
  // Decided, and nobody was told yet.
  world.isBlind = true;
  world.pass();
  world.isBlind = false;
  const seen = world.look();
  const sound = plan(seen);
  const keys = sound.actions.flatMap((it) => [...it.holders].map(([key, placements]) => `${key} of ${placements}`));
  expect(keys.sort()).toEqual(["/ConfigMap/shop/config of shop,web", "/Namespace//shop of shop,web"]);
  expect(check(sound, seen)).toEqual([]);
  const actions = sound.actions.map((it) => ({ ...it, holders: new Map() }));
  expect(check({ ...sound, actions }, seen).map((it) => it.message)).toEqual([
    "takes /Namespace//shop, which shop has on m1, for left behind",
    "takes /ConfigMap/shop/config, which shop has on m1, for left behind",
  ]);
});

/** A placement of the team in `shop`, of the ConfigMap there. */
function ofTeam(): Placement {
  const made = placementOf({ name: "web", policy: policyOf("PickAll", undefined), options: ["unavailable=100%"] });
  const selector = { group: "", version: "v1", kind: "ConfigMap", name: "config", labelSelector: null };
  const spec = { ...made.spec, resourceSelectors: [{ ...selector, selectionScope: "NamespaceOnly" as const }] };
  return { ...made, key: "shop/web" as PlacementKey, scope: "Namespaced", namespace: "shop", spec };
}

/** A placement of the fleet of what is in `shop`. */
const ofFleet = wanting("web", "PickAll", undefined, "unavailable=100%");

describe.each([
  ["a team's", (world: World) => void world.placements.set(ofTeam().key, ofTeam()), "shop/web" as PlacementKey],
  ["another one of the fleet", ofFleet, "web" as PlacementKey],
])("what one placement hands over to %s", (_, comes, to) => {
  const takers = (seen: ReturnType<World["look"]>) =>
    plan(seen).actions.flatMap((at) =>
      at.placements.flatMap((it) => (it.handOvers ?? []).map(({ key, from }) => [it.placement, key, from])),
    );

  test("is taken by that one, and by it alone", () => {
    const world = inPlace(() => {});
    world.commit(() => {
      world.placements.delete(shop);
      comes(world);
    });
    // Until it is told to take it.
    for (let pass = 0; pass < 6 && takers(world.look()).length === 0; pass++) world.pass();
    const seen = world.look();
    const sound = plan(seen);
    expect(takers(seen)).toContainEqual([to, config, shop]);
    expect(check(sound, seen)).toEqual([]);
    const kept = new Map(sound.ledger.placements);
    const record = kept.get(shop) ?? expect.fail("no record");
    const bindings = new Map([...record.bindings].map(([at, it]) => [at, { ...it, leaving: [] }] as const));
    const ledger = { ...sound.ledger, placements: kept.set(shop, { ...record, bindings }) };
    expect(check({ ...sound, ledger }, seen).map((it) => `${it.code}: ${it.message}`)).toContain(
      `HandOverUndecided: has ${to} take ${config} on m1 from shop, which does not hand it over`,
    );
  });

  test("is of one of them at a time: what both want is taken by none", () => {
    const world = inPlace(comes);
    const seen = world.look();
    const sound = plan(seen);
    expect([takers(seen), check(sound, seen)]).toEqual([[], []]);
    // As a planner would that takes what it wants.
    const handOvers = [{ key: config, from: shop, upTo: 9 as Sequence }];
    const work = { sequence: 1 as Sequence, digest: null, applyStrategy: clientSide, apply: [], remove: [] };
    const { uid } = world.member("m1");
    const actions: Plan["actions"] = [
      {
        ...{ cluster: "m1" as ClusterName, clusterUid: uid, fleet: sound.ledger.fleet, epoch: sound.ledger.epoch },
        placements: [{ ...work, placement: to, forget: [], recover: [], handOvers }],
        holders: new Map(),
      },
    ];
    expect(check({ ...sound, actions }, seen).map((it) => it.code)).toContain("HandOverUndecided");
  });
});

test.each([
  ["a Namespace with what a team places", shop, "shop/web"],
  ["what a team places", "shop/web", shop],
])("%s stays, whoever of the two had it first", (_, first, second) => {
  const all = placementOf({ name: "shop", policy: policyOf("PickAll", undefined), options: [] });
  const of = (key: string) => (key === shop ? all : ofTeam());
  const world = new World();
  world.commit(() => {
    world.join(clusterOf("m1"));
    write(world, objectOf("Namespace", "shop", "-"));
    write(world, objectOf("ConfigMap", "shop/config", "one"));
    world.placements.set(first as PlacementKey, of(first));
  });
  for (let pass = 0; pass < 4; pass++) world.pass();
  world.commit(() => world.placements.set(second as PlacementKey, of(second)));
  for (let pass = 0; pass < 6; pass++) world.pass();
  expect([isCaught(world, space), isCaught(world, config)]).toEqual([true, true]);
});
