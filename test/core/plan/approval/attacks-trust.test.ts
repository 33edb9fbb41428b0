// Who may approve is changed by somebody who may not, or is lost (`trust/README.md#the-trust-file`,
// `#expiry-and-revocation`, `#threats`, T-08 to T-10).
import { describe, expect, test } from "vitest";
import type { Trust } from "../../../../src/core/model/trust.ts";
import type { World } from "../../../world.ts";
import { digest, somebody } from "../../trust/scene.ts";
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
  inDays,
  nextOf,
  push,
  rootsSign,
  run,
  settle,
  trust,
  trustedBy,
  verdictOf,
} from "./trusted-world.ts";

const gated = ["prod/3/ask-before"];
const none = { m1: "-", m2: "-", m3: "-" };
const line = (value: string) => `ConfigMap web/settings ${value}`;
const all = { m1: line("zero"), m2: line("zero"), m3: line("zero") };

function waiting(file: Trust = trust(), stages: readonly string[] = gated): World {
  const world = fleet(stages, file);
  run(world, "first");
  settle(world);
  return world;
}

const put = (world: World, file: World["trust"]): void =>
  world.commit(() => {
    world.trust = file;
  }, byNobody);

const asked = (world: World, stage = 0) => gateOf(world, "first", stage).digest;
const opens = (world: World, ...people: readonly string[]): void => {
  for (const who of people) answer(world, who, asked(world));
  settle(world);
  expect(carries(world)).toEqual(all);
};

/** Pushes a version, with the signatures of those roots. */
function replace(world: World, file: Trust, ...roots: readonly string[]): void {
  trustedBy(world, file, by(roots[0] ?? "stranger"));
  rootsSign(world, ...roots);
}

const inForce = (world: World): number | undefined => world.head.trust?.trust.version;

describe("T-08: what a push says of who may approve decides nothing about the rest of the push", () => {
  const erin = (file: Trust): Partial<Trust> => ({
    principals: new Map([...file.principals, ["erin", somebody("erin")]]),
  });

  test("a key added with the approval that it signs", () => {
    const first = trust({ approvals: [everything({ principals: ["ann", "erin"] })] });
    const world = waiting(first);
    replace(world, nextOf(first, erin(first)), "ann", "bob");
    const file = answer(world, "erin", asked(world));
    const said = settle(world).join("\n");
    expect([inForce(world), carries(world)]).toEqual([2, none]);
    expect(verdictOf(world, file)).toMatch(/^FLT1202: .* SHA256:erin, which trust\/root.yaml lists for nobody/);
    expect(said).toContain(`${file.path} of erin does not count`);
    opens(world, "erin");
  });

  test("a rule changed with the approval that it allows", () => {
    const first = trust({ approvals: [everything({ minimum: 2 })] });
    const world = waiting(first);
    replace(world, nextOf(first, { approvals: [everything({ minimum: 1 })] }), "ann", "bob");
    const file = answer(world, "ann", asked(world));
    settle(world);
    expect([inForce(world), carries(world)]).toEqual([2, none]);
    expect(verdictOf(world, file)).toMatch(/^FLT1201: .* as it was before: what has to be met.* is another now/);
    opens(world, "carol");
  });

  test("the first trust file in one push with the first approval", () => {
    const world = fleet(gated, null);
    run(world, "first");
    settle(world);
    const before = asked(world);
    trustedBy(world, trust());
    const file = answer(world, "ann", before);
    settle(world);
    expect([inForce(world), carries(world)]).toEqual([1, none]);
    expect(verdictOf(world, file)).toMatch(/^FLT1201: /);
    opens(world, "ann");
  });

  test("a commit that changes trust/ and something else", () => {
    const first = trust();
    const world = waiting(first);
    world.commit(() => {
      const next = nextOf(first, erin(first));
      world.trust = { blob: "trust-x" as never, text: "version 2", trust: next };
      world.approvals.push(answerOf("ann", asked(world)));
    }, by("ann"));
    rootsSign(world, "ann", "bob");
    expect(settle(world).join()).toMatch(/every gate is closed: FLT1236: commit .* changes trust\/ and approvals/);
    expect([inForce(world), carries(world)]).toEqual([1, none]);
  });
});

