// Reviews on a forge as evidence: when one is asked for, when it counts, and what becomes of a file while nobody
// answers (`trust/README.md#merged-pull-requests`, D-04).
import { describe, expect, it, test } from "vitest";
import { check } from "../../../../src/core/check/check.ts";
import type { ForgeFinding } from "../../../../src/core/model/history.ts";
import type { ApprovalFile, Evidence, Trust } from "../../../../src/core/model/trust.ts";
import { type Commit, later, minutes } from "../../../../src/core/model/value.ts";
import { reviewsToAsk } from "../../../../src/core/plan/approval/reviews.ts";
import type { World } from "../../../world.ts";
import {
  answerOf,
  by,
  byNobody,
  carries,
  edit,
  everything,
  fleet,
  gateOf,
  nextOf,
  pass,
  push,
  rootsSign,
  run,
  settle,
  take,
  trust,
  trustedBy,
  verdictOf,
} from "./trusted-world.ts";

const accepting = (...accept: readonly Evidence[]): Trust => trust({ approvals: [everything({ accept })] });
const forge = accepting("commit", "forge");

/** A run that waits for approval, after a change by Dave. */
function waiting(file: Trust = forge): World {
  const world = fleet(["prod/3/ask-before"], file);
  run(world, "first");
  settle(world);
  return world;
}

const asked = (world: World) => gateOf(world, "first", 0).digest;

/** Ann's answer, in a commit that nobody signed. */
function merged(world: World, more: Partial<ApprovalFile> = {}): ApprovalFile {
  const file = answerOf("ann", asked(world), more);
  push(world, [file], byNobody);
  return file;
}

function judgedAlready(world: World): void {
  merged(world);
  settle(world);
}

const says = (world: World, { path }: ApprovalFile, finding: ForgeFinding): void => {
  const isSilent = finding.kind === "unavailable";
  const reviewsAt = isSilent ? later(world.now, minutes(1)) : null;
  world.history = { ...world.history, reviews: new Map([[path, finding]]), reviewsAt };
};
const reviewOf = ({ blob }: ApprovalFile, account = "1"): ForgeFinding => ({
  kind: "reviewed",
  reviews: [{ forge: "github", account, blob, source: "review 9 of pull request 4 on github.com/team/fleet" }],
});
const silence: ForgeFinding = { kind: "unavailable", because: "the forge is down" };
const everywhere = (value: string) => {
  const line = `ConfigMap web/settings ${value}`;
  return { m1: line, m2: line, m3: line };
};
const nowhere = { m1: "-", m2: "-", m3: "-" };

describe("a review opens a stage", () => {
  it("where the trust file says so, and the record says where it can be looked up", () => {
    const world = waiting();
    const file = merged(world);
    says(world, file, reviewOf(file));
    settle(world);
    expect(carries(world)).toEqual(everywhere("zero"));
    const source = "review 9 of pull request 4 on github.com/team/fleet";
    expect(gateOf(world, "first", 0).approval?.by).toMatchObject([
      { principal: "ann", proofs: [{ evidence: "forge", key: "github:1", source }] },
    ]);
  });

  const rows: readonly (readonly [string, Trust, (file: ApprovalFile) => ForgeFinding, RegExp])[] = [
    ["D-04: where it does not", accepting("commit", "detached"), reviewOf, /FLT1219: given as forge/],
    ["by an account of nobody", forge, (file) => reviewOf(file, "2"), /FLT1202: .*github:2/],
    [
      "that is none",
      forge,
      () => ({ kind: "none", because: "nobody approved it" }),
      /no review counts: nobody approved/,
    ],
    ["of another text", forge, (file) => reviewOf({ ...file, blob: answerOf("x", file.digest).blob }), /FLT1211/],
  ];
  it.each(rows)("but not %s", (_, file, finding, words) => {
    const world = waiting(file);
    const answer = merged(world);
    says(world, answer, finding(answer));
    settle(world);
    expect(verdictOf(world, answer)).toMatch(words);
    expect(carries(world)).toEqual(nowhere);
  });

  it("T-06: but not by the one who made the change", () => {
    const world = fleet(["prod/3/ask-before"], forge);
    edit(world, "one", by("ann"));
    run(world, "first");
    settle(world);
    const file = merged(world);
    says(world, file, reviewOf(file));
    settle(world);
    expect(verdictOf(world, file)).toMatch(/FLT1205: four eyes: ann signed a change/);
  });
});

