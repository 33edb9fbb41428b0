// A hand-over where it is protected: the one before lets go, and the next one takes, each by an approval of its own (D-17;
// D 9; D 11). Whatever people say, and in whatever order, the object stays.
import { describe, expect, test } from "vitest";
import { check } from "../../../../src/core/check/check.ts";
import { objectKey } from "../../../../src/core/model/manifest.ts";
import type { Request } from "../../../../src/core/model/trust.ts";
import { runKey } from "../../../../src/core/model/update-run.ts";
import type { ClusterName, PlacementKey } from "../../../../src/core/model/value.ts";
import { plan } from "../../../../src/core/plan/plan.ts";
import { keyOf, objectOf, placementOf, policyOf, runOf, strategyOf } from "../../../intent.ts";
import { type World, write } from "../../../world.ts";
import { grant, standing } from "../guard/guarded-world.ts";
import { answer, answerOf, by, pass, push, settle, verdictOf, web } from "./trusted-world.ts";

const config = keyOf("ConfigMap", "web/settings");
const site = "site" as PlacementKey;
const m3 = "m3" as ClusterName;

type Type = "rolling" | "external";

/** The placement is renamed: its files are, and whoever has a run for the new one writes that, too. */
function rename(world: World, to: Type, name = site): void {
  world.commit(() => {
    world.placements.delete(web);
    const options = to === "external" ? ["ns=web", "external"] : ["ns=web", "unavailable=3"];
    world.placements.set(name, placementOf({ name, policy: policyOf("PickAll", undefined), options }));
    if (to === "rolling") return;
    const spec = { placement: name, strategy: strategyOf("all", []).key, resourceIndex: null, state: "Run" } as const;
    world.runs.set(runKey(null, "next"), runOf("next", spec));
  }, by("dave"));
}

/** What waits for an answer, by the placement that it is about. */
function* waiting({ head }: World): Generator<readonly [PlacementKey, Request]> {
  for (const { key, change } of head.placements.values())
    if (change?.request?.approval === null) yield [key, change.request];
  for (const { spec, stages } of head.runs.values())
    for (const { before } of stages) if (before.Approval?.approval === null) yield [spec.placement, before.Approval];
}

/** Says yes to all that these placements ask, until they ask no more. */
function approve(world: World, who: readonly PlacementKey[]): void {
  for (let round = 0; round < 5; round++) {
    settle(world);
    const asked = [...waiting(world)].filter(([key]) => who.includes(key));
    if (asked.length === 0) return;
    for (const [, { digest }] of asked) answer(world, "ann", digest);
  }
  throw new Error("asks for ever");
}

const uids = (world: World): readonly unknown[] =>
  ["m1", "m2", "m3"].map((it) => world.member(it).objects.get(config)?.uid);

/** Who lists the object on a member as written, by its inventory. */
const owners = (world: World): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ["m1", "m2", "m3"].map((name) => [
      name,
      [...world.member(name).inventory.placements]
        .flatMap(([placement, { entries }]) => (entries.get(config)?.outcome.kind === "applied" ? placement : []))
        .join(" "),
    ]),
  );

/** No pass deletes anything. */
function removesNothing(world: World, steps: () => void): void {
  const before = uids(world);
  steps();
  for (let count = 0; count < 3; count++)
    expect(pass(world).plan.actions.flatMap((it) => it.placements.flatMap(({ remove }) => remove))).toEqual([]);
  expect(uids(world)).toEqual(before);
  expect(world.head.deletions.permitted.size).toBe(0);
}

const types: readonly (readonly [Type, Type])[] = [
  ["rolling", "rolling"],
  ["rolling", "external"],
  ["external", "rolling"],
  ["external", "external"],
];
const sides: readonly { readonly said: string; readonly who: readonly PlacementKey[]; readonly isMoved: boolean }[] = [
  { said: "nobody approves anything: who has it keeps it", who: [], isMoved: false },
  {
    said: "only that it is let go is approved: who has it keeps it until the next one may",
    who: [web],
    isMoved: false,
  },
  { said: "only that the next one takes it is approved: who has it keeps it", who: [site], isMoved: false },
  { said: "both are approved: it is handed over", who: [web, site], isMoved: true },
];

describe.each(types)("from one that is %s to one that is %s, where it is protected", (from, to) => {
  test.each(sides)("$said", ({ who, isMoved }) => {
    const world = standing([from === "external" ? "external" : "unavailable=3"]);
    removesNothing(world, () => {
      rename(world, to);
      approve(world, who);
    });
    const { m1, ...others } = owners(world);
    expect(others).toEqual(isMoved ? { m2: "site", m3: "site" } : { m2: "web", m3: "web" });
    expect(m1, "where nothing is protected, nobody is asked").toBe("site");
  });

  test("where nothing is protected, nobody is asked", () => {
    const world = standing([from === "external" ? "external" : "unavailable=3"]);
    removesNothing(world, () => {
      world.commit(() => {
        for (const name of ["m2", "m3"] as ClusterName[]) world.clusters.delete(name);
      }, by("dave"));
      rename(world, to);
      settle(world);
    });
    expect([...waiting(world)]).toEqual([]);
    expect(owners(world)["m1"]).toBe("site");
  });
});

