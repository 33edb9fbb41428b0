// A tenant's placement through the whole planner: where it may go, and what becomes of it when the grant gets tighter.
import { expect, test } from "vitest";
import { check } from "../../../src/core/check/check.ts";
import type { Tenant } from "../../../src/core/model/fleet.ts";
import type { ClusterName, PlacementKey } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { clusterOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

const key = "web" as PlacementKey;

const granting = (env: string): Tenant => ({
  folder: "teams/web/",
  namespaces: ["web"],
  kinds: ["Namespace", "ClusterResourcePlacement"],
  clusters: { matchLabels: { env } },
  place: "fleet.yaml:5:7",
});

function worldWith(policy: Parameters<typeof policyOf>, tenants: readonly Tenant[], path = "teams/web/p.yaml"): World {
  const world = new World();
  world.tenants = tenants;
  world.commit(() => {
    for (const [name, env] of [
      ["m1", "dev"],
      ["m2", "prod"],
      ["m3", "dev"],
    ] as const)
      world.join(clusterOf(name, [`env=${env}`]));
    write(world, objectOf("Namespace", "web", "one"));
    const made = placementOf({ name: "web", policy: policyOf(...policy), options: ["unavailable=3"] });
    world.placements.set(key, { ...made, source: { ...made.source, path } });
  });
  return world;
}

const settle = (world: World): World => {
  for (let pass = 0; pass < 5; pass++) world.pass();
  return world;
};

/** The version that clusters were brought to: `m1@0`. */
const versions = (world: World): readonly string[] =>
  [...(world.look().ledger.placements.get(key)?.bindings.values() ?? [])].map(
    ({ cluster, target }) => `${cluster}@${target?.resourceIndex ?? "-"}`,
  );

test.each([
  ["PickAll", undefined, ["m1@0", "m3@0"]],
  ["PickN", "3", ["m1@0", "m3@0"]],
  ["PickFixed", "m1,m2", ["m1@0"]],
] as const)("T-24: %s %s goes where its tenant is granted clusters", (kind, words, want) => {
  expect(versions(settle(worldWith([kind, words], [granting("dev")])))).toEqual(want);
});

test("T-24: a placement of the platform's goes anywhere", () => {
  const world = worldWith(["PickAll", undefined], [granting("dev")], "teams/web2/p.yaml");
  expect(versions(settle(world))).toEqual(["m1@0", "m2@0", "m3@0"]);
});

test.each([
  ["PickAll", undefined],
  ["PickN", "3"],
  ["PickFixed", "m1,m2,m3"],
] as const)(
  "T-24: %s %s stays as it is where a grant that became tighter does not reach, and nothing new gets there",
  (kind, words) => {
    const world = settle(worldWith([kind, words], []));
    expect(versions(world)).toEqual(["m1@0", "m2@0", "m3@0"]);
    world.commit(() => {
      world.tenants = [granting("dev")];
    });
    settle(world);
    expect(versions(world)).toEqual(["m1@0", "m2@0", "m3@0"]);
    world.commit(() => write(world, objectOf("Namespace", "web", "two")));
    settle(world);
    expect(versions(world)).toEqual(["m1@1", "m2@0", "m3@1"]);
    const { reasons } = plan(world.look());
    expect(reasons).toContainEqual({ kind: "beyondGrant", placement: key, clusters: ["m2"], grant: "fleet.yaml:5:7" });
    world.commit(() => {
      world.tenants = [];
    });
    expect(versions(settle(world))).toEqual(["m1@1", "m2@1", "m3@1"]);
  },
);

test("T-24: a planner that knows of no tenants is found out, pick by pick and version by version", () => {
  const first = worldWith(["PickAll", undefined], []);
  const fresh = first.look();
  const blamed = (seen: typeof fresh, tenants: readonly Tenant[]): readonly unknown[] =>
    check(plan(seen), { ...seen, intent: { ...seen.intent, tenants } })
      .filter((it) => it.code === "GrantExceeded")
      .map((it) => [it.subject, it.message]);
  const subject = { kind: "binding", placement: key, cluster: "m2" as ClusterName };
  const why = "which teams/web/ is not granted (fleet.yaml:5:7)";
  expect(blamed(fresh, [granting("dev")])).toEqual([[subject, `picks m2 for web, ${why}`]]);
  expect(blamed(fresh, [])).toEqual([]);
  settle(first);
  first.commit(() => write(first, objectOf("Namespace", "web", "two")));
  expect(blamed(first.look(), [granting("dev")])).toEqual([[subject, `brings something new of web to m2, ${why}`]]);
});
