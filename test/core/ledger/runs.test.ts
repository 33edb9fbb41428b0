import { deepStrictEqual } from "node:assert/strict";
import { describe, expect, test } from "vitest";
import {
  approvalRequestPath,
  runPath,
  runPlanPath,
  type StateEdit,
  stateFileOf,
} from "../../../src/core/ledger/layout.ts";
import { ledgerReader, readLedger } from "../../../src/core/ledger/reader.ts";
import { stateEdits } from "../../../src/core/ledger/writer.ts";
import { emptyLedger, type Ledger } from "../../../src/core/model/ledger.ts";
import { placementKey } from "../../../src/core/model/placement.ts";
import type { Request } from "../../../src/core/model/trust.ts";
import {
  type ClusterProgress,
  type PlannedStage,
  type RunPlan,
  type RunRecord,
  runKey,
  type StageProgress,
  strategyKey,
} from "../../../src/core/model/update-run.ts";
import {
  type BlobId,
  type ClusterName,
  type Commit,
  type Digest,
  type DurationMs,
  type Instant,
  instantOf,
  type Sequence,
} from "../../../src/core/model/value.ts";
import { notStartedStage } from "../../../src/core/rollout/run-progress.ts";
import { requested } from "../../gate.ts";
import { clientSide } from "../../strategy.ts";
import { requestYaml, runYaml } from "../intent/run-texts.ts";
import { randomLedger } from "./ledgers.ts";

const shown = { rowsOf: () => [], selectedOf: () => [], indexOf: () => "" };
const edits = (before: Ledger, after: Ledger): readonly StateEdit[] => stateEdits(before, after, shown);
const terse = (changes: readonly StateEdit[]): readonly string[] => changes.map((it) => `${it.kind} ${it.path}`);
const textsOf = (changes: readonly StateEdit[]): ReadonlyMap<string, string> =>
  new Map(changes.flatMap((it): [string, string][] => (it.kind === "write" ? [[it.path, it.text]] : [])));
const filesOf = (ledger: Ledger): ReadonlyMap<string, string> => textsOf(edits(emptyLedger, ledger));

const at = (time: string): Instant => instantOf(`2026-11-21T${time}:00Z`) as Instant;
const digest = (of: string): Digest => of.repeat(64) as Digest;
const newer = runKey(null, "newer");
const seeds = Array.from({ length: 30 }, (_, index) => index + 1);

const planned = (name: string, clusters: readonly string[], more: Partial<PlannedStage> = {}): PlannedStage => ({
  name,
  selector: { matchLabels: { stage: name } },
  sortingLabelKey: null,
  maxConcurrency: { percent: 50 },
  before: [],
  after: [],
  maxFailures: { count: 0 },
  clusters: clusters.map((cluster) => ({
    cluster: cluster as ClusterName,
    clusterOverrides: [],
    resourceOverrides: [],
    labels: {},
    digest: digest("c"),
  })),
  ...more,
});

const plan: RunPlan = {
  root: digest("f"),
  policySnapshot: 2,
  policyHash: digest("b"),
  clusterCount: 4,
  resourceIndex: 7,
  applyStrategy: clientSide,
  deleteAdopted: false,
  stages: [
    planned("canary", ["a", "b", "c"], {
      after: [{ kind: "TimedWait", wait: 3_600_000 as DurationMs }, { kind: "Approval" }],
    }),
    planned("prod", ["d"]),
  ],
  deletions: ["old" as ClusterName],
};

const clustersOf = (clusters: Readonly<Record<string, ClusterProgress>>): StageProgress["clusters"] =>
  new Map(Object.entries(clusters).map(([name, it]) => [name as ClusterName, it]));

const answered: Request = {
  requestedAt: at("12:02"),
  digest: digest("d"),
  nonce: "1f".repeat(16),
  rules: null,
  authors: { principals: [], unknown: 0 },
  approval: {
    at: at("12:30"),
    by: [
      {
        principal: "alice",
        path: "approvals/canary.yaml",
        blob: "e".repeat(40) as BlobId,
        commit: "1234567890abcdef".repeat(3).slice(0, 40) as Commit,
        proofs: [{ evidence: "commit", key: "SHA256:abc" }],
      },
    ],
  },
};

