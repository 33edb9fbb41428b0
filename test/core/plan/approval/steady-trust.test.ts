// What does not change by itself, and what may not: promises of a fleet in which people approve.
import { describe, expect, test } from "vitest";
import { emptyLedger, type Ledger } from "../../../../src/core/model/ledger.ts";
import { type BlobId, type ClusterName, type Instant, later, minutes } from "../../../../src/core/model/value.ts";
import { plan } from "../../../../src/core/plan/plan.ts";
import { placementOf, policyOf } from "../../../intent.ts";
import type { Passed, World } from "../../../world.ts";
import { digest } from "../../trust/scene.ts";
import { everywhere, grant, guarded, standing } from "../guard/guarded-world.ts";
import {
  answer,
  by,
  byNobody,
  changeOf,
  edit,
  fleet,
  gateOf,
  inDays,
  nextOf,
  pass,
  rootsSign,
  run,
  settle,
  trust,
  trustedBy,
  web,
} from "./trusted-world.ts";

const every = (value: string) => ({ m1: value, m2: value, m3: value });
const zero = "web/settings zero";
const one = "web/settings one";
const nowhere = { m1: "", m2: "", m3: "" };
const gated = ["all:/3/ask-before"];

/** Nothing is written by a pass over what the pass before left, whatever its nonces would be. */
function expectStill(world: World): Passed {
  settle(world);
  const passed = pass(world);
  const again: Ledger = plan({ ...passed.seen, entropy: digest("f") }).ledger;
  expect(again).toBe(passed.seen.ledger);
  return passed;
}

function breakTrust(world: World): () => void {
  const file = world.trust;
  const put = (it: World["trust"]): void =>
    world.commit(() => {
      world.trust = it;
    }, byNobody);
  put(file && { ...file, blob: "broken" as BlobId, text: "?", trust: null });
  return () => put(file);
}

describe("the second of two passes over the same world writes nothing", () => {
  const scenes: readonly { readonly name: string; readonly scene: () => World }[] = [
    { name: "everything stands as approved", scene: () => standing() },
    { name: "a change waits, with an answer that counts and one that does not", scene: waiting },
    {
      name: "a gate waits, with an answer that is not enough",
      scene: () => {
        const world = fleet(gated);
        run(world, "first", byNobody);
        settle(world);
        answer(world, "ann", gateOf(world, "first", 0).digest);
        return world;
      },
    },
    {
      name: "a run was approved and is over",
      scene: () => {
        const world = fleet(gated, guarded);
        run(world, "first");
        grant(world);
        return world;
      },
    },
    {
      name: "the trust file is broken",
      scene: () => {
        const world = waiting();
        breakTrust(world);
        return world;
      },
    },
    {
      name: "a version of the trust file that too few signed stands there",
      scene: () => {
        const world = waiting();
        trustedBy(world, nextOf(guarded), by("dave"));
        rootsSign(world, "dave");
        return world;
      },
    },
    {
      name: "an eviction waits",
      scene: () => {
        const world = standing();
        evict(world);
        return world;
      },
    },
  ];

  test.each(scenes)("$name", ({ scene }) => {
    expectStill(scene());
  });
});

function waiting(): World {
  const world = standing();
  edit(world, "one", byNobody);
  settle(world);
  for (const who of ["ann", "dave"]) answer(world, who, changeOf(world).digest);
  return world;
}

function evict(world: World): void {
  const source = { path: "evictions/off.yaml", document: 0, line: 1, column: 1 };
  const eviction = { name: "off", placement: web, cluster: "m2" as ClusterName, source };
  world.commit(() => world.evictions.set("off", eviction), by("dave"));
}

