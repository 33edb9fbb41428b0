import { describe, expect, test } from "vitest";
import { requestTexts } from "../../../src/cmd/commands/record/describe.ts";
import type { Condition } from "../../../src/core/model/condition.ts";
import type { ClusterRecord, Ledger } from "../../../src/core/model/ledger.ts";
import type { Gate } from "../../../src/core/model/stage-task.ts";
import type { ClusterProgress, RunRecord } from "../../../src/core/model/update-run.ts";
import type { ClusterName, Digest, Instant, RunKey, Sequence } from "../../../src/core/model/value.ts";
import { runSummary } from "../../../src/core/report/run-state.ts";
import { runTree, treeLines } from "../../../src/core/report/run-tree.ts";
import { approvalRows, runRows } from "../../../src/core/report/tables.ts";
import { waitText } from "../../../src/core/status/run-words.ts";
import {
  approval,
  at,
  hour,
  ledgerOf,
  on,
  planOf,
  progress,
  run,
  stage,
  succeeded,
  web,
} from "../../cmd/rollout-ledger.ts";
import { approvalOf, gateOf, requested } from "../../gate.ts";
import { facts, objectFailure, target } from "../status/record.ts";

const digest = "ab".repeat(32) as Digest;
const asked = gateOf({ requestedAt: at("09:00:00"), digest });
const given: Gate = { ...asked, approval: approvalOf("ada@example.com", at("09:10:00"), "approvals/r/a.yaml") };
const clusters = (all: Readonly<Record<string, ClusterProgress>>): ReadonlyMap<ClusterName, ClusterProgress> =>
  new Map(Object.entries(all) as [ClusterName, ClusterProgress][]);
const done: ClusterProgress = {
  startedAt: at("09:20:00"),
  sequence: 3 as Sequence,
  end: { kind: "succeeded", at: at("09:21:00") },
};
const begun = (time: string, sequence = 7): ClusterProgress => ({
  startedAt: at(time),
  sequence: sequence as Sequence,
  end: null,
});

/** Canary is through and its hour runs; the rest waits for approval, or has begun. */
const stages = [
  stage("canary", ["east"], { before: [approval], after: [hour, approval] }),
  stage("rest", ["north", "south", "west"], { before: [approval] }),
];
const ended = progress({
  startedAt: at("09:20:00"),
  clusters: clusters({ east: done }),
  finishedAt: at("09:21:00"),
  before: requested(given),
  after: requested(given),
  endedAt: at("10:21:00"),
});
const plan = planOf(3, stages, ["gone"]);
const stuck: Condition = {
  type: "Progressing",
  status: "False",
  reason: "UpdateRunStuck",
  message: "canary failed",
  observedGeneration: 1,
  lastTransitionTime: at("09:30:00"),
};

const lines = (its: RunRecord, ledger: Ledger, now: Instant): readonly string[] =>
  treeLines(runTree({ run: its, ledger, now }));

