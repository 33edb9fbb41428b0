import { describe, expect, it } from "vitest";
import type { ClusterName } from "../../../src/core/model/value.ts";
import { fleet, inCanary, play, sorted, staged, tell, throughCanary, toCanary } from "./run-script.ts";
import { digestAt, noon, pass, runIn, strategyOf, worldOf } from "./run-world.ts";

type Row = readonly [name: string, script: string, want: string];

const oneByOne = "staging env=staging 30% after:1m | canary env=canary sort:order x1 before after";
const hourly = "staging env=staging after:1h | canary env=canary";

describe("the world changes under a run (B 22)", () => {
  const going = "(member3,member1 of 2; then nobody)";
  const rows: readonly Row[] = [
    ["U21: another policy ends it; clusters keep what they have", "policy other; pass", "PolicyChanged"],
    ["U39: another apply strategy ends it", "apply ReportDiff; pass", "ApplyStrategyChanged"],
    ["the placement is gone", "remove; pass", "PlacementNotFound"],
    ["the placement rolls out by itself", "type RollingUpdate; pass", "NotExternal"],
    ["U22: a cluster that joins is not in this run", "join m4:env=prod; join m5:env=canary; pass", going],
    ["U23: nor is one that is not picked", "join m4:env=canary; m4 gone; pass", going],
    ["Scheduled False does not end it", "Scheduled False; pass", going],
    ["a cluster in flight leaves", "member3 leave; pass", "member3~ (member1 of 2; then nobody)"],
    [
      "a cluster in flight is no longer picked, and picked again too late",
      "member3 drop; pass; member3 pick; pass",
      "member3~ (member1 of 2; then nobody) | (member1 of 2; then nobody)",
    ],
    [
      "U24: labels do not count any more",
      "join member1:env=prod; member1 gone; pass",
      "member1~ (member3 of 2; then nobody)",
    ],
    [
      "a cluster that is done may do what it likes",
      "member3 ok; pass; member3 bad; pass",
      `member3! ${only1} | ${only1}`,
    ],
    ["a run stays one of its policy when that comes back", "policy other; policy first; pass", going],
  ];
  it.each(rows)("%s", (_name, script, want) => {
    expect(tell(worldOf(fleet), staged, inCanary, script)).toBe(want);
  });

  it("gives a cluster its turn that was away before it and is back", () => {
    const script = "member3 drop; pass; member3 pick; yes A before canary; pass";
    expect(tell(worldOf(fleet), staged, toCanary, script)).toBe(`(asks before canary) | +member3 +member1 ${going}`);
  });

  it("says what changed and what to do", () => {
    const world = worldOf(fleet);
    world.policy = { kind: "PickN", numberOfClusters: 3, required: [], preferred: [], spread: [], tolerations: [] };
    play(world, "A=0 Run; pass; count 2; pass", strategyOf(staged));
    expect(runIn(world, "A").end).toEqual({
      kind: "failed",
      at: world.now,
      code: "CountChanged",
      message:
        "placement web asks for 2 clusters, the plan was made for 3; clusters keep what they have; " +
        "create a new run to go on (flotilla run create)",
    });
  });

  it("looks at the placement in Initialize and in Stop as well", () => {
    expect(play(worldOf(fleet), "A=0 Initialize; policy b; pass; B=0 Stop; policy c; pass", strategyOf(staged))).toBe(
      "PolicyChanged | B: PolicyChanged",
    );
  });
});

const only1 = "(member1 of 2; then nobody)";

