import { describe, expect, test } from "vitest";
import { finishedDocuments } from "../../../src/cmd/edits/finished.ts";
import { documentsOf, type TextFile } from "../../../src/cmd/edits/found-document.ts";
import { evictionFile, runFile } from "../../../src/cmd/edits/new-object.ts";
import { emptyLedger, type Ledger } from "../../../src/core/model/ledger.ts";
import type { RunRecord } from "../../../src/core/model/update-run.ts";
import type { ClusterName, Commit, Digest, PlacementKey } from "../../../src/core/model/value.ts";
import { confirmationFile } from "../../../src/core/report/deletion-text.ts";
import { gateOf, requested } from "../../gate.ts";
import { answered } from "../asked-ledger.ts";
import { approval, at, ledgerOf, on, planOf, progress, run, stage, succeeded, web } from "../rollout-ledger.ts";

const finished = (ledger: Ledger, files: readonly TextFile[], wasRead: (file: TextFile) => boolean = () => false) => {
  const found = finishedDocuments(ledger, { files, wasRead, find: (wanted) => documentsOf(files, wanted) });
  return Object.values(found)
    .flat()
    .map((it) => it.path);
};

const runText = (name: string, placement = "web"): TextFile =>
  runFile({ namespace: null, name, placement, strategy: "canary-first", index: null, state: "Run" }, "");

const failed = (name: string, since: number, index: number): RunRecord =>
  run(name, since, {
    plan: planOf(index, []),
    end: { kind: "failed", at: at("10:00:00"), code: "SnapshotNotFound", message: "gone" },
  });

const names = ["a", "b", "c", "d", "e"];
const files = names.map((it) => runText(it));

const cases: readonly (readonly [name: string, runs: readonly RunRecord[], want: readonly string[]])[] = [
  ["three runs of a placement stay", names.slice(0, 3).map((it, i) => succeeded(it, i + 1, i + 1)), []],
  ["older ones go, the oldest first", names.map((it, i) => succeeded(it, i + 1, Math.min(i + 1, 3))), ["a", "b"]],
  [
    "one that has not ended stays, however old it is",
    [run("a", 1, { plan: planOf(1, []) }), ...["b", "c", "d", "e"].map((it, i) => succeeded(it, i + 2, 3))],
    ["b"],
  ],
  [
    "the one that brought the version to which a rollback goes stays, however many failed since",
    [succeeded("a", 1, 1), succeeded("b", 2, 2), failed("c", 3, 3), failed("d", 4, 3), failed("e", 5, 3)],
    ["a"],
  ],
];

describe("runs that are over", () => {
  test.each(cases)("%s", (_, runs, want) => {
    const ledger = ledgerOf([web([on("east", 3)])], runs);
    expect(finished(ledger, files)).toEqual(want.map((it) => `runs/${it}.yaml`));
  });

  test("each placement has three of its own, and one that is gone leaves no more behind", () => {
    const other = (it: RunRecord): RunRecord => ({ ...it, spec: { ...it.spec, placement: "gone" as PlacementKey } });
    const runs = [
      ...names.slice(0, 3).map((it, i) => succeeded(it, i + 1, 1)),
      ...["k", "l", "m", "n"].map((it, i) => other(succeeded(it, i + 4, 1))),
    ];
    const all = [...files, ...["k", "l", "m", "n"].map((it) => runText(it, "gone"))];
    expect(finished(ledgerOf([web([on("east", 3)])], runs), all)).toEqual(["runs/k.yaml"]);
  });

  test("a file that says something else by now is another run", () => {
    const runs = names.map((it, i) => succeeded(it, i + 1, 3));
    const changed = [runText("a", "api"), ...files.slice(1)];
    expect(finished(ledgerOf([web([on("east", 3)])], runs), changed)).toEqual(["runs/b.yaml"]);
  });
});

test("evictions that were judged go, those that wait stay, and so does one that was written anew", () => {
  const eviction = (name: string, cluster: string): TextFile => evictionFile(name, { placement: "web", cluster }, "");
  const record = (name: string, cluster: string) => ({
    name,
    uid: name,
    placement: "web" as PlacementKey,
    cluster: cluster as ClusterName,
    found: null,
    conditions: [],
  });
  const evictions = new Map([record("one", "east"), record("two", "west")].map((it) => [it.name, it]));
  const written = [eviction("one", "east"), eviction("two", "north"), eviction("three", "east")];
  expect(finished({ ...ledgerOf([], []), evictions }, written)).toEqual(["evictions/one.yaml"]);
});

