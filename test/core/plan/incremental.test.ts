// A placement in which nothing moves is not decided again, and no change that matters to it is overlooked: for each thing
// that a decision rests on, a plan with warm memories is compared with one that has none.
import { beforeEach, describe, expect, test } from "vitest";
import { defaultFleet, type Tenant } from "../../../src/core/model/fleet.ts";
import type { Intent } from "../../../src/core/model/intent.ts";
import { objectKey } from "../../../src/core/model/manifest.ts";
import { placementGroup } from "../../../src/core/model/names.ts";
import type { Observation } from "../../../src/core/model/observation.ts";
import type { World as Seen } from "../../../src/core/model/plan.ts";
import type { Reason } from "../../../src/core/model/reason.ts";
import {
  type ClusterName,
  type Commit,
  type Digest,
  type Instant,
  later,
  minutes,
  type PlacementKey,
} from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";
import { differenceOf } from "./same-ledger.ts";

const web = "web" as PlacementKey;
const shop = "shop" as PlacementKey;
const [m1, m2, m4] = ["m1", "m2", "m4"] as [ClusterName, ClusterName, ClusterName];
const config = keyOf("ConfigMap", "web/config");

let world: World;
let seen: Seen;

/** Two placements settled on some of four clusters, one with an override, and a plan that has seen all of it twice. */
beforeEach(() => {
  world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2", "m3"]) world.join(clusterOf(name, ["env=prod"]));
    world.join(clusterOf("m4", ["env=dev"]));
    for (const line of [
      "Namespace web",
      "ConfigMap web/config",
      "Widget web/thing",
      "Namespace shop",
      "ConfigMap shop/config",
    ])
      write(world, objectOf(...(line.split(" ") as [string, string]), "one"));
    world.placements.set(web, placementOf({ name: "web", policy: policyOf("PickAll", "env=prod"), options: [] }));
    world.placements.set(shop, placementOf({ name: "shop", policy: policyOf("PickN", "2"), options: [] }));
    world.overrides.set("loud", overrideOf("loud", config, "env=prod", "louder"));
  });
  for (let pass = 0; pass < 4; pass++) world.pass();
  world.wait(minutes(5));
  for (let pass = 0; pass < 3; pass++) world.pass();
  world.flush();
  world.pass();
  seen = world.look();
  expect(plan(seen).ledger).toBe(seen.ledger);
});

const withIntent = (change: Partial<Intent>): Seen => ({ ...seen, intent: { ...seen.intent, ...change } });
const newCommit = (change: Partial<Intent> = {}): Seen => withIntent({ commit: "next" as Commit, ...change });

/** The world after a commit. */
function committed(edit: () => void): Seen {
  world.commit(edit);
  return world.look();
}

const without = <K, V>(map: ReadonlyMap<K, V>, gone: K): ReadonlyMap<K, V> =>
  new Map([...map].filter(([key]) => key !== gone));

function heard(cluster: ClusterName, change: (said: Extract<Observation, { kind: "reached" }>) => Observation): Seen {
  const said = seen.observed.get(cluster);
  if (said?.kind !== "reached") throw new Error("it answers");
  return { ...seen, observed: new Map([...seen.observed, [cluster, change(said)]]) };
}

const grantOf = (folder: string, env: string): Tenant => ({
  folder,
  namespaces: ["web", "shop"],
  kinds: ["Namespace", "ConfigMap", "Deployment"],
  clusters: { matchLabels: { env } },
  place: "fleet.yaml:5:7",
});

