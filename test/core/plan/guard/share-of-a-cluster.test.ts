// What one commit may take away unasked is a share of what a cluster carries, each object once, whoever wants it (D 3).
import { describe, expect, test } from "vitest";
import { check } from "../../../../src/core/check/check.ts";
import { objectKey } from "../../../../src/core/model/manifest.ts";
import type { ClusterName, PlacementKey } from "../../../../src/core/model/value.ts";
import { plan } from "../../../../src/core/plan/plan.ts";
import { clusterOf, objectOf, placementOf, policyOf } from "../../../intent.ts";
import { World, write } from "../../../world.ts";

const m1 = "m1" as ClusterName;

/** With their Namespaces ten objects stand in `web`, and five in `shop`. */
const settings = Array.from({ length: 9 }, (_, at) => objectOf("ConfigMap", `web/settings-${at}`, "one"));
const others = Array.from({ length: 4 }, (_, at) => objectOf("ConfigMap", `shop/settings-${at}`, "one"));

/** Which namespaces each placement brings to m1, or to the cluster that it names. */
type Placements = Readonly<Record<string, string>>;

interface Case {
  readonly name: string;
  readonly placements: Placements;
  /** A fifth of what m1 carries. */
  readonly most: number;
}

const cases: readonly Case[] = [
  { name: "one placement has", placements: { web: "ns=web" }, most: 2 },
  { name: "two placements have", placements: { web: "ns=web", site: "ns=web" }, most: 2 },
  { name: "three placements have", placements: { web: "ns=web", site: "ns=web", blog: "ns=web" }, most: 2 },
  { name: "two placements have apart", placements: { web: "ns=web", shop: "ns=shop" }, most: 3 },
  { name: "two placements have in part", placements: { web: "ns=web,shop", shop: "ns=shop" }, most: 3 },
  { name: "another placement has elsewhere", placements: { web: "ns=web", shop: "ns=shop on=m2" }, most: 2 },
];

function standing(placements: Placements): World {
  const world = new World();
  world.commit(() => {
    const guards = { objectsPerCluster: 0, percentPerCluster: 20, clusters: 9, percentOfClusters: 0 };
    world.fleet = { ...world.fleet, guards };
    for (const name of ["m1", "m2"]) world.join(clusterOf(name));
    for (const it of ["web", "shop"]) write(world, objectOf("Namespace", it, "-"));
    for (const it of [...settings, ...others]) write(world, it);
    for (const [name, words] of Object.entries(placements)) {
      const [options = "", where] = words.split(" on=");
      const policy = policyOf("PickFixed", where ?? "m1");
      const placement = placementOf({ name, policy, options: [options, "unavailable=100%"] });
      world.placements.set(name as PlacementKey, placement);
    }
  });
  for (let pass = 0; pass < 4; pass++) world.pass();
  world.flush();
  return world;
}

/** The world in whose newest commit so many of the settings are gone, and so many others came. */
function losing(placements: Placements, count: number, brought = 0): World {
  const world = standing(placements);
  world.commit(() => {
    for (const it of settings.slice(0, count)) world.objects.delete(objectKey(it.id));
    for (let at = 0; at < brought; at++) write(world, objectOf("ConfigMap", `web/more-${at}`, "one"));
  });
  return world;
}

describe.each(cases)("of what $name on a cluster", ({ placements, most }) => {
  test("a fifth goes unasked", () => {
    const { deletions } = losing(placements, most).pass().plan.ledger;
    expect([[...deletions.permitted], deletions.held]).toEqual([[[m1, most]], []]);
  });

  test("more than a fifth waits", () => {
    const { deletions } = losing(placements, most + 1).pass().plan.ledger;
    expect([deletions.permitted.size, deletions.held.map((it) => it.because)]).toEqual([0, ["bounds"]]);
  });

  test("the check lets a plan permit a fifth, and no more", () => {
    const seen = losing(placements, most).look();
    const made = plan(seen);
    const { ledger } = made;
    const permitting = (count: number) => {
      const deletions = { ...ledger.deletions, permitted: new Map([[m1, count]]) };
      return check({ ...made, ledger: { ...ledger, deletions } }, seen).map((it) => `${it.code}: ${it.message}`);
    };
    expect(permitting(most)).toEqual([]);
    const complaint = `PermittedObjectsExceeded: permits ${most + 1} deletions on m1 for one commit, at most ${most} may`;
    expect(new Set(permitting(most + 1))).toEqual(new Set([complaint]));
  });
});

/** What several placements lose is handed over first, and is no deletion yet. */
const plain = cases.filter((it) => Object.values(it.placements).filter((words) => /ns=web/.test(words)).length === 1);

test.each(plain)("the check lets a plan begin to delete a fifth, and no more: $name", ({ placements, most }) => {
  const count = most + 1;
  const seen = losing(placements, count).look();
  const made = plan(seen);
  const { deletions } = made.ledger;
  const unasked = { ...made.ledger, deletions: { ...deletions, held: [] } };
  const complaint = `DeletedObjectsExceeded: takes ${count} objects from m1 at once, at most ${most} may go unasked`;
  const complaints = check({ ...made, actions: [], ledger: unasked }, seen).map((it) => `${it.code}: ${it.message}`);
  expect(new Set(complaints)).toEqual(new Set([complaint]));
});

test("what a commit brings does not widen what it may take away", () => {
  const { deletions } = losing({ web: "ns=web" }, 3, 20).pass().plan.ledger;
  expect([deletions.permitted.size, deletions.held.map((it) => it.because)]).toEqual([0, ["bounds"]]);
});
