import { describe, expect, test } from "vitest";
import type { DeletionLedger } from "../../../../src/core/model/deletion.ts";
import { type ObjectKey, objectIdOf } from "../../../../src/core/model/manifest.ts";
import type { ClusterName, Commit, Digest, PlacementKey } from "../../../../src/core/model/value.ts";
import { deletionDigest, type LedgerBefore } from "../../../../src/core/plan/guard/deletion-digest.ts";
import {
  extentOf,
  type GuardInput,
  judgeDeletions,
  type PlannedDeletion,
} from "../../../../src/core/plan/guard/judge-deletions.ts";
import type { HoldsOthers } from "../../../../src/core/plan/guard/others-objects.ts";
import { keyOf } from "../../../intent.ts";

const web = "web" as PlacementKey;
const commit = (name: string): Commit => name as Commit;
const nothingYet: DeletionLedger = {
  bounds: null,
  cause: null,
  permitted: new Map(),
  held: [],
  confirmations: new Map(),
};

/** `m1 3`: three ConfigMaps go from m1; `m1 3 whole`: with their whole placement; `m1 Namespace web`: that object. */
function planned(...lines: readonly string[]): readonly PlannedDeletion[] {
  return lines.flatMap((line) => {
    const [cluster = "", what = "", name = ""] = line.split(" ");
    const keys = /^\d+$/.test(what)
      ? Array.from({ length: Number(what) }, (_, at) => keyOf("ConfigMap", `web/config-${at}`))
      : [keyOf(what, name)];
    return keys.map((key) => doom(cluster, key, line.endsWith("whole")));
  });
}

const doom = (cluster: string, key: ObjectKey, whole: boolean): PlannedDeletion => ({
  cluster: cluster as ClusterName,
  placement: web,
  id: objectIdOf(key),
  wholePlacement: whole,
});

/** The record before: `web` on every member, with a target of some sequence. */
const groundsAt = (sequence: number): LedgerBefore =>
  ({
    clusters: new Map(["m1", "m2", "m3", "m4", "m5"].map((it) => [it, { kubeSystemUid: `uid-of-${it}` }])),
    placements: new Map([
      [web, { bindings: new Map(["m1", "m2"].map((it) => [it, { uid: it, target: { sequence } }])) }],
    ]),
  }) as unknown as LedgerBefore;

const input = (more: Partial<GuardInput>): GuardInput => ({
  before: nothingYet,
  cause: commit("c1"),
  planned: [],
  bounds: { objectsPerCluster: 10, percentPerCluster: 20, clusters: 3, percentOfClusters: 30 },
  clusterCount: 5,
  objectsOn: () => 10,
  confirmations: new Set(),
  occupied: [],
  ledgerBefore: groundsAt(1),
  isLeaving: () => true,
  isReleased: () => false,
  isPlannedAgain: () => false,
  leftBy: () => null,
  isProtected: () => false,
  isApproved: () => false,
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

describe("what one commit takes away is bounded (D 3)", () => {
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
    expect(outcome(judgeDeletions(input({ planned: planned(...go), ...more })))).toBe(want);
  });
});

describe("kinds that take others' data with them (D 4)", () => {
  const cases: readonly { name: string; go: readonly string[]; want: string }[] = [
    { name: "a Namespace waits when an edit drops it", go: ["m1 Namespace web"], want: "none; held 1 on m1" },
    { name: "and goes with its whole placement", go: ["m1 Namespace web whole"], want: "m1:1" },
    { name: "a PersistentVolumeClaim waits", go: ["m1 PersistentVolumeClaim web/data"], want: "none; held 1 on m1" },
    { name: "a PersistentVolume waits", go: ["m1 PersistentVolume data"], want: "none; held 1 on m1" },
    { name: "what is beside it may go", go: ["m1 Namespace web", "m1 2"], want: "m1:2; held 1 on m1" },
    { name: "what waits is not counted as permitted", go: ["m1 Namespace web", "m1 10"], want: "m1:10; held 1 on m1" },
  ];
  test.each(cases)("$name", ({ go, want }) => {
    expect(outcome(judgeDeletions(input({ planned: planned(...go) })))).toBe(want);
  });
});

