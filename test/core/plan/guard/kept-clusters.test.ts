import { expect, test } from "vitest";
import type { ClusterName } from "../../../../src/core/model/value.ts";
import { clusterOf, placementOf } from "../../../intent.ts";
import { policyOf } from "../../schedule/notation.ts";
import { answer, by, changeOf, settle, web } from "../approval/trusted-world.ts";
import { everywhere, standing } from "./guarded-world.ts";

const there = "web/settings zero";

test.each([
  ["keeps no room from what a PickAll has picked instead", "all env=new", there],
  ["is one of as many as may hold what is asked for once", "1 env=new", ""],
])("I-04: a cluster that nobody approved to be left %s", (_, policy, brought) => {
  const options = ["unavailable=1", "surge=1"];
  const world = standing(options);
  world.commit(() => {
    world.join(clusterOf("m4", ["env=new"]));
    world.placements.set(web, placementOf({ name: "web", policy: policyOf(policy), options }));
  }, by("dave"));
  settle(world);
  expect(everywhere(world)).toEqual({ m1: "", m2: there, m3: there, m4: brought });
  const state = (name: string) => world.head.placements.get(web)?.bindings.get(name as ClusterName)?.state;
  expect(["m2", "m3"].map(state)).toEqual(["Unscheduled", "Unscheduled"]);
  answer(world, "ann", changeOf(world).digest);
  settle(world);
  expect(everywhere(world)).toEqual({ m1: "", m2: "", m3: "", m4: there });
});
