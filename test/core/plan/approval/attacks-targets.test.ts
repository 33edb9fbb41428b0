// What is protected stays so, whatever becomes of gates, rules, labels and names (D-17; `trust/README.md#threats`,
// T-32, T-33).
import { describe, expect, test } from "vitest";
import { runKey } from "../../../../src/core/model/update-run.ts";
import type { ClusterName } from "../../../../src/core/model/value.ts";
import { plan } from "../../../../src/core/plan/plan.ts";
import { clusterOf, placementOf, policyOf, strategyOf } from "../../../intent.ts";
import { Member } from "../../../member.ts";
import type { World } from "../../../world.ts";
import { everywhere, grant, guarded, standing, target } from "../guard/guarded-world.ts";
import {
  answer,
  by,
  edit,
  everything,
  fleet,
  gateOf,
  nextOf,
  rootsSign,
  run,
  settle,
  trust,
  trustedBy,
  verdictOf,
  web,
} from "./trusted-world.ts";

const every = (value: string) => ({ m1: value, m2: value, m3: value });
const zero = "web/settings zero";
const one = "web/settings one";
const m1Alone = { m1: one, m2: zero, m3: zero };

const strategy = (world: World, ...stages: readonly string[]): void =>
  world.commit(() => world.strategies.set(strategyOf("all", []).key, strategyOf("all", stages)), by("dave"));

const turn = (world: World, ...options: readonly string[]): void =>
  world.commit(() => {
    const policy = policyOf("PickAll", undefined);
    world.placements.set(web, placementOf({ name: "web", policy, options }));
  }, by("dave"));

describe("T-32: who takes the gate away is asked all the same", () => {
  test("a strategy without gates", () => {
    const world = standing(["external"], guarded, ["all/3/ask-before"]);
    strategy(world, "all/3");
    edit(world, "one");
    run(world, "second");
    const said = settle(world).join("\n");
    expect(everywhere(world)).toEqual(m1Alone);
    expect(said).toMatch(/web: m2, m3 protected: waits for an approval of request digest/);
    grant(world);
    expect(everywhere(world)).toEqual(every(one));
  });

  test("an External placement that is a rolling update now", () => {
    const world = standing(["external"], guarded, ["all/3/ask-before"]);
    turn(world, "unavailable=3");
    edit(world, "one");
    settle(world);
    expect(everywhere(world)).toEqual(m1Alone);
    grant(world);
    expect(everywhere(world)).toEqual(every(one));
  });

  test("rules that ask nobody: the stage stays closed", () => {
    const world = standing(["external"], guarded, ["all/3/ask-before"]);
    trustedBy(world, nextOf(guarded, { approvals: [] }), by("ann"));
    rootsSign(world, "ann", "bob");
    edit(world, "one");
    run(world, "second");
    settle(world);
    const file = answer(world, "ann", gateOf(world, "second", 0).digest);
    settle(world);
    expect([verdictOf(world, file).slice(0, 7), everywhere(world)]).toEqual(["FLT1214", every(zero)]);
  });

  test("a gate that is there asks for what it reaches: people are asked once", () => {
    const strict = trust({ protectedTargets: [target({ minimum: 2 })] });
    const world = fleet(["canary:env=canary", "prod:env=prod/2/ask-before"], strict);
    run(world, "first");
    settle(world);
    const { digest } = gateOf(world, "first", 1);
    answer(world, "ann", digest);
    expect(settle(world).join()).toMatch(/FLT1206: 1 of 2 approvals/);
    expect(everywhere(world)).toEqual({ ...every(""), m1: zero });
    answer(world, "bob", digest);
    settle(world);
    expect([everywhere(world), world.head.placements.get(web)?.change]).toEqual([every(zero), null]);
  });

  test("a gate asks for all that its stage might reach while its content cannot be had", () => {
    const file = trust({
      approvals: [everything({ principals: ["ann"] })],
      protectedTargets: [target({ principals: ["bob"] })],
    });
    const world = fleet(["all/3/ask-before"], file);
    run(world, "first");
    settle(world);
    answer(world, "ann", gateOf(world, "first", 0).digest);
    edit(world, "one");
    const opened = plan({ ...world.look(), archive: new Map() }).ledger.runs.get(runKey(null, "first"));
    expect(opened?.stages[0]?.before.Approval).toMatchObject({ approval: null });
    answer(world, "bob", gateOf(world, "first", 0).digest);
    settle(world);
    expect(everywhere(world)).toEqual(every(zero));
  });

  test("a run that rolls back", () => {
    const world = standing(["external"]);
    edit(world, "one");
    run(world, "second");
    grant(world);
    expect(everywhere(world)).toEqual(every(one));
    run(world, "back", by("dave"), "0");
    settle(world);
    expect(everywhere(world)).toEqual({ ...every(one), m1: zero });
    grant(world);
    expect(everywhere(world)).toEqual(every(zero));
  });

  test("a run that takes clusters away at its end", () => {
    const world = standing(["external"]);
    world.commit(() => {
      const policy = policyOf("PickFixed", "m1");
      world.placements.set(web, placementOf({ name: "web", policy, options: ["external"] }));
    }, by("dave"));
    run(world, "second");
    const said = settle(world).join("\n");
    expect(everywhere(world)).toEqual(every(zero));
    expect(said).toMatch(/m2, m3 protected/);
    grant(world);
    expect(everywhere(world)).toEqual({ m1: zero, m2: "", m3: "" });
  });
});

describe("T-33: protection goes by who a cluster is, not by what it is called", () => {
  test("a label that puts it into a stage that nobody is asked before", () => {
    const stages = ["canary:env=canary", "prod:env=prod/3/ask-before"];
    const world = standing(["external"], guarded, stages);
    world.commit(() => world.clusters.set("m2" as ClusterName, clusterOf("m2", ["env=canary"])), by("dave"));
    edit(world, "one");
    run(world, "second");
    const said = settle(world).join("\n");
    expect(everywhere(world)).toEqual(m1Alone);
    expect(said).toMatch(/web: m2 protected: waits for an approval/);
    grant(world);
    expect(everywhere(world)).toEqual(every(one));
  });

  for (const isSilent of [false, true])
    test(`another name${isSilent ? ", under which it does not answer at first" : ""}`, () => {
      const world = standing();
      const member = new Member("m9", "uid-of-m2");
      const old = world.member("m2");
      world.commit(() => {
        world.clusters.delete("m2" as ClusterName);
        world.join(clusterOf("m9", ["env=dev"]));
        Object.assign(member, { inventory: old.inventory, objects: old.objects });
        world.members.set("m9" as ClusterName, member);
        world.members.delete("m2" as ClusterName);
      }, by("dave"));
      if (isSilent) member.silence = { code: "Unreachable", message: "no answer" };
      settle(world);
      edit(world, "one");
      settle(world);
      member.silence = null;
      settle(world);
      expect(everywhere(world)).toEqual({ m1: one, m3: zero, m9: zero });
      grant(world);
      expect(everywhere(world)).toEqual({ m1: one, m3: one, m9: one });
    });
});
