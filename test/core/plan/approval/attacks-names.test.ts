// A cluster that is protected by its name is given another one (D-17; `trust/README.md#threats`, T-41).
import { describe, expect, test } from "vitest";
import type { Trust } from "../../../../src/core/model/trust.ts";
import type { ClusterName } from "../../../../src/core/model/value.ts";
import { describeChanges } from "../../../../src/core/report/commit-message.ts";
import { clusterOf } from "../../../intent.ts";
import { Member } from "../../../member.ts";
import type { World } from "../../../world.ts";
import { grant, on, standing, target } from "../guard/guarded-world.ts";
import { by, edit, nextOf, rootsSign, settle, trust, trustedBy } from "./trusted-world.ts";

const zero = "web/settings zero";
const one = "web/settings one";
const name = (text: string): ClusterName => text as ClusterName;

/** By their names, and by no UID. */
const byName = (clusters: readonly string[] = ["prod-*"], more: Partial<Trust> = {}): Trust =>
  trust({ protectedTargets: [target({ clusters })], ...more });

/** m1 to m3, and production, which stands as it was approved. */
function production(file = byName()): World {
  const world = standing(["unavailable=9"], file);
  world.commit(() => world.join(clusterOf("prod-1", ["env=prod"])), by("dave"));
  grant(world);
  expect(on(world, "prod-1")).toBe(zero);
  return world;
}

/** What a kubeconfig's context leads to: the same cluster, with all that is in it, under another name. */
function lead(world: World, from: string, to: string): Member {
  const old = world.member(from);
  const member = new Member(to, old.uid);
  Object.assign(member, { inventory: old.inventory, objects: old.objects });
  world.members.set(name(to), member);
  return member;
}

/** `contexts` in fleet.yaml leads a new name to the cluster, whose old name goes. */
function rename(world: World, from: string, to: string): Member {
  const member = lead(world, from, to);
  world.commit(() => {
    world.fleet = { ...world.fleet, contexts: new Map([[name(to), from]]) };
    world.clusters.delete(name(from));
    world.join(clusterOf(to, ["env=dev"]));
  }, by("dave"));
  world.members.delete(name(from));
  return member;
}

/** Dave's edit reaches what is not protected, and this cluster only when somebody said yes. */
function staysProtected(world: World, cluster: string): void {
  settle(world);
  const before = on(world, cluster);
  edit(world, "one");
  const said = settle(world).join("\n");
  expect([on(world, "m1"), on(world, cluster)]).toEqual([one, before]);
  expect(said).toMatch(new RegExp(`web: .*${cluster}.* protected: waits for an approval of request digest`));
  grant(world);
  expect(on(world, cluster)).toBe(one);
}

/** Nobody is asked about it. */
function isFree(world: World, cluster: string): void {
  settle(world);
  edit(world, "one");
  settle(world);
  expect(on(world, cluster)).toBe(one);
}

describe("T-41: a cluster stays protected by the name that it had", () => {
  test("renamed in one commit", () => {
    const world = production();
    rename(world, "prod-1", "dev-9");
    staysProtected(world, "dev-9");
  });

  test("renamed twice, and removed for a while in between", () => {
    const world = production();
    rename(world, "prod-1", "dev-8");
    settle(world);
    const kept = world.member("dev-8");
    world.commit(() => world.clusters.delete(name("dev-8")), by("dave"));
    settle(world);
    world.members.delete(name("dev-8"));
    expect(world.head.formerNames.get(kept.uid)?.names).toEqual(["prod-1"]);
    world.commit(() => {
      const member = new Member("dev-9", kept.uid);
      Object.assign(member, { inventory: kept.inventory, objects: kept.objects });
      world.members.set(name("dev-9"), member);
      world.join(clusterOf("dev-9", ["env=dev"]));
    }, by("dave"));
    staysProtected(world, "dev-9");
  });

  test("under a name that does not answer at first", () => {
    const world = production();
    const member = rename(world, "prod-1", "dev-9");
    member.silence = { code: "Unreachable", message: "no answer" };
    settle(world);
    edit(world, "one");
    const said = settle(world).join("\n");
    expect(said).toMatch(/^web: dev-9: nothing comes to protected namespaces there before the first contact/m);
    expect([...world.head.placements.values()].flatMap((it) => it.change ?? [])).toEqual([]);
    member.silence = null;
    settle(world);
    expect([on(world, "m1"), on(world, "dev-9")]).toEqual([one, zero]);
    grant(world);
    expect(on(world, "dev-9")).toBe(one);
  });

  test("under a name that leads to it while the old one is still there", () => {
    const world = production();
    lead(world, "prod-1", "dev-9");
    world.commit(() => world.join(clusterOf("dev-9", ["env=dev"])), by("dave"));
    settle(world);
    edit(world, "one");
    settle(world);
    world.commit(() => world.clusters.delete(name("prod-1")), by("dave"));
    settle(world);
    expect([on(world, "m1"), on(world, "dev-9")]).toEqual([one, zero]);
    grant(world);
    expect(on(world, "dev-9")).toBe(one);
  });

  test("whose names two clusters swap", () => {
    const world = production();
    world.commit(() => world.join(clusterOf("dev-1", ["env=dev"])), by("dave"));
    settle(world);
    const [prod, dev] = [world.member("prod-1"), world.member("dev-1")];
    const swapped = (to: string, from: Member): Member =>
      Object.assign(new Member(to, from.uid), { inventory: from.inventory, objects: from.objects });
    world.members.set(name("prod-1"), swapped("prod-1", dev));
    world.members.set(name("dev-1"), swapped("dev-1", prod));
    const [a, b] = [world.clusters.get(name("prod-1")), world.clusters.get(name("dev-1"))];
    // As both are known as somebody else, nothing is written to either, until they are joined again.
    edit(world, "none");
    settle(world);
    expect([on(world, "prod-1"), on(world, "dev-1")]).toEqual([zero, zero]);
    world.commit(
      () => [...world.clusters.keys()].filter((it) => !it.startsWith("m")).map((it) => world.clusters.delete(it)),
      by("dave"),
    );
    settle(world);
    world.commit(() => {
      for (const it of [a, b]) if (it !== undefined) world.join(it);
    }, by("dave"));
    settle(world);
    expect([on(world, "prod-1"), on(world, "dev-1")]).toEqual([zero, zero]);
    staysProtected(world, "dev-1");
  });

  test("also where the trust file comes with the change of name", () => {
    const world = standing(["unavailable=9"], byName(["none"]));
    world.commit(() => world.join(clusterOf("prod-1", ["env=prod"])), by("dave"));
    settle(world);
    trustedBy(world, nextOf(byName(["none"]), { protectedTargets: [target({ clusters: ["prod-*"] })] }), by("ann"));
    rootsSign(world, "ann", "bob");
    rename(world, "prod-1", "dev-9");
    staysProtected(world, "dev-9");
  });
});

