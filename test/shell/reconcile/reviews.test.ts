// A forge is asked about as little as matters, as seldom as that goes, and its silence decides nothing.
import { afterEach, describe, expect, test } from "vitest";
import type { ForgeFinding, ReviewQuestion } from "../../../src/core/model/history.ts";
import { type Commit, later, minutes, seconds } from "../../../src/core/model/value.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import type { Forge } from "../../../src/shell/reconcile/ports.ts";
import { withReviews } from "../../../src/shell/reconcile/reviews.ts";
import {
  answerOf,
  byNobody,
  everything,
  fleet,
  gateOf,
  push,
  run,
  settle,
  trust,
} from "../../core/plan/approval/trusted-world.ts";
import { hasSshKeygen } from "../signature/workshop.ts";
import { type AuditedHub, auditedHub } from "./audited-hub.ts";

interface Booth extends Forge {
  says: (question: ReviewQuestion) => ForgeFinding;
  readonly asked: ReviewQuestion[];
  /** How many questions were under way at once, at most. */
  readonly most: () => number;
}

const silence: ForgeFinding = { kind: "unavailable", because: "the forge is down" };
const reviewed = ({ blob }: ReviewQuestion): ForgeFinding => ({
  kind: "reviewed",
  reviews: [{ forge: "github", account: "7", blob, source: "review 9 of pull request 4 on github.com/team/fleet" }],
});

function booth(says: Booth["says"]): Booth {
  let open = 0;
  let most = 0;
  const it: Booth = {
    name: "github.com/team/fleet",
    says,
    asked: [],
    most: () => most,
    async review(question) {
      it.asked.push(question);
      open += 1;
      most = Math.max(most, open);
      await Promise.resolve();
      open -= 1;
      return it.says(question);
    },
  };
  return it;
}

describe.skipIf(!hasSshKeygen)("an approval that a review proves", () => {
  let hub: AuditedHub;
  afterEach(() => hub.close());
  const verified = async () => {
    const { faults, unproved } = await hub.verify();
    return { faults: faults.map((it) => it.what), left: unproved.filter((it) => /^\d/.test(it)) };
  };

  test("counts, is recorded with where to look it up, and an audit takes the forge's word and says so", async () => {
    const forge = booth(reviewed);
    hub = await auditedHub({ forge });
    await hub.settle();
    const squashed: Commit = hub.push(null, await hub.answer("bob"));
    await hub.settle();
    expect(forge.asked).toMatchObject([
      { introducer: squashed, arrival: squashed, path: "approvals/first-bob-approve.yaml" },
    ]);
    expect(hub.stateFile("answers.yaml")).toMatch(
      /evidence: forge\s+key: "?github:7"?\s+source: review 9 of pull request 4/,
    );
    expect(hub.stateFile("runs/first/run.yaml")).toContain("review 9 of pull request 4");
    expect(await verified()).toEqual({
      faults: [],
      left: ["1 approvals that depend on the forge, which is not asked here"],
    });
  });

  test("waits while the forge is silent, which is asked once a minute, and counts then", async () => {
    const forge = booth(() => silence);
    hub = await auditedHub({ forge });
    await hub.settle();
    const memory = newMemory();
    hub.push(null, await hub.answer("bob"));
    await hub.settle(memory);
    hub.push(hub.ann, {
      "web/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: web}\n",
    });
    await hub.settle(memory);
    expect(forge.asked).toHaveLength(1);
    expect(() => hub.stateFile("answers.yaml")).toThrow();
    forge.says = reviewed;
    await hub.clock.advance(minutes(1));
    await hub.settle(memory);
    expect(forge.asked).toHaveLength(2);
    expect(hub.stateFile("answers.yaml")).toContain("evidence: forge");
    const { faults, left } = await verified();
    expect(faults).toEqual([]);
    expect(left).toContainEqual(expect.stringMatching(/^\d+ times an approval had to wait/));
  });
});

describe("a pass", () => {
  const crowd = (count: number) => {
    const world = fleet(["prod/3/ask-before"], trust({ approvals: [everything({ accept: ["forge"] })] }));
    run(world, "first");
    settle(world);
    const { digest } = gateOf(world, "first", 0);
    for (let i = 0; i < count; i++) push(world, [answerOf("ann", digest)], byNobody);
    return world.look();
  };

  test("asks fifty questions, half of them at once, and the others in the next one", async () => {
    const seen = crowd(60);
    const memory = newMemory();
    const forge = booth(() => ({ kind: "none", because: "nobody approved it" }));
    const first = await withReviews({ forge }, memory, seen);
    expect([forge.asked.length, forge.most()]).toEqual([50, 25]);
    expect([...first.history.reviews.values()].filter((it) => it.kind === "unavailable")).toHaveLength(10);
    expect(first.history.reviewsAt).toBe(later(seen.now, minutes(1)));
    const second = await withReviews({ forge }, memory, seen);
    expect(forge.asked).toHaveLength(60);
    expect([...second.history.reviews.values()].every((it) => it.kind === "none")).toBe(true);
    expect(second.history.reviewsAt).toBeNull();
  });

  test("asks no more once the forge is silent, and a minute later again", async () => {
    const seen = crowd(40);
    const memory = newMemory();
    const forge = booth(() => silence);
    await withReviews({ forge }, memory, seen);
    expect(forge.asked).toHaveLength(25);
    const soon = await withReviews({ forge }, memory, { ...seen, now: later(seen.now, seconds(59)) });
    expect(forge.asked).toHaveLength(25);
    expect(soon.history.reviewsAt).toBe(later(seen.now, minutes(1)));
    await withReviews({ forge }, memory, { ...seen, now: later(seen.now, minutes(1)) });
    expect(forge.asked).toHaveLength(50);
  });

  test("asks others first than those that never have an answer", async () => {
    const seen = crowd(30);
    const memory = newMemory();
    const stuck = new Set(seen.intent.approvals.slice(0, 25).map((it) => it.path));
    const forge = booth((it) => (stuck.has(it.path) ? silence : reviewed(it)));
    await withReviews({ forge }, memory, seen);
    expect(new Set(forge.asked.map((it) => it.path))).toEqual(stuck);
    const { history } = await withReviews({ forge }, memory, { ...seen, now: later(seen.now, minutes(1)) });
    expect([...history.reviews.values()].filter((it) => it.kind === "reviewed")).toHaveLength(5);
  });

  test("without a forge says that nobody is asked, and with nothing to ask changes nothing", async () => {
    const { history } = await withReviews({}, newMemory(), crowd(1));
    expect([...history.reviews.values()]).toEqual([
      { kind: "unavailable", because: expect.stringContaining("flotilla reconcile --forge URL") },
    ]);
    const nothing = crowd(0);
    expect(await withReviews({}, newMemory(), nothing)).toBe(nothing);
  });
});
