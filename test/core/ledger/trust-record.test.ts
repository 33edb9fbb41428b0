import { deepStrictEqual } from "node:assert/strict";
import { describe, expect, test } from "vitest";
import { readTrust } from "../../../src/core/intent/trust/trust-file.ts";
import {
  answersPath,
  changeRequestName,
  ledgerPath,
  type StateEdit,
  stateFileOf,
  trustTextPath,
} from "../../../src/core/ledger/layout.ts";
import { ledgerReader, readLedger } from "../../../src/core/ledger/reader.ts";
import { stateEdits } from "../../../src/core/ledger/writer.ts";
import { known } from "../../../src/core/model/assert.ts";
import { type ChangeRequest, emptyLedger, type Ledger, type PlacementRecord } from "../../../src/core/model/ledger.ts";
import { type ObjectKey, objectIdOf } from "../../../src/core/model/manifest.ts";
import { approvalRequestName } from "../../../src/core/model/stage-task.ts";
import type { AnswerRecord, Request, TrustRecord } from "../../../src/core/model/trust.ts";
import {
  type BlobId,
  type ClusterName,
  type Commit,
  type Digest,
  type Instant,
  instantOf,
  type Sequence,
} from "../../../src/core/model/value.ts";
import { randomLedger } from "./ledgers.ts";
import { armoredSignature, trustText } from "./trust-records.ts";

const shown = { rowsOf: () => [], selectedOf: () => [], indexOf: () => "" };
const edits = (before: Ledger, after: Ledger): readonly StateEdit[] => stateEdits(before, after, shown);
const terse = (changes: readonly StateEdit[]): readonly string[] => changes.map((it) => `${it.kind} ${it.path}`);
const filesOf = (ledger: Ledger): ReadonlyMap<string, string> =>
  new Map(
    edits(emptyLedger, ledger).flatMap((it): [string, string][] => (it.kind === "write" ? [[it.path, it.text]] : [])),
  );

const at = (time: string): Instant => instantOf(`2026-11-21T${time}:00Z`) as Instant;
const digest = (of: string): Digest => of.repeat(64) as Digest;
const commit = (of: string): Commit => of.repeat(40) as Commit;
const blob = (of: string): BlobId => of.repeat(40) as BlobId;

const trustOf = (version: number, by: TrustRecord["by"] = ["ann"]): TrustRecord => ({
  trust: known(readTrust(trustText(version)).trust, "it is usable"),
  text: trustText(version),
  since: 40 as Sequence,
  from: commit("a"),
  first: commit("b"),
  by,
});

const answer = (path: string, more: Partial<AnswerRecord> = {}): AnswerRecord => ({
  file: {
    path,
    blob: blob("e"),
    digest: digest("d"),
    decision: "Approve",
    principal: "ann",
    comment: "",
    signature: null,
  },
  judgement: { kind: "counts", principal: "ann", proofs: [{ evidence: "commit", key: "SHA256:abc" }], at: at("12:00") },
  commit: commit("c"),
  at: at("12:00"),
  order: 1,
  ...more,
});

const base: Ledger = { ...emptyLedger, fleet: "1234", sequence: 41 as Sequence };
const trusting: Ledger = { ...base, hasTrust: true, trust: trustOf(1, "anchor") };
const first = answer("approvals/a.yaml");
const second = answer("approvals/b.yaml", {
  file: { ...first.file, path: "approvals/b.yaml", comment: "no: not yet", signature: armoredSignature },
  judgement: { kind: "denied", code: "FLT1202", because: "nobody's key" },
  commit: null,
});
const answersOf = (...all: readonly AnswerRecord[]): Ledger["answers"] => new Map(all.map((it) => [it.file.path, it]));
const answering: Ledger = { ...base, answers: answersOf(first, second) };