const changes: readonly { name: string; after: () => Seen }[] = [
  { name: "nothing", after: () => seen },
  { name: "a commit that changes nothing", after: () => newCommit() },
  {
    name: "maps made anew with what they held",
    after: () => newCommit({ objects: new Map(seen.intent.objects), scopes: new Map(seen.intent.scopes) }),
  },
  { name: "time", after: () => ({ ...seen, now: later(seen.now, minutes(60 * 24)) }) },
  { name: "a clock that was set back", after: () => ({ ...seen, now: 0 as Instant }) },
  { name: "an edited object", after: () => committed(() => write(world, objectOf("ConfigMap", "web/config", "two"))) },
  { name: "an object more", after: () => committed(() => write(world, objectOf("ConfigMap", "web/extra", "one"))) },
  { name: "an object less", after: () => committed(() => void world.objects.delete(config)) },
  { name: "a namespace less", after: () => committed(() => void world.objects.delete(keyOf("Namespace", "web"))) },
  {
    name: "an object of nobody's namespace",
    after: () => committed(() => write(world, objectOf("ConfigMap", "other/config", "one"))),
  },
  {
    name: "an edited policy",
    after: () =>
      committed(() =>
        world.placements.set(shop, placementOf({ name: "shop", policy: policyOf("PickN", "3"), options: [] })),
      ),
  },
  { name: "a placement removed", after: () => committed(() => void world.placements.delete(web)) },
  {
    name: "a placement removed and nothing else seen",
    after: () => withIntent({ placements: without(seen.intent.placements, web) }),
  },
  {
    name: "an edited override",
    after: () => committed(() => world.overrides.set("loud", overrideOf("loud", config, "env=prod", "louder still"))),
  },
  { name: "an override less", after: () => committed(() => void world.overrides.delete("loud")) },
  {
    name: "an override of another object",
    after: () =>
      committed(() =>
        world.overrides.set("new", overrideOf("new", keyOf("ConfigMap", "shop/config"), "env=prod", "x")),
      ),
  },
  {
    name: "an override that cannot be carried out",
    after: () => committed(() => world.overrides.set("loud", overrideOf("loud", config, "env=prod", "broken"))),
  },
  { name: "a cluster on it relabelled", after: () => committed(() => world.join(clusterOf("m1", ["env=dev"]))) },
  {
    name: "a cluster on it with a label more",
    after: () => committed(() => world.join(clusterOf("m1", ["env=prod", "zone=a"]))),
  },
  {
    name: "a cluster relabelled that it is not on",
    after: () => committed(() => world.join(clusterOf("m4", ["env=prod"]))),
  },
  {
    name: "a cluster relabelled that nobody asks about",
    after: () => committed(() => world.join(clusterOf("m4", ["env=dev", "zone=a"]))),
  },
  { name: "a tainted cluster", after: () => committed(() => world.join(clusterOf("m4", ["env=dev", "taint:gpu"]))) },
  { name: "a cluster more", after: () => committed(() => world.join(clusterOf("m5", ["env=prod"]))) },
  { name: "a cluster less", after: () => committed(() => void world.clusters.delete(m1)) },
  { name: "another profile", after: () => newCommit({ fleet: { ...defaultFleet, profile: "kubefleet" } }) },
  {
    name: "a grant that does not reach where it is",
    after: () => newCommit({ tenants: [grantOf("placements/", "dev")] }),
  },
  { name: "a grant of another folder", after: () => newCommit({ tenants: [grantOf("teams/", "dev")] }) },
  {
    name: "other bounds",
    after: () => newCommit({ fleet: { ...defaultFleet, guards: { ...defaultFleet.guards, clusters: 1 } } }),
  },
  {
    name: "a kind that became cluster-scoped",
    after: () => newCommit({ scopes: new Map([...seen.intent.scopes, ["example.com/Widget", "Cluster"]]) }),
  },
  {
    name: "a document that cannot be used",
    after: () =>
      withIntent({
        unusable: new Set([
          objectKey({ group: placementGroup, kind: "ClusterResourcePlacement", namespace: null, name: "web" }),
        ]),
      }),
  },
  {
    name: "an object that cannot be used",
    after: () => newCommit({ unusable: new Set([config]), objects: without(seen.intent.objects, config) }),
  },
  {
    name: "content that is gone",
    after: () => withIntent({ objects: new Map(), unusable: new Set([config, keyOf("ConfigMap", "shop/config")]) }),
  },
  {
    name: "a member that falls silent",
    after: () => heard(m1, () => ({ kind: "unreachable", code: "Unreachable", message: "refused" })),
  },
  {
    name: "a member that nothing is on falls silent",
    after: () => heard(m4, () => ({ kind: "unreachable", code: "Unreachable", message: "refused" })),
  },
  { name: "a member that is another cluster", after: () => heard(m1, (said) => ({ ...said, clusterUid: "another" })) },
  { name: "members that are not asked", after: () => ({ ...seen, observed: new Map() }) },
  { name: "one member that is not asked", after: () => ({ ...seen, observed: without(seen.observed, m2) }) },
  {
    name: "an object deleted by hand",
    after: () => heard(m1, (said) => ({ ...said, objects: without(said.objects, config) })),
  },
  {
    name: "an object that is not well",
    after: () =>
      heard(m1, (said) => ({
        ...said,
        objects: new Map(
          [...said.objects].map(([key, it]) => [
            key,
            { ...it, health: { phase: "failed", message: "crashes" } as const },
          ]),
        ),
      })),
  },
  {
    name: "a kind that cannot be listed",
    after: () =>
      heard(m1, (said) => ({ ...said, objects: without(said.objects, config), unlisted: new Set(["/ConfigMap"]) })),
  },
  {
    name: "an inventory that lost everything",
    after: () => heard(m1, (said) => ({ ...said, inventory: { ...said.inventory, placements: new Map() } })),
  },
  {
    name: "an inventory that lists more",
    after: () =>
      heard(m4, (said) => ({
        ...said,
        inventory:
          seen.observed.get(m1)?.kind === "reached" ? (seen.observed.get(m1) as typeof said).inventory : said.inventory,
      })),
  },
  {
    name: "an object changed by hand",
    after: () =>
      heard(m1, (said) => ({
        ...said,
        objects: new Map([...said.objects].map(([key, it]) => [key, { ...it, fingerprint: "drifted" as Digest }])),
      })),
  },
  {
    name: "another placement that takes what this one had",
    after: () =>
      committed(() => {
        world.placements.delete(shop);
        const words = { name: "next", policy: policyOf("PickAll", undefined), options: ["ns=shop"] };
        world.placements.set("next" as PlacementKey, placementOf(words));
      }),
  },
  {
    name: "another placement that wants the same, and one that is to be moved by runs alone",
    after: () =>
      committed(() => {
        for (const [name, option] of [
          ["next", "surge=1"],
          ["slow", "external"],
        ] as const) {
          const words = { name, policy: policyOf("PickAll", undefined), options: ["ns=shop", option] };
          world.placements.set(name as PlacementKey, placementOf(words));
        }
      }),
  },
  { name: "impatience", after: () => ({ ...seen, patience: "none" }) },
];