describe("a run is told as a tree", () => {
  test("what is done, what waits, for whom and until when", () => {
    const waits = progress({
      startedAt: at("09:20:00"),
      clusters: clusters({ east: done }),
      finishedAt: at("09:21:00"),
      before: requested(given),
      after: requested(asked),
    });
    const its = run("r", 1, { plan, stages: [waits, progress()] });
    expect(lines(its, ledgerOf([web([])], [its]), at("09:30:00"))).toEqual([
      "r: Waiting: canary: approval after it, requested at 2026-11-21T09:00:00Z",
      "├─ web: what it selected then by canary-first; desired state Run",
      "├─ plan dddddddddddd: resource snapshot 3; 1 of 5 clusters done in 2 stages",
      "├─ stage canary: all clusters done at 2026-11-21T09:21:00Z",
      "│  ├─ approval before canary: given at 2026-11-21T09:10:00Z by ada@example.com (approvals/r/a.yaml)",
      "│  ├─ east: done at 2026-11-21T09:21:00Z",
      "│  ├─ wait of 1h: until 2026-11-21T10:21:00Z",
      `│  └─ approval after canary: waits for an approver since 2026-11-21T09:00:00Z; digest ${digest}`,
      "├─ stage rest: not started",
      "│  ├─ approval before rest: not requested yet",
      "│  ├─ north: waits for its turn",
      "│  ├─ south: waits for its turn",
      "│  └─ west: waits for its turn",
      "└─ removal from clusters that are no longer picked: after all stages",
      "   └─ gone: waits for its turn",
    ]);
  });

  test("a stage that was passed over, and clusters that joined since", () => {
    const passed = progress({
      startedAt: at("09:20:00"),
      isPassedOver: true,
      clusters: clusters({ east: done }),
      finishedAt: at("09:21:00"),
      endedAt: at("09:21:00"),
    });
    const its = run("r", 1, { plan, stages: [passed, progress()] });
    const told = lines(its, ledgerOf([web([on("late", 2)])], [its]), at("09:30:00"));
    expect(told.slice(3, 8)).toEqual([
      "├─ stage canary: passed over at 2026-11-21T09:21:00Z: 1 cluster unchanged: no approval was asked for, and no wait ran",
      "│  ├─ approval before canary: not needed, since nothing changes",
      "│  ├─ east: done at 2026-11-21T09:21:00Z",
      "│  ├─ wait of 1h: not needed, since nothing changes",
      "│  └─ approval after canary: not needed, since nothing changes",
    ]);
    expect(told.slice(-2)).toEqual([
      "└─ clusters that joined since: they wait for the next run",
      "   └─ late: skipped: it was picked after the plan was made",
    ]);
  });

  test("why an answer that is there does not count", () => {
    const because = "ADR011: approvals/r/a.yaml is not signed";
    const message = waitText({ kind: "task", task: "Approval", stage: "canary", when: "before", digest, because });
    const waits = progress({
      before: requested(asked),
      conditions: [{ ...stuck, reason: "StageUpdatingWaiting", message }],
    });
    const its = run("r", 1, { plan, stages: [waits, progress()] });
    expect(lines(its, ledgerOf([web([])], [its]), at("09:30:00")).slice(4, 6)).toEqual([
      `│  ├─ approval before canary: waits for an approver since 2026-11-21T09:00:00Z; digest ${digest}`,
      `│  │  └─ ${because}`,
    ]);
  });

  test("which object fails and why, what is merely late, who cannot be asked", () => {
    const silent = {
      name: "west",
      contactFailure: { code: "Unreachable", message: "connection refused", since: at("10:40:00") },
    } as ClusterRecord;
    const rest = progress({
      startedAt: at("10:30:00"),
      before: requested(given),
      clusters: clusters({ north: begun("10:30:00"), south: begun("10:31:00"), west: begun("10:32:00", 8) }),
    });
    const broken = facts({
      phase: "failed",
      objectFailures: [objectFailure("Available", "image pull failed")],
      objectFailureCount: 3,
    });
    const late = facts({
      phase: "progressing",
      since: at("10:31:30"),
      objectFailures: [objectFailure("Available", "1 of 2 replicas")],
      objectFailureCount: 1,
    });
    const placement = web([
      on("north", 3, { facts: broken }),
      on("south", 3, { target: target(3, { startedAt: at("10:31:00") }), facts: late }),
      on("west", 3, { target: target(3, { sequence: 8 as Sequence }), facts: broken }),
    ]);
    const its = run("r", 1, { plan: planOf(3, stages), stages: [ended, rest] });
    expect(lines(its, ledgerOf([placement], [its], [silent]), at("10:35:00")).slice(-10)).toEqual([
      "└─ stage rest: in progress since 2026-11-21T10:30:00Z: 0 of 3 clusters done; " +
        "2 in progress, at most 1 at a time, 0 waiting; nothing new starts: 1 failed, 0 may fail",
      "   ├─ approval before rest: given at 2026-11-21T09:10:00Z by ada@example.com (approvals/r/a.yaml)",
      "   ├─ north: failed; started 2026-11-21T10:30:00Z",
      "   │  ├─ Deployment shop/web: Failed: image pull failed",
      "   │  └─ and 2 more objects",
      "   ├─ south: in progress since 2026-11-21T10:31:00Z",
      "   │  ├─ Deployment shop/web: Failed: 1 of 2 replicas",
      "   │  └─ counts as failed from 2026-11-21T10:41:00Z",
      "   └─ west: in progress since 2026-11-21T10:32:00Z",
      "      └─ Unreachable since 2026-11-21T10:40:00Z: connection refused",
    ]);
  });

  test("a stage that waits for clusters shows how many are done, may be under way and may fail (B 7)", () => {
    const wide = {
      ...stage("rest", ["north", "south", "west"]),
      maxConcurrency: { percent: 67 },
      maxFailures: { percent: 34 },
    };
    const under = progress({
      startedAt: at("10:30:00"),
      clusters: clusters({ north: done, south: begun("10:31:00") }),
    });
    const its = run("r", 1, { plan: planOf(3, [wide]), stages: [under] });
    const told = (one: RunRecord) =>
      lines(one, ledgerOf([web([])], [one]), at("10:35:00")).find((it) => it.includes("stage rest"));
    expect(told(its)).toBe(
      "└─ stage rest: in progress since 2026-11-21T10:30:00Z: 1 of 3 clusters done; " +
        "1 in progress, at most 2 at a time, 1 waiting; 0 failed, 1 may fail",
    );
    const few = { ...wide, maxConcurrency: { percent: 10 } };
    expect(told({ ...its, plan: planOf(3, [few]) })).toContain("at most 1 at a time");
    const end = { kind: "failed", at: at("11:00:00"), code: "PolicyChanged", message: "it changed" } as const;
    expect(told({ ...its, end })).toBe("├─ stage rest: in progress since 2026-11-21T10:30:00Z");
  });

  test("a deadline runs from where the planner counts it: the start of the target, not of the run's turn", () => {
    const rest = progress({ startedAt: at("10:30:00"), clusters: clusters({ north: begun("10:30:00") }) });
    const since = at("10:00:00");
    const late = { target: target(3, { startedAt: since }), facts: facts({ phase: "progressing", since }) };
    const its = run("r", 1, { plan: planOf(3, stages), stages: [ended, rest] });
    const told = lines(its, ledgerOf([web([on("north", 3, late)])], [its]), at("10:35:00"));
    expect(told).toContain("   ├─ north: failed; started 2026-11-21T10:30:00Z");
    expect(told).toContain("   │  └─ counts as failed since 2026-11-21T10:10:00Z");
  });

  test("clusters that a newer run took before they were well count against what may fail", () => {
    const end = { kind: "superseded", at: at("10:31:00"), by: "s" as RunKey } as const;
    const rest = progress({
      startedAt: at("10:30:00"),
      clusters: clusters({ north: { ...begun("10:30:00"), end } }),
    });
    const its = run("r", 1, { plan: planOf(3, stages), stages: [ended, rest] });
    expect(lines(its, ledgerOf([web([])], [its]), at("10:35:00"))).toContain(
      "└─ stage rest: in progress since 2026-11-21T10:30:00Z: 0 of 3 clusters done; " +
        "0 in progress, at most 1 at a time, 2 waiting; nothing new starts: 0 failed, 1 taken over before they were available, 0 may fail",
    );
  });

  test("a run that failed tells what the clusters carry, and how to go back (B 23)", () => {
    const its = run("r", 2, {
      plan,
      stages: [ended, progress({ before: requested(asked) })],
      end: { kind: "failed", at: at("11:00:00"), code: "PolicyChanged", message: "the policy changed" },
    });
    const ledger = ledgerOf([web([on("east", 3), on("north", 2), on("west", 2)])], [succeeded("q", 1, 2), its]);
    const told = lines(its, ledger, at("11:00:00"));
    expect(told[0]).toBe("r: Failed: PolicyChanged: the policy changed");
    expect(told.find((it) => it.includes("before rest"))).toBe(
      "│  ├─ approval before rest: requested at 2026-11-21T09:00:00Z, no longer needed: the run has ended",
    );
    expect(told.slice(-9)).toEqual([
      "│  ├─ north: not started",
      "│  ├─ south: not started",
      "│  └─ west: not started",
      "├─ removal from clusters that are no longer picked: after all stages",
      "│  └─ gone: not started",
      "├─ what the clusters run now",
      "│  ├─ resource snapshot 2: north, west",
      "│  └─ resource snapshot 3: east",
      "└─ to roll back: flotilla rollback web --to 2",
    ]);
  });

  test("a run that has no plan yet", () => {
    const its = run("r", 1);
    expect(lines(its, ledgerOf([], [its]), at("09:00:00"))).toEqual([
      "r: Initializing",
      "└─ web: what it selects by canary-first; desired state Run",
    ]);
  });

  test("clusters that were skipped, or that a newer run took", () => {
    const taken = { startedAt: null, sequence: null } as const;
    const rest = progress({
      startedAt: at("10:30:00"),
      clusters: clusters({
        north: { ...taken, end: { kind: "skipped", at: at("10:30:00"), because: "it left the fleet" } },
        south: { ...taken, end: { kind: "superseded", at: at("10:31:00"), by: "s" as RunKey } },
      }),
    });
    const its = run("r", 1, { plan: planOf(3, stages), stages: [ended, rest] });
    expect(lines(its, ledgerOf([web([])], [its]), at("10:35:00")).slice(-3)).toEqual([
      "   ├─ north: skipped at 2026-11-21T10:30:00Z: it left the fleet",
      "   ├─ south: taken over by run s at 2026-11-21T10:31:00Z",
      "   └─ west: waits for its turn",
    ]);
  });
});

