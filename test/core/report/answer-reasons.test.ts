// For how long a pass speaks of answers that do not count.
import { expect, test } from "vitest";
import type { Digest } from "../../../src/core/model/value.ts";
import {
  answer,
  answerOf,
  byNobody,
  carries,
  edit,
  fleet,
  gateOf,
  pass,
  push,
  run,
  settle,
  trust,
  trustedBy,
  verdictOf,
} from "../plan/approval/trusted-world.ts";
import { all, asked, honestly, outcome, waiting } from "../plan/runs/one-run.ts";

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

test("that an answer does not count is new in the pass that judges it, and known afterwards", () => {
  const world = waiting();
  const bad = answer(world, "mallory", asked(world));
  const news = (): readonly (boolean | null)[] =>
    pass(world).plan.reasons.map((it) => (it.kind === "answerDenied" && it.path === bad.path ? it.isNew : null));
  expect(news()).toContain(true);
  const later = news();
  expect(later).toContain(false);
  expect(later).not.toContain(true);
});

test("where nobody signs, an answer to nothing is new to every commit", () => {
  const world = fleet(["prod/3/ask-before"], null);
  world.fleet = { ...world.fleet, unsignedApprovals: "allow" };
  push(world, [answerOf("dave", "0".repeat(64) as Digest)], byNobody);
  const news = (): readonly boolean[] =>
    pass(world).plan.reasons.flatMap((it) => (it.kind === "answerDenied" ? [it.isNew] : []));
  expect([news(), news()]).toEqual([[true], [false]]);
  edit(world, "one");
  expect(news()).toEqual([true]);
});

test.each([
  [
    "where the fleet lets nobody approve unsigned",
    "deny",
    [],
    /^FLT1209.*carries no signature; spec\.approvals\.unsigned/,
  ],
  ["where who gave it took it back", "allow", ["Revoke"], /^FLT1212.*dave took the approval back in/],
] as const)(
  "where nobody signs, an answer to an open request that does not count is spoken of: %s",
  (_, unsigned, more, why) => {
    const world = fleet(["prod/3/ask-before"], null);
    world.fleet = { ...world.fleet, unsignedApprovals: unsigned };
    run(world, "first");
    settle(world);
    const given = answerOf("dave", gateOf(world, "first", 0).digest);
    const others = more.map((decision) => ({ ...given, decision, path: `${given.path}-back.yaml` }));
    push(world, [given, ...others], byNobody);
    const said = pass(world).plan.reasons.flatMap((it) =>
      it.kind === "answerDenied" && it.path === given.path ? [`${it.code} ${it.message}`] : [],
    );
    expect(said).toEqual([expect.stringMatching(why)]);
    expect(carries(world)).not.toEqual(all);
  },
);