describe("answers", () => {
  const asking = (name: string, digest: string, more: Partial<RunRecord>): RunRecord =>
    run(name, 1, {
      plan: planOf(3, [stage("canary", ["east"], { before: [approval] })]),
      stages: [
        progress({ before: requested(gateOf({ requestedAt: at("09:00:00"), digest: digest.repeat(32) as Digest })) }),
      ],
      ...more,
    });
  const end = { kind: "succeeded", at: at("10:00:00") } as const;
  const answer = (path: string, digest: string): TextFile => ({
    path,
    text: `apiVersion: flotilla.dev/v1alpha1\nkind: Approval\nmetadata: {name: x}\nspec: {requestDigest: ${digest.repeat(32)}, decision: Approve}\n`,
  });
  const change = { ...gateOf({ requestedAt: at("09:00:00"), digest: "dd".repeat(32) as Digest }) };
  const changing = { clusters: new Map(), leaves: new Map(), others: [], since: [], request: change };
  const ledger = ledgerOf([web([], { change: changing })], [asking("over", "aa", { end }), asking("open", "bb", {})]);
  const answers = ["aa", "bb", "cc", "dd"].map((it) => answer(`approvals/${it}.yaml`, it));

  test("to what ended runs asked go; nobody knows what others answer that were not read yet", () => {
    expect(finished(ledger, [...answers, answer("elsewhere.yaml", "aa")])).toEqual(["approvals/aa.yaml"]);
  });

  test("that were read go where nothing on record asks for them: a change that has ended is forgotten", () => {
    expect(finished(ledger, answers, () => true)).toEqual(["approvals/aa.yaml", "approvals/cc.yaml"]);
    const done = ledgerOf([web([])], [...ledger.runs.values()]);
    expect(finished(done, answers, () => true)).toEqual(["aa", "cc", "dd"].map((it) => `approvals/${it}.yaml`));
    expect(finished(done, answers, ({ path }) => path === "approvals/cc.yaml")).not.toContain("approvals/dd.yaml");
  });

  test("that were denied go, also to what is open; those that count stay", () => {
    const denied = { kind: "denied", code: "FLT1205", because: "four eyes" } as const;
    const said = (path: string, digest: string, more = {}) =>
      [path, answered("ann", digest.repeat(32) as Digest, { path, ...more })] as const;
    const judged = new Map([
      said("approvals/bb.yaml", "bb", { judgement: denied }),
      said("approvals/dd.yaml", "dd"),
      said("approvals/bb-2.yaml", "bb"),
    ]);
    const all = [...answers, answer("approvals/bb-2.yaml", "bb")];
    const gone = ["approvals/aa.yaml", "approvals/bb.yaml", "approvals/cc.yaml"];
    expect(finished({ ...ledger, answers: judged }, all, () => true)).toEqual(gone);
    // As somebody has it by now, nobody has read it.
    expect(finished({ ...ledger, answers: judged }, all, ({ path }) => path !== "approvals/bb.yaml")).not.toContain(
      "approvals/bb.yaml",
    );
  });

  test("what is no answer stays, whatever folder it lies in", () => {
    const other = {
      path: "approvals/x.yaml",
      text: "kind: Approval\n---\nkind: ConfigMap\nspec: {requestDigest: x}\n",
    };
    expect(finished(ledger, [other], () => true)).toEqual([]);
  });
});

test("confirmations that were judged go, but for those that are being carried out", () => {
  const [used, going, fresh] = ["aa", "bb", "cc"].map((it) => it.repeat(32) as Digest) as [Digest, Digest, Digest];
  const commit = "c".repeat(40) as Commit;
  const judged = (digest: Digest) => [digest, { digest, outcome: "used", commit, basis: null }] as const;
  const held = [{ because: "bounds", cause: commit, digest: going, confirmed: true, groups: [], others: [] }] as const;
  const { deletions } = emptyLedger;
  const ledger = {
    ...ledgerOf([], []),
    deletions: { ...deletions, held, confirmations: new Map([judged(used), judged(going)]) },
  };
  const all = [used, going, fresh].map((it) => confirmationFile(it));
  expect(finished(ledger, all)).toEqual([`approvals/deletions/${used}.yaml`]);
});
