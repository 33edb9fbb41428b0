// What one placement had and another one wants is handed over: the same object, without a gap (D 9).
import { expect, test } from "vitest";
import { writeText } from "../../../src/core/apply/mark.ts";
import { objectKey } from "../../../src/core/model/manifest.ts";
import type { Reason } from "../../../src/core/model/reason.ts";
import { runKey } from "../../../src/core/model/update-run.ts";
import { type ClusterName, minutes, type PlacementKey } from "../../../src/core/model/value.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf, policyOf, runOf, strategyOf } from "../../intent.ts";
import type { Member } from "../../member.ts";
import { World, write } from "../../world.ts";

const config = keyOf("ConfigMap", "shop/config");
const space = keyOf("Namespace", "shop");

/** `shop` has the namespace of that name with a ConfigMap, on m1 and m2. */
function inPlace(...options: readonly string[]): World {
  const world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2"]) world.join(clusterOf(name, [name === "m1" ? "env=canary" : "env=prod"]));
    for (const name of ["shop", "extra"]) write(world, objectOf("Namespace", name, "-"));
    write(world, objectOf("ConfigMap", "shop/config", "one"));
    place(world, "shop", ["ns=shop", "unavailable=2", ...options]);
  });
  settle(world);
  return world;
}

function place(world: World, name: string, options: readonly string[], kind = "PickAll", argument?: string): void {
  world.placements.set(name as PlacementKey, placementOf({ name, policy: policyOf(kind, argument), options }));
}

const rename = (world: World, ...options: readonly string[]): void =>
  world.commit(() => {
    world.placements.delete("shop" as PlacementKey);
    place(world, "web", ["ns=shop", "unavailable=2", ...options]);
  });

const remove = (world: World, name: string): void => world.commit(() => world.placements.delete(name as PlacementKey));

function settle(world: World): readonly Reason[] {
  let reasons: readonly Reason[] = [];
  for (let pass = 0; pass < 8; pass++) {
    reasons = world.pass().plan.reasons;
    world.wait(minutes(2));
  }
  world.flush();
  return reasons;
}

/** Whose mark an object has, by its name and uid; `gone` where it is not there. */
function seen({ objects }: Member, key = config): string {
  const live = objects.get(key);
  return live === undefined ? "gone" : `${live.uid} of ${live.mark?.label}`;
}

/** Who lists an object, by the inventory. */
const listing = ({ inventory }: Member, key = config): readonly string[] =>
  [...inventory.placements].flatMap(([placement, { entries }]) => (entries.has(key) ? placement : []));

function uids(world: World): readonly string[] {
  return ["m1", "m2"].flatMap((name) =>
    [space, config].map((key) => world.member(name).objects.get(key)?.uid ?? `no ${key}`),
  );
}

test("a placement that is renamed keeps its objects: the same uids under its new name, and nothing is asked", () => {
  const world = inPlace();
  const before = uids(world);
  rename(world);
  for (let pass = 0; pass < 8; pass++) {
    expect(world.pass().plan.actions.flatMap((it) => it.placements.flatMap(({ remove: gone }) => gone))).toEqual([]);
    expect(uids(world)).toEqual(before);
  }
  expect(world.head.deletions.held).toEqual([]);
  expect([...world.head.placements.keys()]).toEqual(["web"]);
  expect(seen(world.member("m1"))).toBe(`${before[1]} of web`);
  expect(listing(world.member("m1"))).toEqual(["web"]);
});

test("what moves from one placement to another in one commit stays, Namespaces included", () => {
  const world = inPlace("ns=shop,extra");
  world.commit(() => place(world, "web", ["ns=nothing"]));
  settle(world);
  const before = uids(world);
  world.commit(() => {
    place(world, "shop", ["ns=extra", "unavailable=2"]);
    place(world, "web", ["ns=shop", "unavailable=2"]);
  });
  settle(world);
  expect(uids(world)).toEqual(before);
  expect(world.head.deletions.held).toEqual([]);
  expect([listing(world.member("m1")), listing(world.member("m2"))]).toEqual([["web"], ["web"]]);
});

