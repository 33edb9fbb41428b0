import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { decodeBlob } from "../../src/core/intent/documents.ts";
import { readIntent } from "../../src/core/intent/intent.ts";
import type { BlobId, Commit } from "../../src/core/model/value.ts";
import { candidateOf } from "../../src/core/schedule/framework/cycle.ts";
import { profiles } from "../../src/core/schedule/profile.ts";
import { schedule } from "../../src/core/schedule/schedule.ts";
import { projectFolder } from "../end-to-end/bundle.ts";
import { start } from "../end-to-end/program.ts";
import { walksAreFull } from "../long-walks.ts";
import type { ApprovalOutcome } from "./approval.ts";
import type { BareOutcome } from "./bare.ts";
import { nodesAt } from "./constrained.ts";
import { optionsOf } from "./options.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { hotspotsOf } from "./profile.ts";
import type { PassReport } from "./protocol.ts";
import { changedPlace, type ScheduleOutcome } from "./schedule.ts";
import { changeOf, memberNames, type Size, workloadOf } from "./workload.ts";

const folder = await mkdtemp(join(tmpdir(), "flotilla-bench-test-"));
const bundle = await mkdtemp(join(tmpdir(), "flotilla-bench-test-bundle-"));
afterAll(async () => {
  for (const it of [folder, bundle]) await rm(it, { recursive: true, force: true });
});

const bench = async (...options: readonly string[]): Promise<string> => {
  const program = [process.execPath, join(projectFolder, "test/bench/bench.mjs"), ...options];
  const run = await start(program, { environment: { FLOTILLA_BENCH_BUNDLE: bundle } }).ended;
  expect(run.code, run.err).toBe(0);
  return run.out;
};

const tiny = ["--members", "12", "--placements", "2", "--picks", "5"];

test("the bench takes every case to its end", async () => {
  const { outcomes, state } = JSON.parse(await bench(...tiny, "--hurry", "--json", "--profile", folder)) as {
    readonly outcomes: readonly Outcome[];
    readonly state: { readonly tipBytes: number; readonly commits: number };
  };
  const facts = outcomes.map(({ case: name, commits, requests, peakMemory }) => ({
    name,
    decides: commits > 0,
    reads: (requests?.read ?? 0) > 0,
    writes: (requests?.write ?? 0) > 0,
    hasMemory: peakMemory > 10,
  }));
  expect(facts).toEqual([
    { name: "nothing", decides: true, reads: true, writes: true, hasMemory: true },
    { name: "restart", decides: false, reads: true, writes: false, hasMemory: true },
    { name: "idle", decides: false, reads: expect.any(Boolean), writes: false, hasMemory: true },
    { name: "new", decides: true, reads: true, writes: true, hasMemory: true },
    { name: "edit", decides: true, reads: true, writes: true, hasMemory: true },
    { name: "run", decides: true, reads: true, writes: true, hasMemory: true },
    { name: "what-if", decides: false, reads: false, writes: false, hasMemory: true },
  ]);
  for (const { when, commits } of outcomes) {
    const moments = [when.decided, when.pushed, when.applied, when.available].filter((it) => it !== null);
    expect(moments).toEqual([...moments].sort((a, b) => a - b));
    expect(moments).toHaveLength(commits > 0 ? 4 : moments.length);
  }
  expect(state.tipBytes).toBeGreaterThan(1000);
  expect((await readdir(folder)).sort()).toEqual(outcomes.map((it) => `${it.case}.cpuprofile`).sort());
  expect(hotspotsOf(join(folder, "nothing.cpuprofile")).length).toBeGreaterThan(20);
});

test.runIf(walksAreFull)("scheduling can be measured alone, cold and after a change of one member", async () => {
  const { outcomes } = JSON.parse(await bench(...tiny, "--only", "schedule", "--json")) as {
    readonly outcomes: readonly ScheduleOutcome[];
  };
  const changes = [
    "cold",
    "nothing changed",
    "a label that no policy asks for",
    "a label that policies prefer",
    "a property that policies sort by",
    "the largest value of a property",
    "contact with a member",
  ];
  expect(outcomes.map((it) => it.case)).toEqual([
    "1 placement, cold",
    ...["distinct", "equal"].flatMap((kind) => changes.map((it) => `2 ${kind} policies, ${it}`)),
  ]);
  expect(outcomes.every((it) => it.scheduling > 0)).toBe(true);
  expect(outcomes.map((it) => it.pass !== null)).toEqual(outcomes.map((it) => !it.case.endsWith("cold")));
});

test("in every fleet of three or more, the member that changes is of the third tier and inside of the range", () => {
  for (let count = 3; count < 120; count++) {
    const [at, nodes] = [changedPlace(count), Array.from({ length: count }, (_, it) => nodesAt(it))];
    expect([at % 3, at < count], `${count} members`).toEqual([2, true]);
    expect(nodes.some((it) => it < nodesAt(at)) && nodes.some((it) => it > nodesAt(at)), `${count} members`).toBe(true);
  }
  expect(optionsOf(["--only", "schedule", "--members", "2"])).toContain("--only schedule takes 3 members or more");
});

