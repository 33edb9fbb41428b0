import { describe, expect, test } from "vitest";
import type { DeletionLedger } from "../../../src/core/model/ledger.ts";
import { type ObjectKey, objectIdOf } from "../../../src/core/model/manifest.ts";
import type { ClusterName, Commit, Digest, PlacementKey } from "../../../src/core/model/value.ts";
import { type Doom, deletionDigest, extentOf, type GuardInput, guardDeletions } from "../../../src/core/plan/guard.ts";
import { keyOf } from "../../intent.ts";

const web = "web" as PlacementKey;
const commit = (name: string): Commit => name as Commit;
const nothingYet: DeletionLedger = { bounds: null, cause: null, permitted: new Map(), held: [] };

/** `m1 3`: three ConfigMaps go from m1; `m1 3 whole`: with their whole placement; `m1 Namespace web`: that object. */
function dooms(...lines: readonly string[]): readonly Doom[] {
  return lines.flatMap((line) => {
    const [cluster = "", what = "", name = ""] = line.split(" ");
    const keys = /^\d+$/.test(what)
      ? Array.from({ length: Number(what) }, (_, at) => keyOf("ConfigMap", `web/config-${at}`))
      : [keyOf(what, name)];
    return keys.map((key) => doom(cluster, key, line.endsWith("whole")));
  });
}

const doom = (cluster: string, key: ObjectKey, whole: boolean): Doom => ({
  cluster: cluster as ClusterName,
  placement: web,
  id: objectIdOf(key),
  whole,
  foreign: false,
});

const input = (more: Partial<GuardInput>): GuardInput => ({
  before: nothingYet,
  cause: commit("c1"),
  dooms: [],
  bounds: { objectsPerCluster: 10, percentPerCluster: 20, clusters: 3, percentOfClusters: 30 },
  clusterCount: 5,
  objectsOn: () => 10,
  confirmations: new Set(),
  isDoomed: () => true,
  ...more,
});

/** What waits, one line a cluster; and what is permitted so far. */
function outcome({ permitted, held }: DeletionLedger): string {
  const waiting = held.map((it) => {
    const { objects, clusters } = extentOf(it);
    return `${it.confirmed ? "confirmed" : "held"} ${objects} on ${clusters.join(",")}`;
  });
  const counted = [...permitted].map(([cluster, count]) => `${cluster}:${count}`).join(" ");
  return [counted === "" ? "none" : counted, ...waiting].join("; ");
}

describe("what one commit takes away is bounded (RULINGS.md D 3)", () => {
  const cases: readonly { name: string; go: readonly string[]; more?: Partial<GuardInput>; want: string }[] = [
    { name: "ten objects may go from a small cluster", go: ["m1 10"], want: "m1:10" },
    { name: "eleven wait, all of them", go: ["m1 11"], want: "none; held 11 on m1" },
    { name: "a fifth of a large cluster may go", go: ["m1 20"], more: { objectsOn: () => 100 }, want: "m1:20" },
    { name: "more than a fifth waits", go: ["m1 21"], more: { objectsOn: () => 100 }, want: "none; held 21 on m1" },
    { name: "a share is rounded down", go: ["m1 12"], more: { objectsOn: () => 59 }, want: "none; held 12 on m1" },
    {
      name: "three clusters of a small fleet may lose something",
      go: ["m1 1", "m2 1", "m3 1"],
      want: "m1:1 m2:1 m3:1",
    },
    {
      name: "a fourth holds back all of them",
      go: ["m1 1", "m2 1", "m3 1", "m4 1"],
      want: "none; held 4 on m1,m2,m3,m4",
    },
    {
      name: "a third of a large fleet may",
      go: ["m1 1", "m2 1", "m3 1", "m4 1"],
      more: { clusterCount: 14 },
      want: "m1:1 m2:1 m3:1 m4:1",
    },
    { name: "one cluster over its bound holds back the others", go: ["m1 1", "m2 11"], want: "none; held 12 on m1,m2" },
    {
      name: "fleet.yaml may ask for less",
      go: ["m1 1"],
      more: { bounds: { objectsPerCluster: 0, percentPerCluster: 0, clusters: 0, percentOfClusters: 0 } },
      want: "none; held 1 on m1",
    },
  ];
  test.each(cases)("$name", ({ go, more = {}, want }) => {
    expect(outcome(guardDeletions(input({ dooms: dooms(...go), ...more })))).toBe(want);
  });
});

