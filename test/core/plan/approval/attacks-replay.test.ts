// An approval is taken to somewhere, or to some time, for which nobody gave it (`trust/README.md#threats`, T-01 to
// T-05).
import { describe, expect, test } from "vitest";
import { runKey } from "../../../../src/core/model/update-run.ts";
import { type Digest, later, minutes } from "../../../../src/core/model/value.ts";
import { requested } from "../../../gate.ts";
import { keyOf, overrideOf, strategyOf } from "../../../intent.ts";
import { World } from "../../../world.ts";
import {
  answer,
  answerOf,
  by,
  byNobody,
  carries,
  edit,
  everything,
  fleet,
  gateOf,
  push,
  recordOf,
  run,
  settle,
  take,
  trust,
  verdictOf,
} from "./trusted-world.ts";

const gated = ["prod/3/ask-before"];
const two = trust({ approvals: [everything({ minimum: 2 })] });
const none = { m1: "-", m2: "-", m3: "-" };
const all = (value: string) => {
  const line = `ConfigMap web/settings ${value}`;
  return { m1: line, m2: line, m3: line };
};

/** A run that waits for two people. */
function waiting(): World {
  const world = fleet(gated, two);
  run(world, "first");
  settle(world);
  return world;
}

const discard = (world: World): void => {
  world.commit(() => world.runs.delete(runKey(null, "first")), by("dave"));
  settle(world);
};

const strategy = (world: World, ...stages: readonly string[]): void =>
  world.commit(() => world.strategies.set(strategyOf("all", []).key, strategyOf("all", stages)), by("dave"));

const override = (world: World): void => {
  const more = overrideOf("more", keyOf("ConfigMap", "web/settings"), "env=prod", "more");
  world.commit(() => world.overrides.set("more", more), by("dave"));
};

test.each<readonly [string, (world: World) => void]>([
  ["T-01: as it was", () => {}],
  ["T-02: with other content", (world) => edit(world, "one")],
  ["T-02: with another strategy", (world) => strategy(world, "canary:env=canary", "prod:env=prod/3/ask-before")],
  ["T-02: with an override", override],
])("an approval does not carry over to a run that is created again: %s", (_, change) => {
  const world = waiting();
  const asked = gateOf(world, "first", 0);
  const [anns, bobs] = [answer(world, "ann", asked.digest), answerOf("bob", asked.digest)];
  expect(settle(world).join()).toMatch(/FLT1206: 1 of 2 approvals .* bob, carol may approve/);
  expect(verdictOf(world, anns)).toBe("counts");
  discard(world);
  change(world);
  run(world, "first");
  settle(world);
  push(world, [bobs], by("bob"));
  const said = settle(world).join("\n");
  const stage = recordOf(world, "first").stages.length - 1;
  expect(gateOf(world, "first", stage).digest).not.toBe(asked.digest);
  expect(verdictOf(world, anns)).toMatch(/^FLT1201: .* answered run first, before stage prod, which is not asked for/);
  expect(verdictOf(world, bobs)).toMatch(/^FLT1201: .* answers no request that is open/);
  for (const { path } of [anns, bobs]) expect(said).toContain(`${path} of `);
  expect(carries(world)["m3"]).toBe("-");
  for (const who of ["ann", "bob"]) answer(world, who, gateOf(world, "first", stage).digest);
  settle(world);
  expect(carries(world)["m3"]).not.toBe("-");
});

test("T-02: an approval does not carry over to the same run of another index", () => {
  const world = fleet(gated);
  run(world, "first");
  settle(world);
  answer(world, "ann", gateOf(world, "first", 0).digest);
  settle(world);
  edit(world, "one");
  run(world, "second");
  settle(world);
  answer(world, "ann", gateOf(world, "second", 0).digest);
  settle(world);
  run(world, "back", by("dave"), "0");
  settle(world);
  const asked = gateOf(world, "back", 0).digest;
  world.commit(() => world.runs.delete(runKey(null, "back")), by("dave"));
  settle(world);
  edit(world, "two");
  run(world, "back", by("dave"));
  const late = answer(world, "bob", asked);
  settle(world);
  expect([verdictOf(world, late).slice(0, 7), carries(world)]).toEqual(["FLT1201", all("one")]);
  answer(world, "bob", gateOf(world, "back", 0).digest);
  settle(world);
  expect(carries(world)).toEqual(all("two"));
});