describe("and is free of it", () => {
  test("when it is another cluster, built anew under another name", () => {
    const world = production();
    world.commit(() => {
      world.clusters.delete(name("prod-1"));
      world.join(clusterOf("dev-9", ["env=dev"]));
    }, by("dave"));
    expect(world.member("dev-9").uid).not.toBe("uid-of-prod-1");
    isFree(world, "dev-9");
  });

  test("when it was reached for the first time, and never was a protected one", () => {
    const world = production();
    world.commit(() => world.join(clusterOf("dev-9", ["env=dev"])), by("dave"));
    world.member("dev-9").silence = { code: "Unreachable", message: "no answer" };
    settle(world);
    world.member("dev-9").silence = null;
    isFree(world, "dev-9");
  });

  test("when the roots release it", () => {
    const file = byName();
    const world = production(file);
    rename(world, "prod-1", "dev-9");
    settle(world);
    const released = [target({ clusters: ["prod-*"], released: ["uid-of-prod-1"] })];
    trustedBy(world, nextOf(file, { protectedTargets: released }), by("ann"));
    rootsSign(world, "ann", "bob");
    isFree(world, "dev-9");
    expect([...world.head.formerNames]).toEqual([]);
  });

  test("when the roots protect that name no longer", () => {
    const file = byName();
    const world = production(file);
    rename(world, "prod-1", "dev-9");
    settle(world);
    trustedBy(world, nextOf(file, { protectedTargets: [target({ clusters: ["live-*"] })] }), by("ann"));
    rootsSign(world, "ann", "bob");
    isFree(world, "dev-9");
    expect([...world.head.formerNames]).toEqual([]);
  });
});

test("the diary says who stays protected by which name, and who is no longer", () => {
  const file = byName();
  const world = production(file);
  const before = world.head;
  rename(world, "prod-1", "dev-9");
  settle(world);
  const said = "the cluster formerly named prod-1 (kube-system uid uid-of-prod-1)";
  expect(describeChanges(before, world.head)).toContain(`${said} stays protected under any name`);
  const kept = world.head;
  trustedBy(world, nextOf(file, { protectedTargets: [target({ clusters: ["live-*"] })] }), by("ann"));
  rootsSign(world, "ann", "bob");
  settle(world);
  expect(describeChanges(kept, world.head)).toContain(`${said} is no longer protected as such`);
});

test("of many names that one target protects the first is kept", () => {
  const world = production(
    trust({ protectedTargets: [target({ clusters: ["prod-*"] }), target({ clusters: ["live-*"] })] }),
  );
  const names = ["prod-1", "prod-2", "prod-3", "live-1", "prod-4", "dev-9"];
  for (const [at, to] of names.entries()) {
    const from = names[at - 1];
    if (from !== undefined) rename(world, from, to);
    settle(world);
  }
  expect([...world.head.formerNames.values()].map((it) => it.names)).toEqual([["live-1", "prod-1"]]);
});
