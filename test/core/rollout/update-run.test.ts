import { describe, expect, it } from "vitest";
import { notStartedStage } from "../../../src/core/rollout/run-progress.ts";
import { stageCounts } from "../../../src/core/rollout/stage-clusters.ts";
import { fleet, inCanary, play, staged, tell, throughCanary, toCanary } from "./run-script.ts";
import { contextOf, create, runIn, strategyOf, worldOf } from "./run-world.ts";

type Row = readonly [name: string, script: string, want: string];

describe("a run goes through its stages", () => {
  const rows: readonly (readonly [name: string, before: string, script: string, want: string])[] = [
    ["U1: Initialize only plans", "", "A=0 Initialize; pass", "nothing"],
    [
      "U2 to U5: one stage after the other, with a wait and approvals; nothing waits for a tick",
      "",
      `${inCanary}; member1,member3 ok; pass; yes A after canary; pass`,
      "+member2 (member2 of 1; then nobody) | member2! (staging in 60s) | staging. (asks before canary) | " +
        "+member3 +member1 (member3,member1 of 2; then nobody) | member3! member1! (asks after canary) | " +
        "canary. deletion. succeeded",
    ],
    ["U4: the wait is not over a second early", "A=0 Run; pass; member2 ok; pass", "+59s; pass", "(staging in 1s)"],
    ["U31: stopped before it began", "", "A=0 Stop; pass", "(stopped staging: nobody)"],
    ["U34: a run that failed is over", "A=0 Run; policy b; pass", "A Stop; pass; A Run; pass", "nothing | nothing"],
    ["an ended run is not looked at again", throughCanary, "policy b; member1 drop; pass", "nothing"],
  ];
  it.each(rows)("%s", (_name, before, script, want) => {
    expect(tell(worldOf(fleet), staged, before, script)).toBe(want);
  });
});

describe("approvals as files", () => {
  const rows: readonly Row[] = [
    [
      "U5: an approval opens the gate",
      "yes A before canary; pass",
      "+member3 +member1 (member3,member1 of 2; then nobody)",
    ],
    ["U6: an answer that does not count says why", "void A before canary; pass", "(asks before canary: no signature)"],
    [
      "U7: what was accepted stands, even when the file goes",
      "yes A before canary; pass; hush A before canary; pass",
      "+member3 +member1 (member3,member1 of 2; then nobody) | (member3,member1 of 2; then nobody)",
    ],
    ["U7: taken back before it was seen", "yes A before canary; hush A before canary; pass", "(asks before canary)"],
    [
      "U8: the request stands as long as nobody answers",
      "pass; +5h; pass",
      "(asks before canary) | (asks before canary)",
    ],
    ["a rejection ends the run", "no A before canary; pass; yes A before canary; pass", "Rejected | nothing"],
    [
      "a rejection after the stage ends the run",
      "yes A before canary; pass; member1,member3 ok; pass; no A after canary; pass",
      "+member3 +member1 (member3,member1 of 2; then nobody) | member3! member1! (asks after canary) | Rejected",
    ],
    [
      "a cluster that leaves does not void an approval (B 22)",
      "yes A before canary; member3 leave; pass",
      "+member1 member3~ (member1 of 2; then nobody)",
    ],
    ["an approval of another stage opens nothing", "yes A after canary; pass", "(asks before canary)"],
  ];
  it.each(rows)("%s", (_name, script, want) => {
    expect(tell(worldOf(fleet), staged, toCanary, script)).toBe(want);
  });

  it("U43 (T-04): an answer that is there before the question is none", () => {
    const script = "yes A before canary; +1m; pass; pass";
    expect(tell(worldOf(fleet), staged, "A=0 Run; pass; member2 ok; pass", script)).toBe(
      "staging. (asks before canary) | (asks before canary)",
    );
  });

  it("an approval does not carry over to a run that is created again under its name", () => {
    const again = `${toCanary}; yes A before canary; A=0 Run; pass; +1m; pass`;
    expect(tell(worldOf(fleet), staged, again, "pass")).toBe("(asks before canary)");
  });

  it("says in a rejection who, why and what to do", () => {
    const world = worldOf(fleet);
    play(world, `${toCanary}; no A before canary; pass`, strategyOf(staged));
    expect(runIn(world, "A").end).toMatchObject({
      code: "Rejected",
      message:
        "the before-stage approval of stage canary was rejected by ann (approvals/ann.yaml): too hot; " +
        "clusters keep what they have; create a new run to go on (flotilla run create)",
    });
  });
});