describe("the forge is asked", () => {
  it("about a file that nothing else proves, and by which commits it came", () => {
    const world = waiting();
    const { path, blob } = merged(world);
    const head = world.look().intent.commit;
    expect(reviewsToAsk(world.look())).toEqual([{ path, blob, introducer: head, arrival: head }]);
  });

  it("and told of the merge that brought it", () => {
    const world = waiting();
    const base = world.look().intent.commit;
    const file = answerOf("ann", asked(world));
    const introducer = "feature" as Commit;
    const changes = [{ path: file.path, before: null, after: file.blob }];
    world.facts.set(introducer, {
      ...{ commit: introducer, parents: [base], changes, claimedAuthor: "bot", merge: null },
      ...byNobody,
    });
    world.commit(() => world.approvals.push(file), { parents: [base, introducer], changes: [], merge: "clean" });
    edit(world, "later");
    const arrival = world.facts.get(world.look().intent.commit)?.parents[0];
    expect(reviewsToAsk(world.look())).toMatchObject([{ introducer, arrival }]);
  });

  const rows: readonly (readonly [string, Trust, (world: World) => unknown])[] = [
    ["where no rule takes its word", accepting("commit", "detached"), (it) => merged(it)],
    ["where a signature does", forge, (it) => push(it, [answerOf("ann", asked(it))], by("ann"))],
    ["about somebody whose account nobody knows", forge, (it) => merged(it, { principal: "bob" })],
    ["about somebody who may not approve", forge, (it) => merged(it, { principal: "dave" })],
    [
      "about what nobody asked for",
      forge,
      (it) => merged(it, { digest: answerOf("x", asked(it)).digest.replace(/./g, "0") as never }),
    ],
    ["about what was judged", forge, judgedAlready],
    ["about what is gone", forge, (it) => take(it, merged(it))],
  ];
  it.each(rows)("not %s", (_, file, act) => {
    const world = waiting(file);
    act(world);
    expect(reviewsToAsk(world.look())).toEqual([]);
  });
});

describe("while the forge does not answer", () => {
  test("a file is not judged, which is said, and looked at again; then it counts as if it came now", () => {
    const world = waiting();
    const file = merged(world);
    says(world, file, silence);
    const passed = pass(world);
    expect(verdictOf(world, file)).toBe("was not judged");
    expect(passed.plan.reasons).toContainEqual({
      ...{ kind: "answerPending", path: file.path, principal: "ann", code: "FLT1240", message: "the forge is down" },
    });
    expect(passed.plan.wakeAt).toBe(later(world.now, minutes(1)));
    edit(world, "meanwhile");
    settle(world);
    world.restart();
    expect(carries(world)).toEqual(nowhere);
    says(world, file, reviewOf(file));
    settle(world);
    expect(verdictOf(world, file)).toBe("counts");
    expect(carries(world)).toEqual(everywhere("zero"));
  });

  test("T-05: who puts back what was taken away meanwhile does not make it count", () => {
    const world = waiting();
    const file = merged(world);
    says(world, file, silence);
    settle(world);
    take(world, file);
    settle(world);
    push(world, [file], byNobody);
    says(world, file, reviewOf(file));
    settle(world);
    expect(verdictOf(world, file)).toMatch(/FLT1211: .* put there more than once/);
    expect(carries(world)).toEqual(nowhere);
  });

  test("T-08: a trust file that came after it does not judge it", () => {
    const world = waiting();
    const file = merged(world);
    says(world, file, silence);
    settle(world);
    rootsSign(world, "ann", "bob");
    trustedBy(world, nextOf(forge));
    settle(world);
    expect(world.head.trust?.trust.version).toBe(2);
    says(world, file, reviewOf(file));
    settle(world);
    expect(verdictOf(world, file)).toMatch(/FLT1211: no commit is known that added/);
    expect(carries(world)).toEqual(nowhere);
  });
});

test("the second opinion takes no forge's word that nobody gave", () => {
  const world = waiting();
  const file = merged(world);
  says(world, file, reviewOf(file));
  const { plan, seen } = pass(world);
  expect(check(plan, seen)).toEqual([]);
  for (const reviews of [
    new Map(),
    new Map([[file.path, { kind: "none", because: "nobody approved it" } as const]]),
    new Map([[file.path, reviewOf(file, "2")]]),
    new Map([[file.path, reviewOf({ ...file, blob: "other" as ApprovalFile["blob"] })]]),
  ])
    expect(check(plan, { ...seen, history: { ...seen.history, reviews } }).map((it) => it.message)).toContainEqual(
      `counts ${file.path}, which its proofs do not prove`,
    );
});