describe("deletions are counted across passes", () => {
  const first = judgeDeletions(input({ planned: planned("m1 6") }));

  test("the same commit has one allowance", () => {
    const second = judgeDeletions(
      input({ before: first, planned: planned("m1 ConfigMap web/x", "m1 Secret web/y", "m2 5") }),
    );
    expect(outcome(second)).toBe("m1:8 m2:5");
    expect(outcome(judgeDeletions(input({ before: first, planned: planned("m1 5") })))).toBe("m1:6; held 5 on m1");
  });

  test("another commit has its own", () => {
    expect(outcome(judgeDeletions(input({ before: first, cause: commit("c2"), planned: planned("m1 10") })))).toBe(
      "m1:10",
    );
  });

  test("what waits already is not counted again", () => {
    const held = judgeDeletions(input({ planned: planned("m1 11") }));
    expect(judgeDeletions(input({ before: held, cause: commit("c2"), planned: planned("m1 11") }))).toBe(held);
  });

  test("a pass that takes nothing away changes nothing", () => {
    expect(judgeDeletions(input({ before: first, cause: commit("c2") }))).toBe(first);
  });
});

const digestsOf = ({ held }: DeletionLedger): readonly Digest[] => held.map((it) => it.digest);

describe("a digest says what would go, why, and under which decisions it was carried (D 3)", () => {
  const objects = planned("m1 11", "m2 1");
  const set = { because: "bounds", objects, others: [] } as const;
  const grounds = groundsAt(1);
  const digestIn = (more: Partial<Parameters<typeof deletionDigest>[0]>, of: LedgerBefore = grounds): Digest =>
    deletionDigest({ ...set, ...more }, of, () => false);
  const theirs = (uid: string) => [
    { placement: web, cluster: "m1" as ClusterName, id: objectIdOf(keyOf("Namespace", "web")), objects: [other(uid)] },
  ];

  test("it depends on no order and on no commit", () => {
    expect(digestIn({ objects: [...objects].reverse() })).toBe(digestIn({}));
    const two = ["c1", "c2"].map((it) => judgeDeletions(input({ cause: commit(it), planned: objects })));
    expect(two.map(digestsOf)).toEqual([[digestIn({})], [digestIn({})]]);
  });

  test.each([
    ["an object", digestIn({ objects: objects.slice(1) })],
    ["why it waits", digestIn({ because: "kind" })],
    [
      "the placement that carries it",
      digestIn({ objects: objects.map((it) => ({ ...it, placement: "b" as PlacementKey })) }),
    ],
    ["the cluster behind a name", digestIn({}, { ...grounds, clusters: new Map() })],
    ["the sequence of a target: placed again", digestIn({}, groundsAt(2))],
    ["objects of others", digestIn({ others: theirs("a") })],
    ["an object of others that was made anew", digestIn({ others: theirs("b") })],
  ])("another one: %s", (_, digest) => {
    expect(digest).not.toBe(digestIn({}));
  });

  test("no two of them are the same", () => {
    expect(digestIn({ others: theirs("a") })).not.toBe(digestIn({ others: theirs("b") }));
  });
});