test("who takes it is part of what is approved: a next owner of another name is another request", () => {
  const world = standing(["unavailable=3"]);
  rename(world, "rolling");
  settle(world);
  const asked = world.head.placements.get(web)?.change;
  expect(asked?.leaves.get(m3)?.map((it) => ({ ...it, object: objectKey(it.object) }))).toEqual([
    { object: objectKey(keyParts("ConfigMap", "web", "settings")), fate: "handOver", to: "site" },
    { object: objectKey(keyParts("Namespace", null, "web")), fate: "handOver", to: "site" },
  ]);
  const yes = answerOf("ann", asked?.request?.digest as never);
  world.commit(() => world.placements.delete(site), by("dave"));
  rename(world, "rolling", "also" as PlacementKey);
  settle(world);
  push(world, [yes], by("ann"));
  settle(world);
  expect(verdictOf(world, yes)).not.toBe("counts");
  expect(owners(world)["m3"]).toBe("web");
  expect(world.head.placements.get(web)?.change?.request?.digest).not.toBe(asked?.request?.digest);
});

test("the second opinion compares who takes it with what was approved", () => {
  const world = standing(["unavailable=3"]);
  rename(world, "rolling");
  settle(world);
  answer(world, "ann", world.head.placements.get(web)?.change?.request?.digest as never);
  const goingOn = (it: World["head"]) => it.placements.get(web)?.bindings.get(m3);
  for (let count = 0; count < 5; count++) {
    const seen = world.look();
    const made = plan(seen);
    const binding = goingOn(made.ledger);
    if (binding === undefined || binding.removal === null) {
      pass(world);
      continue;
    }
    expect(check(made, seen)).toEqual([]);
    const other = binding.leaving.map((it) => ({ ...it, handOver: { to: "also" as PlacementKey, by: null } }));
    const record = made.ledger.placements.get(web);
    if (record === undefined) throw new Error("it is on record");
    const bindings = new Map([...record.bindings, [m3, { ...binding, leaving: other }]]);
    const placements = new Map([...made.ledger.placements, [web, { ...record, bindings }]]);
    const codes = check({ ...made, ledger: { ...made.ledger, placements } }, seen).map((it) => it.code);
    expect(codes).toContain("ProtectedTargetUnapproved");
    return;
  }
  throw new Error("nobody lets go of it");
});

const keyParts = (kind: string, namespace: string | null, name: string) => ({ group: "", kind, namespace, name });

describe("a placement that comes back while it hands over, where it is protected", () => {
  const back = (world: World, namespaces = "web"): void =>
    world.commit(() => {
      const options = [`ns=${namespaces}`, "unavailable=3"];
      world.placements.set(web, placementOf({ name: web, policy: policyOf("PickAll", undefined), options }));
    }, by("dave"));
  const removalOf = ({ head }: World) => head.placements.get(web)?.bindings.get(m3)?.removal ?? null;
  const askedOf = ({ head }: World) => [...(head.placements.get(web)?.change?.clusters.keys() ?? [])];

  test("before the turn of the next owner, its removal is called off unasked: nothing can have gone", () => {
    const world = standing(["unavailable=3"]);
    rename(world, "rolling");
    approve(world, [web]);
    expect(removalOf(world)).not.toBeNull();
    back(world);
    settle(world);
    expect([removalOf(world), askedOf(world)]).toEqual([null, []]);
    expect(owners(world)).toEqual({ m1: "site", m2: "web", m3: "web" });
  });

  test("once a part of it was to be deleted, that is asked for, though nobody has heard yet that it went", () => {
    const world = standing(["unavailable=3"]);
    write(world, objectOf("Namespace", "shop", "zero"));
    write(world, objectOf("ConfigMap", "shop/settings", "zero"));
    back(world, "web,shop");
    grant(world, "bob");
    rename(world, "rolling");
    settle(world);
    answer(world, "ann", world.head.placements.get(web)?.change?.request?.digest as never);
    const more = keyOf("ConfigMap", "shop/settings");
    while (world.member(m3).objects.has(more)) pass(world);
    world.member(m3).silence = { code: "Unreachable", message: "no route" };
    back(world, "web,shop");
    settle(world);
    expect(
      world.head.placements
        .get(web)
        ?.bindings.get(m3)
        ?.leaving.map((it) => objectKey(it.id)),
    ).toContain(more);
    expect(removalOf(world)).not.toBeNull();
    expect(askedOf(world)).toContain(m3);
    world.member(m3).silence = null;
    grant(world, "bob");
    expect(world.member(m3).objects.has(more)).toBe(true);
  });

  test("once the next owner was told to take it, that is asked for, though nobody has heard yet that it did", () => {
    const world = standing(["unavailable=3"]);
    rename(world, "rolling");
    settle(world);
    for (const [, { digest }] of [...waiting(world)]) answer(world, "ann", digest);
    while (world.head.placements.get(site)?.bindings.get(m3)?.target == null) pass(world);
    expect(owners(world)["m3"]).toBe("site");
    world.member(m3).silence = { code: "Unreachable", message: "no route" };
    back(world);
    settle(world);
    expect(removalOf(world)).not.toBeNull();
    expect(askedOf(world)).toContain(m3);
    const seen = world.look();
    const made = plan(seen);
    expect(check(made, seen)).toEqual([]);
    const calledOff = (ledger: World["head"]): World["head"] => {
      const record = ledger.placements.get(web);
      const binding = record?.bindings.get(m3);
      if (record === undefined || binding === undefined) throw new Error("it is on record");
      const bindings = new Map([...record.bindings, [m3, { ...binding, removal: null, leaving: [] }]]);
      return { ...ledger, placements: new Map([...ledger.placements, [web, { ...record, bindings }]]) };
    };
    const codes = check({ ...made, ledger: calledOff(made.ledger) }, seen).map((it) => it.code);
    expect(codes).toContain("ProtectedTargetUnapproved");
    world.member(m3).silence = null;
    settle(world);
    expect(owners(world)["m3"]).toBe("site");
  });
});