describe("T-09: trust follows what was in force, and nothing else does", () => {
  const first = trust();
  const second = nextOf(first, { approvals: [everything({ principals: ["ann"] })] });
  const rows: readonly (readonly [string, Trust, RegExp])[] = [
    ["skips a version", nextOf(nextOf(second)), /FLT1220: trust\/root.yaml is version 4; the next one is 3/],
    ["repeats a version", { ...second, digest: digest("9") }, /FLT1220: .* is another text of version 2; restore/],
    ["rolls back", first, /FLT1220: .* goes back to version 1; restore version 2, whose SHA-256 is 2222/],
    ["forks", nextOf(second, { previous: digest("8") }), /FLT1220: .* names another version before it; write the SHA/],
    ["expires in a lifetime", nextOf(second, { expires: 9e12 as never }), /FLT1225: .* two years ahead is the most/],
  ];

  test.each(rows)("a version that %s is refused, and one that follows is not", (_, bad, want) => {
    const world = waiting(first);
    replace(world, second, "ann", "bob");
    settle(world);
    expect(inForce(world)).toBe(2);
    replace(world, bad, "ann", "bob", "carol");
    const file = answer(world, "ann", asked(world));
    const said = settle(world).join("\n");
    expect(said).toMatch(want);
    expect(said).toMatch(/run first, stage prod: .* FLT12/);
    expect([inForce(world), carries(world)]).toEqual([2, none]);
    // Judged by what is in force, and kept: putting that back opens the gate.
    expect(verdictOf(world, file)).toBe("counts");
    replace(world, second, "ann", "bob");
    settle(world);
    expect(carries(world)).toEqual(all);
    replace(world, nextOf(second), "ann", "bob");
    settle(world);
    expect(inForce(world)).toBe(3);
  });

  test("too few roots, or one with two keys, sign nothing into force", () => {
    const world = waiting(first);
    replace(world, second, "ann", "ann2");
    expect(settle(world).join()).toMatch(/FLT1222: .* signed by 1 of the 2 roots .* \(ann\); it needs .* bob, carol/);
    expect(inForce(world)).toBe(1);
  });

  test("a root that signs days later is heard, and what was judged meanwhile stands", () => {
    const world = waiting(first);
    replace(world, second, "ann");
    expect(settle(world).join()).toMatch(/FLT1222: /);
    answer(world, "bob", asked(world));
    settle(world);
    edit(world, "noise");
    settle(world);
    world.now = inDays(world, 0.5);
    world.commit(() => {}, {
      ...by("bob"),
      changes: [{ path: "trust/sigs/2.bob.sig", before: null, after: "s" as never }],
    });
    rootsSign(world, "ann", "bob");
    settle(world);
    expect([inForce(world), carries(world)]).toEqual([2, none]);
    opens(world, "ann");
  });

  test("a new anchor lifts the chain where nobody can sign any more, and never backwards", () => {
    const world = waiting(first);
    const later = nextOf(nextOf(second), { previous: null });
    trustedBy(world, later, byNobody);
    rootsSign(world);
    expect(settle(world).join()).toMatch(/FLT1220: /);
    world.anchor = later.digest;
    settle(world);
    expect([inForce(world), world.head.trust?.by]).toEqual([4, "anchor"]);
    world.anchor = first.digest;
    trustedBy(world, first, byNobody);
    expect(settle(world).join()).toMatch(/FLT1220: .* goes back to version 1/);
    expect(inForce(world)).toBe(4);
  });
});

describe("T-10: of a history that cannot be looked at, nothing counts", () => {
  test("an approval that no known commit brought", () => {
    const world = waiting();
    world.history = { gap: "the history was rewritten", news: [], commits: new Map() };
    const file = answer(world, "ann", asked(world));
    settle(world);
    expect([verdictOf(world, file).slice(0, 7), carries(world)]).toEqual(["FLT1211", none]);
    world.history = {};
    opens(world, "ann");
  });

  test("changes that nobody knows who made take one approval more", () => {
    const world = fleet(gated);
    world.history = { gap: "the clone is shallow" };
    run(world, "first");
    settle(world);
    expect(gateOf(world, "first", 0).authors.unknown).toBe(1);
    answer(world, "ann", asked(world));
    expect(settle(world).join()).toMatch(/FLT1206: 1 of 2 approvals/);
    opens(world, "bob");
  });
});

describe("where trust is broken every gate is closed, and what runs is left alone", () => {
  const stages = ["canary:env=canary", "prod:env=prod/2/ask-before"];
  const first = trust();
  const unusable = { blob: "broken" as never, text: "{", trust: null };
  const removed = { approvals: [], hasTrust: true };
  const rows: readonly (readonly [string, (world: World) => void, RegExp])[] = [
    ["removed", (world) => put(world, null), /FLT1221: .* is not there; restore version 1, whose SHA-256 is 1111/],
    ["unusable", (world) => put(world, unusable), /FLT1221: .* cannot be used; restore version 1/],
    [
      "signed by nobody",
      (world) => trustedBy(world, nextOf(first), byNobody),
      /FLT1222: .* needs the signature of ann, bob, carol/,
    ],
    [
      "without anybody who may approve",
      (world) => replace(world, nextOf(first, removed), "ann", "bob"),
      /FLT1214: .* add one/,
    ],
  ];

  test.each(rows)("%s", (name, harm, want) => {
    const world = waiting(first, stages);
    expect(carries(world)).toEqual({ ...none, m1: line("zero") });
    harm(world);
    settle(world);
    const file = answer(world, "ann", asked(world, 1));
    const before = world.head.placements;
    const said = settle(world).join("\n");
    expect(said).toMatch(want);
    expect(carries(world)).toEqual({ ...none, m1: line("zero") });
    expect(world.head.placements).toBe(before);
    if (name.startsWith("without")) return;
    expect(verdictOf(world, file)).toBe("counts");
    trustedBy(world, first, by("ann"));
    settle(world);
    expect(carries(world)).toEqual(all);
  });

  test("expired, until a new version is signed", () => {
    const world = waiting(first, stages);
    const good = answerOf("ann", asked(world, 1));
    push(world, [good], by("ann"));
    world.now = inDays(world, 301);
    const said = settle(world).join("\n");
    expect(said).toMatch(/FLT1216: trust\/root.yaml .*expired.*; sign a new version of it/);
    expect(carries(world)).toEqual({ ...none, m1: line("zero") });
    const next = nextOf(first, { expires: inDays(world, 300) });
    replace(world, next, "ann", "bob");
    settle(world);
    expect(carries(world)).toEqual({ ...none, m1: line("zero") });
    answer(world, "ann", asked(world, 1));
    settle(world);
    expect(carries(world)).toEqual(all);
  });
});