describe("what was frozen stands, and so does its approval", () => {
  test.each<readonly [string, (world: World) => void]>([
    ["new content", (world) => edit(world, "one")],
    ["a strategy without stages to ask before", (world) => strategy(world, "prod/3")],
    ["an override", override],
  ])("T-02: %s on main while the gate is open", (_, change) => {
    const world = waiting();
    const asked = gateOf(world, "first", 0);
    answer(world, "ann", asked.digest);
    settle(world);
    change(world);
    settle(world);
    expect([gateOf(world, "first", 0), carries(world)]).toEqual([asked, none]);
    answer(world, "bob", asked.digest);
    settle(world);
    expect(carries(world)).toEqual(all("zero"));
  });
});

test("T-03: an approval given in a fleet with the same history does not count in another one", () => {
  const staging = waiting();
  const other = new World();
  other.now = later(other.now, minutes(1));
  const prod = fleet(gated, two, ["external"], other);
  run(prod, "first");
  settle(prod);
  const [here, there] = [gateOf(prod, "first", 0), gateOf(staging, "first", 0)];
  // The clock apart, everything is alike, the nonce too: only the name of the fleet tells them apart.
  expect({ ...here, digest: there.digest, requestedAt: there.requestedAt }).toEqual(there);
  const files = ["ann", "bob"].map((who) => answer(prod, who, there.digest));
  settle(prod);
  expect(files.map((it) => verdictOf(prod, it).slice(0, 7))).toEqual(["FLT1201", "FLT1201"]);
  expect(carries(prod)).toEqual(none);
  for (const who of ["ann", "bob"]) answer(prod, who, here.digest);
  settle(prod);
  expect(carries(prod)).toEqual(all("zero"));
});

test("T-21: a request that somebody forged on the state branch is opened by no approval of another one", () => {
  const world = fleet(gated);
  run(world, "first");
  settle(world);
  const { digest } = gateOf(world, "first", 0);
  answer(world, "ann", digest);
  settle(world);
  edit(world, "malice");
  run(world, "second");
  settle(world);
  const before = world.head;
  const second = recordOf(world, "second");
  const stages = second.stages.map((it) => ({
    ...it,
    before: requested(it.before.Approval && { ...it.before.Approval, digest }),
  }));
  world.head = { ...before, runs: new Map([...before.runs, [second.key, { ...second, stages }]]) };
  expect(settle(world).join()).toMatch(
    /names another request here than this run makes; create the run again, and verify/,
  );
  expect(carries(world)).toEqual(all("zero"));
  world.head = { ...before, sequence: world.head.sequence };
  answer(world, "ann", gateOf(world, "second", 0).digest);
  settle(world);
  expect(carries(world)).toEqual(all("malice"));
});

describe("T-04: nobody approves before he is asked", () => {
  const asked = (world: World): Digest => {
    run(world, "first");
    settle(world);
    return gateOf(world, "first", 0).digest;
  };

  test("who knows all but the entropy of the pass does not know the digest", () => {
    const other = new World();
    const unlike = fleet(gated, trust(), ["external"], other);
    // One more pass, in which nothing happens.
    settle(unlike);
    expect(asked(unlike)).not.toBe(asked(fleet(gated)));
  });

  test("even the right digest does not count when it was there before the request", () => {
    const oracle = asked(fleet(gated));
    const world = fleet(gated);
    const early = answerOf("bob", oracle);
    world.commit(() => world.approvals.push(early), by("bob"));
    // The same pass takes the run and the file.
    expect(asked(world)).toBe(oracle);
    expect(verdictOf(world, early)).toMatch(/^FLT1201: /);
    expect(carries(world)).toEqual(none);
    answer(world, "bob", oracle);
    settle(world);
    expect(carries(world)).toEqual(all("zero"));
  });
});

