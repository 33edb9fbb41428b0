import { expect, test } from "vitest";
import type { PlacementKey } from "../../../src/core/model/value.ts";
import { clusterOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

test("a state branch that was set back is acted upon by nobody: a member remembers more than it does", () => {
  const world = new World();
  world.commit(() => {
    world.join(clusterOf("m1", []));
    write(world, objectOf("Namespace", "web", "one"));
    const policy = policyOf("PickAll", undefined);
    world.placements.set("web" as PlacementKey, placementOf({ name: "web", policy, options: [] }));
  });
  world.pass();
  world.pass();
  const earlier = world.head;
  world.commit(() => write(world, objectOf("Namespace", "web", "two")));
  world.pass();
  expect(world.head.sequence).toBeGreaterThan(earlier.sequence);
  world.head = earlier;
  world.restart();
  const { plan } = world.pass();
  expect(plan.refusal).toMatchObject({ code: "StateRewound" });
  expect([plan.actions, plan.ledger]).toEqual([[], earlier]);
});
