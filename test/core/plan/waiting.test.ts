// What only waits to be handed over is looked at again when something changes that it rests on, and is then decided as if
// nobody had ever looked: for each of these, a plan with warm memories is compared with one that has none.
import { beforeEach, describe, expect, test } from "vitest";
import type { InventoryEntry } from "../../../src/core/model/inventory.ts";
import type { ObjectKey } from "../../../src/core/model/manifest.ts";
import type { Observation } from "../../../src/core/model/observation.ts";
import type { World as Seen } from "../../../src/core/model/plan.ts";
import { runKey } from "../../../src/core/model/update-run.ts";
import {
  type ClusterName,
  type Digest,
  type Instant,
  later,
  minutes,
  type PlacementKey,
} from "../../../src/core/model/value.ts";
import { decisionVersion } from "../../../src/core/plan/decision.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf, policyOf, runOf, strategyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";
import { differenceOf } from "./same-ledger.ts";

const config = keyOf("ConfigMap", "shop/config");
const m1 = "m1" as ClusterName;

let world: World;
let seen: Seen;

/**
 * `shop` was renamed to `slow`, which moves by runs alone; `web` selects less than it did, and `late` will have that. On
 * three clusters, everything waits.
 */
beforeEach(() => {
  world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2", "m3"]) world.join(clusterOf(name, ["env=prod"]));
    for (const name of ["shop", "web", "extra"]) write(world, objectOf("Namespace", name, "-"));
    for (const name of ["shop/config", "web/config", "extra/config"]) write(world, objectOf("ConfigMap", name, "one"));
    place("shop", "ns=shop", "unavailable=3");
    place("web", "ns=web,extra", "unavailable=3");
  });
  settle();
  world.commit(() => {
    world.placements.delete("shop" as PlacementKey);
    place("slow", "ns=shop", "external");
    place("web", "ns=web", "unavailable=3");
    place("late", "ns=extra", "external");
  });
  settle();
  seen = world.look();
  const { ledger, actions, reasons } = plan(seen);
  expect(ledger).toBe(seen.ledger);
  expect(actions).toEqual([]);
  expect(reasons.filter((it) => it.kind === "waitingForHandOver")).toHaveLength(6);
});

function place(name: string, ...options: readonly string[]): void {
  world.placements.set(
    name as PlacementKey,
    placementOf({ name, policy: policyOf("PickAll", undefined), options: [...options] }),
  );
}

function settle(): void {
  for (let pass = 0; pass < 6; pass++) {
    world.pass();
    world.wait(minutes(2));
  }
  world.flush();
  world.pass();
}

function heard(change: (said: Extract<Observation, { kind: "reached" }>) => Observation): Seen {
  const said = seen.observed.get(m1);
  if (said?.kind !== "reached") throw new Error("it answers");
  return { ...seen, observed: new Map([...seen.observed, [m1, change(said)]]) };
}

/** With the entry of shop's ConfigMap on m1 as `change` makes it; null takes it out. */
function listed(change: (entry: InventoryEntry) => InventoryEntry | null): Seen {
  return heard((said) => {
    const placements = new Map(said.inventory.placements);
    const own = placements.get("shop" as PlacementKey);
    const entry = own?.entries.get(config);
    if (own === undefined || entry === undefined) throw new Error("it lists it");
    const entries = new Map(own.entries);
    const next = change(entry);
    if (next === null) entries.delete(config);
    else entries.set(config, next);
    placements.set("shop" as PlacementKey, { ...own, entries });
    return { ...said, inventory: { ...said.inventory, placements } };
  });
}

function committed(edit: () => void): Seen {
  world.commit(edit);
  return world.look();
}

/** A run that brings `placement` to all clusters, once it was planned. */
function run(placement: string): Seen {
  const all = strategyOf("all", ["all"]);
  const spec = { placement: placement as PlacementKey, strategy: all.key, resourceIndex: null, state: "Run" } as const;
  const next = committed(() => {
    world.strategies.set(all.key, all);
    world.runs.set(runKey(null, "first"), runOf("first", spec));
  });
  return { ...next, ledger: plan(next).ledger };
}

/** With `placement` in quarantine, as long as it is planned by the same rules. */
function quarantined(world: Seen, placement: string): Seen {
  const { ledger, intent, now } = world;
  const key = placement as PlacementKey;
  const quarantine = { placement: key, since: now, commit: intent.commit, decisionVersion, violations: [] };
  return { ...world, ledger: { ...ledger, quarantines: new Map([[key, quarantine]]) } };
}

