// Wherever churn leads a profile, check() has no complaint about its plans: storms know the default profile alone.
import { expect, test } from "vitest";
import { type ClusterName, minutes, type PlacementKey } from "../../../src/core/model/value.ts";
import { profiles } from "../../../src/core/schedule/profile.ts";
import { clusterOf, objectOf, placementOf } from "../../intent.ts";
import { World, write } from "../../world.ts";
import { policyOf } from "../schedule/notation.ts";
import { random } from "../schedule/random.ts";

const web = "web" as PlacementKey;
const names = ["m1", "m2", "m3", "m4", "m5", "m6"] as const;

/** Commits, silent members and time that goes by, of a placement whose policy changes; how many bindings were seen. */
function churn(world: World, seed: number): number {
  const { below, pick } = random(seed);
  const join = (name: string): void => {
    const taints = below(6) === 0 ? [{ key: "k", value: "v", effect: "NoSchedule" } as const] : [];
    const where = pick(["region=a", "region=a", "region=b", "region=c", "zone=x"]);
    world.join({ ...clusterOf(name, [where, pick(["env=p", "env=q"])]), taints });
  };
  const place = (): void => {
    const policy = policyOf(
      pick([
        `${below(6)} spread region:1`,
        `${below(6)} env=p spread region:2`,
        `${1 + below(5)} prefer 7:env=q spread region:1 tolerate k`,
        `${below(5)} env=p|env=q`,
        "all env=p",
        "all",
        `fixed ${names.filter(() => below(2) === 0).join(",")}`,
      ]),
    );
    world.placements.set(web, placementOf({ name: "web", policy, options: ["unavailable=100%"] }));
  };
  world.commit(() => {
    for (const name of names) join(name);
    write(world, objectOf("Namespace", "web", "one"));
    place();
  });
  let seen = 0;
  for (let step = 0; step < 12; step++) {
    if (below(3) === 0)
      world.member(pick(names)).silence = pick([null, { code: "Unreachable", message: "connection refused" } as const]);
    // It throws what check() complains about.
    seen += world.pass().plan.ledger.placements.get(web)?.bindings.size ?? 0;
    world.wait(minutes(below(5)));
    if (below(2) > 0) continue;
    world.commit(() => {
      if (below(3) > 0) join(pick(names));
      if (below(3) === 0) world.clusters.delete(pick(names) as ClusterName);
      if (below(3) === 0) place();
    });
  }
  return seen;
}

test.each(Object.values(profiles))(
  "check() has no complaint about what the profile $name plans",
  ({ name: profile }) => {
    let seen = 0;
    for (let seed = 0; seed < 100; seed++) {
      const world = new World();
      world.fleet = { ...world.fleet, profile };
      seen += churn(world, seed);
    }
    expect(seen).toBeGreaterThan(500);
  },
);