describe("stop and resume (B 6, 14, 15)", () => {
  const rows: readonly (readonly [name: string, stages: string, script: string, want: string])[] = [
    [
      "U28: what is in flight lands, nothing starts",
      oneByOne,
      "yes A before canary; pass; A Stop; pass; member3 ok; pass; +1h; pass; A Run; pass",
      "+member3 (member3 of 1; then member1) | (stopped canary: member3) | member3! (stopped canary: nobody) | " +
        "(stopped canary: nobody) | +member1 (member1 of 1; then nobody)",
    ],
    [
      "U29: a failing cluster in flight does not keep it from being stopped",
      oneByOne,
      "yes A before canary; pass; member3 bad; A Stop; pass; +5m; pass; A Run; pass",
      "+member3 (member3 of 1; then member1) | (stopped canary: member3) | (stopped canary: member3) (stuck member3) | " +
        "(failed member3 > 0) (nobody of 1; then member1) (stuck member3)",
    ],
    [
      "nobody is asked while it is stopped, and what was said counts afterwards",
      staged,
      "A Stop; yes A before canary; pass; A Run; pass",
      "(stopped canary: nobody) | +member3 +member1 (member3,member1 of 2; then nobody)",
    ],
    [
      "a cluster that something else changed is left alone until it goes on",
      oneByOne,
      "yes A before canary; pass; A Stop; member3 touch; pass; A Run; pass",
      "+member3 (member3 of 1; then member1) | (stopped canary: member3) | +member3 (member3 of 1; then member1)",
    ],
    [
      "the last cluster lands while it is stopped: the request is made when it goes on",
      oneByOne,
      "yes A before canary; member1 leave; pass; A Stop; member3 ok; pass; A Run; pass",
      "+member3 member1~ (member3 of 1; then nobody) | member3! (stopped canary: nobody) | (asks after canary)",
    ],
  ];
  it.each(rows)("%s", (_name, stages, script, want) => {
    expect(tell(worldOf(fleet), stages, toCanary, script)).toBe(want);
  });

  it.each([
    [
      "U30: 40 of 60 minutes, then 30 minutes stopped: over at once",
      "+40m; A Stop; pass; +30m; A Run; pass",
      "staging.",
    ],
    ["U30: the stop is short: the rest of the hour", "+40m; A Stop; pass; +5m; A Run; pass", "(staging in 900s)"],
  ] as const)("%s", (_name, script, want) => {
    const told = tell(worldOf(fleet), hourly, "A=0 Run; pass; member2 ok; pass", script);
    expect(told.split(" | ").at(-1)).toContain(want);
  });
});

describe("a version that cannot be had (I-12)", () => {
  it("is not started and holds what comes behind it, until it can be", () => {
    const world = worldOf("a b c");
    const strategy = strategyOf("all * x2");
    world.lost.add("b" as ClusterName);
    expect(play(world, "A=0 Run; pass; a ok; pass; pass", strategy)).toBe(
      "+a (a of 2; then b,c) | a! (nobody of 2; then b,c) | (nobody of 2; then b,c)",
    );
    world.lost.clear();
    expect(play(world, "pass", strategy)).toBe("+b +c (b,c of 2; then nobody)");
  });
});

it.each([
  ["too\nhot\u001b[2J ", ": too hot [2J;"],
  ["🔥".repeat(300), `: ${"🔥".repeat(256)};`],
  [" \n", "(approvals/ann.yaml);"],
])("a rejection is told in one line, whatever was written: %j", (comment, want) => {
  const world = worldOf(fleet);
  const strategy = strategyOf(staged);
  play(world, toCanary, strategy);
  const digest = digestAt(world, runIn(world, "A"), "canary", "before");
  world.answers.set(digest, { kind: "rejected", by: "ann", comment, path: "approvals/ann.yaml" });
  play(world, "pass", strategy);
  const { end } = runIn(world, "A");
  expect(end?.kind === "failed" ? end.message : "").toContain(want);
});

describe("a timed wait", () => {
  it("runs from the landing, also of a stopped run (B 15)", () => {
    const script = "A=0 Run; pass; A Stop; member2 ok; pass; +20m; A Run; pass";
    expect(tell(worldOf(fleet), hourly, "", script).split(" | ").at(-1)).toBe("(staging in 2400s)");
  });

  it.each([
    ["I-06: opens exactly at its instant", "+59m; +59s; pass; +1s; pass", "(staging in 1s) | +member1 staging."],
    [
      "I-06: a clock in doubt holds it",
      "clock unsound; +2h; pass; clock sound; pass",
      "clock in doubt) | +member1 staging.",
    ],
    ["I-06: a clock that nobody can check does not", "clock unseen; +1h; pass", "+member1 staging."],
    ["I-06: a clock that goes back holds it", "-30m; pass; +90m; pass", "(staging in 5400s) | +member1 staging."],
  ] as const)("%s", (_name, script, want) => {
    const told = tell(worldOf(fleet), hourly, "A=0 Run; pass; member2 ok; pass", script);
    expect(told).toContain(want);
  });

  it("wakes the pass at its instant, and for what is stuck or too late before", () => {
    const world = worldOf(fleet);
    const wakes = (script: string): readonly (number | null)[] => {
      play(world, script, strategyOf(hourly));
      return pass(world).map(({ wakeAt }) => wakeAt && (wakeAt - world.now) / 60_000);
    };
    expect(wakes("A=0 Run")).toEqual([5]);
    expect(wakes("+5m")).toEqual([5]);
    expect(wakes("+5m")).toEqual([null]);
    expect(wakes("member2 ok")).toEqual([60]);
    expect(wakes("clock unsound; +1h")).toEqual([null]);
  });
});

