import type { PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { SourcedManifest } from "../../../src/core/model/manifest.ts";
import type { Placement } from "../../../src/core/model/placement.ts";
import type { PlacementKey } from "../../../src/core/model/value.ts";
import { clusterOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

/** The one placement of {@link webWorld}. */
export const web = "web" as PlacementKey;
/** Its members: the first is labelled `env=prod`, the other `env=dev`. */
export const [m1, m2] = ["m1", "m2"] as const;

/** The placement that puts the Namespace `web`, with all that is in it, on every member. */
export const webPlacement = (...options: readonly string[]): Placement =>
  placementOf({ name: web, policy: policyOf("PickAll", undefined), options });

/** A world of two members that carry the Namespace `web` with these objects in it. */
export function webWorld(...contents: readonly SourcedManifest[]): World {
  const world = new World();
  world.commit(() => {
    world.join(clusterOf(m1, ["env=prod"]));
    world.join(clusterOf(m2, ["env=dev"]));
    for (const it of [objectOf("Namespace", "web", "-"), ...contents]) write(world, it);
    world.placements.set(web, webPlacement("unavailable=100%"));
  });
  settle(world);
  return world;
}

/** Passes until nothing is left to do, and the news of that committed. */
export function settle(world: World): void {
  for (let pass = 0; pass < 12; pass++) world.pass();
  world.flush();
}

/** What is on record of the placement. */
export function webRecord(world: World): PlacementRecord {
  const found = world.head.placements.get(web);
  if (found === undefined) throw new Error("it is on record");
  return found;
}