/** Somebody took our mark off what is kept on m1. */
function unmark(): void {
  const live = world.member("m1").objects.get(config);
  if (live === undefined) throw new Error("it is there");
  world.member("m1").objects.set(config, { ...live, mark: null });
}

/**
 * Its turn came, and nobody was told before it was in quarantine, which is over by now. So the one before is to forget what
 * somebody took our mark off.
 */
function comingOut(placement: string): Seen {
  unmark();
  const turn = run(placement);
  const admitted = { ...turn, ledger: plan(turn).ledger };
  const { ledger } = plan(quarantined(admitted, placement));
  expect(plan({ ...admitted, ledger }).actions, "nothing is handed over meanwhile").toEqual([]);
  return { ...admitted, ledger: { ...ledger, quarantines: new Map() } };
}

const without = <K, V>(map: ReadonlyMap<K, V>, gone: K): ReadonlyMap<K, V> =>
  new Map([...map].filter(([key]) => key !== gone));

const changes: readonly { readonly name: string; readonly after: () => Seen }[] = [
  { name: "nothing", after: () => seen },
  { name: "a commit of something else", after: () => committed(() => write(world, objectOf("Namespace", "new", "-"))) },
  { name: "time", after: () => ({ ...seen, now: later(seen.now, minutes(60 * 24)) }) },
  { name: "a clock that was set back", after: () => ({ ...seen, now: 0 as Instant }) },
  { name: "another patience", after: () => ({ ...seen, patience: "none" }) },
  { name: "a run that brings what was renamed", after: () => run("slow") },
  { name: "a run that brings what was moved", after: () => run("late") },
  {
    name: "a next owner that goes",
    after: () => committed(() => void world.placements.delete("slow" as PlacementKey)),
  },
  { name: "a next owner of what was moved that goes", after: () => committed(() => place("late", "ns=nothing")) },
  { name: "the one before, which wants it again", after: () => committed(() => place("shop", "ns=shop")) },
  { name: "what was moved and is wanted again", after: () => committed(() => place("web", "ns=web,extra")) },
  {
    name: "a next owner that takes its turn by itself",
    after: () => committed(() => place("slow", "ns=shop", "unavailable=3")),
  },
  { name: "a next owner in quarantine", after: () => quarantined(seen, "slow") },
  { name: "a next owner in quarantine as its turn comes", after: () => quarantined(run("slow"), "slow") },
  { name: "a next owner that comes out of quarantine in its turn", after: () => comingOut("slow") },
  { name: "another next owner", after: () => committed(() => place("also", "ns=shop", "external")) },
  {
    name: "a next owner that stays away from one cluster",
    after: () =>
      committed(() =>
        world.placements.set(
          "slow" as PlacementKey,
          placementOf({ name: "slow", policy: policyOf("PickFixed", "m2,m3"), options: ["ns=shop", "external"] }),
        ),
      ),
  },
  {
    name: "an override that drops it for the next owner",
    after: () => committed(() => world.overrides.set("none", overrideOf("none", config, "env=prod", "delete"))),
  },
  {
    name: "an edit of what waits",
    after: () => committed(() => write(world, objectOf("ConfigMap", "shop/config", "two"))),
  },
  { name: "what waits, removed from the repository", after: () => committed(() => void world.objects.delete(config)) },
  { name: "a member relabelled", after: () => committed(() => world.join(clusterOf("m1", ["env=dev"]))) },
  { name: "a member that leaves", after: () => committed(() => void world.clusters.delete(m1)) },
  {
    name: "a kind that became cluster-scoped",
    after: () => ({
      ...seen,
      intent: { ...seen.intent, scopes: new Map([...seen.intent.scopes, ["a/B", "Cluster"]]) },
    }),
  },
  {
    name: "a member that falls silent",
    after: () => heard(() => ({ kind: "unreachable", code: "Unreachable", message: "-" })),
  },
  { name: "a member that is another cluster", after: () => heard((said) => ({ ...said, clusterUid: "another" })) },
  { name: "members that are not asked", after: () => ({ ...seen, observed: new Map() }) },
  {
    name: "what is kept, deleted by hand",
    after: () => heard((said) => ({ ...said, objects: without(said.objects, config) })),
  },
  {
    name: "what is kept, changed by hand",
    after: () =>
      heard((said) => ({
        ...said,
        objects: new Map([...said.objects].map(([key, it]) => [key, { ...it, fingerprint: "drifted" as Digest }])),
      })),
  },
  {
    name: "what is kept, without our mark",
    after: () =>
      heard((said) => ({
        ...said,
        objects: new Map([...said.objects].map(([key, it]) => [key, { ...it, mark: null }])),
      })),
  },
  { name: "what is kept, out of the inventory", after: () => listed(() => null) },
  {
    name: "what is kept, refused by its member",
    after: () =>
      listed(
        (entry) =>
          ({
            ...entry,
            outcome: {
              kind: "failed",
              code: "ManifestApplyFailed",
              message: "no",
              retryAt: later(seen.now, minutes(1)),
              attempts: 1,
            },
          }) as InventoryEntry,
      ),
  },
  {
    name: "what is kept, in the inventory of the next owner",
    after: () =>
      heard((said) => {
        const own = said.inventory.placements.get("shop" as PlacementKey);
        if (own === undefined) throw new Error("it lists it");
        const placements = new Map([...said.inventory.placements, ["slow" as PlacementKey, own]]);
        return { ...said, inventory: { ...said.inventory, placements } };
      }),
  },
  ...["shop", "web"].map((placement) => ({
    name: `an eviction of ${placement}`,
    after: () => {
      const source = { path: "evictions/off.yaml", line: 1, column: 1, document: 0 };
      const off = { name: "off", placement: placement as PlacementKey, cluster: m1, source };
      return committed(() => void world.evictions.set("off", off));
    },
  })),
];