const canary: StageProgress = {
  ...notStartedStage,
  startedAt: at("12:00"),
  clusters: clustersOf({
    a: { startedAt: at("12:00"), sequence: 40 as Sequence, end: { kind: "succeeded", at: at("12:01") } },
    b: { startedAt: null, sequence: null, end: { kind: "skipped", at: at("12:01"), because: "it left the fleet" } },
    c: { startedAt: at("12:01"), sequence: 41 as Sequence, end: { kind: "superseded", at: at("12:02"), by: newer } },
  }),
  finishedAt: at("12:02"),
  after: requested(answered),
  endedAt: at("13:02"),
};

const run: RunRecord = {
  key: runKey(null, "v7"),
  scope: "Cluster",
  namespace: null,
  name: "v7",
  uid: "11111111",
  generation: 2,
  spec: {
    placement: placementKey(null, "web"),
    resourceIndex: null,
    strategy: strategyKey(null, "slow"),
    state: "Run",
  },
  since: 39 as Sequence,
  plan,
  stages: [canary, notStartedStage],
  deletion: { startedAt: null, clusters: new Map(), endedAt: null, conditions: [] },
  end: null,
  conditions: [],
};
const base: Ledger = { ...emptyLedger, fleet: "1234", sequence: 41 as Sequence };
const withRun = (it: RunRecord): Ledger => ({ ...base, runs: new Map([[it.key, it]]) });
const ledger = withRun(run);
const request = approvalRequestPath(null, "v7-after-canary");

describe("a run in its files", () => {
  test("shows its progress in KubeFleet's shape, and says nothing twice", () => {
    expect(filesOf(ledger).get(runPath(run.key))).toBe(runYaml);
  });

  test("shows a request that names what an approval has to name", () => {
    expect(filesOf(ledger).get(request)).toBe(requestYaml);
  });

  test("stands where the map says, below its namespace if it has one", () => {
    const namespaced = { ...run, key: runKey("team", "v7"), namespace: "team", scope: "Namespaced" } as const;
    expect([...filesOf(ledger).keys()]).toEqual(["approvals/v7-after-canary.yaml", "ledger.yaml", ...own("")]);
    expect([...filesOf(withRun(namespaced)).keys()]).toEqual([
      "ledger.yaml",
      "namespaces/team/approvals/v7-after-canary.yaml",
      ...own("namespaces/team/"),
    ]);
  });

  const own = (folder: string): readonly string[] => [`${folder}runs/v7/plan.yaml`, `${folder}runs/v7/run.yaml`];

  test("never reads a request back: nobody approves by writing there", () => {
    expect(stateFileOf(request)).toEqual({ kind: "other" });
    const files = new Map(filesOf(ledger)).set(request, "status: {conditions: [{type: Approved}]}\n");
    deepStrictEqual(readLedger(files), { kind: "read", ledger });
  });
});

describe("the edits of a run", () => {
  const path = { run: runPath(run.key), plan: runPlanPath(run.key) };

  test("write its plan once", () => {
    const next = withRun({ ...run, stages: [canary, { ...notStartedStage, startedAt: at("13:03") }] });
    expect(terse(edits(ledger, next))).toEqual([`write ${path.run}`]);
  });

  test("write a request again when it is answered", () => {
    const asked = withRun({
      ...run,
      stages: [{ ...canary, after: requested({ ...answered, approval: null }) }, notStartedStage],
    });
    expect(terse(edits(asked, ledger))).toEqual([`write ${request}`, `write ${path.run}`]);
  });

  test("remove everything of it when it is gone, its requests too", () => {
    expect(terse(edits(ledger, base))).toEqual([`remove ${request}`, `remove ${path.plan}`, `remove ${path.run}`]);
  });
});

describe("a wait", () => {
  const elapsed = (endedAt: Instant | null): boolean =>
    (
      filesOf(withRun({ ...run, stages: [{ ...canary, endedAt }, notStartedStage] })).get(runPath(run.key)) ?? ""
    ).includes("WaitTimeElapsed");

  test.each([
    ["while its stage goes on", null, false],
    ["when its stage ended before it", at("13:01"), false],
    ["when its stage ended with it", at("13:02"), true],
  ] as const)("%s is over: %#", (_, endedAt, want) => {
    expect(elapsed(endedAt)).toBe(want);
  });
});