describe("a plan with warm memories is the plan of cold ones after", () => {
  test.each(changes)("$name", ({ after }) => {
    const next = after();
    const warm = plan(next);
    expect(differenceOf(warm, plan(structuredClone(next)))).toBeNull();
    // And back again: what was remembered in between is no less true.
    expect(differenceOf(plan(seen), plan(structuredClone(seen)))).toBeNull();
    expect(differenceOf(plan(next), warm)).toBeNull();
  });
});

/** What is remembered of `first` does not show in the plan of `next`. */
function isForgotten(first: Seen, next: Seen): void {
  expect(plan(first).ledger, "nothing moves").toBe(first.ledger);
  const warm = plan(next);
  expect(differenceOf(warm, plan(first))).not.toBeNull();
  expect(differenceOf(warm, plan(structuredClone(next)))).toBeNull();
}

/** Passes until nothing moves. */
function settle(): Seen {
  for (let pass = 0; pass < 8; pass++) world.pass();
  world.flush();
  world.pass();
  return world.look();
}

describe("a plan with warm memories is the plan of cold ones where little stands still", () => {
  test("a document that could not be used is removed: what it was kept for goes", () => {
    world.commit(() => {
      world.objects.delete(config);
      world.unusable = new Set([config]);
    });
    const first = settle();
    isForgotten(first, { ...first, intent: { ...first.intent, unusable: new Set() } });
  });

  test("nobody is about to take any more what waited for that", () => {
    world.commit(() => {
      world.placements.delete(shop);
      const words = { name: "slow", policy: policyOf("PickAll", undefined), options: ["ns=shop", "external"] };
      world.placements.set("slow" as PlacementKey, placementOf(words));
    });
    const first = settle();
    expect([...first.ledger.placements.keys()]).toEqual(["shop", "slow", "web"]);
    const placements = without(first.intent.placements, "slow" as PlacementKey);
    isForgotten(first, { ...first, intent: { ...first.intent, commit: "next" as Commit, placements } });
  });

  test("the content that a snapshot keeps cannot be had any more", () => {
    world.commit(() => {
      world.objects.delete(config);
      world.unusable = new Set([config]);
    });
    const first = settle();
    isForgotten(first, { ...first, archive: new Map() });
  });

  test("a commit comes while clusters wait for their turn to lose something: it is counted anew", () => {
    world.member("m1").fresh = { phase: "failed", message: "crashes" };
    world.commit(() => {
      write(world, objectOf("Deployment", "web/app", "one"));
      world.objects.delete(keyOf("Widget", "web/thing"));
    });
    world.member("m1").turn({ phase: "failed", message: "crashes" });
    const first = settle();
    expect(first.ledger.deletions.permitted.size).toBeGreaterThan(0);
    isForgotten(first, { ...first, intent: { ...first.intent, commit: "next" as Commit } });
  });

  test("what a commit takes away later waits for a person: it goes on waiting", () => {
    world.member("m1").fresh = { phase: "failed", message: "crashes" };
    world.commit(() => {
      write(world, objectOf("Deployment", "web/app", "one"));
      world.objects.delete(keyOf("Widget", "web/thing"));
    });
    world.member("m1").turn({ phase: "failed", message: "crashes" });
    const first = settle();
    const guards = { objectsPerCluster: 0, percentPerCluster: 0, clusters: 0, percentOfClusters: 0 };
    const tight = { ...first.intent, commit: "next" as Commit, fleet: { ...defaultFleet, guards } };
    isForgotten(first, { ...first, intent: tight });
    const { ledger } = plan({ ...first, intent: tight });
    expect(ledger.deletions.held.length).toBe(1);
    const again = { ...first, intent: tight, ledger };
    expect(plan(again).ledger).toBe(ledger);
    expect(differenceOf(plan(again), plan(structuredClone(again)))).toBeNull();
  });

  test("an eviction from a placement at rest: what it takes away is observed anew", () => {
    const own = world.member("m1").inventory.placements.get(web);
    const entries = new Map([...(own?.entries ?? [])].filter(([key]) => key !== config));
    const { inventory } = world.member("m1");
    // Somebody took an object out of the inventory.
    if (own !== undefined)
      world.member("m1").inventory = {
        ...inventory,
        placements: new Map([...inventory.placements, [web, { ...own, entries }]]),
      };
    const source = { path: "evictions/off.yaml", line: 1, column: 1, document: 0 };
    world.commit(() => void world.evictions.set("off", { name: "off", placement: web, cluster: m1, source }));
    const first = world.look();
    const { ledger } = plan(first);
    const removed = (it: typeof ledger) =>
      it.placements
        .get(web)
        ?.bindings.get(m1)
        ?.leaving.map(({ id }) => objectKey(id));
    expect(removed(ledger)).toContain(config);
    // The pass after says that it is not there.
    const next = { ...first, ledger };
    expect(removed(plan(structuredClone(next)).ledger)).not.toContain(config);
    expect(differenceOf(plan(next), plan(structuredClone(next)))).toBeNull();
  });

  test("a placement that finds too few clusters for what its selector misses says both in the same order", () => {
    world.commit(() => {
      const policy = policyOf("PickN", "9");
      world.placements.set(shop, placementOf({ name: "shop", policy, options: ["ns=shop,nothing"] }));
    });
    const first = settle();
    expect(plan(first).ledger, "nothing moves").toBe(first.ledger);
    const kinds = (reasons: readonly Reason[]) => reasons.flatMap((it) => ("placement" in it ? it.kind : []));
    expect(kinds(plan(structuredClone(first)).reasons)).toEqual(["unfulfilled", "selectionWarning"]);
    expect(differenceOf(plan(first), plan(structuredClone(first)))).toBeNull();
  });

  test("the scheduler's profile changes", () => {
    world.commit(() => {
      world.placements.set(web, placementOf({ name: "web", policy: policyOf("PickFixed", "m1"), options: [] }));
    });
    settle();
    world.member("m1").silence = { code: "Unreachable", message: "refused" };
    settle();
    world.wait(minutes(10));
    const first = settle();
    isForgotten(first, { ...first, intent: { ...first.intent, fleet: { ...defaultFleet, profile: "kubefleet" } } });
  });

  test("a member that has yet to become well is not asked: no deadline passes for it", () => {
    world.commit(() => write(world, objectOf("Deployment", "web/app", "one")));
    const first = settle();
    isForgotten(first, { ...first, observed: without(first.observed, m1) });
  });
});

