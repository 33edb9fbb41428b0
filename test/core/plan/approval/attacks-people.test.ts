// Somebody approves who must not, or in a way that proves nothing (`trust/README.md#threats`, T-06, T-07, T-11 to T-14,
// T-19 …).
import { describe, expect, test } from "vitest";
import type { CommitFact, SignatureFact } from "../../../../src/core/model/commit.ts";
import type { ApprovalFile } from "../../../../src/core/model/trust.ts";
import { type Commit, type Instant, later, minutes } from "../../../../src/core/model/value.ts";
import { approvalNamespace } from "../../../../src/core/trust/judge-approval.ts";
import { objectOf } from "../../../intent.ts";
import { morning, type World, write } from "../../../world.ts";
import { certified, day, openpgp, ssh } from "../../trust/scene.ts";
import { all, asked, gated, honestly, none, outcome, waiting } from "../runs/one-run.ts";
import {
  answer,
  answerOf,
  by,
  carries,
  edit,
  everything,
  fleet,
  gateOf,
  inDays,
  push,
  recordOf,
  run,
  settle,
  trust,
  verdictOf,
} from "./trusted-world.ts";

describe("T-06: nobody approves their own change", () => {
  const names = ["ann", "bob", "carol", "dave"];

  test("who wrote what is rolled out", () => {
    const world = waiting({ principals: names });
    expect(outcome(world, answer(world, "dave", asked(world)))).toMatch(/^FLT1205: four eyes: dave signed a change/);
    honestly(world);
  });

  test("who made the run, and nothing else", () => {
    const world = fleet(gated, trust({ approvals: [everything()] }));
    run(world, "first", by("bob"));
    settle(world);
    expect(outcome(world, answer(world, "bob", asked(world)))).toMatch(/^FLT1205: .* bob/);
    honestly(world);
  });

  test("one person with two keys is one", () => {
    const world = waiting({ minimum: 2 });
    const files = ["bob", "bob2"].map((key) => {
      const file = answerOf("bob", asked(world));
      push(world, [file], by(key));
      return file;
    });
    expect(outcome(world, ...files)).toMatch(/FLT1206: 1 of 2 approvals for \* \/ \*; ann, carol may approve/);
    honestly(world);
  });

  test("who approves by his other key is the author all the same", () => {
    const world = waiting({}, (it) => {
      edit(it, "draft", by("bob"));
      edit(it, "zero");
    });
    const file = answerOf("bob", asked(world));
    push(world, [file], by("bob2"));
    expect(outcome(world, file)).toMatch(/^FLT1205: /);
  });

  test("somebody whom no rule names may not approve, and is told who may", () => {
    const world = waiting();
    expect(outcome(world, answer(world, "dave", asked(world)))).toMatch(
      /^FLT1214: dave may not approve this stage; ann, bob, carol may/,
    );
    honestly(world);
  });
});

describe("T-11: a merge brings no approval of its own", () => {
  /** A merge of a branch that adds an approval, or of one that does not. */
  function merged(world: World, file: ApprovalFile, smuggled: boolean): void {
    const head = world.intent().commit;
    const change = { path: file.path, before: null, after: file.blob };
    const side = `side-of-${head}` as Commit;
    const usual = { ...by("ann"), claimedAuthor: "Ann", merge: null };
    world.facts.set(side, { ...usual, commit: side, parents: [head], changes: smuggled ? [] : [change] });
    push(world, [file], {
      signature: smuggled ? ssh("ann") : openpgp("5DE3"),
      parents: [head, side],
      changes: smuggled ? [change] : [],
      merge: smuggled ? "unclean" : "clean",
    });
  }

  test("however it is signed", () => {
    const world = waiting();
    const file = answerOf("ann", asked(world));
    merged(world, file, true);
    expect(outcome(world, file)).toMatch(/^FLT1208: merge .* itself adds .*; commit it on its own/);
  });

  test("and brings the signed commits of its branch, whoever merges", () => {
    const world = waiting();
    merged(world, answerOf("ann", asked(world)), false);
    expect(outcome(world)).toBe("open");
    expect(carries(world)).toEqual(all);
  });
});