describe("the trust record", () => {
  test("stands in two files: which text it is, and the text word for word", () => {
    expect(filesOf(trusting)).toEqual(
      new Map([
        [ledgerPath, expect.stringMatching(/hasTrust: true\ntrust:\n {2}version: 1\n(?:.*\n)* {2}by: anchor\n$/)],
        [trustTextPath, trustText(1)],
      ]),
    );
    deepStrictEqual(readLedger(filesOf(trusting)), { kind: "read", ledger: trusting });
  });

  test("writes the text again only when it is another", () => {
    const same = { ...trusting, trust: { ...trustOf(1, "anchor"), since: 41 as Sequence } };
    expect(terse(edits(trusting, same))).toEqual(["write ledger.yaml"]);
    expect(terse(edits(trusting, { ...trusting, trust: trustOf(2) }))).toEqual([
      "write ledger.yaml",
      "write trust/root.yaml",
    ]);
    expect(terse(edits(trusting, { ...trusting, sequence: 42 as Sequence }))).toEqual(["write ledger.yaml"]);
  });

  test("is read from what changed: the text stands from before, and is the same (===)", () => {
    const before = trusting;
    const moved = { ...trusting, sequence: 42 as Sequence };
    expect(readOnTop(before, edits(before, moved)).trust).toBe(before.trust);
    const since = { ...trusting, trust: { ...trustOf(1, "anchor"), since: 41 as Sequence } };
    const read = readOnTop(before, edits(before, since));
    deepStrictEqual(read, since);
    expect(read.trust?.trust).toBe(before.trust?.trust);
    deepStrictEqual(readOnTop(before, edits(before, base)), base);
    deepStrictEqual(readOnTop(base, edits(base, trusting)), trusting);
  });

  const broken: readonly [claim: string, path: string, swap: (text: string) => string | null, want: string][] = [
    ["its text is gone", trustTextPath, () => null, "trust/root.yaml is missing"],
    [
      "its text is that of another version",
      trustTextPath,
      () => trustText(2),
      "trust/root.yaml is not the version that ledger.yaml was written for",
    ],
    [
      "its text was touched",
      trustTextPath,
      (text) => `${text}# more\n`,
      "trust/root.yaml is not the version that ledger.yaml was written for",
    ],
    ["its text says nothing", trustTextPath, () => "[", "trust/root.yaml is not a usable trust file"],
    [
      "its version was touched",
      ledgerPath,
      (text) => text.replace("  version: 1\n", "  version: 7\n"),
      "trust/root.yaml is not the version that ledger.yaml was written for",
    ],
    [
      "it is gone, and its text is not",
      ledgerPath,
      (text) => text.replace(/trust:\n(?: {2}.*\n)*/, ""),
      "trust/root.yaml is present, but ledger.yaml names no trust file",
    ],
    [
      "nobody vouched for it",
      ledgerPath,
      (text) => text.replace("by: anchor", "by: []"),
      'ledger.yaml:17:3: "by" names nobody',
    ],
    [
      "it is no object",
      ledgerPath,
      (text) => text.replace(/trust:\n(?: {2}.*\n)*/, "trust: yes\n"),
      'ledger.yaml:11:1: "trust" is not an object',
    ],
  ];
  test.each(broken)("cannot be read when %s, and nobody decides without it", (_, path, swap, want) => {
    const files = new Map(filesOf(trusting));
    const old = files.get(path) ?? "";
    const text = swap(old);
    expect(text).not.toBe(old);
    files.delete(path);
    if (text !== null) files.set(path, text);
    expect(readLedger(files)).toEqual({ kind: "unreadable", message: want });
    const reader = ledgerReader(trusting);
    reader.read(path, text);
    expect(reader.result()).toEqual({ kind: "unreadable", message: want });
  });
});