describe("in one word", () => {
  const spec = (state: RunRecord["spec"]["state"]) => ({ ...run("r", 1).spec, state });
  const active = progress({ startedAt: at("09:20:00"), clusters: clusters({ east: begun("09:20:00") }) });
  const timed = progress({ startedAt: at("09:20:00"), finishedAt: at("09:21:00"), clusters: clusters({ east: done }) });
  test.each([
    ["Initializing", run("r", 1), ""],
    ["Initialized", run("r", 1, { plan, spec: spec("Initialize") }), "begins once its state is Run"],
    ["Stopped", run("r", 1, { plan, spec: spec("Stop") }), ""],
    ["Stopped", run("r", 1, { plan, spec: spec("Stop"), stages: [active, progress()] }), "1 in progress"],
    ["Progressing", run("r", 1, { plan, stages: [active, progress()] }), "canary"],
    [
      "Waiting",
      run("r", 1, { plan, stages: [progress({ before: requested(asked) }), progress()] }),
      "canary: approval before it, requested at 2026-11-21T09:00:00Z",
    ],
    ["Waiting", run("r", 1, { plan, stages: [timed, progress()] }), "canary: wait until 2026-11-21T10:21:00Z"],
    [
      "Waiting",
      run("r", 1, { plan, stages: [{ ...ended, clusters: active.clusters }, progress({ before: requested(asked) })] }),
      "rest: approval before it, requested at 2026-11-21T09:00:00Z",
    ],
    ["Succeeded", succeeded("r", 1, 3), "at 2026-11-21T10:00:00Z"],
    ["Stuck", run("r", 1, { plan, stages: [ended, progress({})], conditions: [stuck] }), "canary failed"],
  ] as const)("%s", (word, its, message) => expect(runSummary(its)).toEqual({ word, message }));
});