describe("the deletion stage", () => {
  const done = `${throughCanary}; member1,member2 drop; B=0 Run`;
  const rows: readonly Row[] = [
    [
      "U20: goes last, all at once, and ends when the members have confirmed",
      "pass; member1 gone; pass; member2 gone; pass",
      "B: staging. -member1 -member2 member3! canary. (member1,member2 of 2; then nobody) | " +
        "B: member1! (member2 of 1; then nobody) | B: member2! deletion. succeeded",
    ],
    [
      "U32: stopped before it begins, it is stopped",
      "pass; B Stop; pass; member1,member2 gone; pass; B Run; pass",
      "B: staging. -member1 -member2 member3! canary. (member1,member2 of 2; then nobody) | " +
        "B: (stopped kubernetes-fleet.io/deleteStage: member1,member2) | " +
        "B: member1! member2! (stopped kubernetes-fleet.io/deleteStage: nobody) | B: deletion. succeeded",
    ],
    [
      "a cluster that is picked again keeps what it has",
      "member1 pick; pass; member2 gone; pass",
      "B: staging. -member2 member1~ member3! canary. (member2 of 1; then nobody) | B: member2! deletion. succeeded",
    ],
    [
      "a cluster that left needs nothing",
      "member1,member2 leave; pass",
      "B: staging. member1! member2! member3! canary. deletion. succeeded",
    ],
  ];
  it.each(rows)("%s", (_name, script, want) => {
    const told = tell(worldOf(fleet), staged, done, script);
    expect(told.split(" | ").map(sorted)).toEqual(want.split(" | ").map(sorted));
  });

  it("U32: a stop between the last stage and the deletions begins none, and says so", () => {
    const world = worldOf("a b");
    const script = "A=0 Stop; pass; A Run; pass";
    expect(tell(world, "", "a,b drop", script)).toBe(
      "(stopped kubernetes-fleet.io/deleteStage: nobody) | -a -b (a,b of 2; then nobody)",
    );
  });
});

describe("a cluster that the placement may not leave now (D-17)", () => {
  it("waits, while others lose the placement, and has not begun by the record", () => {
    const world = worldOf("a b");
    const strategy = strategyOf("");
    world.lost.add("a" as ClusterName).add("b" as ClusterName);
    play(world, "a,b drop; A=0 Run", strategy);
    expect(play(world, "pass", strategy)).toBe("(nobody of 2; then a,b)");
    expect([...world.runs.values()].map(({ deletion }) => [deletion.startedAt, deletion.clusters.size])).toEqual([
      [null, 0],
    ]);
    world.lost.delete("b" as ClusterName);
    expect(play(world, "pass; b gone; pass", strategy)).toBe("-b (b of 2; then a) | b! (nobody of 1; then a)");
    world.lost.clear();
    expect(play(world, "pass; a gone; pass", strategy)).toBe("-a (a of 1; then nobody) | a! deletion. succeeded");
  });
});

