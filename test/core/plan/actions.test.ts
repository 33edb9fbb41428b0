// What a pass asks of members follows from what it decides: asked about that once more, it asks for the same.
import { beforeEach, describe, expect, test } from "vitest";
import type { ClusterActions } from "../../../src/core/model/plan.ts";
import type { ClusterName, PlacementKey } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { clusterOf, keyOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

const web = "web" as PlacementKey;
const space = keyOf("Namespace", "web");
const config = keyOf("ConfigMap", "web/config");

let world: World;

/** `web` has the namespace of that name with a ConfigMap, on m1 and m2. */
beforeEach(() => {
  world = new World();
  world.commit(() => {
    for (const name of ["m1", "m2"]) world.join(clusterOf(name, [`env=${name}`]));
    write(world, objectOf("Namespace", "web", "-"));
    write(world, objectOf("ConfigMap", "web/config", "one"));
    place("PickAll", undefined, "ns=web", "unavailable=2");
  });
  settle();
});

function place(kind: string, argument: string | undefined, ...options: readonly string[]): void {
  world.placements.set(web, placementOf({ name: "web", policy: policyOf(kind, argument), options }));
}

function settle(): void {
  for (let pass = 0; pass < 8; pass++) world.pass();
  world.flush();
}

const evict = (): void =>
  void world.evictions.set("off", {
    name: "off",
    placement: web,
    cluster: "m1" as ClusterName,
    source: { path: "evictions/off.yaml", document: 0, line: 1, column: 1 },
  });

const removals = (actions: readonly ClusterActions[]): readonly string[] =>
  actions.flatMap(({ cluster, placements }) =>
    placements.flatMap(({ remove }) => remove.map(({ key, how }) => `${cluster}: ${how} ${key}`)),
  );

describe("a Namespace goes together with what its placement has in it where all of that leaves a cluster", () => {
  test.each([
    { name: "by an eviction", edit: evict },
    {
      name: "by an eviction, although the placement cannot be placed anew by what it selects",
      edit: () => {
        place("PickAll", undefined, "ns=kube-system");
        evict();
      },
    },
    { name: "since it is not picked any more", edit: () => place("PickFixed", "m2", "ns=web", "unavailable=2") },
  ])("$name", ({ edit }) => {
    world.commit(edit);
    const { seen, plan: made } = world.pass();
    expect(removals(made.actions)).toEqual([`m1: delete ${space}`, `m1: delete ${config}`]);
    expect(removals(plan({ ...seen, ledger: made.ledger }).actions)).toEqual(removals(made.actions));
  });
});

test("what others have in a Namespace is asked about in the pass that evicts what its own placement wants in it", () => {
  world.member("m1").make(keyOf("ConfigMap", "web/theirs"));
  world.commit(() => place("PickFixed", "m2", "ns=web", "unavailable=2"));
  settle();
  expect(asked()).toEqual(["foreign: theirs"]);
  // It is picked again, and evicted before its member hears of that.
  world.commit(() => place("PickAll", undefined, "ns=web", "unavailable=2"));
  world.pass({ diesAfterCommit: true });
  expect(asked()).toEqual([]);
  world.commit(evict);
  const { seen, plan: made } = world.pass();
  expect(asked()).toEqual(["foreign: theirs"]);
  expect(plan({ ...seen, ledger: made.ledger }).ledger.deletions).toBe(made.ledger.deletions);
});

const asked = (): readonly string[] =>
  world.head.deletions.held
    .filter((it) => !it.confirmed)
    .flatMap(({ because, others }) => others.flatMap((it) => it.objects.map(({ name }) => `${because}: ${name}`)));
