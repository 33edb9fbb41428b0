import { describe, expect, it } from "vitest";
import { digestOf } from "../../../src/core/model/json.ts";
import { minutes, seconds } from "../../../src/core/model/value.ts";
import { fleet, inCanary, play, staged, tell, throughCanary, toCanary } from "./run-script.ts";
import { digestAt, gateAt, nonceIn, noon, pass, runIn, strategyOf, type World, worldOf } from "./run-world.ts";

type Row = readonly [name: string, script: string, want: string];

const opened = "+member3 +member1 (member3,member1 of 2; then nobody)";
const going = "(member3,member1 of 2; then nobody)";
const asks = "(asks before canary)";

describe("a request is made anew", () => {
  const rows: readonly Row[] = [
    [
      "when the rules change: the old answer is none",
      "yes A before canary; rules strict; pass; pass",
      `${asks} | ${asks}`,
    ],
    ["and one to the new request counts", "rules strict; pass; yes A before canary; pass", `${asks} | ${opened}`],
    [
      "also when the rules are what they were again",
      "yes A before canary; rules strict; pass; rules none; pass; pass",
      `${asks} | ${asks} | ${asks}`,
    ],
    ["a rejection of the old one ends nothing", "no A before canary; rules strict; pass; pass", `${asks} | ${asks}`],
    ["an objection to the old one is not told", "void A before canary; rules strict; pass; pass", `${asks} | ${asks}`],
    ["when its time is over", "within 5m; yes A before canary; +5m; pass; pass", `${asks} | ${asks}`],
    ["not a second before", "within 5m; +299s; yes A before canary; pass", opened],
    ["and then its time begins anew", "within 5m; +5m; pass; +299s; yes A before canary; pass", `${asks} | ${opened}`],
    ["never while it may stand for ever", "within 5m; within ever; yes A before canary; +900h; pass", opened],
    [
      "when the run goes on, if the rules changed while it was stopped",
      "yes A before canary; A Stop; rules strict; pass; A Run; pass; pass",
      `(stopped canary: nobody) | ${asks} | ${asks}`,
    ],
    [
      "not once it was approved: that stands, whatever the rules are and however old it is",
      "yes A before canary; pass; rules strict; within 1m; +2m; pass",
      `${opened} | ${going}`,
    ],
  ];
  it.each(rows)("%s", (_name, script, want) => {
    expect(tell(worldOf(fleet), staged, toCanary, script)).toBe(want);
  });

  it("the same behind a stage", () => {
    const asked = `${inCanary}; member1,member3 ok; pass`;
    const script = "yes A after canary; rules strict; pass; within 5m; +5m; pass; yes A after canary; pass";
    expect(tell(worldOf(fleet), staged, asked, script)).toBe(
      "(asks after canary) | (asks after canary) | canary. deletion. succeeded",
    );
  });
});

