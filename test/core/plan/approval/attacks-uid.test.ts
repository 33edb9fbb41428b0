// An approval names clusters by what they are: another one under the name is another question (T-45, D-17).
import { expect, test } from "vitest";
import type { ClusterName } from "../../../../src/core/model/value.ts";
import { clusterOf } from "../../../intent.ts";
import { Member } from "../../../member.ts";
import type { World } from "../../../world.ts";
import { grant, on, requestOf, standing, target } from "../guard/guarded-world.ts";
import { answer, by, edit, settle, trust, web } from "./trusted-world.ts";

const name = (text: string): ClusterName => text as ClusterName;
const gone = { code: "Unreachable", message: "no answer" } as const;

/** Production in two clusters; a change of both is approved, and waits until m1 is back. */
function approvedAndWaiting(): World {
  const world = standing(["unavailable=1"], trust({ protectedTargets: [target({ clusters: ["prod-*"] })] }));
  for (const it of ["prod-1", "prod-2"]) {
    world.commit(() => world.join(clusterOf(it, ["env=prod"])), by("dave"));
    grant(world);
  }
  world.member("m1").silence = gone;
  settle(world);
  edit(world, "one");
  settle(world);
  answer(world, "ann", requestOf(world, web).digest);
  settle(world);
  expect(requestOf(world, web).approval).not.toBeNull();
  expect([on(world, "prod-1"), on(world, "prod-2")]).toEqual(["web/settings zero", "web/settings zero"]);
  return world;
}

test("T-45: a cluster that takes a name over gets nothing that was approved for the one before", () => {
  const world = approvedAndWaiting();
  world.commit(() => world.clusters.delete(name("prod-1")), by("dave"));
  settle(world);
  world.members.set(name("prod-1"), new Member("prod-1", "uid-of-another"));
  world.commit(() => world.join(clusterOf("prod-1", ["env=prod"])), by("dave"));
  world.member("m1").silence = null;
  const said = settle(world).join("\n");
  expect(on(world, "prod-1")).toBe("");
  expect(said).toMatch(/web: .*prod-1.* protected: waits for an approval of request digest/);
  grant(world);
  expect([on(world, "prod-1"), on(world, "prod-2")]).toEqual(["web/settings one", "web/settings one"]);
});

test("what was approved goes ahead where it is as it was", () => {
  const world = approvedAndWaiting();
  world.member("m1").silence = null;
  settle(world);
  expect([on(world, "prod-1"), on(world, "prod-2")]).toEqual(["web/settings one", "web/settings one"]);
});
