// What is handed over to somebody who is to lose it as well is a deletion of the commit that takes it from both (D 3, D 9).
import { expect, test } from "vitest";
import { check } from "../../../../src/core/check/check.ts";
import { decide } from "../../../../src/core/decide/decide.ts";
import type { HeldDeletion } from "../../../../src/core/model/deletion.ts";
import { objectKey } from "../../../../src/core/model/manifest.ts";
import type { PlanDefect } from "../../../../src/core/model/plan-defect.ts";
import { minutes, type PlacementKey } from "../../../../src/core/model/value.ts";
import { plan } from "../../../../src/core/plan/plan.ts";
import { clusterOf, objectOf, placementOf, policyOf } from "../../../intent.ts";
import { planWithDefect } from "../../../simulation/planted-defect.ts";
import { World, write } from "../../../world.ts";

const settings = Array.from({ length: 3 }, (_, at) => objectOf("ConfigMap", `shop/settings-${at}`, "one"));

/** Three clusters; `shop` has a namespace with what stands in it, and `web` places the same. */
function shared(options: readonly string[]): World {
  const world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2", "m3"]) world.join(clusterOf(name, ["env=prod"]));
    write(world, objectOf("Namespace", "shop", "-"));
    for (const it of settings) write(world, it);
    place(world, "shop", ["ns=shop", "unavailable=1"]);
  });
  settle(world);
  world.commit(() => place(world, "web", ["ns=shop", ...options]));
  settle(world);
  return world;
}

function place(world: World, name: string, options: readonly string[]): void {
  const policy = policyOf("PickAll", undefined);
  world.placements.set(name as PlacementKey, placementOf({ name, policy, options }));
}

function settle(world: World): void {
  for (let pass = 0; pass < 12; pass++) {
    world.pass();
    world.wait(minutes(2));
  }
  world.flush();
}

/** At most so many objects of a cluster, and so many clusters, may lose anything unasked. */
function allow(world: World, objectsPerCluster: number, clusters: number): void {
  const bounds = { objectsPerCluster, percentPerCluster: 0, clusters, percentOfClusters: 0 };
  world.commit(() => {
    world.fleet = { ...world.fleet, guards: bounds };
  });
  settle(world);
}

const dropSettings = (world: World): void =>
  world.commit(() => {
    for (const it of settings) world.objects.delete(objectKey(it.id));
  });

const isThere = (world: World, name: string): boolean =>
  settings.every((it) => world.member(name).objects.has(objectKey(it.id)));

/** What a set names: placements, clusters and objects. */
const named = ({ groups }: HeldDeletion): readonly string[] =>
  groups.flatMap((it) => it.clusters.map((cluster) => `${it.objects.length} of ${it.placement} on ${cluster}`)).sort();

test("what two placements lose by one commit is asked about once, at that commit, wherever their turn comes", () => {
  const world = shared(["unavailable=1"]);
  allow(world, 0, 0);
  dropSettings(world);
  const { plan } = world.pass();
  const everything = ["shop", "web"].flatMap((it) => ["m1", "m2", "m3"].map((cluster) => `3 of ${it} on ${cluster}`));
  expect(plan.ledger.deletions.held.map(named)).toEqual([everything.sort()]);
  settle(world);
  expect(world.head.deletions.held.map((it) => it.digest)).toEqual(plan.ledger.deletions.held.map((it) => it.digest));
  expect(["m1", "m2", "m3"].map((it) => isThere(world, it))).toEqual([true, true, true]);

  for (const { digest } of plan.ledger.deletions.held) world.commit(() => world.confirmations.add(digest));
  settle(world);
  expect(["m1", "m2", "m3"].map((it) => isThere(world, it))).toEqual([false, false, false]);
});

test("what two placements lose at once is one object, and is counted once", () => {
  const world = shared(["unavailable=1"]);
  allow(world, 3, 3);
  dropSettings(world);
  world.pass();
  const all = ["m1", "m2", "m3"].map((it) => [it, 3]);
  expect([...world.head.deletions.permitted]).toEqual(all);
  settle(world);
  expect([...world.head.deletions.permitted]).toEqual(all);
  expect(world.head.deletions.held).toEqual([]);
  expect(["m1", "m2", "m3"].map((it) => isThere(world, it))).toEqual([false, false, false]);
});