describe("a request that stands", () => {
  /** The plan is another one at the moment it names, and not before. */
  function expectHonest(world: World, at: Instant): void {
    const { plan: now, seen } = expectStill(world);
    expect(now.wakeAt).toBe(at);
    const [early, then] = [at - 1, at].map((moment) => plan({ ...seen, now: moment as Instant }));
    expect(early?.reasons).toEqual(now.reasons);
    expect(early?.ledger).toBe(seen.ledger);
    expect(then?.reasons).not.toEqual(now.reasons);
  }

  test.each([
    { name: "rolling update", options: ["unavailable=3"] },
    { name: "External placement", options: ["external"] },
  ])("is made anew after a day: a pass is called for then ($name)", ({ options }) => {
    const world = standing(options);
    edit(world, "one");
    if (options.includes("external")) run(world, "second");
    settle(world);
    expectHonest(world, later(changeOf(world).requestedAt, minutes(24 * 60)));
  });

  test("cannot be approved once the trust file has expired: a pass is called for then", () => {
    const world = standing();
    edit(world, "one");
    settle(world);
    world.now = (guarded.expires - minutes(60)) as Instant;
    settle(world);
    expectHonest(world, guarded.expires);
    answer(world, "bob", changeOf(world).digest, { decision: "Reject" });
    settle(world);
    expectHonest(world, guarded.expires);
  });

  test("stays rejected while nobody's word counts, for however long", () => {
    const world = standing();
    edit(world, "one");
    settle(world);
    const { digest: asked } = changeOf(world);
    answer(world, "bob", asked, { decision: "Reject" });
    settle(world);
    const repair = breakTrust(world);
    world.now = inDays(world, 3);
    settle(world);
    repair();
    expect(settle(world).join()).toContain("rejected by bob");
    expect(changeOf(world).digest).toBe(asked);
  });
});

describe("a trust file that breaks", () => {
  test("halts what was approved and is not done, and lets it go on once it is repaired", () => {
    const world = standing(["unavailable=1"]);
    edit(world, "one");
    settle(world);
    answer(world, "ann", changeOf(world).digest);
    while (changeOf(world).approval === null) pass(world);
    const before = everywhere(world);
    const repair = breakTrust(world);
    for (let count = 0; count < 4; count++) {
      expect(settle(world).join()).toContain("FLT1221");
      world.wait(minutes(2));
    }
    expect(everywhere(world)).toEqual(before);
    repair();
    for (let count = 0; count < 5; count++) {
      settle(world);
      world.wait(minutes(2));
    }
    expect(everywhere(world)).toEqual(every(one));
  });
});

describe("while the trust file that the operator vouches for was never there, nobody knows what is protected", () => {
  const unknown = "what is protected is unknown";

  test("nothing goes to any cluster, until it stands there", () => {
    const world = fleet(["all"], null, ["unavailable=3"]);
    expect(everywhere(world)).toEqual(nowhere);
    world.anchor = guarded.digest;
    expect(settle(world).join("\n")).toContain(unknown);
    expect(everywhere(world)).toEqual(nowhere);
    trustedBy(world, guarded);
    settle(world);
    expect(everywhere(world)).toEqual({ ...nowhere, m1: zero });
    grant(world);
    expect(everywhere(world)).toEqual(every(zero));
  });

  test.each([
    {
      name: "a rolling update",
      options: ["unavailable=3"],
      change: (world: World) => edit(world, "one"),
    },
    {
      name: "a run without gates",
      options: ["external"],
      change: (world: World) => {
        edit(world, "one");
        run(world, "second");
      },
    },
    {
      name: "a placement that is gone",
      options: ["unavailable=3"],
      change: (world: World) => world.commit(() => world.placements.delete(web), by("dave")),
    },
    {
      name: "fewer clusters",
      options: ["unavailable=3"],
      change: (world: World) => {
        const policy = policyOf("PickAll", "env=canary");
        const placement = placementOf({ name: "web", policy, options: ["unavailable=3"] });
        world.commit(() => world.placements.set(web, placement), by("dave"));
      },
    },
  ])("$name waits, and goes on where nothing of it turns out to be protected", ({ options, change }) => {
    const world = fleet(["all"], null, options);
    if (options.includes("external")) run(world, "first");
    settle(world);
    expect(everywhere(world)).toEqual(every(zero));
    const open = trust();
    world.anchor = open.digest;
    change(world);
    expect(settle(world).join("\n")).toContain(unknown);
    expect(everywhere(world)).toEqual(every(zero));
    trustedBy(world, open);
    settle(world);
    expect(everywhere(world)).not.toEqual(every(zero));
  });

  test("an eviction is not judged before", () => {
    const world = fleet(["all"], null, ["unavailable=3"]);
    settle(world);
    const open = trust();
    world.anchor = open.digest;
    evict(world);
    expect(settle(world).join("\n")).toContain(unknown);
    expect(world.head.evictions.size).toBe(0);
    trustedBy(world, open);
    settle(world);
    expect(world.head.evictions.size).toBe(1);
  });

  test("a fleet that remembers nothing of its trust takes nothing for unprotected", () => {
    const world = standing();
    world.head = { ...world.head, trust: null, answers: emptyLedger.answers };
    world.anchor = digest("0");
    edit(world, "one");
    expect(settle(world).join("\n")).toContain(unknown);
    expect(everywhere(world)).toEqual(every(zero));
  });
});
