// What is protected changes by no path unasked (D-17, I-59; `trust/README.md#threats`, T-32 to T-34).
import { describe, expect, test } from "vitest";
import type { ClusterName, PlacementKey } from "../../../../src/core/model/value.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf, policyOf } from "../../../intent.ts";
import { type World, write } from "../../../world.ts";
import { everywhere, grant, requestOf, standing } from "../guard/guarded-world.ts";
import { answer, answerOf, by, byNobody, push, settle, verdictOf, web } from "./trusted-world.ts";

const shop = "shop" as PlacementKey;

const place = (world: World, policy: ReturnType<typeof policyOf>, ...options: readonly string[]): void =>
  void world.placements.set(web, placementOf({ name: "web", policy, options: ["unavailable=3", ...options] }));

interface SideDoor {
  readonly name: string;
  readonly open: (world: World) => void;
  /** What may happen unasked: what is not protected. */
  readonly meanwhile?: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
  /** Whose request it is. */
  readonly of?: PlacementKey;
}

const zero = "web/settings zero";
const one = "web/settings one";
const more = "web/settings overridden";

const doors: readonly SideDoor[] = [
  {
    name: "new content in a rolling update",
    open: (world) => write(world, objectOf("ConfigMap", "web/settings", "one")),
    meanwhile: { m1: one },
    after: { m1: one, m2: one, m3: one },
  },
  {
    name: "a new object",
    open: (world) => write(world, objectOf("ConfigMap", "web/more", "new")),
    meanwhile: { m1: `web/more new, ${zero}` },
    after: { m1: `web/more new, ${zero}`, m2: `web/more new, ${zero}`, m3: `web/more new, ${zero}` },
  },
  {
    name: "an object less",
    open: (world) => void world.objects.delete(keyOf("ConfigMap", "web/settings")),
    meanwhile: { m1: "" },
    after: { m1: "", m2: "", m3: "" },
  },
  {
    name: "an override and nothing else",
    open: (world) =>
      void world.overrides.set("more", overrideOf("more", keyOf("ConfigMap", "web/settings"), "env=prod", "more")),
    after: { m1: zero, m2: more, m3: more },
  },
  {
    name: "a second placement",
    open: (world) => {
      write(world, objectOf("Namespace", "shop", "zero"));
      write(world, objectOf("ConfigMap", "shop/settings", "zero"));
      const policy = policyOf("PickAll", undefined);
      world.placements.set(shop, placementOf({ name: "shop", policy, options: ["unavailable=3"] }));
    },
    of: shop,
    meanwhile: { m1: `shop/settings zero, ${zero}` },
    after: {
      m1: `shop/settings zero, ${zero}`,
      m2: `shop/settings zero, ${zero}`,
      m3: `shop/settings zero, ${zero}`,
    },
  },
  {
    name: "a policy that unschedules",
    open: (world) => place(world, policyOf("PickFixed", "m1")),
    after: { m1: zero, m2: "", m3: "" },
  },
  {
    name: "a policy that lets go",
    open: (world) => place(world, policyOf("PickFixed", "m2")),
    meanwhile: { m1: "" },
    after: { m1: "", m2: zero, m3: "" },
  },
  {
    name: "the placement removed",
    open: (world) => void world.placements.delete(web),
    meanwhile: { m1: "" },
    after: { m1: "", m2: "", m3: "" },
  },
  {
    name: "an eviction",
    open: (world) => {
      const source = { path: "evictions/out.yaml", document: 0, line: 1, column: 1 };
      world.evictions.set("out", { name: "out", placement: web, cluster: "m2" as ClusterName, source });
    },
    // Evicted, picked again by the policy, and brought back: two approvals.
    after: { m1: zero, m2: zero, m3: zero },
  },
  {
    name: "another way to take over",
    open: (world) => place(world, policyOf("PickAll", undefined), "never-take-over"),
    after: { m1: zero, m2: zero, m3: zero },
  },
  {
    name: "a cluster that joins",
    open: (world) => world.join(clusterOf("prod-4", ["env=prod"])),
    meanwhile: { "prod-4": "" },
    after: { m1: zero, m2: zero, m3: zero, "prod-4": zero },
  },
];

describe("T-34: every side door asks, waits, and opens to whom it may", () => {
  for (const { name, open, meanwhile = {}, after, of = web } of doors) {
    test(name, () => {
      const world = standing();
      const before = everywhere(world);
      world.commit(() => open(world), by("dave"));
      const said = settle(world).join("\n");
      expect(everywhere(world)).toEqual({ ...before, ...meanwhile });
      const { digest, authors } = requestOf(world, of);
      expect(authors).toEqual({ principals: ["dave"], unknown: 0 });
      expect(said).toMatch(new RegExp(`${of}: .* protected: waits for an approval of request digest ${digest}: `));
      const unsigned = answerOf("ann", digest);
      push(world, [unsigned], byNobody);
      const own = answer(world, "dave", digest);
      settle(world);
      expect([unsigned, own].map((it) => verdictOf(world, it).slice(0, 7))).toEqual(["FLT1209", "FLT1214"]);
      expect(everywhere(world)).toEqual({ ...before, ...meanwhile });
      grant(world, "bob");
      expect(everywhere(world)).toEqual(after);
      expect([...world.head.evictions.keys()]).toEqual([...world.evictions.keys()]);
      expect(world.head.placements.get(web)?.change ?? null).toBeNull();
    });
  }
});

test("an eviction that waits for an approval keeps no other deletion waiting that is called off", () => {
  const world = standing();
  const options = ["unavailable=3", "ns=web,extra"];
  const many = Array.from({ length: 12 }, (_, at) => `extra/many-${at}`);
  const fill = (): void => {
    for (const it of many) write(world, objectOf("ConfigMap", it, "zero"));
  };
  const empty = (): void => {
    for (const it of many) world.objects.delete(keyOf("ConfigMap", it));
  };
  const held = (): readonly string[] =>
    world.head.deletions.held.flatMap((it) => it.groups.flatMap(({ clusters }) => clusters));
  world.commit(() => {
    write(world, objectOf("Namespace", "extra", "zero"));
    fill();
    world.placements.set(web, placementOf({ name: "web", policy: policyOf("PickAll", undefined), options }));
  }, by("dave"));
  grant(world, "bob");
  // More than a commit may delete unasked, and nothing that is protected.
  world.commit(empty, by("dave"));
  settle(world);
  expect(held()).toEqual(["m1", "m2", "m3"]);
  const source = { path: "evictions/out.yaml", document: 0, line: 1, column: 1 };
  const out = { name: "out", placement: web, cluster: "m2" as ClusterName, source };
  world.commit(() => void world.evictions.set("out", out), by("dave"));
  settle(world);
  requestOf(world, web);
  expect(held()).toEqual(["m1", "m2", "m3"]);
  world.commit(fill, by("dave"));
  settle(world);
  requestOf(world, web);
  expect(held()).toEqual([]);
});
