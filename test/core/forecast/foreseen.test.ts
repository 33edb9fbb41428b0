// Nobody answers before he is asked (T-04), by signature or without.
import { expect, test } from "vitest";
import type { Digest } from "../../../src/core/model/value.ts";
import type { World } from "../../world.ts";
import { answerOf, fleet, gateOf, pass, push, run, trust } from "../plan/approval/trusted-world.ts";

const gated = ["all:/3/ask-before"];

/** What is asked for in a world in which passes have this entropy; the same run, the same moments. */
function askedWith(entropy: string): Digest {
  const world = fleet(gated, trust());
  run(world, "first");
  for (let at = 0; at < 3; at++) {
    world.entropy = entropy.repeat(64);
    world.pass();
  }
  return gateOf(world, "first", 0).digest;
}

test("whoever knows everything but the entropy of a pass does not know what it asks for", () => {
  expect(askedWith("a")).toBe(askedWith("a"));
  expect(askedWith("a")).not.toBe(askedWith("b"));
});

test("an answer that was foreseen does not open a gate in the pass that asks, though nobody has to sign", () => {
  const twin = unsigned();
  run(twin, "first");
  pass(twin);
  pass(twin);
  const foreseen = gateOf(twin, "first", 0).digest;
  const world = unsigned();
  run(world, "first");
  push(world, [answerOf("ann", foreseen)], {});
  for (let at = 0; at < 2; at++) {
    pass(world);
    const gate = world.head.runs.size === 0 ? null : gateOf(world, "first", 0);
    if (gate !== null) expect(gate).toMatchObject({ digest: foreseen, approval: null });
    if (gate !== null) return;
  }
  throw new Error("nobody is asked");
});

function unsigned(): World {
  const world = fleet(gated, null);
  world.fleet = { ...world.fleet, unsignedApprovals: "allow" };
  return world;
}
