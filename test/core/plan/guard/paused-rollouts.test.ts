// What a rollout that pauses takes away when it goes on is asked about, whatever it waited for (D 3).
import { expect, test } from "vitest";
import { objectKey } from "../../../../src/core/model/manifest.ts";
import type { Collected } from "../../../../src/core/model/observation.ts";
import type { PlacementPolicy } from "../../../../src/core/model/placement.ts";
import { runKey } from "../../../../src/core/model/update-run.ts";
import { type ClusterName, minutes, type PlacementKey } from "../../../../src/core/model/value.ts";
import { clusterOf, objectOf, placementOf, runOf, strategyOf } from "../../../intent.ts";
import { World, write } from "../../../world.ts";
import { policyOf } from "../../schedule/notation.ts";
import { answer, by, fleet } from "../approval/trusted-world.ts";
import { guarded, requestOf } from "./guarded-world.ts";

const web = "web" as PlacementKey;
const names = ["m1", "m2", "m3"];
const settings = Array.from({ length: 3 }, (_, at) => objectOf("ConfigMap", `web/settings-${at}`, "one"));
const plain = strategyOf("plain", ["all"]);
/** An hour goes by between m1 and the others. */
const slow = strategyOf("slow", ["canary:env=canary/wait=60", "prod:env=prod"]);

const everywhere = policyOf("all");
/** The clusters that say of themselves that they have so much. */
const roomy = policyOf("all np:Ge:2");

const place = (world: World, policy: PlacementPolicy, ...options: readonly string[]): void =>
  void world.placements.set(web, placementOf({ name: "web", policy, options }));

const having = (np: string): Collected => ({
  properties: new Map([["np", np]]),
  provided: new Map(),
  machines: [],
  labels: new Map(),
  missing: [],
});

function settle(world: World): void {
  for (let pass = 0; pass < 12; pass++) {
    world.pass();
    world.wait(minutes(2));
  }
  world.flush();
}

/** `web` stands on three clusters, and nothing may go unasked. */
function standing(policy = everywhere, ...options: readonly string[]): World {
  const world = new World();
  world.commit(() => {
    for (const name of names) {
      world.join(clusterOf(name, [name === "m1" ? "env=canary" : "env=prod"]));
      world.member(name).collected = having("9");
    }
    for (const it of [plain, slow]) world.strategies.set(it.key, it);
    write(world, objectOf("Namespace", "web", "-"));
    for (const it of settings) write(world, it);
    place(world, policy, ...options);
    permit(world, 0);
  });
  settle(world);
  return world;
}

/** So much may go unasked, from so many clusters. */
function permit(world: World, most: number): void {
  const guards = { objectsPerCluster: most, percentPerCluster: 0, clusters: most, percentOfClusters: 0 };
  world.fleet = { ...world.fleet, guards };
}

const drop = (world: World): void => {
  for (const it of settings) world.objects.delete(objectKey(it.id));
};

type State = "Run" | "Stop" | "Initialize";

function run(world: World, name: string, state: State = "Run", strategy = plain): void {
  const spec = { placement: web, strategy: strategy.key, resourceIndex: null, state };
  world.runs.set(runKey(null, name), runOf(name, spec));
}

function external(): World {
  const world = standing(policyOf("3"), "external");
  world.commit(() => run(world, "first"));
  settle(world);
  return world;
}

const stories: readonly { readonly name: string; readonly tell: () => World }[] = [
  {
    name: "its budget, while nobody knows what is ready",
    tell: () => {
      const world = standing(everywhere, "unavailable=1");
      world.isBlind = true;
      world.commit(() => drop(world));
      settle(world);
      world.isBlind = false;
      return world;
    },
  },
  {
    name: "a run that is stopped",
    tell: () => {
      const world = external();
      world.commit(() => {
        drop(world);
        run(world, "second", "Stop");
      });
      settle(world);
      world.commit(() => run(world, "second"));
      return world;
    },
  },
  {
    name: "a run that nobody started",
    tell: () => {
      const world = external();
      world.commit(() => {
        drop(world);
        run(world, "second", "Initialize");
      });
      settle(world);
      world.commit(() => run(world, "second"));
      return world;
    },
  },
  {
    name: "a run that comes later",
    tell: () => {
      const world = external();
      world.commit(() => drop(world));
      settle(world);
      world.commit(() => run(world, "second"));
      return world;
    },
  },
  {
    name: "a run that was planned once there were clusters enough",
    tell: () => {
      const world = external();
      world.commit(() => {
        drop(world);
        world.join(clusterOf("m4", ["env=prod"]));
        world.member("m4").collected = having("1");
        place(world, policyOf("4 np:Ge:2"), "external");
        run(world, "second");
      });
      settle(world);
      expect(world.head.runs.get(runKey(null, "second"))?.plan).toBeNull();
      world.member("m4").collected = having("9");
      return world;
    },
  },
  {
    name: "a cluster that was tainted",
    tell: () => {
      const world = standing(everywhere, "unavailable=1");
      const taints = [{ key: "maintenance", value: "", effect: "NoSchedule" as const }];
      world.commit(() => world.join({ ...clusterOf("m3", ["env=prod"]), taints }));
      settle(world);
      world.isBlind = true;
      world.commit(() => drop(world));
      settle(world);
      world.isBlind = false;
      world.commit(() => world.join(clusterOf("m3", ["env=prod"])));
      return world;
    },
  },
  {
    name: "a cluster that leaves, and is picked again by what its member says",
    tell: () => {
      const world = standing(everywhere, "unavailable=3");
      world.member("m3").collected = having("1");
      world.commit(() => {
        drop(world);
        place(world, roomy, "unavailable=3");
      });
      settle(world);
      const binding = () => world.head.placements.get(web)?.bindings.get("m3" as ClusterName);
      expect(binding()).toMatchObject({ state: "Unscheduled", removal: { propagation: "Delete" } });
      world.member("m3").collected = having("9");
      settle(world);
      expect(binding()).toMatchObject({ state: "Bound", removal: null });
      return world;
    },
  },
  {
    name: "protection",
    tell: () => {
      const world = fleet(["all"], guarded, ["unavailable=3"]);
      settle(world);
      answer(world, "ann", requestOf(world, web).digest);
      settle(world);
      world.commit(() => {
        for (const it of settings) write(world, it);
        permit(world, 0);
      }, by("dave"));
      settle(world);
      answer(world, "ann", requestOf(world, web).digest);
      settle(world);
      world.commit(() => drop(world), by("dave"));
      settle(world);
      answer(world, "ann", requestOf(world, web).digest);
      return world;
    },
  },
];

test.each(stories)("what goes once a rollout goes on that waited for $name is asked about", ({ tell }) => {
  const world = tell();
  settle(world);
  const keys = settings.map((it) => objectKey(it.id));
  expect(names.filter((it) => keys.every((key) => world.member(it).objects.has(key)))).toEqual(names);
  const groups = world.head.deletions.held.filter((it) => !it.confirmed).flatMap((it) => it.groups);
  for (const name of names) {
    const asked = groups.filter((it) => it.clusters.some((at) => at === name)).flatMap((it) => it.objects);
    expect(asked.map(objectKey)).toEqual(expect.arrayContaining(keys));
  }
});
