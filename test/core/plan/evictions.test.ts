// What the planner hands to the judge of evictions; the verdicts themselves are those of `rollout/eviction.test.ts`.
import { expect, test } from "vitest";
import { check } from "../../../src/core/check/check.ts";
import type { ObjectKey } from "../../../src/core/model/manifest.ts";
import type { World as Seen } from "../../../src/core/model/plan.ts";
import type { ClusterName, PlacementKey } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { clusterOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

const web = "web" as PlacementKey;
const fleetGroup = "placement.kubernetes-fleet.io";

/** `web` stands on m1 and m2, and is to be evicted from m1. */
function evicting(): World {
  const world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2"]) world.join(clusterOf(name, ["env=prod"]));
    write(world, objectOf("Namespace", "web", "-"));
    world.placements.set(
      web,
      placementOf({ name: "web", policy: policyOf("PickAll", undefined), options: ["ns=web"] }),
    );
  });
  for (let pass = 0; pass < 8; pass++) world.pass();
  const source = { path: "evictions/off.yaml", document: 0, line: 1, column: 1 };
  world.commit(
    () => void world.evictions.set("off", { name: "off", placement: web, cluster: "m1" as ClusterName, source }),
  );
  return world;
}

/** The world with a document that is there and of which no version ever was in force. */
const withUnusable = (seen: Seen, kind: string, name: string): Seen => ({
  ...seen,
  intent: { ...seen.intent, unusable: new Set([`${fleetGroup}/${kind}//${name}` as ObjectKey]) },
});

test.each([
  { name: "the budget of the placement", kind: "ClusterResourcePlacementDisruptionBudget", of: "web", isRefused: true },
  { name: "the budget of another one", kind: "ClusterResourcePlacementDisruptionBudget", of: "shop", isRefused: false },
  { name: "something else of its name", kind: "ClusterResourceOverride", of: "web", isRefused: false },
])("I-54: an eviction beside a document that cannot be read: $name", ({ kind, of, isRefused }) => {
  const seen = evicting().look();
  const unread = withUnusable(seen, kind, of);
  const made = plan(unread);
  expect(made.ledger.placements.get(web)?.bindings.get("m1" as ClusterName)?.removal === null).toBe(isRefused);
  expect(check(made, unread)).toEqual([]);
  const regardless = check(plan(seen), unread).map((it) => it.code);
  expect(regardless).toEqual(isRefused ? ["DisruptionBudgetUnreadable"] : []);
});