test.each(["after the claim", "before the result"] as const)("whoever dies %s leaves nothing that is lost", (death) => {
  const world = inPlace();
  const before = uids(world);
  rename(world);
  world.pass({ death });
  world.restart();
  settle(world);
  expect(uids(world)).toEqual(before);
  expect(listing(world.member("m1"))).toEqual(["web"]);
  expect([...world.head.placements.keys()]).toEqual(["web"]);
});

test("until the run of the next owner comes, the one before keeps and repairs what it had, and says so", () => {
  const world = inPlace();
  const before = uids(world);
  rename(world, "external");
  const reasons = settle(world);
  expect(
    reasons.filter((it) => it.kind === "waitingForHandOver").map((it) => [it.placement, it.to, it.cluster]),
  ).toEqual([
    ["shop", "web", "m1"],
    ["shop", "web", "m2"],
  ]);
  world.member("m1").objects.delete(config);
  world.pass();
  expect(seen(world.member("m1"))).toMatch(/ of shop$/);
  const again = uids(world);
  expect(again[0]).toBe(before[0]);
  const all = strategyOf("all", ["all"]);
  const spec = { placement: "web" as PlacementKey, strategy: all.key, resourceIndex: null, state: "Run" } as const;
  world.commit(() => {
    world.strategies.set(all.key, all);
    world.runs.set(runKey(null, "first"), runOf("first", spec));
  });
  settle(world);
  expect(uids(world)).toEqual(again);
  expect(seen(world.member("m1"))).toMatch(/ of web$/);
  expect([...world.head.placements.keys()]).toEqual(["web"]);
});

test("what nobody wants any more goes, and counts as a deletion only then", () => {
  const world = inPlace();
  rename(world, "external");
  settle(world);
  expect([...world.head.deletions.permitted]).toEqual([]);
  remove(world, "web");
  const { plan } = world.pass();
  expect([...plan.ledger.deletions.permitted]).toEqual([
    ["m1", 2],
    ["m2", 2],
  ]);
  settle(world);
  expect(world.carried("m1")).toEqual([]);
  expect([...world.head.placements.keys()]).toEqual([]);
});

test("taken back before anybody took it, it stays where it is", () => {
  const world = inPlace();
  const before = uids(world);
  rename(world, "external");
  settle(world);
  world.commit(() => {
    world.placements.delete("web" as PlacementKey);
    place(world, "shop", ["ns=shop", "unavailable=2"]);
  });
  settle(world);
  expect(uids(world)).toEqual(before);
  expect(seen(world.member("m1"))).toMatch(/ of shop$/);
});

test("handed over and back again, it is the same object", () => {
  const world = inPlace();
  const before = uids(world);
  rename(world);
  settle(world);
  world.commit(() => {
    world.placements.delete("web" as PlacementKey);
    place(world, "shop", ["ns=shop", "unavailable=2"]);
  });
  settle(world);
  expect(uids(world)).toEqual(before);
  expect(listing(world.member("m1"))).toEqual(["shop"]);
});

test("where an override drops it, nobody wants it: it goes there and stays elsewhere", () => {
  const world = inPlace();
  const before = uids(world);
  world.commit(() => {
    world.placements.delete("shop" as PlacementKey);
    place(world, "web", ["ns=shop", "unavailable=2"]);
    world.overrides.set("none", overrideOf("none", config, "env=canary", "delete"));
  });
  settle(world);
  expect([seen(world.member("m1")), seen(world.member("m2"))]).toEqual(["gone", `${before[3]} of web`]);
  expect(uids(world)[0]).toBe(before[0]);
});