test.runIf(walksAreFull)("deciding can be measured alone", async () => {
  const { outcomes } = JSON.parse(await bench(...tiny, "--only", "plan", "--json")) as {
    readonly outcomes: readonly BareOutcome[];
  };
  expect(outcomes.map((it) => [it.case, it.actions])).toEqual([
    ["nothing", 2 * 5 * 3],
    ["idle", 0],
    ["new", 5 * 3],
    ["edit", 5],
    // Two of the five preferred cells are others now.
    ["policy", 2 * 3],
    ["label", 0],
    ["silent", 0],
    ["back", 0],
    // Nobody created a run: everything waits, and what was edited belongs to those that wait for one.
    ["rename", 0],
    ["waiting", 0],
    ["edit waiting", 0],
  ]);
});

test.runIf(walksAreFull)("finding out who approved can be measured alone", async () => {
  const { outcomes } = JSON.parse(await bench("--only", "approval", "--commits", "60", "--json")) as {
    readonly outcomes: readonly ApprovalOutcome[];
  };
  expect(outcomes.map((it) => [it.format, it.commits, it.median > 0 && it.history > 0])).toEqual([
    ["SSH", 60, true],
    ["OpenPGP", 60, true],
  ]);
});

const size: Size = { members: memberNames(40), placements: 20, picks: 10, objects: "all" };

const intentOf = (files: ReadonlyMap<string, string>) =>
  readIntent({
    commit: "c1" as Commit,
    files: [...files].map(([path, text]) => ({
      path,
      blob: path as BlobId,
      kind: "file" as const,
      decoded: decodeBlob(Buffer.from(text)),
    })),
    accepted: null,
  });

test("the workload has no problems, and its edits none either", () => {
  const changes = (["new", "edit", "policy"] as const).flatMap((it) => changeOf(it, size));
  const { placements, objects, problems } = intentOf(new Map([...workloadOf(size), ...changes]));
  expect({ placements: placements.size, objects: objects.size, problems }).toEqual({
    placements: 21,
    objects: 63,
    problems: [],
  });
});

test("every placement is picked onto as many members as it should, and every member gets as many as the others", () => {
  const { clusters, placements } = intentOf(new Map(workloadOf(size)));
  const candidates = [...clusters.values()].map((it) => candidateOf(it, null));
  const picks = [...placements.values()].flatMap(({ spec: { policy } }) => {
    const { create } = schedule(
      { policy, namespace: null, grants: [], candidates, cycleBindings: [], recorded: [], now: 0 as never },
      profiles.default,
    );
    expect(create).toHaveLength(10);
    return create.map((it) => it.cluster);
  });
  const load = size.members.map((name) => picks.filter((it) => it === name).length);
  expect(Math.max(...load) - Math.min(...load)).toBeLessThanOrEqual(2);
});

const passAt = (at: number, facts: Partial<PassReport>): PassReport => ({
  kind: "pass",
  result: "passed",
  at,
  spent: { observe: 1, decide: 2, commit: 0, act: 0 },
  source: "c1",
  committed: false,
  acted: 0,
  unheard: 0,
  moving: false,
  deferred: false,
  waiting: {},
  usage: { cpu: at / 1000, gitCpu: 0, peak: 100, resident: 100, heap: 100, reads: at, writes: 0 },
  ...facts,
});

test("moments are told apart: decided, pushed, applied, available, recorded", () => {
  const passes = [
    passAt(1000, { committed: true, acted: 3, moving: true, spent: { observe: 1, decide: 2, commit: 100, act: 300 } }),
    passAt(1500, { moving: true, deferred: true }),
    passAt(2000, { deferred: true }),
    passAt(9000, { committed: true }),
  ];
  const before = { cpu: 0, gitCpu: 0, reads: 0, writes: 0 };
  expect(outcomeOf({ case: "new", what: "", from: 0, before, passes, membersCpu: null })).toMatchObject({
    when: { decided: 0.6, pushed: 0.7, applied: 1, available: 2, recorded: 9 },
    passes: 3,
    commits: 2,
    requests: { read: 2000, write: 0 },
    all: { observe: 3, decide: 6, commit: 100, act: 300 },
  });
});

test("a pass in which some member was not heard is no rest", () => {
  const passes = [passAt(1000, { unheard: 1 }), passAt(2000, {})];
  const before = { cpu: 0, gitCpu: 0, reads: 0, writes: 0 };
  const { when } = outcomeOf({ case: "restart", what: "", from: 0, before, passes, membersCpu: null });
  expect(when.available).toBe(2);
});