describe("tables", () => {
  const its = run("r", 1, { plan, stages: [ended, progress({ before: requested(asked) })] });
  const ledger = ledgerOf([web([])], [succeeded("q", 1, 2), its]);

  test("runs", () => {
    expect(runRows(ledger, null, false)).toEqual([
      ["NAME", "PLACEMENT", "INDEX", "STAGES", "CLUSTERS", "STATE"],
      [
        ["q", "web", "2", "0/0", "0/0", "Succeeded"],
        ["r", "web", "3", "1/2", "1/5", "Waiting"],
      ],
    ]);
    expect(runRows(ledger, "r", true)).toEqual([
      ["NAME", "PLACEMENT", "INDEX", "STAGES", "CLUSTERS", "STATE", "STRATEGY", "POLICY", "MESSAGE"],
      [
        [
          ...["r", "web", "3", "1/2", "1/5", "Waiting", "canary-first", "0"],
          "rest: approval before it, requested at 2026-11-21T09:00:00Z",
        ],
      ],
    ]);
  });

  test("approvals", () => {
    expect(approvalRows(ledger, null, false)).toEqual([
      ["NAME", "RUN", "STAGE", "WHEN", "STATE", "SINCE"],
      [
        ["r-before-canary", "r", "canary", "before", "Approved", "2026-11-21T09:10:00Z"],
        ["r-after-canary", "r", "canary", "after", "Approved", "2026-11-21T09:10:00Z"],
        ["r-before-rest", "r", "rest", "before", "Waiting", "2026-11-21T09:00:00Z"],
      ],
    ]);
    expect(approvalRows(ledger, "r-before-rest", true)[1]).toEqual([
      [
        "r-before-rest",
        "r",
        "rest",
        "before",
        "Waiting",
        "2026-11-21T09:00:00Z",
        "-",
        digest,
        "flotilla approve r rest",
      ],
    ]);
  });

  test("the file that approves is told as it has to be committed", () => {
    expect(requestTexts(its, "main", { context: null, principal: "ada@example.com" })).toBe(`
to let stage rest of run r begin: flotilla approve r rest; or commit this file to main: approvals/r/rest-before.yaml

apiVersion: flotilla.dev/v1alpha1
kind: Approval
metadata:
  name: r-before-rest
spec:
  requestDigest: ${digest}
  decision: Approve
  principal: ada@example.com
  comment: ""
`);
    const over = { ...its, end: { kind: "succeeded", at: at("11:00:00") } } as const;
    expect(requestTexts(over, "main", { context: null, principal: "ada@example.com" })).toBe("");
  });
});