describe("while much waits to be handed over, a plan with warm memories is the plan of cold ones after", () => {
  test.each(changes)("$name", ({ after }) => {
    const next = after();
    const warm = plan(next);
    expect(differenceOf(warm, plan(structuredClone(next)))).toBeNull();
    let then = next;
    for (let pass = 0; pass < 2; pass++) {
      then = { ...then, ledger: plan(then).ledger };
      expect(differenceOf(plan(then), plan(structuredClone(then)))).toBeNull();
    }
    // And back again: what was remembered in between is no less true.
    expect(differenceOf(plan(seen), plan(structuredClone(seen)))).toBeNull();
    expect(differenceOf(plan(next), warm)).toBeNull();
  });
});

test("what somebody took our mark off is forgotten once its next owner has its turn", () => {
  unmark();
  seen = { ...world.look() };
  expect(plan(seen).actions, "it goes on waiting").toEqual([]);
  let next = run("slow");
  const forgotten: unknown[] = [];
  for (let pass = 0; pass < 3; pass++) {
    const warm = plan(next);
    expect(differenceOf(warm, plan(structuredClone(next)))).toBeNull();
    forgotten.push(warm.actions.flatMap((it) => it.placements.flatMap(({ forget }) => forget)));
    next = { ...next, ledger: warm.ledger };
  }
  expect(forgotten).toContainEqual([config]);
});

test("what waits is looked at once, and again only where its member says something else", () => {
  const counted = new Map<ClusterName, CountingMap>();
  const observed = new Map(
    [...seen.observed].map(([name, said]): [ClusterName, Observation] => {
      if (said.kind !== "reached") throw new Error("it answers");
      const own = said.inventory.placements.get("shop" as PlacementKey);
      if (own === undefined) throw new Error("it lists it");
      const entries = new CountingMap(own.entries);
      counted.set(name, entries);
      const placements = new Map([...said.inventory.placements, ["shop" as PlacementKey, { ...own, entries }]]);
      return [name, { ...said, inventory: { ...said.inventory, placements } }];
    }),
  );
  const looks = (): readonly number[] => [...counted.values()].map((it) => it.takeLooks());
  const waiting = { ...seen, observed };
  plan(waiting);
  expect(looks().every((it) => it > 0)).toBe(true);
  plan({ ...waiting, now: later(waiting.now, minutes(1)) });
  expect(looks()).toEqual([0, 0, 0]);
  const said = observed.get(m1);
  plan({ ...waiting, observed: new Map([...observed, [m1, { ...said } as Observation]]) });
  const [first, ...others] = looks();
  expect(first).toBeGreaterThan(0);
  expect(others).toEqual([0, 0]);
});

/** Tells how often something was looked up in it. */
class CountingMap extends Map<ObjectKey, InventoryEntry> {
  private looked = 0;

  override get(key: ObjectKey): InventoryEntry | undefined {
    this.looked += 1;
    return super.get(key);
  }

  takeLooks(): number {
    const { looked } = this;
    this.looked = 0;
    return looked;
  }
}
