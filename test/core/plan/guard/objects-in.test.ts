import { expect, test } from "vitest";
import { objectIdOf } from "../../../../src/core/model/manifest.ts";
import type { ClusterName, PlacementKey } from "../../../../src/core/model/value.ts";
import { objectsIn } from "../../../../src/core/plan/guard/objects-in.ts";
import { keyOf } from "../../../intent.ts";

const [web, shop] = ["web", "shop"] as [PlacementKey, PlacementKey];
const [m1, m2, m3] = ["m1", "m2", "m3"] as [ClusterName, ClusterName, ClusterName];
const [config, secret] = [keyOf("ConfigMap", "web/config"), keyOf("Secret", "web/secret")];

test("an object stands in the groups of its placement that name its cluster, whichever of them names it", () => {
  const stands = objectsIn([
    { placement: web, clusters: [m1, m2], objects: [objectIdOf(config)] },
    { placement: web, clusters: [m2, m3], objects: [objectIdOf(secret)] },
  ]);
  const found = [m1, m2, m3].map((it) => [stands(it, web, config), stands(it, web, secret)]);
  expect(found).toEqual([
    [true, false],
    [true, true],
    [false, true],
  ]);
  expect(stands(m1, shop, config)).toBe(false);
});