describe("the answers", () => {
  test("stand in one file, by path, and say why or why not", () => {
    expect([...filesOf(base).keys()]).toEqual([ledgerPath]);
    expect(filesOf(answering).get(answersPath)).toBe(`answers:
- path: approvals/a.yaml
  blob: ${blob("e")}
  digest: ${digest("d")}
  decision: Approve
  principal: ann
  commit: ${commit("c")}
  at: "2026-11-21T12:00:00Z"
  order: 1
  counts:
    principal: ann
    proofs:
    - evidence: commit
      key: SHA256:abc
- path: approvals/b.yaml
  blob: ${blob("e")}
  digest: ${digest("d")}
  decision: Approve
  principal: ann
  comment: "no: not yet"
  signature: ${JSON.stringify(armoredSignature)}
  at: "2026-11-21T12:00:00Z"
  order: 1
  denied:
    code: FLT1202
    because: nobody's key
`);
    deepStrictEqual(readLedger(filesOf(answering)), { kind: "read", ledger: answering });
  });

  test("of earlier versions have no order: they read as 0", () => {
    const text = (filesOf(answering).get(answersPath) ?? "").replaceAll(/ {2}order: 1\n/g, "");
    const read = readLedger(new Map(filesOf(answering)).set(answersPath, text));
    const old = { ...base, answers: answersOf({ ...first, order: 0 }, { ...second, order: 0 }) };
    deepStrictEqual(read, { kind: "read", ledger: old });
  });

  test("go with the last of them, and come with the first", () => {
    expect(terse(edits(base, answering))).toEqual(["write answers.yaml"]);
    expect(terse(edits(answering, base))).toEqual(["remove answers.yaml"]);
    deepStrictEqual(readOnTop(answering, edits(answering, base)), base);
  });

  test("that did not change are the same (===)", () => {
    const third = answer("approvals/0.yaml");
    const after = { ...base, answers: answersOf(third, structuredClone(first), structuredClone(second)) };
    const { answers } = readOnTop(answering, edits(answering, after));
    expect([...answers.keys()]).toEqual(["approvals/0.yaml", "approvals/a.yaml", "approvals/b.yaml"]);
    expect(
      [answers.get("approvals/a.yaml"), answers.get("approvals/b.yaml")].map(
        (it, index) => it === [first, second][index],
      ),
    ).toEqual([true, true]);
  });

  const file = filesOf(answering).get(answersPath) ?? "";
  const broken: readonly [claim: string, text: string, want: string][] = [
    ["one file twice", file.replace("approvals/b", "approvals/a"), '1:1: "answers" lists one file twice'],
    [
      "neither yes nor no",
      file.replace(/ {2}denied:\n(?: {4}.*\n)*/, ""),
      '15:3: "answers" has an answer that is not either counted or denied',
    ],
    [
      "both yes and no",
      file.replace("  denied:", "  counts: {principal: ann}\n  denied:"),
      '15:3: "answers" has an answer that is not either counted or denied',
    ],
    [
      "a decision that does not exist",
      file.replace("Approve", "approve"),
      '5:3: "decision" is not one of Reject, Approve, Revoke',
    ],
  ];
  test.each(broken)("cannot be read when they say %s", (_, text, want) => {
    expect(text).not.toBe(file);
    const read = readLedger(new Map(filesOf(answering)).set(answersPath, text));
    expect(read).toEqual({ kind: "unreadable", message: `answers.yaml:${want}` });
  });
});

const request: Request = {
  requestedAt: at("12:02"),
  nonce: "1f".repeat(16),
  digest: digest("d"),
  rules: digest("9"),
  authors: { principals: ["bob", "eve"], unknown: 2 },
  approval: null,
};
const change: ChangeRequest = {
  clusters: new Map([
    ["berlin" as ClusterName, digest("7")],
    ["tokyo" as ClusterName, null],
  ]),
  leaves: new Map([
    [
      "tokyo" as ClusterName,
      [
        { object: objectIdOf("/ConfigMap/web/settings" as ObjectKey), fate: "release" },
        { object: objectIdOf("/Namespace//web" as ObjectKey), fate: "delete" },
      ],
    ],
  ]),
  others: [],
  since: [commit("a")],
  request,
};
const web: PlacementRecord = {
  ...known(
    Array.from({ length: 30 }, (_, index) => [...randomLedger(index + 1).placements.values()])
      .flat()
      .find((it) => it.key === "web"),
    "some seed has it",
  ),
  policySnapshots: [],
  resourceSnapshots: [],
  bindings: new Map(),
};
const withChange = (it: ChangeRequest | null): Ledger => ({
  ...base,
  placements: new Map([[web.key, { ...web, change: it }]]),
});