describe("a request", () => {
  const world = (script: string): World => {
    const made = worldOf(fleet);
    play(made, script, strategyOf(staged));
    return made;
  };
  const strict = digestOf("strict");

  it("says when, by which nonce, under which rules and about whose changes it was made", () => {
    const made = world(`rules strict; ${toCanary}`);
    const run = runIn(made, "A");
    expect(gateAt(run, "canary", "before")).toEqual({
      requestedAt: made.now,
      nonce: nonceIn(made),
      digest: digestAt(made, run, "canary", "before"),
      rules: strict,
      authors: { principals: [], unknown: 0 },
      approval: null,
    });
  });

  it("is the same one while it stands, though other changes have other authors", () => {
    const made = world(toCanary);
    const before = runIn(made, "A");
    made.authors = { principals: ["bob"], unknown: 2 };
    made.now = (made.now + minutes(30)) as typeof made.now;
    pass(made);
    expect(runIn(made, "A")).toBe(before);
  });

  it("is another one when it is made anew, and names the authors of then", () => {
    const made = world(toCanary);
    const before = gateAt(runIn(made, "A"), "canary", "before");
    made.authors = { principals: ["bob"], unknown: 2 };
    play(made, "rules strict; +1m; pass", strategyOf(staged));
    const after = gateAt(runIn(made, "A"), "canary", "before");
    expect(after).toMatchObject({ requestedAt: made.now, rules: strict, authors: made.authors, approval: null });
    expect(after?.nonce).not.toBe(before?.nonce);
    expect(after?.digest).not.toBe(before?.digest);
  });

  it("is not answered in the pass that makes it, not even by who knew the nonce", () => {
    const foreseen = world(toCanary);
    const digest = digestAt(foreseen, runIn(foreseen, "A"), "canary", "before");
    const answer = { kind: "rejected", by: "ann", comment: "", path: "approvals/ann.yaml" } as const;
    const made = worldOf(fleet);
    made.answers.set(digest, answer);
    expect(play(made, toCanary, strategyOf(staged)).split(" | ").at(-1)).toBe(`staging. ${asks}`);
    expect(gateAt(runIn(made, "A"), "canary", "before")?.digest).toBe(digest);
  });

  it("that was approved is kept as it was, with who approved it", () => {
    const made = world(`${toCanary}; yes A before canary; pass`);
    const gate = gateAt(runIn(made, "A"), "canary", "before");
    expect(gate?.approval).toEqual({ at: made.now, by: [expect.objectContaining({ principal: "ann" })] });
    play(made, "rules strict; within 1m; +1h; hush A before canary; pass", strategyOf(staged));
    expect(gateAt(runIn(made, "A"), "canary", "before")).toBe(gate);
  });
});

describe("the pass wakes", () => {
  const wakes = (before: string, script: string, stages = staged): number | null => {
    const world = worldOf(fleet);
    play(world, before, strategyOf(stages));
    play(world, script, strategyOf(stages));
    const [step] = pass(world);
    return step?.wakeAt == null ? null : (step.wakeAt - noon) / 60_000;
  };

  // The request before canary is made a minute after noon.
  const timed = "staging env=staging | canary env=canary x2 after:10m after";
  const behind = "A=0 Run; pass; member2 ok; pass; member1,member3 ok; pass";
  it.each([
    ["never for a request that may stand for ever", toCanary, "+1m", staged, null],
    ["when the time of a request is over", toCanary, "within 5m; +1m", staged, 6],
    ["in the pass that makes it as well", "A=0 Run; pass; member2 ok; pass; within 5m", "+1m", staged, 6],
    ["and when that of the new one is", toCanary, "within 5m; +5m", staged, 11],
    ["not for one that was approved", `${throughCanary}; within 5m`, "+1m", staged, null],
    ["not for one of a stopped run", toCanary, "within 5m; A Stop", staged, null],
    ["when the time of a request behind a stage is over, before the timed wait is", behind, "within 5m", timed, 5],
    ["when the timed wait is over, before the time of a request is", behind, "within 15m", timed, 10],
  ] as const)("%s", (_name, before, script, stages, want) => {
    expect(wakes(before, script, stages)).toBe(want);
  });

  it.each([
    ["when an answer that does not count yet may", null, 30, 30],
    ["before it, when the time of the request is over", minutes(5), 30, 5],
    ["for the answer, where the request stands longer", minutes(60), 30, 30],
    ["for the request alone, where time does not mend the answer", minutes(60), null, 60],
  ] as const)("%s", (_name, maxAge, mends, want) => {
    const world = worldOf(fleet);
    play(world, toCanary, strategyOf(staged));
    const run = runIn(world, "A");
    const since = gateAt(run, "canary", "before")?.requestedAt ?? noon;
    const wakeAt = mends === null ? null : ((since + minutes(mends)) as typeof noon);
    world.maxAge = maxAge;
    world.answers.set(digestAt(world, run, "canary", "before"), { kind: "void", because: "too new", wakeAt });
    world.now = (world.now + seconds(1)) as typeof noon;
    const [step] = pass(world);
    expect(step?.waits).toMatchObject([{ kind: "task", task: "Approval", because: "too new" }]);
    expect(((step?.wakeAt ?? 0) - since) / 60_000).toBe(want);
  });
});
