// For how long a pass speaks of answers that do not count.
import { expect, test } from "vitest";
import { all, asked, honestly, outcome, waiting } from "./one-run.ts";
import {
  answer,
  answerOf,
  byNobody,
  carries,
  fleet,
  gateOf,
  push,
  run,
  settle,
  trust,
  trustedBy,
  verdictOf,
} from "./trusted-world.ts";

test("an answer that does not count is spoken of while its request is open, and no longer", () => {
  const world = waiting();
  const bad = answer(world, "mallory", asked(world));
  const why = outcome(world, bad);
  expect(why).toMatch(/^FLT12/);
  honestly(world);
  expect(settle(world).join("\n")).not.toContain(bad.path);
  // It stands in the record as before.
  expect(verdictOf(world, bad)).toBe(why);
});

test("what was approved before there was a trust file is nothing to complain about afterwards", () => {
  const world = fleet(["prod/3/ask-before"], null);
  world.fleet = { ...world.fleet, unsignedApprovals: "allow" };
  run(world, "first");
  settle(world);
  const old = answerOf("dave", gateOf(world, "first", 0).digest);
  push(world, [old], byNobody);
  settle(world);
  expect(carries(world)).toEqual(all);
  trustedBy(world, trust());
  expect(settle(world).join("\n")).not.toContain(old.path);
});