describe("a change that waits for its approval", () => {
  test("is asked for in a file that shows what changes, by which rules, and who changed it", () => {
    expect(
      filesOf(withChange(change)).get("approvals/web-change.yaml"),
    ).toBe(`apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterApprovalRequest
metadata:
  name: web-change
  generation: 1
  labels:
    kubernetes-fleet.io/parent-CRP: web
  annotations:
    flotilla.dev/authors: bob, eve; 2 unsigned
    flotilla.dev/clusters: ${JSON.stringify(`{"berlin":"${digest("7")}","tokyo":null}`)}
    flotilla.dev/leaves: ${JSON.stringify(`[{"clusters":["tokyo"],"delete":["/Namespace//web"],"release":["/ConfigMap/web/settings"]}]`)}
    flotilla.dev/nonce: "1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f"
    flotilla.dev/request-digest: ${digest("d")}
    flotilla.dev/rules: ${JSON.stringify(digest("9"))}
spec:
  parentStageRollout: web
  targetStage: change
status: {}
`);
  });

  test("names everybody who approved it, and how that is known", () => {
    const approver = { principal: "ann", path: "approvals/1.yaml", blob: blob("e"), commit: commit("c") };
    const by = [
      {
        ...approver,
        proofs: [
          { evidence: "commit", key: "SHA256:abc" },
          { evidence: "detached", key: "SHA256:abc" },
        ],
      },
      { ...approver, principal: "bob", path: "approvals/2.yaml", commit: null, proofs: [] },
    ] as const;
    const text = filesOf(withChange({ ...change, request: { ...request, approval: { at: at("12:30"), by } } }));
    const messages = [...(text.get("approvals/web-change.yaml") ?? "").matchAll(/message: (.*)/g)].map((it) => it[1]);
    expect(messages).toEqual([
      `approved by ann (SHA256:abc, commit ${"c".repeat(12)}) and bob (unsigned)`,
      `accepted from approvals/1.yaml (blob ${blob("e")}) and approvals/2.yaml (blob ${blob("e")})`,
    ]);
  });

  test("writes its request when that appears or changes, and removes it when it is gone", () => {
    const head = "write placements/web/placement.yaml";
    const file = "approvals/web-change.yaml";
    const unasked = withChange({ ...change, request: null });
    expect(terse(edits(withChange(null), unasked))).toEqual([head]);
    expect(terse(edits(unasked, withChange(change)))).toEqual([`write ${file}`, head]);
    expect(terse(edits(withChange(change), withChange({ ...change, since: [] })))).toEqual([head]);
    const answered = { ...request, approval: { at: at("12:30"), by: [] } };
    expect(terse(edits(withChange(change), withChange({ ...change, request: answered })))).toEqual([
      `write ${file}`,
      head,
    ]);
    expect(terse(edits(withChange(change), withChange({ ...change, clusters: new Map() })))).toEqual([
      `write ${file}`,
      head,
    ]);
    expect(terse(edits(withChange(change), withChange(null)))).toEqual([`remove ${file}`, head]);
    expect(terse(edits(withChange(change), base))).toEqual([`remove ${file}`, "remove placements/web/placement.yaml"]);
    expect(stateFileOf(file)).toEqual({ kind: "other" });
  });

  test("that others hold differs in its clusters alone is another, and otherwise the same (===)", () => {
    const before = withChange(change);
    const other = { ...change, clusters: new Map([["berlin" as ClusterName, digest("8")]]) };
    const read = readOnTop(before, edits(before, withChange(other))).placements.get(web.key)?.change;
    deepStrictEqual(read, other);
    expect(read?.request).toBe(request);
    const again = readOnTop(before, edits(emptyLedger, withChange(structuredClone(change))));
    expect(again.placements).toBe(before.placements);
  });

  test("never takes the name of a gate's request: run web, stage change; placement web-before", () => {
    expect(["web", "web-before", "web-after", "web-before-x"].map(changeRequestName)).toEqual([
      "web-change",
      "web-before.change",
      "web-after.change",
      "web-before-x-change",
    ]);
    expect(approvalRequestName("web", "before", "change")).toBe("web-before-change");
  });
});

function readOnTop(before: Ledger, changes: readonly StateEdit[]): Ledger {
  const reader = ledgerReader(before);
  for (const it of changes) if (it.kind !== "link") reader.read(it.path, it.kind === "write" ? it.text : null);
  const read = reader.result();
  if (read.kind === "unreadable") throw new Error(read.message);
  return read.ledger;
}