describe("T-13: what a forge signs for whoever may write proves nothing", () => {
  const webFlow: Partial<CommitFact> = { signature: openpgp("5DE3"), claimedAuthor: "Ann <ann@example.com>" };

  test("an approval written in the browser", () => {
    const world = waiting();
    const file = answerOf("ann", asked(world));
    push(world, [file], webFlow);
    expect(outcome(world, file)).toMatch(/^FLT1209: signed by web-flow, which is no person: .* use flotilla approve/);
    honestly(world);
  });

  test("an approval in the forge's own name", () => {
    const world = waiting({ principals: ["ann", "carol", "web-flow"] });
    const file = answerOf("web-flow", asked(world));
    push(world, [file], webFlow);
    expect(outcome(world, file)).toMatch(/^FLT1218: web-flow is a machine; people alone approve/);
    honestly(world);
  });

  test("a squash merge counts by the signature inside of the file", () => {
    const world = waiting();
    const file = answerOf("ann", asked(world));
    world.history = { detached: new Map([[file.blob, ssh("ann", approvalNamespace)]]) };
    push(world, [file], webFlow);
    expect(outcome(world)).toBe("open");
  });

  test("a signature inside of the file that is somebody else's spoils a good commit", () => {
    const world = waiting();
    const file = answerOf("ann", asked(world));
    world.history = { detached: new Map([[file.blob, ssh("bob", approvalNamespace)]]) };
    push(world, [file], by("ann"));
    expect(outcome(world, file)).toMatch(/^FLT1204: .* speaks for ann and is signed by bob/);
  });
});

describe("T-14: what a commit says of its own time proves nothing", () => {
  const bobs = (claimedAt: Instant | null): SignatureFact => ({ kind: "openpgp", fingerprint: "B0B", claimedAt });
  const old = later(morning, minutes(-300 * 24 * 60));
  const revocations = [{ key: "B0B", kind: "retired" }] as const;

  test.each([old, morning, null])("a key that is retired signs nothing, whenever it says it did: %s", (claimedAt) => {
    const world = fleet(gated, trust({ revocations }));
    run(world, "first");
    settle(world);
    const file = answerOf("bob", asked(world));
    push(world, [file], { signature: bobs(claimedAt) });
    expect(outcome(world, file)).toMatch(/^FLT1203: .* B0B, which is retired; sign with another key/);
    honestly(world);
  });

  test.each([old, later(morning, minutes(300 * 24 * 60))])("one that is not may say what it likes: %s", (claimedAt) => {
    const world = waiting();
    push(world, [answerOf("bob", asked(world))], { signature: bobs(claimedAt) });
    expect(outcome(world)).toBe("open");
  });

  const certificate = (from: number, to: number): SignatureFact => {
    const zero = morning - 1_800_000_000_000;
    return certified("laptop", ["bob"], zero + from, zero + to);
  };

  test.each([
    ["over", certificate(-2 * day, -day), /^FLT1203: .* was valid until .*; renew it/],
    ["yet to come", certificate(day, 2 * day), /^FLT1203: .* is valid only from/],
    ["now", certificate(-day, day), /^open$/],
  ])("a certificate whose time is %s by our clock", (_, signature, want) => {
    const world = waiting();
    const file = answerOf("bob", asked(world));
    push(world, [file], { signature });
    expect(outcome(world, file)).toMatch(want);
  });

  test("a request is old by our clock", () => {
    const world = waiting();
    const before = asked(world);
    world.now = inDays(world, 1);
    settle(world);
    const file = answer(world, "ann", before);
    expect(outcome(world, file)).toMatch(/^FLT1201: .* answers no request that is open/);
    honestly(world);
  });
});

