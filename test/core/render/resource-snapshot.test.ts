import { describe, expect, it } from "vitest";
import type { ResourceSnapshot } from "../../../src/core/model/ledger.ts";
import type { SourcedManifest } from "../../../src/core/model/manifest.ts";
import type { BlobId, Commit } from "../../../src/core/model/value.ts";
import {
  nextResourceSnapshots,
  restoreResources,
  type SnapshotFacts,
} from "../../../src/core/render/resource-snapshot.ts";
import { labelled, object } from "./repository.ts";

const facts = (more: Partial<SnapshotFacts> = {}): SnapshotFacts => ({
  commit: "c0ffee" as Commit,
  blobOf: ({ source }) => `blob of ${source.path}` as BlobId,
  historyLimit: 10,
  inUse: new Set(),
  first: 0,
  ...more,
});

const version = (value: string): readonly SourcedManifest[] => [labelled("v1 ConfigMap app/c", { value })];

/** The history after each of these contents in turn. */
function history(values: readonly string[], more: Partial<SnapshotFacts> = {}): readonly ResourceSnapshot[] {
  let snapshots: readonly ResourceSnapshot[] = [];
  for (const value of values) snapshots = nextResourceSnapshots(snapshots, version(value), facts(more));
  return snapshots;
}

const indexes = (snapshots: readonly ResourceSnapshot[]): readonly number[] => snapshots.map((it) => it.index);

describe("resource snapshots", () => {
  it("R1: the first one has index 0 and says where every object stands", () => {
    const [snapshot] = nextResourceSnapshots([], [object("v1 ConfigMap app/c")], facts());
    const { id, digest } = object("v1 ConfigMap app/c");
    expect(snapshot).toMatchObject({
      index: 0,
      commit: "c0ffee",
      resources: [
        {
          id,
          digest,
          path: "resources/ConfigMap-app-c.yaml",
          document: 0,
          blob: "blob of resources/ConfigMap-app-c.yaml",
        },
      ],
    });
  });

  it("R4: nothing selected is a snapshot too", () => {
    expect(nextResourceSnapshots([], [], facts()).map((it) => it.resources)).toEqual([[]]);
  });

  it("R12: another label is another content", () => expect(indexes(history(["a", "b"]))).toEqual([0, 1]));

  it("only the latest is compared: an older content that comes back gets a new index", () =>
    expect(indexes(history(["a", "b", "a"]))).toEqual([0, 1, 2]));

  it("the same content, moved to another file by another commit, changes nothing at all", () => {
    const before = history(["a"]);
    const moved = version("a").map((it) => ({ ...it, source: { ...it.source, path: "elsewhere.yaml" } }));
    expect(nextResourceSnapshots(before, moved, facts({ commit: "beef" as Commit }))).toBe(before);
  });

  it("R2, R5, R6, against them A 53: neither split nor delayed", () => {
    const large = ["1", "2", "3"].map((it) =>
      object(`v1 ConfigMap app/${it}`, { data: { text: "x".repeat(500_000) } }),
    );
    expect(nextResourceSnapshots(history(["a"]), large, facts()).map((it) => it.resources.length)).toEqual([1, 3]);
  });

  const trims: readonly {
    id: string;
    claim: string;
    values: string[];
    limit: number;
    inUse: number[];
    want: number[];
  }[] = [
    { id: "R8", claim: "the oldest goes", values: ["a", "b", "c", "d"], limit: 3, inUse: [], want: [1, 2, 3] },
    { id: "R9", claim: "below the limit all stay", values: ["a", "b", "c"], limit: 10, inUse: [], want: [0, 1, 2] },
    { id: "R10", claim: "limit 1 keeps the newest", values: ["a", "b"], limit: 1, inUse: [], want: [1] },
    {
      id: "A 51",
      claim: "what a binding names stays",
      values: ["a", "b", "c"],
      limit: 1,
      inUse: [0],
      want: [0, 2],
    },
  ];
  for (const { id, claim, values, limit, inUse, want } of trims)
    it(`${id}: ${claim}`, () =>
      expect(indexes(history(values, { historyLimit: limit, inUse: new Set(inUse) }))).toEqual(want));

  it("A 52: history is trimmed on every pass, also without new content", () => {
    const before = history(["a", "b", "c"], { inUse: new Set([0]), historyLimit: 1 });
    expect(indexes(nextResourceSnapshots(before, version("c"), facts({ historyLimit: 1 })))).toEqual([2]);
  });
});

describe("restoring the manifests of a snapshot", () => {
  const manifests = new Map(version("a").map((it) => [it.digest, it.manifest]));

  it("gives them in the order of selection, and the same list every time", () => {
    const [snapshot] = history(["a"]);
    if (snapshot === undefined) throw new Error("no snapshot");
    const restore = () => restoreResources(snapshot, (digest) => manifests.get(digest) ?? null);
    const restored = restore();
    expect(restored).toEqual({
      kind: "restored",
      resources: version("a").map(({ id, manifest, digest }) => ({ id, manifest, digest })),
    });
    const again = restore();
    expect(again.kind === "restored" && restored.kind === "restored" && again.resources === restored.resources).toBe(
      true,
    );
  });

  it("what is lost by now is missing, although it was found before", () => {
    const [snapshot] = history(["a"]);
    if (snapshot === undefined) throw new Error("no snapshot");
    restoreResources(snapshot, (digest) => manifests.get(digest) ?? null);
    expect(restoreResources(snapshot, () => null).kind).toBe("missing");
  });

  it("names the first object that is lost", () => {
    const [snapshot] = history(["a"]);
    if (snapshot === undefined) throw new Error("no snapshot");
    expect(restoreResources(snapshot, () => null)).toEqual({ kind: "missing", resource: snapshot.resources[0] });
  });
});