test("on a cluster that the next owner is not on, it goes", () => {
  const world = inPlace();
  const before = uids(world);
  world.commit(() => {
    world.placements.delete("shop" as PlacementKey);
    place(world, "web", ["ns=shop"], "PickFixed", "m1");
  });
  settle(world);
  expect([seen(world.member("m1")), seen(world.member("m2"))]).toEqual([`${before[1]} of web`, "gone"]);
});

test("a member that does not answer hands over once it does", () => {
  const world = inPlace();
  const before = uids(world);
  world.member("m1").silence = { code: "Unreachable", message: "no route" };
  rename(world);
  settle(world);
  expect(listing(world.member("m1"))).toEqual(["shop"]);
  world.member("m1").silence = null;
  settle(world);
  expect(uids(world)).toEqual(before);
  expect(listing(world.member("m1"))).toEqual(["web"]);
});

test("of two that want it at once, the first keeps it; when it lets go, the other one has it without a gap", () => {
  const world = inPlace();
  const before = uids(world);
  world.commit(() => place(world, "web", ["ns=shop", "unavailable=2"]));
  settle(world);
  expect([uids(world), listing(world.member("m1"))[0]]).toEqual([before, "shop"]);
  remove(world, "shop");
  settle(world);
  expect(uids(world)).toEqual(before);
  expect(seen(world.member("m1"))).toMatch(/ of web$/);
});

test("what the other one made anew, since it was gone when its turn came, is handed back and not taken for handed over", () => {
  const world = inPlace();
  world.commit(() => place(world, "web", ["ns=shop", "unavailable=2"]));
  settle(world);
  const member = world.member("m1");
  const [shop, web] = ["shop", "web"].map((it) => member.inventory.placements.get(it as PlacementKey));
  const live = member.objects.get(config);
  const entry = shop?.entries.get(config);
  if (web === undefined || live === undefined || entry === undefined) throw new Error("they are not in place");
  const { fleet, epoch, placements } = member.inventory;
  const uid = "made-anew";
  member.objects.set(config, { ...live, uid, mark: { label: "web", write: writeText({ fleet, epoch, ...web }) } });
  const entries = new Map([...web.entries, [config, { ...entry, uid }]]);
  member.inventory = {
    fleet,
    epoch,
    placements: new Map([...placements, ["web" as PlacementKey, { ...web, entries }]]),
  };
  remove(world, "web");
  settle(world);
  expect([seen(member), listing(member)]).toEqual([`${uid} of shop`, ["shop"]]);
  expect(member.inventory.placements.get("shop" as PlacementKey)?.entries.get(config)).toMatchObject({ uid });
  expect([...world.head.placements.keys()]).toEqual(["shop"]);
});

test("what one took from another and died before it said so goes on to a third one, whoever of them lists it", () => {
  const world = inPlace();
  const before = uids(world);
  world.commit(() => {
    world.placements.delete("shop" as PlacementKey);
    place(world, "next", ["ns=shop", "unavailable=2"]);
  });
  for (let pass = 0; pass < 2; pass++) world.pass({ death: "before the result" });
  expect([seen(world.member("m1")), listing(world.member("m1"))]).toEqual([`${before[1]} of next`, ["shop", "next"]]);
  world.commit(() => {
    world.placements.delete("next" as PlacementKey);
    place(world, "web", ["ns=shop", "unavailable=2"]);
  });
  settle(world);
  expect(uids(world)).toEqual(before);
  expect([seen(world.member("m1")), listing(world.member("m1"))]).toEqual([`${before[1]} of web`, ["web"]]);
  expect([...world.head.placements.keys()]).toEqual(["web"]);
});

test("of two that let go at once, the third one takes it from whom has it", () => {
  const world = inPlace();
  const before = uids(world);
  world.commit(() => place(world, "next", ["ns=shop", "unavailable=2"]));
  settle(world);
  world.commit(() => {
    place(world, "next", ["ns=extra", "unavailable=2"]);
    place(world, "shop", ["ns=nothing", "unavailable=2"]);
    place(world, "web", ["ns=shop", "unavailable=2"]);
  });
  settle(world);
  expect(uids(world)).toEqual(before);
  expect([listing(world.member("m1")), listing(world.member("m2"))]).toEqual([["web"], ["web"]]);
  expect(
    [...world.head.placements.values()].flatMap(({ bindings }) => [...bindings.values()].flatMap((it) => it.leaving)),
  ).toEqual([]);
});

