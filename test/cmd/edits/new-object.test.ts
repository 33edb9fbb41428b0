import { describe, expect, test } from "vitest";
import { drainPlan } from "../../../src/cmd/edits/drain.ts";
import { documentsOf, rootsOf } from "../../../src/cmd/edits/found-document.ts";
import { evictionFile, freeName, runFile } from "../../../src/cmd/edits/new-object.ts";
import type { ClusterName, Commit, PlacementKey, Sequence } from "../../../src/core/model/value.ts";
import { at, ledgerOf, on, web } from "../rollout-ledger.ts";

describe("new files", () => {
  const wish = { name: "web-3", placement: "web", strategy: "canary-first", state: "Run" } as const;

  test("a run that names a version", () => {
    expect(runFile({ ...wish, namespace: null, index: "3" }, "")).toEqual({
      path: "runs/web-3.yaml",
      text: `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateRun
metadata:
  name: web-3
spec:
  placementName: web
  resourceSnapshotIndex: "3"
  stagedRolloutStrategyName: canary-first
  state: Run
`,
    });
  });

  test("a run in a namespace, below the folder that is read, of what is selected then", () => {
    expect(runFile({ ...wish, namespace: "shop", index: null }, "fleet/")).toEqual({
      path: "fleet/runs/shop/web-3.yaml",
      text: `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: StagedUpdateRun
metadata:
  namespace: shop
  name: web-3
spec:
  placementName: web
  stagedRolloutStrategyName: canary-first
  state: Run
`,
    });
  });

  test("an eviction", () => {
    expect(evictionFile("web-east", { placement: "web", cluster: "east" }, "")).toEqual({
      path: "evictions/web-east.yaml",
      text: `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacementEviction
metadata:
  name: web-east
spec:
  placementName: web
  clusterName: east
`,
    });
  });

  test.each([
    [[], "web"],
    [["web"], "web-2"],
    [["web", "web-2", "web-4"], "web-3"],
  ])("with %j taken the name is %s", (taken: readonly string[], name) => {
    expect(freeName("web", (it) => taken.includes(it))).toBe(name);
  });
});

describe("what is found", () => {
  const member = (name: string, group = "cluster.kubernetes-fleet.io") =>
    `apiVersion: ${group}/v1\nkind: MemberCluster\nmetadata:\n  name: ${name}\n`;
  const files = [
    { path: "a.yaml", text: `# kind: MemberCluster, name: east\n${member("west")}---\n${member("east")}` },
    { path: "b.yaml", text: member("east", "other.example.com") },
    { path: "broken.yaml", text: `${member("east")}---\nname: [\n` },
  ];
  const wanted = { kind: "MemberCluster", namespace: null, name: "east" };

  test("the document of a kind and a name, wherever it stands; others' kinds and broken files are passed over", () => {
    expect(documentsOf(files, wanted).map(({ path, document }) => [path, document])).toEqual([["a.yaml", 1]]);
  });

  test("all of them, when there are several", () => {
    const twice = [...files, { path: "c.yaml", text: member("east") }];
    expect(documentsOf(twice, wanted).map((it) => it.path)).toEqual(["a.yaml", "c.yaml"]);
  });

  test.each([
    [[{ path: "fleet.yaml", text: "spec:\n  roots: [fleet/, more]\n" }], ["fleet", "more"]],
    [[{ path: "fleet.yaml", text: "spec: {}\n" }], []],
    [[], []],
  ])("the roots of %j", (some, roots) => expect(rootsOf(some)).toEqual(roots));
});

test("a cluster is drained of what can be evicted and is not going already", () => {
  const key = (name: string) => ({ key: name as PlacementKey, name });
  const fixed = { kind: "PickFixed" as const, clusterNames: ["east" as ClusterName] };
  const removal = {
    sequence: 8 as Sequence,
    since: at("09:00:00"),
    cause: "c0ffee" as Commit,
    propagation: "Delete",
  } as const;
  const ledger = ledgerOf(
    [
      web([on("east", 3)], key("a")),
      web([on("west", 3)], key("elsewhere")),
      web([on("east", 3)], { ...key("fixed"), policy: fixed }),
      web([on("east", 3, { state: "Unscheduled" })], key("going")),
      web([on("east", 3, { removal })], key("gone")),
      web([on("east", 3)], { key: "ns/small" as PlacementKey, name: "small", namespace: "ns", scope: "Namespaced" }),
    ],
    [],
  );
  expect(drainPlan(ledger, "east" as ClusterName)).toEqual({
    evict: ["a"],
    stays: [
      { placement: "fixed", because: "it names its clusters (PickFixed); edit its clusterNames instead" },
      { placement: "ns/small", because: "only a ClusterResourcePlacement can be evicted; edit its policy instead" },
    ],
  });
});