describe("kinds that take others' data with them (RULINGS.md D 4)", () => {
  const cases: readonly { name: string; go: readonly string[]; want: string }[] = [
    { name: "a Namespace waits when an edit drops it", go: ["m1 Namespace web"], want: "none; held 1 on m1" },
    { name: "and goes with its whole placement", go: ["m1 Namespace web whole"], want: "m1:1" },
    { name: "a PersistentVolumeClaim waits", go: ["m1 PersistentVolumeClaim web/data"], want: "none; held 1 on m1" },
    { name: "a PersistentVolume waits", go: ["m1 PersistentVolume data"], want: "none; held 1 on m1" },
    { name: "what is beside it may go", go: ["m1 Namespace web", "m1 2"], want: "m1:2; held 1 on m1" },
    { name: "what waits is not counted as permitted", go: ["m1 Namespace web", "m1 10"], want: "m1:10; held 1 on m1" },
  ];
  test.each(cases)("$name", ({ go, want }) => {
    expect(outcome(guardDeletions(input({ dooms: dooms(...go) })))).toBe(want);
  });
});

describe("deletions are counted across passes", () => {
  const first = guardDeletions(input({ dooms: dooms("m1 6") }));

  test("the same commit has one allowance", () => {
    const second = guardDeletions(
      input({ before: first, dooms: dooms("m1 ConfigMap web/x", "m1 Secret web/y", "m2 5") }),
    );
    expect(outcome(second)).toBe("m1:8 m2:5");
    expect(outcome(guardDeletions(input({ before: first, dooms: dooms("m1 5") })))).toBe("m1:6; held 5 on m1");
  });

  test("another commit has its own", () => {
    expect(outcome(guardDeletions(input({ before: first, cause: commit("c2"), dooms: dooms("m1 10") })))).toBe("m1:10");
  });

  test("what waits already is not counted again", () => {
    const held = guardDeletions(input({ dooms: dooms("m1 11") }));
    expect(guardDeletions(input({ before: held, cause: commit("c2"), dooms: dooms("m1 11") }))).toBe(held);
  });

  test("a pass that takes nothing away changes nothing", () => {
    expect(guardDeletions(input({ before: first, cause: commit("c2") }))).toBe(first);
  });
});

describe("confirmations", () => {
  const go = dooms("m1 11", "m2 1");
  const held = guardDeletions(input({ dooms: go }));
  const confirmed = new Set([deletionDigest(go)]);

  test("a set is named by a digest over what it deletes, in any order and whoever placed it", () => {
    const shuffled = [...go].reverse().map((it) => ({ ...it, placement: "other" as PlacementKey }));
    expect(held.held.map((it) => it.digest)).toEqual([deletionDigest(shuffled)]);
    expect(deletionDigest(go)).not.toBe(deletionDigest(go.slice(1)));
  });

  test("a confirmation frees the set that it names and no other", () => {
    expect(outcome(guardDeletions(input({ before: held, confirmations: confirmed })))).toBe(
      "none; confirmed 12 on m1,m2",
    );
    const other = new Set([deletionDigest(go.slice(1))]);
    expect(guardDeletions(input({ before: held, confirmations: other }))).toBe(held);
  });

  test("it stays when its file goes", () => {
    const free = guardDeletions(input({ before: held, confirmations: confirmed }));
    expect(guardDeletions(input({ before: free }))).toBe(free);
  });

  test("it may come with the commit itself", () => {
    expect(outcome(guardDeletions(input({ dooms: go, confirmations: confirmed })))).toBe("none; confirmed 12 on m1,m2");
  });

  test("a set keeps its digest while it shrinks, and goes when all of it is gone or wanted again", () => {
    const isOnSecond = (cluster: ClusterName): boolean => cluster === "m2";
    const smaller = guardDeletions(input({ before: held, isDoomed: isOnSecond }));
    expect(outcome(smaller)).toBe("none; held 1 on m2");
    expect(smaller.held[0]?.digest).toBe(deletionDigest(go) satisfies Digest);
    expect(guardDeletions(input({ before: held, isDoomed: () => false }))).toEqual(nothingIn("c1"));
  });

  test("clusters that lose the same objects stand together", () => {
    const same = guardDeletions(input({ dooms: dooms("m1 2", "m2 2", "m3 2", "m4 2", "m5 1") }));
    expect(same.held[0]?.groups.map((it) => [it.clusters, it.objects.length])).toEqual([
      [["m1", "m2", "m3", "m4"], 2],
      [["m5"], 1],
    ]);
  });
});

const nothingIn = (cause: string): DeletionLedger => ({
  bounds: null,
  cause: commit(cause),
  permitted: new Map(),
  held: [],
});