test("what somebody took our mark off is theirs, and its next owner does with it as it may", () => {
  const world = inPlace();
  const before = uids(world);
  for (const name of ["m1", "m2"]) {
    const live = world.member(name).objects.get(config);
    if (live !== undefined) live.mark = null;
  }
  world.commit(() => {
    world.placements.delete("shop" as PlacementKey);
    place(world, "web", ["ns=shop", "unavailable=2"]);
  });
  settle(world);
  expect(uids(world)).toEqual(before);
  expect([listing(world.member("m1")), [...world.head.placements.keys()]]).toEqual([["web"], ["web"]]);
  const entry = world
    .member("m1")
    .inventory.placements.get("web" as PlacementKey)
    ?.entries.get(config);
  expect(entry?.adopted).toBe(true);
});

test("what was there before us goes along as that, and is let go by its next owner", () => {
  const world = new World();
  world.commit(() => {
    world.join(clusterOf("m1"));
    write(world, objectOf("Namespace", "shop", "-"));
    write(world, objectOf("ConfigMap", "shop/config", "one"));
  });
  world.member("m1").make(space);
  world.member("m1").make(config);
  world.commit(() => place(world, "shop", []));
  settle(world);
  rename(world);
  settle(world);
  const entry = world
    .member("m1")
    .inventory.placements.get("web" as PlacementKey)
    ?.entries.get(config);
  expect(entry?.adopted).toBe(true);
  remove(world, "web");
  settle(world);
  expect(world.carried("m1").every((it) => it.endsWith("(not ours)"))).toBe(true);
  expect(world.carried("m1")).toHaveLength(2);
});

test("whether another placement may take over what is there has no say in what is ours", () => {
  const world = inPlace();
  const before = uids(world);
  rename(world, "never-take-over");
  settle(world);
  expect(uids(world)).toEqual(before);
  expect(listing(world.member("m1"))).toEqual(["web"]);
});

test("no confirmation deletes a Namespace with something in it that another placement wants", () => {
  const world = inPlace();
  const [uid] = uids(world);
  world.commit(() => {
    place(world, "shop", ["ns=extra", "unavailable=2"]);
    const inShop = placementOf({ name: "web", policy: policyOf("PickAll", undefined), options: [] });
    const selector = { group: "", version: "v1", kind: "ConfigMap", name: "config", labelSelector: null };
    const spec = { ...inShop.spec, resourceSelectors: [{ ...selector, selectionScope: "NamespaceOnly" as const }] };
    const key = "shop/web" as PlacementKey;
    world.placements.set(key, { ...inShop, key, scope: "Namespaced", namespace: "shop", spec });
  });
  settle(world);
  world.commit(() => {
    for (const { digest } of world.head.deletions.held) world.confirmations.add(digest);
  });
  settle(world);
  expect(world.member("m1").objects.get(space)?.uid).toBe(uid);
  expect(listing(world.member("m1"))).toEqual(["shop/web"]);
  world.commit(() => world.placements.delete("shop/web" as PlacementKey));
  settle(world);
  expect(world.member("m1").objects.get(config)).toBe(undefined);
  expect(
    world.member("m1").objects.has(objectKey({ group: "", kind: "Namespace", namespace: null, name: "shop" })),
  ).toBe(false);
});

test("a cluster that leaves the fleet amid it has nothing taken from it", () => {
  const world = inPlace();
  rename(world, "external");
  settle(world);
  world.commit(() => world.clusters.delete("m1" as ClusterName));
  settle(world);
  expect(seen(world.member("m1"))).toMatch(/ of shop$/);
});