test("what waits for its turn is counted as soon as whoever was to take it is to lose it, too", () => {
  const world = shared(["unavailable=3"]);
  allow(world, 0, 0);
  // Nobody knows whether they are ready: shop waits for its turn, and web, of which they carry nothing, does not.
  world.isBlind = true;
  const none = (name: string, unavailable: number): void =>
    world.commit(() => place(world, name, ["ns=elsewhere", `unavailable=${unavailable}`]));
  none("shop", 1);
  settle(world);
  expect(world.head.deletions.held).toEqual([]);
  none("web", 3);
  settle(world);
  const waiting = world.head.deletions.held.flatMap(named);
  expect(waiting.filter((it) => it.includes("shop"))).toEqual(["m1", "m2", "m3"].map((it) => `4 of shop on ${it}`));
  world.isBlind = false;
  settle(world);
  expect(["m1", "m2", "m3"].map((it) => isThere(world, it))).toEqual([true, true, true]);
});

test("what waits for its turn is counted as soon as its next owner does not want it, also where no commit says so", () => {
  const world = shared(["unavailable=1"]);
  allow(world, 0, 0);
  world.commit(() => {
    place(world, "shop", ["ns=elsewhere", "unavailable=1"]);
    place(world, "web", ["ns=elsewhere", "unavailable=1"]);
  });
  // In quarantine, web wants what it has. So shop hands all of it over, as soon as its turn comes.
  const decided = decide(world.look(), (seen) => planWithDefect(seen, "web"));
  if (decided.kind === "unsound") return expect.fail(decided.faults.map((it) => it.message).join("; "));
  const { ledger } = decided.plan;
  expect(ledger.deletions.held).toEqual([]);
  // Another release plans it soundly.
  const quarantines = new Map([...ledger.quarantines].map(([key, it]) => [key, { ...it, decisionVersion: 0 }]));
  world.head = { ...ledger, quarantines };
  const { held } = world.pass().plan.ledger.deletions;
  const everywhere = ["shop", "web"].flatMap((it) => ["m1", "m2", "m3"].map((cluster) => `4 of ${it} on ${cluster}`));
  expect(held.map(named)).toEqual([everywhere.sort()]);
  settle(world);
  expect(["m1", "m2", "m3"].map((it) => isThere(world, it))).toEqual([true, true, true]);
});

test("what was confirmed before a quarantine, and was wanted by somebody meanwhile, is asked about anew", () => {
  const shop = "shop" as PlacementKey;
  const world = shared(["unavailable=1"]);
  /** What a commit leads to before anybody acts upon it. */
  const decided = (edit: () => void, unsound: readonly PlanDefect[] = []): void => {
    world.commit(edit);
    const seen = world.look();
    world.head = plan(unsound.length === 0 ? seen : { ...seen, unsound: new Map([[shop, unsound]]) }).ledger;
  };
  allow(world, 0, 0);
  for (const name of ["web", "shop"]) {
    world.commit(() => world.placements.delete(name as PlacementKey));
    world.pass();
  }
  const asked = world.head.deletions.held.map((it) => it.digest);
  decided(() => {
    for (const it of asked) world.confirmations.add(it);
  });
  expect(world.head.deletions.held.map((it) => it.confirmed)).not.toContain(false);
  const defect: PlanDefect = {
    code: "TargetSequenceWrong",
    subject: { kind: "placement", placement: shop },
    message: "the plan dates the target of shop wrongly",
  };
  decided(() => place(world, "next", ["ns=shop", "unavailable=3"]), [defect]);
  expect([...world.head.quarantines.keys()]).toEqual([shop]);

  world.commit(() => world.placements.delete("next" as PlacementKey));
  const { plan: made, seen } = world.pass();
  const ofShop = made.ledger.deletions.held.filter((it) => it.groups.some(({ placement }) => placement === shop));
  expect(ofShop.map((it) => it.confirmed)).toEqual([false]);
  expect(asked).not.toContain(ofShop[0]?.digest);
  const causes = [...(made.ledger.placements.get(shop)?.bindings.values() ?? [])].flatMap((it) =>
    it.leaving.map(({ cause }) => cause),
  );
  expect(new Set(causes)).toEqual(new Set([seen.intent.commit]));
  expect(check(made, seen)).toEqual([]);
  const stubborn = { ...made, ledger: { ...made.ledger, deletions: seen.ledger.deletions } };
  expect(check(stubborn, seen).map((it) => it.code)).toContain("HeldDeletionOutdated");
  settle(world);
  expect(["m1", "m2", "m3"].map((it) => isThere(world, it))).toEqual([true, true, true]);
});
