// Keys are revoked, rules change and time passes, between a request and its answer
// (`trust/README.md#expiry-and-revocation`).
import { describe, expect, test } from "vitest";
import type { ApprovalRule, Trust } from "../../../../src/core/model/trust.ts";
import { minutes } from "../../../../src/core/model/value.ts";
import type { World } from "../../../world.ts";
import {
  answer,
  by,
  carries,
  everything,
  fleet,
  gateOf,
  inDays,
  nextOf,
  recordOf,
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

describe("a key that is revoked", () => {
  const first = trust({ approvals: [everything({ minimum: 2 })] });
  const revoking = (kind: "retired" | "compromised", ...keys: readonly string[]): Trust =>
    nextOf(first, { revocations: keys.map((it) => ({ key: `SHA256:${it}`, kind })) });

  test("retired: what was judged before stands, what comes after does not", () => {
    const world = waiting(first);
    const early = answer(world, "carol", asked(world));
    settle(world);
    replace(world, revoking("retired", "carol"), "ann", "bob");
    settle(world);
    expect(verdictOf(world, early)).toBe("counts");
    const late = answer(world, "carol", asked(world));
    settle(world);
    expect(verdictOf(world, late)).toMatch(/^FLT1203: .* SHA256:carol, which is retired/);
    opens(world, "ann");
  });

  test("compromised: what was judged before opens nothing any more", () => {
    const world = waiting(first);
    answer(world, "carol", asked(world));
    settle(world);
    replace(world, revoking("compromised", "carol"), "ann", "bob");
    answer(world, "ann", asked(world));
    expect(settle(world).join()).toMatch(/FLT1206: 1 of 2 approvals/);
    expect(carries(world)).toEqual(none);
    opens(world, "bob");
  });

  test.each(["retired", "compromised"] as const)("%s while a run goes on by its approval", (kind) => {
    const world = fleet(["prod/1/ask-before"], first);
    run(world, "first");
    settle(world);
    world.member("m2").silence = { code: "Unreachable", message: "no answer" };
    for (const who of ["ann", "carol"]) answer(world, who, asked(world));
    settle(world);
    expect(carries(world)).toEqual({ ...none, m1: line("zero") });
    replace(world, revoking(kind, "carol"), "ann", "bob");
    settle(world);
    world.member("m2").silence = null;
    const said = settle(world).join("\n");
    if (kind === "retired") return expect(carries(world)).toEqual(all);
    // What was decided before is carried out: it is under way. Nothing new starts.
    expect(carries(world)).toEqual({ ...all, m3: "-" });
    expect(said).toMatch(/run first: starts nothing new: ApproverKeyCompromised: .* ann and carol .* create a new run/);
    expect(recordOf(world, "first").end).toBeNull();
    run(world, "second");
    settle(world);
    for (const who of ["ann", "bob"]) answer(world, who, gateOf(world, "second", 0).digest);
    settle(world);
    return expect(carries(world)).toEqual(all);
  });
});

describe("a request is made anew, and says so", () => {
  const first = trust({ approvals: [everything({ minimum: 2 })] });
  const ruled = (more: Partial<ApprovalRule>) => nextOf(first, { approvals: [everything(more)] });

  test("when a rule changes that it has to meet", () => {
    const world = waiting(first);
    const before = asked(world);
    answer(world, "ann", before);
    settle(world);
    replace(world, ruled({ minimum: 2, principals: ["ann", "carol"] }), "ann", "bob");
    const said = settle(world).join("\n");
    expect(asked(world)).not.toBe(before);
    expect(said).toMatch(/ann does not count: FLT1201: .* what has to be met, or what would happen, is another now/);
    opens(world, "ann", "carol");
  });

  test("not when a rule changes that has nothing to do with it", () => {
    const world = waiting(first);
    const before = asked(world);
    answer(world, "ann", before);
    settle(world);
    const other = everything({ placements: ["shop"], minimum: 1 });
    replace(world, nextOf(first, { approvals: [...first.approvals, other] }), "ann", "bob");
    settle(world);
    expect([asked(world), inForce(world)]).toEqual([before, 2]);
    opens(world, "bob");
  });

  test("after a day, and not before", () => {
    const world = waiting(first);
    const before = asked(world);
    const file = answer(world, "ann", before);
    settle(world);
    world.now = inDays(world, 1);
    world.wait(minutes(-1));
    settle(world);
    expect(asked(world)).toBe(before);
    world.wait(minutes(1));
    settle(world);
    expect(asked(world)).not.toBe(before);
    expect(verdictOf(world, file)).toMatch(/^FLT1201: /);
    opens(world, "ann", "bob");
  });
});