describe("T-05: an approval is written once", () => {
  const rows: readonly (readonly [string, ...((world: World, file: ReturnType<typeof answerOf>) => void)[]])[] = [
    [
      "put there again by nobody",
      (world, file) => take(world, file, by("ann")),
      (world, file) => push(world, [file], byNobody),
    ],
    [
      "put there again by somebody else",
      (world, file) => take(world, file, by("ann")),
      (world, file) => push(world, [file], by("carol")),
    ],
    [
      "taken away and put there again by an attacker",
      (world, file) => take(world, file),
      (world, file) => push(world, [file], byNobody),
    ],
    [
      "changed in place and changed back",
      (world, file) => {
        take(world, file);
        push(world, [{ ...file, blob: answerOf("ann", file.digest).blob, comment: "not me" }], byNobody);
      },
      (world, file) => {
        take(world, file);
        push(world, [file], byNobody);
      },
    ],
  ];
  for (const [name, ...steps] of rows)
    for (const isSeen of [true, false])
      test(`${name}, ${isSeen ? "and seen in between" : "all in one push"}`, () => {
        const world = waiting();
        const { digest } = gateOf(world, "first", 0);
        const file = answer(world, "ann", digest);
        settle(world);
        expect(verdictOf(world, file)).toBe("counts");
        for (const step of steps) {
          step(world, file);
          if (isSeen) settle(world);
        }
        const bobs = answer(world, "bob", digest);
        const said = settle(world).join("\n");
        expect([verdictOf(world, bobs), carries(world)]).toEqual(["counts", none]);
        expect(said).toMatch(new RegExp(`${file.path} of ann does not count: FLT1212: .* in a commit of your own`));
        answer(world, "ann", digest);
        settle(world);
        expect(carries(world)).toEqual(all("zero"));
      });

  test("who takes his approval away takes it back", () => {
    const world = waiting();
    const { digest } = gateOf(world, "first", 0);
    const file = answer(world, "ann", digest);
    settle(world);
    take(world, file, by("ann"));
    answer(world, "bob", digest);
    expect(settle(world).join()).toMatch(/FLT1206: 1 of 2 approvals/);
    expect(carries(world)).toEqual(none);
  });

  test("an approval stays when another file comes or goes", () => {
    const world = waiting();
    const { digest } = gateOf(world, "first", 0);
    answer(world, "ann", digest);
    settle(world);
    const noise = answer(world, "carol", "ff".repeat(32) as Digest);
    settle(world);
    take(world, noise);
    settle(world);
    answer(world, "bob", digest);
    settle(world);
    expect(carries(world)).toEqual(all("zero"));
  });

  test("what was consumed stays, whatever becomes of the file", () => {
    const world = fleet(["canary:env=canary/ask-before", "prod:env=prod/3/wait=60"]);
    run(world, "first");
    settle(world);
    const file = answer(world, "ann", gateOf(world, "first", 0).digest);
    settle(world);
    take(world, file);
    settle(world);
    expect(gateOf(world, "first", 0).approval?.by.map((it) => it.path)).toEqual([file.path]);
    expect(carries(world)).toEqual(all("zero"));
  });

  test("a rejection that is taken away, or changed, counts all the same", () => {
    for (const isChanged of [false, true]) {
      const world = waiting();
      const { digest } = gateOf(world, "first", 0);
      const no = answer(world, "ann", digest, { decision: "Reject" });
      settle(world);
      take(world, no);
      if (isChanged) push(world, [{ ...no, blob: answerOf("ann", digest).blob, decision: "Approve" }], by("ann"));
      settle(world);
      for (const who of ["ann", "bob"]) answer(world, who, digest);
      settle(world);
      expect(carries(world)).toEqual(none);
      expect(recordOf(world, "first").end).toMatchObject({ code: "Rejected" });
    }
  });
});