describe("confirmations", () => {
  const go = planned("m1 11", "m2 1");
  const held = judgeDeletions(input({ planned: go }));
  const confirmed = new Set(digestsOf(held));
  const outcomesOf = ({ confirmations }: DeletionLedger) => [...confirmations.values()].map((it) => it.outcome);

  test("a confirmation frees the set that it names and no other", () => {
    expect(outcome(judgeDeletions(input({ before: held, confirmations: confirmed })))).toBe(
      "none; confirmed 12 on m1,m2",
    );
    const other = judgeDeletions(input({ before: held, confirmations: new Set(["f".repeat(64) as Digest]) }));
    expect(outcome(other)).toBe("none; held 12 on m1,m2");
    expect(outcomesOf(other)).toEqual(["void"]);
  });

  test("it stays when its file goes", () => {
    const free = judgeDeletions(input({ before: held, confirmations: confirmed }));
    expect(judgeDeletions(input({ before: free }))).toBe(free);
  });

  test("it may come with the commit itself", () => {
    const free = judgeDeletions(input({ planned: go, confirmations: confirmed }));
    expect(outcome(free)).toBe("none; confirmed 12 on m1,m2");
    expect(outcomesOf(free)).toEqual(["used"]);
  });

  test("one that was used answers nothing any more: the same is asked for under another digest", () => {
    const free = judgeDeletions(input({ before: held, confirmations: confirmed }));
    const done = judgeDeletions(input({ before: free, confirmations: confirmed, isLeaving: () => false }));
    const again = judgeDeletions(input({ before: done, confirmations: confirmed, planned: go }));
    expect(outcome(again)).toBe("none; held 12 on m1,m2");
    expect(digestsOf(again)).not.toEqual(digestsOf(held));
    const twice = judgeDeletions(input({ before: again, confirmations: new Set([...confirmed, ...digestsOf(again)]) }));
    expect(outcome(twice)).toBe("none; confirmed 12 on m1,m2");
  });

  test("one for which nothing waits when it is read answers nothing that comes later", () => {
    const early = judgeDeletions(input({ confirmations: confirmed }));
    expect(outcomesOf(early)).toEqual(["void"]);
    const asked = judgeDeletions(input({ before: early, confirmations: confirmed, planned: go }));
    expect(outcome(asked)).toBe("none; held 12 on m1,m2");
    expect(digestsOf(asked)).not.toEqual(digestsOf(held));
  });

  test("a used one is remembered without its file for as long as the same could be asked, a void one is not", () => {
    const free = judgeDeletions(input({ before: held, confirmations: confirmed }));
    const gone = { before: free, isLeaving: () => false };
    expect(outcomesOf(judgeDeletions(input(gone)))).toEqual(["used"]);
    expect(outcomesOf(judgeDeletions(input({ ...gone, ledgerBefore: groundsAt(2) })))).toEqual([]);
    expect(
      outcomesOf(judgeDeletions(input({ ...gone, ledgerBefore: groundsAt(2), confirmations: confirmed }))),
    ).toEqual(["used"]);
    const early = judgeDeletions(input({ confirmations: confirmed }));
    expect(outcomesOf(judgeDeletions(input({ before: early })))).toEqual([]);
  });

  test("a set keeps its digest while it shrinks, and goes when all of it is gone or wanted again", () => {
    const isOnSecond = (cluster: ClusterName): boolean => cluster === "m2";
    const smaller = judgeDeletions(input({ before: held, isLeaving: isOnSecond }));
    expect(outcome(smaller)).toBe("none; held 1 on m2");
    expect(digestsOf(smaller)).toEqual(digestsOf(held));
    expect(judgeDeletions(input({ before: held, isLeaving: () => false }))).toEqual(nothingIn("c1"));
  });

  test("a set loses what is only released, unless it is about objects of others", () => {
    const isReleased = (cluster: ClusterName): boolean => cluster === "m1";
    expect(outcome(judgeDeletions(input({ before: held, isReleased })))).toBe("none; held 1 on m2");
    const foreign = { ...held, held: held.held.map((it) => ({ ...it, because: "foreign" as const })) };
    expect(judgeDeletions(input({ before: foreign, isReleased })).held).toBe(foreign.held);
  });

  test("what was called off and goes all the same is asked for anew", () => {
    const free = judgeDeletions(input({ before: held, confirmations: confirmed }));
    const back = input({
      before: free,
      confirmations: confirmed,
      leftBy: () => "removal",
      ledgerBefore: groundsAt(2),
    });
    const again = judgeDeletions({ ...back, planned: go });
    expect(outcome(again)).toBe("none; held 12 on m1,m2");
    expect(digestsOf(again)).not.toEqual(digestsOf(held));
    expect(outcome(judgeDeletions({ ...back, planned: planned("m1 1") }))).toBe("m1:1; confirmed 11 on m1,m2");
  });

  test("what was confirmed before its placement was planned again after a quarantine is asked for anew", () => {
    const free = judgeDeletions(input({ before: held, confirmations: confirmed }));
    const again = judgeDeletions(input({ before: free, planned: go, isPlannedAgain: () => true }));
    expect(outcome(again)).toBe("none; held 12 on m1,m2");
    expect(digestsOf(again)).not.toEqual(digestsOf(held));
    expect(judgeDeletions(input({ before: held, planned: go, isPlannedAgain: () => true })).held).toBe(held.held);
  });

  test("clusters that lose the same objects stand together", () => {
    const same = judgeDeletions(input({ planned: planned("m1 2", "m2 2", "m3 2", "m4 2", "m5 1") }));
    expect(same.held[0]?.groups.map((it) => [it.clusters, it.objects.length])).toEqual([
      [["m1", "m2", "m3", "m4"], 2],
      [["m5"], 1],
    ]);
  });
});