describe("several runs of one placement (B 4)", () => {
  it("U25: a newer run takes a cluster in flight: superseded, and the older one starts nothing more", () => {
    const world = worldOf("a b");
    const told = tell(world, "all * x1", "", "A=1 Run; pass; B=2 Run; pass; pass; a ok; pass");
    expect(told).toBe(
      "+a (a of 1; then b) | B: +a (a of 1; then b), A: a>B (failed a > 0) (nobody of 1; then b) (a is B's) | " +
        "B: (a of 1; then b), A: (failed a > 0) (nobody of 1; then b) (a is B's) | " +
        "B: +b a! (b of 1; then nobody), A: b>B all. deletion. succeeded",
    );
  });

  const two = "one env=one | two env=two";
  const inFlight = "A=1 Run; pass; B=0 Run";
  it.each([
    [
      "what a newer run took before it was well holds the next stage too, or a way back would set it free",
      two,
      inFlight,
      "pass; a ok; pass; b ok; pass",
      "B: +a (a of 1; then nobody), A: a>B (failed a > 0) (a is B's) | " +
        "B: +b a! one. (b of 1; then nobody), A: one. b>B two. deletion. succeeded | B: b! two. deletion. succeeded",
    ],
    [
      "stopped meanwhile as well",
      two,
      `${inFlight}; pass; A Stop; pass; A Run; B Stop`,
      "pass",
      "B: (stopped one: a), A: (failed a > 0) (a is B's)",
    ],
    [
      "unless the stage allows as many failures",
      two.replace("env=one", "env=one fails:1"),
      inFlight,
      "pass",
      "B: +a (a of 1; then nobody), A: +b a>B one. (b of 1; then nobody)",
    ],
    [
      "nor for clusters that left",
      two,
      `${inFlight}; b leave`,
      "pass",
      "B: +a (a of 1; then nobody), A: a>B one. b~ two. deletion. succeeded",
    ],
  ] as const)("%s", (_name, stages, before, script, want) => {
    expect(tell(worldOf("a:env=one b:env=two"), stages, before, script)).toBe(want);
  });

  it("U26: an older run that waited does not bring clusters back; where nothing is left to move, nobody is asked", () => {
    const world = worldOf(fleet);
    const newer =
      "B=2 Run; pass; member2 ok; pass; +1m; pass; yes B before canary; pass; member1,member3 ok; pass; yes B after canary";
    const told = tell(world, staged, `${toCanary}; ${newer}; pass`, "yes A before canary; pass");
    expect(told).toBe("nothing");
    expect([...world.spots.values()].map((it) => it.index)).toEqual([2, 2, 2]);
    expect(runIn(world, "A").end?.kind).toBe("succeeded");
    expect([...(runIn(world, "A").stages[1]?.clusters.values() ?? [])].map((it) => it.end?.kind)).toEqual([
      "superseded",
      "superseded",
    ]);
  });

  it("U26: one that was only initialized brings nothing back either, though the newer one was put away since", () => {
    const world = worldOf("a b");
    tell(world, "all * x2", "", "A=1 Initialize; B=2 Run; pass; a,b ok; pass");
    world.runs.delete(runIn(world, "B").key);
    expect(tell(world, "all * x2", "A Run", "pass")).toBe("all. deletion. succeeded");
    expect([...world.spots.values()].map((it) => it.index)).toEqual([2, 2]);
  });

  it("U26: while something is left behind a stage, its gates stand, though a newer run has the stage's clusters", () => {
    const world = worldOf("a:env=one b:env=two");
    const stages = "one env=one before | two env=two";
    expect(tell(world, stages, "A=1 Run; B=2 Run; pass; yes B before one", "pass; A Run; pass")).toBe(
      "B: +a (a of 1; then nobody), A: a>B (asks before one) (a is B's) | " +
        "B: (a of 1; then nobody), A: (asks before one) (a is B's)",
    );
  });

  it.each([
    ["is over once it is stopped", "A Stop; c gone; pass", "A: superseded"],
    ["is merely stopped while it has something to remove", "A Stop; pass", "A: (stopped one: nobody)"],
    ["asks before it removes anything", "pass", "A: (asks before one) (a is B's)"],
    ["ends where it has nothing to remove either", "c gone; pass", "A: one. c! deletion. succeeded"],
  ] as const)("U26: a run whose clusters are all a newer one's %s", (_name, script, want) => {
    const before = "c drop; A=1 Run; B=2 Run; pass; yes B before one; pass; B Stop";
    const told = tell(worldOf("a c"), "one * x2 before", before, script);
    expect(told.split(", ")).toEqual(["B: (stopped one: a)", want]);
  });

  it("U27: a rollback is a newer run to an older index, through all stages", () => {
    const world = worldOf("a b");
    const told = tell(world, "all * x2", "A=1 Run; pass; a,b ok; pass", "B=0 Run; pass; a,b ok; pass");
    expect(told).toBe("B: +a +b (a,b of 2; then nobody) | B: a! b! all. deletion. succeeded");
    expect([...world.spots.values()].map((it) => it.index)).toEqual([0, 0]);
  });
});

describe("the record of a cluster", () => {
  const recordsIn = (script: string): readonly (readonly [cluster: string, startedAt: number, target: boolean])[] => {
    const world = worldOf("a b");
    play(world, script, strategyOf("all * x2"));
    const { stages } = runIn(world, "A");
    return [...(stages[0]?.clusters ?? [])].map(([cluster, { startedAt, sequence }]) => [
      cluster,
      ((startedAt ?? 0) - noon) / 60_000,
      sequence === world.spots.get(cluster)?.sequence,
    ]);
  };

  it.each([
    ["names the target that the run gave it", "A=0 Run; pass", 0],
    [
      "keeps its first start when it is begun again, and names the new target",
      "A=0 Run; pass; +3m; a,b touch; pass",
      0,
    ],
    ["names the target that was there already", "B=0 Run; pass; a,b ok; pass; +3m; A=0 Run; pass", 3],
  ] as const)("%s", (_name, script, startedAt) => {
    expect(recordsIn(script)).toEqual([
      ["a", startedAt, true],
      ["b", startedAt, true],
    ]);
  });
});

describe("identity", () => {
  it("gives the same run back when nothing changed, whatever it waits for", () => {
    const scripts = [
      "A=0 Run; pass",
      toCanary,
      inCanary,
      `${inCanary}; A Stop; pass`,
      `${inCanary}; member3 bad; pass`,
    ];
    for (const script of scripts) {
      const world = worldOf(fleet);
      play(world, script, strategyOf(staged));
      const before = runIn(world, "A");
      pass(world);
      expect(runIn(world, "A")).toBe(before);
    }
  });
});
