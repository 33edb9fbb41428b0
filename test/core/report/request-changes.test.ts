// What an approver is told where only some of what is asked for can be shown.
import { expect, test } from "vitest";
import { digestOf, type Json } from "../../../src/core/model/json.ts";
import { type Manifest, objectKey } from "../../../src/core/model/manifest.ts";
import type { RenderedManifest } from "../../../src/core/model/plan.ts";
import type { ClusterName, Commit, Digest, Instant } from "../../../src/core/model/value.ts";
import { changeRequestOf } from "../../../src/core/plan/approval/approval-request.ts";
import { contentLines } from "../../../src/core/report/manifest-diff.ts";
import { requestLines } from "../../../src/core/report/request-text.ts";
import { ledgerOf, on, web } from "../../cmd/rollout-ledger.ts";
import { gateOf } from "../../gate.ts";

const config = (value: Json): RenderedManifest => {
  const id = { group: "", version: "v1", kind: "ConfigMap", namespace: "web", name: "c" };
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { value } } as Manifest;
  return { id, key: objectKey(id), manifest, digest: digestOf(manifest) };
};

const names = (count: number): readonly ClusterName[] =>
  Array.from({ length: count }, (_, at) => `m${String(at).padStart(2, "0")}` as ClusterName);

/** A change of these clusters, of which the first `known` can be shown. */
function scene(all: readonly ClusterName[], known: number, bindings = all.map((it) => on(it, 1))) {
  const record = web(bindings);
  const request = gateOf({ digest: "d".repeat(64) as Digest, requestedAt: 0 as Instant });
  const clusters = new Map(all.map((it) => [it, digestOf(it)] as const));
  const change = { clusters, leaves: new Map(), others: [], since: [], request };
  const ledger = ledgerOf([{ ...record, change }], []);
  const ask = changeRequestOf({ ...record, change });
  if (ask === null) throw new Error("nobody is asked");
  const move = (at: number) => ({ before: [config("old")], after: at < known ? [config("new")] : null });
  const moves = new Map(all.map((it, at) => [it, move(at)] as const));
  return { ask, ledger, look: { moves, commits: [], commitLines: [], state: "5".repeat(40) as Commit } };
}

test("what some clusters would get is shown, and of the others it is said that it is not", async () => {
  const { ask, ledger, look } = scene(names(14), 2);
  const lines = contentLines(ask, ledger, look, { stateBranch: "state" });
  expect(lines.slice(0, 3)).toEqual(["", "what changes on m00, m01, the same on each:", "  ConfigMap web/c, changed"]);
  const others = names(12).slice(2).join(", ");
  expect(lines.at(-2)).toBe(
    `what ${others} and 2 more would get is not shown: rendered/.asked/web-change/ on state does not match the request's digest;`,
  );
  expect(requestLines(ask, ledger, look)).toContain("  changed       v1 ConfigMap web/c");
});

test("where nothing was read, the versions on record are all that is told", async () => {
  const { ask, ledger } = scene(names(1), 1);
  expect(contentLines(ask, ledger, null, { stateBranch: "state" })[1]).toMatch(/^what m00 would get is not shown/);
  expect(requestLines(ask, ledger, null).join("\n")).not.toContain("ConfigMap web/c");
});

const long = config(Array.from({ length: 100 }, (_, at) => `line ${at}`));
const at = "5".repeat(12);
const asked = `${at}:rendered/.asked/web-change/`;

test.each([
  [
    "what a cluster carries is what it is compared with",
    1,
    on("m00", 1),
    `git diff ${at}:rendered/m00/web.yaml ${asked}m00/web.yaml`,
  ],
  [
    "a cluster that carries nothing yet has nothing to compare",
    1,
    on("m00", 1, { target: null }),
    `git show ${asked}m00/web.yaml`,
  ],
  [
    "where others get something else, that stands beside it",
    2,
    on("m00", 1),
    `git diff ${at}:rendered/m00/web.yaml ${asked}m00/web.yaml, which is for m00; git ls-tree -r ${at} rendered/.asked/web-change/ lists the others`,
  ],
])("where not all is shown, git can show it: %s", async (_, count, first, command) => {
  const all = names(count);
  const { ask, ledger, look } = scene(all, count, [first, ...all.slice(1).map((it) => on(it, 1))]);
  const moves = new Map(all.map((it) => [it, { before: [], after: [long] }] as const));
  const lines = contentLines(ask, ledger, { ...look, moves }, { stateBranch: "state" });
  expect(lines.at(-1)).toBe(`some of it is left out; to see all of it, after git fetch: ${command}`);
});
