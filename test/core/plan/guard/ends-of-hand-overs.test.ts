// However a want ends, what was to be handed over goes by a confirmation where the bounds say so, and by nothing else (D 3, D 9).
import { describe, expect, test } from "vitest";
import { objectKey } from "../../../../src/core/model/manifest.ts";
import { type ClusterName, minutes, type PlacementKey } from "../../../../src/core/model/value.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf, policyOf } from "../../../intent.ts";
import { World, write } from "../../../world.ts";

const web = "web" as PlacementKey;
const members = ["m1", "m2", "m3"];
const config = keyOf("ConfigMap", "shop/config");

interface PlacementWords {
  readonly options: readonly string[];
  readonly fixed?: string;
  readonly isReporting?: boolean;
}

function place(world: World, name: string, { options, fixed, isReporting = false }: PlacementWords): void {
  const policy = fixed === undefined ? policyOf("PickAll", undefined) : policyOf("PickFixed", fixed);
  const made = placementOf({ name, policy, options });
  const { strategy } = made.spec;
  const applyStrategy = { ...strategy.applyStrategy, type: isReporting ? "ReportDiff" : strategy.applyStrategy.type };
  const spec = { ...made.spec, strategy: { ...strategy, applyStrategy } };
  world.placements.set(name as PlacementKey, { ...made, spec });
}

function settle(world: World): void {
  for (let pass = 0; pass < 7; pass++) {
    world.pass();
    world.wait(minutes(2));
  }
  world.flush();
}

/** `shop` has a namespace with a ConfigMap on three clusters; `web` wants the same there. Nothing may go unasked. */
function shared(isExternal: boolean): World {
  const world = new World();
  world.commit(() => {
    for (const name of members) world.join(clusterOf(name, ["env=prod"]));
    write(world, objectOf("Namespace", "shop", "-"));
    write(world, objectOf("ConfigMap", "shop/config", "one"));
    place(world, "shop", { options: ["ns=shop", "unavailable=1"] });
  });
  settle(world);
  world.commit(() =>
    place(world, "web", { options: ["ns=shop", "unavailable=1", ...(isExternal ? ["external"] : [])] }),
  );
  settle(world);
  world.commit(() => {
    const guards = { objectsPerCluster: 0, percentPerCluster: 0, clusters: 0, percentOfClusters: 0 };
    world.fleet = { ...world.fleet, guards };
  });
  settle(world);
  return world;
}

/** How the one before lets go of it. */
const drops = (world: World): void => place(world, "shop", { options: ["ns=elsewhere", "unavailable=1"] });
const goes = (world: World): void => void world.placements.delete("shop" as PlacementKey);

const ends: readonly (readonly [string, (world: World) => void])[] = [
  ["its file is removed", (world) => world.objects.delete(config)],
  ["its next owner is removed", (world) => world.placements.delete(web)],
  ["its next owner selects something else", (world) => place(world, "web", { options: ["ns=else", "unavailable=1"] })],
  ["its next owner goes elsewhere", (world) => place(world, "web", { options: ["ns=shop"], fixed: "m9" })],
  ["its next owner only reports", (world) => place(world, "web", { options: ["ns=shop"], isReporting: true })],
  [
    "its next owner has it dropped by an override",
    (world) => void world.overrides.set("none", overrideOf("none", config, "env=prod", "delete")),
  ],
];

const holders = (world: World): readonly string[] =>
  members.filter((it) => world.member(it).objects.get(config) !== undefined);

/** Where anybody is asked about it. */
const askedAbout = ({ head }: World): readonly ClusterName[] => {
  const groups = head.deletions.held.flatMap((it) => it.groups);
  const asked = groups.filter((it) => it.objects.some((id) => objectKey(id) === config));
  return [...new Set(asked.flatMap((it) => it.clusters))].sort();
};

function confirmAll(world: World): void {
  for (let round = 0; round < 4; round++) {
    world.commit(() => {
      for (const it of world.head.deletions.held) world.confirmations.add(it.digest);
    });
    settle(world);
  }
}

function silence(world: World, name: string, isSilent: boolean): void {
  world.member(name).silence = isSilent ? { code: "Unreachable", message: "no route" } : null;
}

describe.each([
  ["what a placement drops and an External one is to take", drops, true],
  ["what a placement has that goes as a whole and an External one is to take", goes, true],
  ["what a placement drops and another one takes by its rolling update", drops, false],
] as const)("%s", (_, letGo, isExternal) => {
  test.each(ends)("%s, after the one before let go of it", (_, end) => {
    const world = shared(isExternal);
    world.commit(() => letGo(world));
    settle(world);
    world.commit(() => end(world));
    settle(world);
    // Who has it by now and only reports from now on keeps it.
    const isKept = !isExternal && world.head.placements.get(web)?.spec.strategy.applyStrategy.type === "ReportDiff";
    expect([holders(world), askedAbout(world)]).toEqual([members, isKept ? [] : members]);
    confirmAll(world);
    expect(holders(world)).toEqual(isKept ? members : []);
  });

  test.each(ends)("%s, as the one before lets go of it", (_, end) => {
    const world = shared(isExternal);
    world.commit(() => {
      letGo(world);
      end(world);
    });
    settle(world);
    expect([holders(world), askedAbout(world)]).toEqual([members, members]);
    confirmAll(world);
    expect(holders(world)).toEqual([]);
  });

  test.each(ends)("%s, while a member is away, which the one before left without knowing it", (_, end) => {
    const world = shared(isExternal);
    silence(world, "m2", true);
    world.commit(() => letGo(world));
    settle(world);
    world.commit(() => end(world));
    settle(world);
    silence(world, "m2", false);
    settle(world);
    expect([holders(world), askedAbout(world)]).toEqual([members, members]);
    confirmAll(world);
    expect(holders(world)).toEqual([]);
  });

  test.each(ends)("%s, and is wanted again before anybody confirmed anything", (_, end) => {
    const world = shared(isExternal);
    world.commit(() => letGo(world));
    settle(world);
    world.commit(() => end(world));
    world.pass();
    world.commit(() => {
      world.overrides.clear();
      write(world, objectOf("ConfigMap", "shop/config", "one"));
      place(world, "web", { options: ["ns=shop", "unavailable=3"] });
    });
    settle(world);
    expect([holders(world), askedAbout(world)]).toEqual([members, []]);
  });
});
