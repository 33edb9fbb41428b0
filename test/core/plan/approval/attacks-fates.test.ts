// Somebody gets a yes to letting objects go, and then has them deleted (D-17; T-36; D 11).
import { describe, expect, test } from "vitest";
import type { ObjectId } from "../../../../src/core/model/manifest.ts";
import { changeDigest } from "../../../../src/core/plan/approval/request-digest.ts";
import { keyOf, objectOf, overrideOf, placementOf, policyOf } from "../../../intent.ts";
import { World, write } from "../../../world.ts";
import { grant, guarded, requestOf, standing } from "../guard/guarded-world.ts";
import {
  answer,
  answerOf,
  by,
  changeOf,
  fleet,
  gateOf,
  pass,
  push,
  recordOf,
  run,
  settle,
  verdictOf,
  web,
} from "./trusted-world.ts";

const config = keyOf("ConfigMap", "web/settings");
const more = keyOf("ConfigMap", "web/more");
const loose = ["unavailable=3"];

/** Dave writes the placement anew: where it goes, and what becomes of what it leaves behind. */
function place(world: World, clusters: readonly string[], options: readonly string[], also = () => {}): void {
  world.commit(() => {
    const policy = policyOf("PickFixed", clusters.join(","));
    world.placements.set(web, placementOf({ name: "web", policy, options: [...loose, ...options] }));
    also();
  }, by("dave"));
}

/** The protected m3 and m2 carry everything; of web/settings, m3 had one before us. */
function found(options: readonly string[] = []): World {
  const world = new World();
  const made = fleet(["all"], guarded, [...loose, ...options], world);
  made.member("m3").make(config);
  grant(made);
  expect(made.head.placements.get(web)?.bindings.get(m3)?.facts?.adopted.map(keyText)).toEqual(["web/settings"]);
  return made;
}
const m3 = "m3" as never;
const keyText = ({ namespace, name }: ObjectId): string => `${namespace}/${name}`;

/** What is said to become of each object, `delete web/settings`, as people are asked about it. */
const asked = (world: World, cluster = m3): readonly string[] =>
  (world.head.placements.get(web)?.change?.leaves.get(cluster) ?? []).map(
    ({ object: { kind, namespace, name }, fate }) =>
      `${fate} ${kind} ${namespace === null ? "" : `${namespace}/`}${name}`,
  );

const stands = (world: World): readonly string[] => world.carried("m3");

describe("T-36: what was approved as let go", () => {
  test("is not deleted because somebody turns Abandon into Delete afterwards, which is asked about", () => {
    const world = standing(loose);
    place(world, ["m1", "m2"], ["abandon"]);
    settle(world);
    expect(asked(world)).toEqual(["release ConfigMap web/settings", "release Namespace web"]);
    const { digest } = changeOf(world);
    push(world, [answerOf("ann", digest)], by("ann"));
    place(world, ["m1", "m2"], []);
    settle(world);
    expect(stands(world)).toEqual(["ConfigMap web/settings zero", "Namespace web zero"]);
    expect(changeOf(world)).toMatchObject({ approval: null });
    expect(changeOf(world).digest).not.toBe(digest);
    expect(asked(world)).toEqual(["delete ConfigMap web/settings", "delete Namespace web"]);
    // Who says yes to that gets that.
    answer(world, "ann", changeOf(world).digest);
    settle(world);
    expect(stands(world)).toEqual([]);
  });

  test("is let go where nobody edits anything", () => {
    const world = standing(loose);
    place(world, ["m1", "m2"], ["abandon"]);
    grant(world);
    expect(stands(world)).toEqual(["ConfigMap web/settings zero (not ours)", "Namespace web zero (not ours)"]);
  });

  test("is not deleted because somebody has adopted objects deleted afterwards, which is asked about", () => {
    const world = found();
    place(world, ["m1", "m2"], []);
    settle(world);
    expect(asked(world)).toEqual(["release ConfigMap web/settings", "delete Namespace web"]);
    const { digest } = changeOf(world);
    push(world, [answerOf("ann", digest)], by("ann"));
    place(world, ["m1", "m2"], ["delete-adopted"]);
    settle(world);
    expect(stands(world)).toContain("ConfigMap web/settings zero");
    expect(changeOf(world)).toMatchObject({ approval: null });
    expect(asked(world)).toEqual(["delete ConfigMap web/settings", "delete Namespace web"]);
  });

  test("is let go by a selector's edit as well, whatever is edited once that was approved", () => {
    const world = found();
    world.commit(() => write(world, objectOf("ConfigMap", "web/more", "zero")), by("dave"));
    world.member("m3").make(more);
    grant(world);
    world.commit(() => world.overrides.set("less", overrideOf("less", more, "env=prod", "delete")), by("dave"));
    settle(world);
    expect(asked(world)).toEqual(["release ConfigMap web/more"]);
    push(world, [answerOf("ann", changeOf(world).digest)], by("ann"));
    place(world, ["m1", "m2", "m3"], ["delete-adopted"]);
    settle(world);
    expect(stands(world)).toContain("ConfigMap web/more zero");
    expect(asked(world)).toEqual(["delete ConfigMap web/more"]);
    grant(world);
    expect(stands(world)).not.toContain("ConfigMap web/more zero");
  });

  test("is let go by a placement's end as well", () => {
    const world = found();
    world.commit(() => world.placements.delete(web), by("dave"));
    settle(world);
    const { digest } = changeOf(world);
    push(world, [answerOf("ann", digest)], by("ann"));
    place(world, ["m1", "m2", "m3"], ["delete-adopted"]);
    settle(world);
    world.commit(() => world.placements.delete(web), by("dave"));
    settle(world);
    expect(requestOf(world, web).digest).not.toBe(digest);
    expect(stands(world)).toContain("ConfigMap web/settings zero");
  });

  test("stays let go once it has begun, whatever is edited meanwhile", () => {
    const world = found();
    place(world, ["m1", "m2"], []);
    settle(world);
    push(world, [answerOf("ann", changeOf(world).digest)], by("ann"));
    pass(world);
    world.member("m3").silence = { code: "Unreachable", message: "no answer" };
    for (let passes = 0; passes < 3; passes++) pass(world);
    expect(world.head.placements.get(web)?.bindings.get(m3)?.removal).not.toBeNull();
    place(world, ["m1", "m2"], ["delete-adopted"]);
    settle(world);
    world.member("m3").silence = null;
    settle(world);
    expect(stands(world)).toEqual(["ConfigMap web/settings zero (not ours)", "Namespace web zero"]);
  });
});

