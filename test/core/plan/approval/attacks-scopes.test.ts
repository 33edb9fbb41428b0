// A definition in the repository says that a kind lives in namespaces, and the member knows better (T-42).
import { expect, test } from "vitest";
import type { Ledger } from "../../../../src/core/model/ledger.ts";
import { builtInScopes, type Scope } from "../../../../src/core/model/manifest.ts";
import type { ClusterName, PlacementKey } from "../../../../src/core/model/value.ts";
import { objectOf, placementOf, policyOf } from "../../../intent.ts";
import { type World, write } from "../../../world.ts";
import { standing } from "../guard/guarded-world.ts";
import { by, settle } from "./trusted-world.ts";

const free = "free" as PlacementKey;

/** A Widget in a namespace that nobody protects goes everywhere; m2, which is protected, serves the kind in `scope`. */
function placed(scope: Scope): { readonly world: World; readonly said: string } {
  const world = standing();
  world.member("m2").scopes = new Map([["example.com/Widget", scope]]);
  world.commit(() => {
    world.scopes = new Map([...builtInScopes, ["example.com/Widget", "Namespaced"]]);
    write(world, objectOf("Namespace", "free", "zero"));
    write(world, objectOf("Widget", "free/w", "zero"));
    const policy = policyOf("PickAll", undefined);
    world.placements.set(free, placementOf({ name: "free", policy, options: ["ns=free", "unavailable=3"] }));
  }, by("dave"));
  return { world, said: settle(world).join("\n") };
}

const ledgerOf = ({ head, news }: World): Ledger => news ?? head;

const widgets = (world: World): readonly string[] =>
  ["m1", "m2", "m3"].filter((it) => world.carried(it).some((line) => line.startsWith("Widget")));

const troubleOf = (world: World): string | undefined =>
  ledgerOf(world)
    .placements.get(free)
    ?.bindings.get("m2" as ClusterName)
    ?.facts?.objectFailures.map((it) => it.code)
    .join();

test("T-42: what a member would put elsewhere is refused there, said, and not tried for ever", () => {
  const { world, said } = placed("Cluster");
  expect([widgets(world), troubleOf(world)]).toEqual([["m1", "m3"], "ScopeDiffers"]);
  expect(said).toContain("Widget is Cluster here");
  const before = ledgerOf(world);
  settle(world);
  expect(ledgerOf(world)).toBe(before);
});

test("and where the member takes it for the same, it needs nobody's word", () => {
  const { world } = placed("Namespaced");
  expect([widgets(world), troubleOf(world)]).toEqual([["m1", "m2", "m3"], ""]);
});
