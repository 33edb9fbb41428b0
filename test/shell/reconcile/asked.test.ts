// What people are asked about, as files of the state branch: bounded, and gone when nobody is asked any more.
import { expect, test } from "vitest";
import { digestOf } from "../../../src/core/model/json.ts";
import { emptyLedger, type Ledger } from "../../../src/core/model/ledger.ts";
import { type Manifest, objectKey } from "../../../src/core/model/manifest.ts";
import type { RenderedManifest } from "../../../src/core/model/plan.ts";
import type { ClusterName, Commit, Digest, Instant } from "../../../src/core/model/value.ts";
import { changeRequestOf } from "../../../src/core/plan/approval/approval-request.ts";
import type { RequestDetails } from "../../../src/core/plan/approval/request-content.ts";
import { requestFolder } from "../../../src/core/report/request-page.ts";
import { approvalEdits } from "../../../src/shell/reconcile/approval-content.ts";
import type { Edit, Repository } from "../../../src/shell/reconcile/ports.ts";
import { ledgerOf, on, web } from "../../cmd/rollout-ledger.ts";
import { gateOf } from "../../gate.ts";

const names = Array.from({ length: 30 }, (_, at) => `m${String(at).padStart(2, "0")}` as ClusterName);

const asking = (() => {
  const record = web(names.map((it) => on(it, 1)));
  const clusters = new Map(names.map((it) => [it, digestOf(it)] as const));
  const change = {
    clusters,
    leaves: new Map(),
    others: [],
    since: [],
    request: gateOf({ digest: "d".repeat(64) as Digest, requestedAt: 0 as Instant }),
  };
  return ledgerOf([{ ...record, change }], []);
})();

const ask = (() => {
  const [record] = asking.placements.values();
  const found = record === undefined ? null : changeRequestOf(record);
  if (found === null) throw new Error("nobody is asked");
  return found;
})();

const config = (value: string): RenderedManifest => {
  const id = { group: "", version: "v1", kind: "ConfigMap", namespace: "web", name: "c" };
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { value } } as Manifest;
  return { id, key: objectKey(id), manifest, digest: digestOf(manifest) };
};

const asked = (texts: readonly (string | null)[], commits: readonly string[] = []): RequestDetails => ({
  ask,
  contents: texts.map((text, at) => ({
    clusters: [names[at] ?? ("m" as ClusterName)],
    content: digestOf(at),
    manifests: text === null ? null : [config(text)],
    isNew: at === 2,
  })),
  commits: commits as Commit[],
});

/** A state branch that holds these files. */
const holding = (...paths: readonly string[]) =>
  ({
    files: async (_: Commit, under = "") =>
      paths.filter((it) => it.startsWith(under)).map((path) => ({ path, blob: "b", size: 1, kind: "file" })),
  }) as unknown as Repository;

const edits = (before: Ledger, after: Ledger, content: readonly RequestDetails[], ...paths: readonly string[]) =>
  approvalEdits(holding(...paths), { commit: "c" as Commit, ledger: before }, after, content);

const pathsOf = (all: readonly Edit[]): readonly string[] => all.map((it) => `${it.kind} ${it.path}`);
const pageIn = (all: readonly Edit[]): string =>
  all.flatMap((it) => (it.kind === "write" && it.path.endsWith("README.md") ? it.text : [])).join();

test("of what many clusters would carry the first twenty are shown, and how many more there are is said", async () => {
  const all = await edits(emptyLedger, asking, [asked(names.map(() => "x"))]);
  expect(pathsOf(all).filter((it) => it.endsWith("/web.yaml")).length).toBe(20);
  expect(pageIn(all)).toContain("And 10 more, which are not shown here.");
});

test("what is too long, or cannot be rendered any more, is left out, and that is said", async () => {
  const all = await edits(emptyLedger, asking, [asked(["x".repeat(1_000_001), null, "y"])]);
  expect(pathsOf(all)).toEqual([`write ${requestFolder(ask)}m02/web.yaml`, `write ${requestFolder(ask)}README.md`]);
  expect(pageIn(all)).toMatch(/\| m00 \| too long to be shown: \d+ characters \|/);
  expect(pageIn(all)).toContain("| m01 | cannot be rendered any more | [m01](../../m01/web.yaml) |");
  expect(pageIn(all)).toContain("| m02 | [m02/web.yaml](m02/web.yaml) | nothing yet |");
});

test("all of it together is bounded as well", async () => {
  const all = await edits(emptyLedger, asking, [asked(Array.from({ length: 10 }, () => "x".repeat(900_000)))]);
  expect(pathsOf(all).filter((it) => it.endsWith("/web.yaml")).length).toBe(4);
});

test("at most a hundred commits are named, and how many more there are is said", async () => {
  const commits = Array.from({ length: 130 }, (_, at) => String(at).padStart(40, "0"));
  const all = await edits(emptyLedger, asking, [asked([], commits)]);
  const [named] = all.flatMap((it) => (it.kind === "write" && it.path.endsWith("commits.txt") ? [it.text] : []));
  expect(named?.split("\n").length).toBe(101);
  expect(pageIn(all)).toContain("* and 30 more");
});

test("what nobody is asked any more goes, and nothing of another request", async () => {
  const own = [`${requestFolder(ask)}m00/web.yaml`, `${requestFolder(ask)}README.md`];
  const others = ["rendered/.asked/shop-change/README.md", "rendered/m00/web.yaml"];
  const all = await edits(asking, emptyLedger, [], ...own, ...others);
  expect(pathsOf(all)).toEqual(own.map((it) => `remove ${it}`));
  expect(await edits(asking, asking, [], ...own)).toEqual([]);
});

test("what is asked anew replaces what was asked before, and leaves nothing of that", async () => {
  const [record] = asking.placements.values();
  if (record?.change == null) throw new Error("nobody is asked");
  const request = gateOf({ digest: "e".repeat(64) as Digest, requestedAt: 0 as Instant });
  const next = ledgerOf([{ ...record, change: { ...record.change, request } }], []);
  const own = [`${requestFolder(ask)}m00/web.yaml`, `${requestFolder(ask)}m07/web.yaml`];
  const all = await edits(asking, next, [asked(["x"])], ...own);
  expect(pathsOf(all)).toEqual([
    `write ${requestFolder(ask)}m00/web.yaml`,
    `write ${requestFolder(ask)}README.md`,
    `remove ${requestFolder(ask)}m07/web.yaml`,
  ]);
});