describe("the cluster window", () => {
  it.each([
    ["25%", 7, 1],
    ["50%", 3, 1],
    ["66%", 3, 1],
    ["67%", 3, 2],
    ["70%", 3, 2],
    ["33%", 10, 3],
    ["1%", 99, 1],
    ["100%", 4, 4],
    ["x15", 10, 15],
  ] as const)("U9: %s of %i is %i", (bound, of, want) => {
    const names = Array.from({ length: of }, (_, at) => `m${at}`).join(" ");
    const world = worldOf(names);
    create(world, "A", 0, strategyOf(`all * ${bound}`));
    const run = runIn(world, "A");
    const stage = run.plan?.stages[0];
    expect(stage && stageCounts(stage, notStartedStage.clusters, contextOf(world, run)).maxConcurrency).toBe(want);
  });

  const rows: readonly (readonly [name: string, stages: string, script: string, want: string])[] = [
    [
      "U10: slides, and starts the next in the pass that saw one land",
      "all * x2",
      "A=0 Run; pass; b ok; pass; a,c ok; pass; d ok; pass",
      "+a +b (a,b of 2; then c,d) | +c b! (a,c of 2; then d) | +d a! c! (d of 2; then nobody) | " +
        "d! all. deletion. succeeded",
    ],
    [
      "U11 (B 13): a failure stops what has not begun, what is in flight lands, and a recovery goes on (B 1)",
      "all * x2",
      "A=0 Run; pass; a bad; pass; b ok; pass; +5m; pass; a ok; pass",
      "+a +b (a,b of 2; then c,d) | (failed a > 0) (b of 2; then c,d) | b! (failed a > 0) (nobody of 2; then c,d) | " +
        "(failed a > 0) (nobody of 2; then c,d) (stuck a) | +c +d a! (c,d of 2; then nobody)",
    ],
    [
      "U12: one at a time: nothing starts behind a failure; stuck is a report only",
      "all * x1",
      "A=0 Run; pass; a bad; pass; +5m; pass; a slow; pass; a ok; pass",
      "+a (a of 1; then b,c,d) | (failed a > 0) (nobody of 1; then b,c,d) | " +
        "(failed a > 0) (nobody of 1; then b,c,d) (stuck a) | (a of 1; then b,c,d) (stuck a) | " +
        "+b a! (b of 1; then c,d)",
    ],
    [
      "B 13: an allowed failure takes no place, and the stage ends without it",
      "all * x2 fails:1",
      "A=0 Run; pass; a bad; pass; b,c ok; pass; d ok; pass",
      "+a +b (a,b of 2; then c,d) | +c (b,c of 2; then d) | +d b! c! (d of 2; then nobody) | " +
        "d! all. deletion. succeeded",
    ],
    [
      "B 13: one failure more than allowed holds the stage; a share rounds down",
      "all * x4 fails:49%",
      "A=0 Run; pass; a,b bad; c,d ok; pass; a slow; pass; a ok; pass",
      "+a +b +c +d (a,b,c,d of 4; then nobody) | c! d! (failed a,b > 1) | (a of 4; then nobody) | " +
        "a! all. deletion. succeeded",
    ],
    [
      "B 1: ten minutes in progress are a failure, and wake nobody up by force",
      "all * x1",
      "A=0 Run; pass; +10m; pass",
      "+a (a of 1; then b,c,d) | (failed a > 0) (nobody of 1; then b,c,d) (stuck a)",
    ],
    [
      "I-02: a cluster that is out of reach keeps its place",
      "all * x1",
      "A=0 Run; pass; a ?; pass; +1h; pass",
      "+a (a of 1; then b,c,d) | (a of 1; then b,c,d) | (a of 1; then b,c,d) (stuck a)",
    ],
    [
      "what nobody can see counts at once",
      "all * x4",
      "A=0 Run; pass; a,b,c,d blind; pass",
      "+a +b +c +d (a,b,c,d of 4; then nobody) | a! b! c! d! all. deletion. succeeded",
    ],
    [
      "U36: clusters that have the version already and are well take no place and no second pass",
      "all * x2",
      "A=0 Run; pass; a,b ok; pass; c,d ok; pass; B=0 Run; pass",
      "+a +b (a,b of 2; then c,d) | +c +d a! b! (c,d of 2; then nobody) | c! d! all. deletion. succeeded | " +
        "B: a! b! c! d! all. deletion. succeeded",
    ],
    [
      "U41 (B 27): a cluster that has the version already and fails is started, seen and reported",
      "all * x2",
      "A=0 Run; pass; a,b ok; pass; c,d ok; pass; a bad; B=0 Run; pass; +5m; pass; a ok; pass",
      "+a +b (a,b of 2; then c,d) | +c +d a! b! (c,d of 2; then nobody) | c! d! all. deletion. succeeded | " +
        "B: (failed a > 0) (nobody of 2; then b,c,d) | B: (failed a > 0) (nobody of 2; then b,c,d) (stuck a) | " +
        "B: a! b! c! d! all. deletion. succeeded",
    ],
    [
      "what something else changed is begun again",
      "all * x1",
      "A=0 Run; pass; a ok; a touch; pass; a ok; pass",
      "+a (a of 1; then b,c,d) | +a (a of 1; then b,c,d) | +b a! (b of 1; then c,d)",
    ],
    [
      "B 10: a cluster whose earlier removal is not confirmed lets the others pass",
      "all * x2",
      "A=0 Run; a repick; pass; b,c ok; pass; d ok; pass; a clear; pass; a ok; pass",
      "+b +c (b,c of 2; then a,d) | +d b! c! (d of 2; then a) | d! (nobody of 2; then a) | +a (a of 2; then nobody) | " +
        "a! all. deletion. succeeded",
    ],
    [
      "U16: a stage without selector is skipped with its tasks (U17 too), and the next one holds everything",
      "none - before after:1h after | all * x4",
      "A=0 Run; pass",
      "+a +b +c +d none. (a,b,c,d of 4; then nobody)",
    ],
    [
      "a strategy without stages fits a placement that picks no cluster any more",
      "",
      "a,b,c,d drop; A=0 Run; pass",
      "-a -b -c -d (a,b,c,d of 4; then nobody)",
    ],
  ];
  it.each(rows)("%s", (_name, stages, script, want) => {
    expect(play(worldOf("a b c d"), script, strategyOf(stages))).toBe(want);
  });

  it("keeps a failed cluster's record open after its stage, and closes it when the cluster recovers", () => {
    const stages = "one env=one fails:1 | two env=two";
    const world = worldOf("a:env=one b:env=two");
    expect(tell(world, stages, "A=0 Run; pass; a bad; pass", "a ok; pass")).toBe("a! (b of 1; then nobody)");
  });
});