describe("T-36: what was approved as deleted", () => {
  test("is deleted, although somebody would have it let go by then", () => {
    const world = found(["delete-adopted"]);
    place(world, ["m1", "m2"], ["delete-adopted"]);
    settle(world);
    expect(asked(world)).toEqual(["delete ConfigMap web/settings", "delete Namespace web"]);
    push(world, [answerOf("ann", changeOf(world).digest)], by("ann"));
    pass(world);
    world.member("m3").silence = { code: "Unreachable", message: "no answer" };
    for (let passes = 0; passes < 3; passes++) pass(world);
    place(world, ["m1", "m2"], []);
    settle(world);
    world.member("m3").silence = null;
    settle(world);
    expect(stands(world)).toEqual([]);
  });

  test("is asked about once more where somebody would have it let go before that began", () => {
    const world = found(["delete-adopted"]);
    place(world, ["m1", "m2"], ["delete-adopted"]);
    settle(world);
    const file = answerOf("ann", changeOf(world).digest);
    place(world, ["m1", "m2"], []);
    push(world, [file], by("ann"));
    settle(world);
    expect(verdictOf(world, file)).toMatch(/^FLT1201: /);
    expect(asked(world)).toEqual(["release ConfigMap web/settings", "delete Namespace web"]);
  });
});

describe("T-36: at the gate of a run", () => {
  const staged = (options: readonly string[]): World => {
    const world = fleet(["all/ask-before"], guarded, ["external", ...options]);
    world.member("m3").make(config);
    world.member("m2").make(config);
    run(world, "first");
    grant(world);
    world.commit(() => world.overrides.set("less", overrideOf("less", config, "env=prod", "delete")), by("dave"));
    run(world, "second");
    settle(world);
    return world;
  };
  const again = (world: World, options: readonly string[]): void =>
    world.commit(() => {
      const policy = policyOf("PickAll", undefined);
      world.placements.set(web, placementOf({ name: "web", policy, options: ["external", ...options] }));
    }, by("dave"));

  test("what was approved as let go is not deleted because of a later edit", () => {
    const world = staged([]);
    expect(recordOf(world, "second").plan?.deleteAdopted).toBe(false);
    push(world, [answerOf("ann", gateOf(world, "second", 0).digest)], by("ann"));
    again(world, ["delete-adopted"]);
    for (let round = 0; round < 3; round++) settle(world);
    expect(world.carried("m3")).toContain("ConfigMap web/settings zero (not ours)");
  });

  test("what was approved as deleted is deleted", () => {
    const world = staged(["delete-adopted"]);
    answer(world, "ann", gateOf(world, "second", 0).digest);
    for (let round = 0; round < 3; round++) settle(world);
    expect(world.carried("m3")).toEqual(["Namespace web zero"]);
  });
});

test("T-36: what an earlier version asked about without a word on what leaves is asked about anew", () => {
  const world = standing(loose);
  place(world, ["m1", "m2"], []);
  settle(world);
  const { ledger } = world.look();
  const record = ledger.placements.get(web);
  if (record?.change?.request == null) throw new Error("nobody is asked");
  const { clusters, request } = { ...record.change, request: record.change.request };
  const bare = {
    clusters: new Map([...clusters.keys()].map((it) => [it, null] as const)),
    leaves: new Map(),
    others: [],
  };
  const digest = changeDigest(ledger, { record, ...bare }, request);
  const older = { ...record.change, ...bare, request: { ...request, digest } };
  world.head = { ...world.head, placements: new Map([...world.head.placements, [web, { ...record, change: older }]]) };
  answer(world, "ann", digest);
  settle(world);
  expect(stands(world)).toEqual(["ConfigMap web/settings zero", "Namespace web zero"]);
  expect(asked(world)).toEqual(["delete ConfigMap web/settings", "delete Namespace web"]);
});

test("T-36: who changed what becomes of objects has a part in what is asked", () => {
  const world = found();
  world.commit(() => world.overrides.set("less", overrideOf("less", config, "env=prod", "delete")), by("dave"));
  world.commit(() => {
    const policy = policyOf("PickAll", undefined);
    world.placements.set(web, placementOf({ name: "web", policy, options: [...loose, "delete-adopted"] }));
  }, by("bob"));
  settle(world);
  expect(changeOf(world).authors.principals).toEqual(["bob", "dave"]);
});

test("T-36: an edit of what becomes of objects has no part where nothing leaves", () => {
  const world = found();
  world.commit(() => {
    const policy = policyOf("PickAll", undefined);
    world.placements.set(web, placementOf({ name: "web", policy, options: [...loose, "delete-adopted"] }));
  }, by("bob"));
  world.commit(() => write(world, objectOf("ConfigMap", "web/settings", "one")), by("dave"));
  settle(world);
  expect(changeOf(world).authors.principals).toEqual(["dave"]);
});