describe("what time turns is decided at that moment and not before", () => {
  test("the period after which an untrackable kind counts", () => {
    world.commit(() => write(world, objectOf("Widget", "web/thing", "two")));
    for (let pass = 0; pass < 3; pass++) world.pass();
    const waiting = world.look();
    const { wakeAt } = plan(waiting);
    if (wakeAt === null) throw new Error("it waits for the period");
    for (const now of [wakeAt - 1, wakeAt, wakeAt + 1] as Instant[])
      expect(differenceOf(plan({ ...waiting, now }), plan(structuredClone({ ...waiting, now })))).toBeNull();
    expect(plan({ ...waiting, now: (wakeAt - 1) as Instant }).wakeAt).toBe(wakeAt);
    expect(plan({ ...waiting, now: wakeAt }).wakeAt).not.toBe(wakeAt);
  });

  test("a failed write that waited by a clock which was set back is tried again at once", () => {
    world.member("m1").refuses.set(config, "denied");
    world.commit(() => write(world, objectOf("ConfigMap", "web/config", "two")));
    world.wait(minutes(60 * 24));
    const waiting = { ...settle(), patience: "retryAt" } as const;
    expect(plan(waiting).ledger, "nothing moves").toBe(waiting.ledger);
    expect(plan(waiting).actions).toEqual([]);
    const before = { ...waiting, now: later(waiting.now, minutes(-300)) };
    const warm = plan(before);
    expect(warm.actions.map((it) => it.cluster)).toEqual([m1]);
    expect(differenceOf(warm, plan(structuredClone(before)))).toBeNull();
  });

  test("the moment at which a failed write is tried again", () => {
    world.member("m1").refuses.set(config, "denied");
    world.commit(() => write(world, objectOf("ConfigMap", "web/config", "two")));
    for (let pass = 0; pass < 4; pass++) world.pass();
    const waiting = world.look();
    expect(plan(waiting).actions).toEqual([]);
    const { wakeAt } = plan(waiting);
    if (wakeAt === null) throw new Error("it waits for the retry");
    expect(plan({ ...waiting, now: wakeAt }).actions.map((it) => it.cluster)).toEqual([m1]);
    expect(plan({ ...waiting, patience: "none" }).actions.map((it) => it.cluster)).toEqual([m1]);
    expect(plan(waiting).actions).toEqual([]);
  });
});
