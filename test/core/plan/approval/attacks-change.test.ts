// What keeps or voids the approval of a protected change (D-17, I-59).
import { describe, expect, test } from "vitest";
import { memberNameLabel } from "../../../../src/core/model/names.ts";
import { minutes } from "../../../../src/core/model/value.ts";
import { clusterOf, keyOf, objectOf, overrideOf } from "../../../intent.ts";
import { write } from "../../../world.ts";
import { everywhere, grant, guarded, standing, target } from "../guard/guarded-world.ts";
import {
  answer,
  by,
  byNobody,
  changeOf,
  edit,
  fleet,
  inDays,
  nextOf,
  pass,
  rootsSign,
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

describe("an approval of a change", () => {
  test("stays good while the budget takes several passes", () => {
    const world = standing(["unavailable=1"]);
    edit(world, "one");
    settle(world);
    world.member("m2").silence = { code: "Unreachable", message: "no answer" };
    answer(world, "ann", changeOf(world).digest);
    settle(world);
    const { digest } = changeOf(world);
    world.now = inDays(world, 3);
    settle(world);
    expect(changeOf(world).digest).toBe(digest);
    world.member("m2").silence = null;
    for (let pass = 0; pass < 5; pass++) {
      settle(world);
      world.wait(minutes(2));
    }
    expect(everywhere(world)).toEqual(every(one));
    expect(world.head.placements.get(web)?.change).toBeNull();
  });

  test("does not hold for other content, nor for another cluster", () => {
    const world = standing();
    edit(world, "one");
    settle(world);
    const before = changeOf(world).digest;
    edit(world, "two");
    const file = answer(world, "ann", before);
    settle(world);
    expect(changeOf(world).digest).not.toBe(before);
    expect(verdictOf(world, file)).toMatch(/^FLT1201: .* what has to be met, or what would happen, is another now/);
    expect(everywhere(world)).toEqual({ ...every(zero), m1: "web/settings two" });
    grant(world);
    expect(everywhere(world)).toEqual(every("web/settings two"));
  });

  test("comes within a day, or to another request; a rejection is not asked again", () => {
    const world = standing();
    edit(world, "one");
    settle(world);
    const before = changeOf(world).digest;
    world.now = inDays(world, 1);
    settle(world);
    const { digest } = changeOf(world);
    expect(digest).not.toBe(before);
    const no = answer(world, "bob", digest, { decision: "Reject" });
    const said = settle(world).join("\n");
    expect(said).toContain(`rejected by bob (${no.path}); change what was pushed, or take it back`);
    answer(world, "ann", digest);
    world.now = inDays(world, 2);
    settle(world);
    expect([changeOf(world).digest, everywhere(world)]).toEqual([digest, m1Alone]);
    edit(world, "zero");
    settle(world);
    expect([everywhere(world), world.head.placements.get(web)?.change]).toEqual([every(zero), null]);
  });

  test("takes everybody whom any of its targets asks for, whatever is left of it when he answers", () => {
    const targets = [
      target({ clusters: ["m2"], principals: ["ann"] }),
      target({ clusters: ["m3"], principals: ["bob"] }),
    ];
    const file = trust({ protectedTargets: targets });
    const world = fleet(["all"], file, ["unavailable=3"]);
    for (let round = 0; round < 3; round++) {
      settle(world);
      const digest = world.head.placements.get(web)?.change?.request?.digest;
      for (const who of ["ann", "bob"]) if (digest !== undefined) answer(world, who, digest);
    }
    settle(world);
    expect(everywhere(world)).toEqual(every(zero));
    edit(world, "one");
    settle(world);
    const { digest } = changeOf(world);
    // For one pass, nothing seems to change on m3.
    const keep = overrideOf("keep", keyOf("ConfigMap", "web/settings"), `${memberNameLabel}=m3`, "x");
    const action = { kind: "JSONPatch", operations: [{ op: "add", path: "/data/value", value: "zero" }] } as const;
    const spec = { ...keep.spec, rules: keep.spec.rules.map((it) => ({ ...it, action })) };
    world.commit(() => world.overrides.set("keep", { ...keep, spec }), by("dave"));
    settle(world);
    expect(changeOf(world).digest).toBe(digest);
    answer(world, "ann", digest);
    pass(world);
    world.commit(() => world.overrides.delete("keep"), by("dave"));
    settle(world);
    expect(everywhere(world)["m3"]).toBe(zero);
    for (let round = 0; round < 3; round++) {
      const open = world.head.placements.get(web)?.change?.request;
      for (const who of ["ann", "bob"]) if (open != null && open.approval === null) answer(world, who, open.digest);
      settle(world);
    }
    expect(everywhere(world)).toEqual(every(one));
  });

  test("by a key that was compromised holds no longer, and is asked for anew", () => {
    const world = standing(["unavailable=1"]);
    edit(world, "one");
    settle(world);
    world.member("m2").silence = { code: "Unreachable", message: "no answer" };
    const before = changeOf(world).digest;
    answer(world, "carol", before);
    settle(world);
    expect(changeOf(world).approval?.by.map((it) => it.principal)).toEqual(["carol"]);
    const now = everywhere(world);
    trustedBy(world, nextOf(guarded, { revocations: [{ key: "SHA256:carol", kind: "compromised" }] }), by("ann"));
    rootsSign(world, "ann", "bob");
    settle(world);
    world.wait(minutes(2));
    settle(world);
    expect(changeOf(world).digest).not.toBe(before);
    expect(everywhere(world)).toEqual(now);
    answer(world, "ann", changeOf(world).digest);
    world.member("m2").silence = null;
    for (let pass = 0; pass < 5; pass++) {
      settle(world);
      world.wait(minutes(2));
    }
    expect(everywhere(world)).toEqual(every(one));
  });

  test("is void when what is protected changes, and says so", () => {
    const world = standing();
    edit(world, "one");
    settle(world);
    const before = changeOf(world).digest;
    trustedBy(world, nextOf(guarded, { protectedTargets: [target({ minimum: 2 })] }), by("ann"));
    rootsSign(world, "ann", "bob");
    const file = answer(world, "ann", before);
    settle(world);
    expect([verdictOf(world, file).slice(0, 7), everywhere(world)]).toEqual(["FLT1201", m1Alone]);
    const { digest } = changeOf(world);
    answer(world, "ann", digest);
    expect(settle(world).join()).toMatch(/FLT1206: 1 of 2 approvals/);
    answer(world, "bob", digest);
    settle(world);
    expect(everywhere(world)).toEqual(every(one));
  });

  test("opens nothing while trust is broken, and does when that is repaired", () => {
    const world = standing();
    edit(world, "one");
    settle(world);
    world.commit(() => {
      world.trust = null;
    }, byNobody);
    settle(world);
    const file = answer(world, "ann", changeOf(world).digest);
    const said = settle(world).join("\n");
    expect(said).toMatch(/m2, m3 protected: waits .*: FLT1221: .* restore version 1/);
    expect([verdictOf(world, file), everywhere(world)]).toEqual(["counts", m1Alone]);
    trustedBy(world, guarded, by("ann"));
    settle(world);
    expect(everywhere(world)).toEqual(every(one));
  });

  test("looks as far back as the cluster that has had the least of it", () => {
    const world = standing();
    const waits = overrideOf("new", keyOf("ConfigMap", "web/settings"), "env=new", "malice");
    world.commit(() => world.overrides.set("new", waits), by("bob"));
    edit(world, "one");
    grant(world);
    world.commit(() => world.join(clusterOf("prod-4", ["env=new"])), by("dave"));
    edit(world, "two");
    settle(world);
    expect(changeOf(world).authors).toEqual({ principals: ["bob", "dave"], unknown: 0 });
    grant(world);
    expect(everywhere(world)["prod-4"]).toBe("web/settings overridden");
  });

  test("looks back to whoever wrote what an override kept away", () => {
    const world = standing();
    const more = keyOf("ConfigMap", "web/more");
    world.commit(() => world.overrides.set("less", overrideOf("less", more, "env=prod", "delete")), by("dave"));
    world.commit(() => write(world, objectOf("ConfigMap", "web/more", "malice")), by("bob"));
    settle(world);
    // Nothing changed there, so the cluster is said to be on that version.
    expect(everywhere(world)).toEqual({ ...every(zero), m1: `web/more malice, ${zero}` });
    world.commit(() => world.overrides.delete("less"), by("dave"));
    settle(world);
    expect(changeOf(world).authors.principals).toContain("bob");
    answer(world, "bob", changeOf(world).digest);
    expect(settle(world).join()).toContain("FLT1205");
  });

  test("by its author is none", () => {
    const world = standing();
    edit(world, "one", by("bob"));
    settle(world);
    const file = answer(world, "bob", changeOf(world).digest);
    settle(world);
    expect([verdictOf(world, file).slice(0, 7), everywhere(world)]).toEqual(["FLT1205", m1Alone]);
    grant(world);
    expect(everywhere(world)).toEqual(every(one));
  });
});