describe("objects of others in a namespace (D 3, D 4)", () => {
  const space = keyOf("Namespace", "web");
  const occupied = (uids: readonly string[], count = uids.length, cluster = "m1"): HoldsOthers => ({
    cluster: cluster as ClusterName,
    placement: web,
    id: objectIdOf(space),
    found: { count, objects: uids.map(other) },
  });
  const asked = judgeDeletions(input({ occupied: [occupied(["a", "b"])] }));
  const confirmations = new Set(digestsOf(asked));
  const free = judgeDeletions(input({ before: asked, occupied: [occupied(["a", "b"])], confirmations }));
  const along = ({ held }: DeletionLedger): string =>
    held
      .map(
        (it) =>
          `${it.confirmed ? "confirmed" : "held"} ${it.others.flatMap((o) => o.objects.map((x) => x.uid)).join(",")}`,
      )
      .join("; ");

  test("are asked about by name and uid, however few they are", () => {
    expect(asked.held.map((it) => it.because)).toEqual(["foreign"]);
    expect(along(asked)).toBe("held a,b");
    expect(along(free)).toBe("confirmed a,b");
  });

  test("are not confirmed by who confirmed the namespace alone", () => {
    const edit = judgeDeletions(input({ planned: planned("m1 Namespace web") }));
    const given = new Set(digestsOf(edit));
    const late = judgeDeletions(input({ before: edit, confirmations: given, occupied: [occupied(["a"])] }));
    expect(late.held.map((it) => [it.because, it.confirmed])).toEqual([
      ["kind", true],
      ["foreign", false],
    ]);
  });

  test.each([
    ["fewer by now: what was confirmed covers them", free, ["a"], "confirmed a,b"],
    ["another one since it was confirmed: asked for anew", free, ["a", "b", "c"], "held a,b,c"],
    ["one made anew since: asked for anew", free, ["a", "z"], "held a,z"],
    ["fewer before it is confirmed: asked for what is there", asked, ["a"], "held a"],
    ["the same: it is confirmed", asked, ["a", "b"], "confirmed a,b"],
  ] as const)("%s", (_, before, uids, want) => {
    expect(along(judgeDeletions(input({ before, confirmations, occupied: [occupied(uids)] })))).toBe(want);
  });

  test("asked for anew on one member, they stay as they were on another", () => {
    const both = judgeDeletions(input({ occupied: [occupied(["a"]), occupied(["b"], 1, "m2")] }));
    const next = judgeDeletions(input({ before: both, occupied: [occupied(["a", "c"]), occupied(["b"], 1, "m2")] }));
    expect(along(next)).toBe("held b; held a,c");
    expect(next.held[0]?.digest).toBe(both.held[0]?.digest);
  });

  test("more than fifty cannot be confirmed, also where fewer were", () => {
    const many = [
      occupied(
        Array.from({ length: 50 }, (_, at) => `${at}`),
        51,
      ),
    ];
    expect(judgeDeletions(input({ occupied: many }))).toBe(nothingYet);
    expect(along(judgeDeletions(input({ before: free, confirmations, occupied: many })))).toBe("");
  });
});

const other = (uid: string) => ({ group: "", kind: "Secret", namespace: "web", name: `theirs-${uid}`, uid });

const nothingIn = (cause: string): DeletionLedger => ({ ...nothingYet, cause: commit(cause) });
