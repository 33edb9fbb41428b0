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
  });
  for (const [name, words] of Object.entries(placements)) {
    place(world, name, words);
    settle(world);
  }
  return world;
}

function place(world: World, name: string, words: string): void {
  const [options = "", where] = words.split(" on=");
  const policy = policyOf("PickFixed", where ?? "m1");
  const placement = placementOf({ name, policy, options: [options, "unavailable=100%"] });
  world.commit(() => void world.placements.set(name as PlacementKey, placement));
}

function settle(world: World): void {
  for (let pass = 0; pass < 4; pass++) world.pass();
  world.flush();
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

describe("what never arrived does not widen what a commit may take away", () => {
  const silence = (world: World, isSilent: boolean): void => {
    world.member(m1).silence = isSilent ? { code: "Unreachable", message: "no route" } : null;
  };
  const loses = (world: World, count: number): void =>
    world.commit(() => {
      for (const it of settings.slice(0, count)) world.objects.delete(objectKey(it.id));
    });

  test.each([
    { name: "while the member is away", isBack: false },
    { name: "as the member comes back", isBack: true },
  ])("$name", ({ isBack }) => {
    const world = standing({ web: "ns=web" });
    silence(world, true);
    place(world, "shop", "ns=shop");
    settle(world);
    expect(world.head.placements.get("shop" as PlacementKey)?.bindings.get(m1)?.target).not.toBeNull();
    loses(world, 3);
    if (isBack) silence(world, false);
    const seen = world.look();
    const made = plan(seen);
    expect(check(made, seen)).toEqual([]);
    const { deletions } = made.ledger;
    expect([deletions.permitted.size, deletions.held.map((it) => it.because)]).toEqual([0, ["bounds"]]);
    const permitting = { ...deletions, permitted: new Map([[m1, 3]]), held: [] };
    const codes = check({ ...made, ledger: { ...made.ledger, deletions: permitting } }, seen).map((it) => it.code);
    expect(codes.includes("PermittedObjectsExceeded")).toBe(isBack);
  });

  test("while the member is away, what it said it had got counts", () => {
    const world = standing({ web: "ns=web" });
    silence(world, true);
    loses(world, 2);
    const { deletions } = world.pass().plan.ledger;
    expect([[...deletions.permitted], deletions.held]).toEqual([[[m1, 2]], []]);
  });
});