describe("T-19: everybody answers for themselves", () => {
  test("one key for two people", () => {
    const world = waiting({ minimum: 2 });
    const files = ["ann", "bob"].map((who) => answerOf(who, asked(world)));
    push(world, files, by("ann"));
    settle(world);
    expect(files.map((it) => verdictOf(world, it))).toEqual([
      expect.stringMatching(/^FLT1207: .* of bob as well; commit approvals alone, each person their own/),
      expect.stringMatching(/^FLT1204: .* speaks for bob and is signed by ann; everybody answers in their own name/),
    ]);
    honestly(world);
  });

  test("an approval in a commit that changes something as well", () => {
    const world = waiting();
    const file = answerOf("ann", asked(world));
    world.commit(() => {
      world.approvals.push(file);
      write(world, objectOf("ConfigMap", "web/settings", "one"));
    }, by("ann"));
    expect(outcome(world, file)).toMatch(/^FLT1207: .* touches resources\/ConfigMap-web-settings.yaml as well/);
    honestly(world);
  });
});

describe("T-20: whoever says no outweighs all who say yes", () => {
  test.each([
    ["in one commit", true],
    ["in one push", false],
  ])("%s", (_, isOne) => {
    const world = waiting();
    const files = [answerOf("bob", asked(world)), answerOf("bob", asked(world), { decision: "Reject", comment: "no" })];
    if (isOne) push(world, files, by("bob"));
    else for (const it of files) push(world, [it], by("bob"));
    answer(world, "ann", asked(world));
    settle(world);
    expect(recordOf(world, "first").end).toMatchObject({
      code: "Rejected",
      message: expect.stringMatching(/was rejected by bob \(approvals.*\): no; .* create a new run/),
    });
    expect(carries(world)).toEqual(none);
    run(world, "second");
    settle(world);
    answer(world, "ann", gateOf(world, "second", 0).digest);
    settle(world);
    expect(carries(world)).toEqual(all);
  });

  test("but not when he may not, and not when he only says that he is somebody", () => {
    const world = waiting({ principals: ["ann", "carol"] });
    const files = ["bob", "ann"].map((who) => answerOf(who, asked(world), { decision: "Reject" }));
    for (const it of files) push(world, [it], by("bob"));
    settle(world);
    expect(files.map((it) => verdictOf(world, it).slice(0, 7))).toEqual(["FLT1214", "FLT1204"]);
    honestly(world);
  });
});

test("T-22: a name that only looks like somebody's is nobody's", () => {
  const world = waiting();
  const file = answerOf("\u0430nn", asked(world));
  push(world, [file], by("ann"));
  expect(outcome(world, file)).toMatch(/^FLT1204: /);
  honestly(world);
});

test("T-27: while main stands still, nothing unapproved happens, however long", () => {
  const world = waiting();
  const first = asked(world);
  for (let days = 0; days < 10; days++) {
    world.now = inDays(world, 1);
    settle(world);
    expect([carries(world), gateOf(world, "first", 0).approval]).toEqual([none, null]);
  }
  expect(asked(world)).not.toBe(first);
  honestly(world);
});

test("T-30: what people write does not make the record grow without bounds", () => {
  const world = waiting();
  const comment = "a line\n".repeat(140);
  answer(world, "bob", asked(world), { decision: "Reject", comment });
  settle(world);
  const { end, conditions } = recordOf(world, "first");
  const words = [end?.kind === "failed" ? end.message : "", ...conditions.map((it) => it.message)];
  for (const it of words) expect(it.length).toBeLessThan(1024);
  expect(words.join()).toContain("a line a line");
  expect(words.join()).not.toContain("\n");
});

test("T-30: somebody who answers thousands of times in one commit is not heard", () => {
  const world = waiting();
  const files = Array.from({ length: 2000 }, () => answerOf("ann", asked(world)));
  push(world, files, by("ann"));
  expect(outcome(world, ...files.slice(0, 1))).toMatch(/^FLT1207: .* adds more than 256 files at once/);
  push(world, [answerOf("bob", asked(world))], by("bob"));
  expect(outcome(world)).toBe("open");
});