describe("a ledger read on top of another", () => {
  test.each(seeds)("is the one that is there (seed %i)", (seed) => {
    const [before, after] = [randomLedger(seed), randomLedger(seed + 500)];
    deepStrictEqual(readOnTop(before, edits(before, after)), after);
  });

  test.each(seeds)("is the same (===) where the same is read again (seed %i)", (seed) => {
    const before = randomLedger(seed);
    const { runs, evictions, hasTrust, trust, answers, placements } = readOnTop(before, edits(emptyLedger, before));
    expect(runs).toBe(before.runs);
    expect(evictions).toBe(before.evictions);
    expect(hasTrust).toBe(before.hasTrust);
    expect(trust).toBe(before.trust);
    expect(answers).toBe(before.answers);
    expect(placements).toBe(before.placements);
  });

  test("keeps what did not change of a run that did", () => {
    const moved: StageProgress = { ...notStartedStage, clusters: new Map([["d" as ClusterName, superseded]]) };
    const next = readOnTop(ledger, edits(ledger, withRun({ ...run, stages: [structuredClone(canary), moved] })));
    const read = next.runs.get(run.key);
    expect(read).not.toBe(run);
    expect(read?.stages[0]).toBe(canary);
    expect(read?.stages[1]).toEqual(moved);
    expect([read?.plan, read?.deletion, read?.conditions]).toEqual([plan, run.deletion, run.conditions]);
    expect(read?.plan).toBe(plan);
    expect(read?.deletion).toBe(run.deletion);
  });

  test("loses a run, and an eviction, whose files are gone", () => {
    const before = randomLedger(seedWithAll);
    const after = { ...before, runs: new Map(), evictions: new Map() };
    deepStrictEqual(readOnTop(before, edits(before, after)), after);
  });

  const superseded = {
    startedAt: null,
    sequence: null,
    end: { kind: "superseded", at: at("13:00"), by: newer },
  } as const;
});

const seedWithAll = seeds.find((it) => randomLedger(it).runs.size > 2 && randomLedger(it).evictions.size > 1) ?? 0;

describe("a state branch without runs", () => {
  test("reads as before: what it does not say is false, or not there", () => {
    const files = filesOf(base);
    expect([...files.keys()]).toEqual(["ledger.yaml"]);
    expect(files.get("ledger.yaml")).not.toContain("hasTrust");
    deepStrictEqual(readLedger(files), { kind: "read", ledger: base });
  });

  test("remembers a trust anchor", () => {
    const trusting = { ...base, hasTrust: true };
    expect(terse(edits(base, trusting))).toEqual(["write ledger.yaml"]);
    deepStrictEqual(readLedger(filesOf(trusting)), { kind: "read", ledger: trusting });
  });
});

describe("files of a run that do not fit", () => {
  const files = filesOf(ledger);
  const [runFile, planFile] = [runPath(run.key), runPlanPath(run.key)];
  const cases: readonly (readonly [string, string, (text: string) => string | null, string])[] = [
    ["a missing plan", planFile, () => null, `${planFile} is missing`],
    ["a missing run", runFile, () => null, `${runFile} is missing`],
    [
      "a plan that is not the one that was approved",
      planFile,
      (text) => text.replace(plan.root, digest("a")),
      `${planFile} is not the plan that run.yaml was written for`,
    ],
    [
      "a stage too many",
      planFile,
      (text) => text.replace(/ {2}- name: prod\n(?: {4}.*\n)*/, ""),
      `${runFile} has 2 stages, and plan.yaml has 1`,
    ],
    [
      "a trust that is neither there nor not",
      "ledger.yaml",
      (text) => `${text}hasTrust: "yes"\n`,
      'ledger.yaml:10:1: "hasTrust" is neither true nor left out',
    ],
    [
      "an approval that nobody gave",
      runFile,
      (text) => text.replace('\\"principal\\"', '\\"nobody\\"').replace('"principal"', '"nobody"'),
      `${runFile}:42:5: "principal" is missing`,
    ],
    [
      "a condition that is taken back by hand",
      runFile,
      (text) => text.replace(/(type: Started\n +status: )"True"/, '$1"False"'),
      `${runFile}:44:7: "Started" is present and not True`,
    ],
  ];
  test.each(cases)("%s", (_, path, swap, want) => {
    const old = files.get(path) ?? "";
    const text = swap(old);
    expect(text).not.toBe(old);
    const broken = new Map(files);
    if (text === null) broken.delete(path);
    else broken.set(path, text);
    expect(readLedger(broken)).toEqual({ kind: "unreadable", message: want });
  });
});

function readOnTop(before: Ledger, changes: readonly StateEdit[]): Ledger {
  const reader = ledgerReader(before);
  for (const it of changes) if (it.kind !== "link") reader.read(it.path, it.kind === "write" ? it.text : null);
  const read = reader.result();
  if (read.kind === "unreadable") throw new Error(read.message);
  return read.ledger;
}
