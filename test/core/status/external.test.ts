import { describe, expect, it, test } from "vitest";
import type { Binding } from "../../../src/core/model/binding.ts";
import { memberAt } from "../../../src/core/model/json.ts";
import type { PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { Sequence } from "../../../src/core/model/value.ts";
import { perClusterRows, selectedResources } from "../../../src/core/status/per-cluster-rows.ts";
import { placementVerdicts } from "../../../src/core/status/placement-conditions.ts";
import { observedResourceIndex } from "../../../src/core/status/selected-clusters.ts";
import { summaryOf } from "../../../src/core/status/summary.ts";
import {
  binding,
  contents,
  facts,
  fine,
  heldBack,
  notApplied,
  notYet,
  picked,
  pickN,
  policySnapshot,
  record,
  target,
  terse,
  waiting,
} from "./record.ts";

const twoContents = { resourceSnapshots: [contents(0), contents(1)] };
const external = (bindings: readonly Binding[], more: Partial<PlacementRecord> = {}): PlacementRecord =>
  record(bindings, { type: "External", ...twoContents, ...more });

/** A cluster that a run brought this version to, in the run's order. */
const on = (cluster: string, index: number, more: Partial<Binding> = {}, context = fine): Binding =>
  binding(cluster, { target: target(index), ...more }, context);
/** Picked, and no run has been there. */
const untouched = (cluster: string): Binding =>
  binding(cluster, { state: "Scheduled", target: null, facts: null }, fine);
/** Its conditions are of an earlier revision. */
const stale = (cluster: string, index: number): Binding => ({ ...on(cluster, index), generation: 4 });
const missing = (cluster: string): Partial<PlacementRecord> => ({
  policySnapshots: [policySnapshot(pickN(2), [picked("c1"), picked(cluster)])],
});

const undecided = ["RolloutStarted Unknown RolloutControlledByExternalController"];
const begun = [
  "RolloutStarted True RolloutStarted",
  "Overridden True NoOverrideSpecified",
  "WorkSynchronized True WorkSynchronized",
];
const landed = [...begun, "Applied True ApplySucceeded", "Available True ResourceAvailable"];

const cases: readonly {
  readonly id: string;
  readonly claim: string;
  readonly record: PlacementRecord;
  readonly want: readonly string[];
  /** Of the placement, then of every row. */
  readonly indexes: string;
}[] = [
  {
    id: "P5",
    claim: "no run yet",
    record: external([untouched("c1"), untouched("c2")]),
    want: undecided,
    indexes: ": ,",
  },
  {
    id: "P5",
    claim: "no binding yet",
    record: external([], missing("c2")),
    want: undecided,
    indexes: ": ,",
  },
  {
    id: "P6, S-11",
    claim: "a run is half way",
    record: external([on("c1", 1), on("c2", 0), on("c3", 0)]),
    want: undecided,
    indexes: ": 1,0,0",
  },
  {
    id: "P7",
    claim: "a new cluster was just scheduled",
    record: external([on("c1", 1), on("c2", 1), untouched("c3")]),
    want: undecided,
    indexes: ": 1,1,",
  },
  {
    id: "P8",
    claim: "after a rollback, all available",
    record: external([on("c1", 0), on("c2", 0)]),
    want: landed,
    indexes: "0: 0,0",
  },
  {
    id: "P9",
    claim: "one cluster's RolloutStarted is stale",
    record: external([on("c1", 1), stale("c2", 1), on("c3", 1)]),
    want: undecided,
    indexes: "1: 1,1,1",
  },
  {
    id: "P10",
    claim: "RollingUpdate became External when complete",
    record: external([on("c1", 1), on("c2", 1)]),
    want: landed,
    indexes: "1: 1,1",
  },
  {
    id: "also",
    claim: "all on one version, one not applied",
    record: external([on("c1", 1), on("c2", 1, { facts: notApplied })]),
    want: [...begun, "Applied False ApplyFailed"],
    indexes: "1: 1,1",
  },
  {
    id: "also",
    claim: "all on one version, and what came before External is still held back",
    record: external([on("c1", 0, {}, heldBack), on("c2", 0, {}, heldBack)]),
    want: ["RolloutStarted False RolloutNotStartedYet"],
    indexes: "0: 0,0",
  },
  {
    id: "R42",
    claim: "RollingUpdate became External in the middle",
    record: external([on("a", 1), ...["b", "c", "d"].map((it) => on(it, 0, {}, heldBack))]),
    want: undecided,
    indexes: ": 1,0,0,0",
  },
  {
    id: "also",
    claim: "the snapshot that a binding names is gone",
    record: external([on("c1", 7)]),
    want: undecided,
    indexes: ": ",
  },
  { id: "also", claim: "no cluster is selected", record: external([]), want: [], indexes: ": " },
  {
    id: "P11",
    claim: "scheduling is pending",
    record: external([on("c1", 1)], { generation: 6 }),
    want: [],
    indexes: ": ",
  },
];

describe("an External placement", () => {
  test.each(cases)("$id: $claim", ({ record: own, want, indexes }) => {
    const [, ...verdicts] = placementVerdicts(own, null).map(terse);
    expect(verdicts).toEqual(want.map((it) => `ClusterResourcePlacement${it}`));
    const index = observedResourceIndex(own);
    const rows = perClusterRows(own).map((it) => memberAt(it, "observedResourceIndex"));
    expect(`${index}: ${rows.join(",")}`).toBe(indexes);
    expect(selectedResources(own)).toHaveLength(index === "" ? 0 : 2);
  });

  it("P10: says what it said under RollingUpdate, when that was complete", () => {
    const bindings = [on("c1", 1), on("c2", 1)];
    const before = record(bindings, twoContents);
    expect(placementVerdicts(external(bindings), null).map(terse)).toEqual(placementVerdicts(before, null).map(terse));
    expect(perClusterRows(external(bindings))).toEqual(perClusterRows(before));
  });

  it("P5, P6: every row says what its own cluster says", () => {
    const own = external([on("a", 1), on("b", 0, {}, heldBack), untouched("c")]);
    const last = perClusterRows(own).map((row) => {
      const conditions = memberAt(row, "conditions");
      const it = Array.isArray(conditions) ? conditions.at(-1) : null;
      return `${memberAt(it, "type")} ${memberAt(it, "status")} ${memberAt(it, "reason")}`;
    });
    expect(last).toEqual([
      "Available True AllWorkAreAvailable",
      "RolloutStarted False RolloutNotStartedYet",
      "RolloutStarted Unknown RolloutStartedUnknown",
    ]);
  });

  it("P8: shows the resources of the version that its clusters are on, not of the newest", () => {
    const [first, second] = contents(0).resources;
    if (first === undefined || second === undefined) throw new Error("the first content has two resources");
    const own = external([on("c1", 0)], {
      resourceSnapshots: [{ ...contents(0), resources: [second] }, contents(1)],
    });
    expect(selectedResources(own)).toEqual([
      { group: "apps", version: "v1", kind: "Deployment", name: "web", namespace: "shop" },
    ]);
  });

  test.each([
    {
      id: "P5",
      record: external([untouched("c1")]),
      want: "an update run decides which version goes where: no version on 1 of 1 cluster",
    },
    {
      id: "P7, B 24",
      record: external([untouched("c0"), on("c1", 1), on("c2", 0), on("c3", 0)]),
      want:
        "an update run decides which version goes where: index 0 on 2 of 4 clusters, index 1 on 1 of 4 clusters, " +
        "no version on 1 of 4 clusters",
    },
    {
      id: "P9",
      record: external([on("c1", 1), stale("c2", 1), stale("c3", 1)]),
      want: "an update run decides, and has not yet about c2",
    },
  ])("$id: $want", ({ record: own, want }) => {
    expect(placementVerdicts(own, null).at(-1)?.message).toBe(want);
  });
});

describe("an External placement in one line", () => {
  const later = (cluster: string, index: number, more: Partial<Binding> = {}): Binding =>
    on(cluster, index, {
      target: target(index, { sequence: 9 as Sequence }),
      facts: facts({ sequence: 9 as Sequence }),
      ...more,
    });
  const rows: readonly { claim: string; record: PlacementRecord; want: string }[] = [
    { claim: "no run yet", record: external([untouched("a"), untouched("b")]), want: "0 updated, 2 waiting: HeldBack" },
    { claim: "half way", record: external([later("a", 1), on("b", 0)]), want: "1 updated, 1 waiting: HeldBack" },
    {
      claim: "half way, and one is on its way",
      record: external([later("a", 1, { facts: { ...notYet, sequence: 9 as Sequence } }), on("b", 0)]),
      want: "1 updated, 1 waiting: Progressing",
    },
    { claim: "all there", record: external([later("a", 1), on("b", 1)]), want: "2 updated, 0 waiting: Available" },
    { claim: "rolled back", record: external([later("a", 0), on("b", 0)]), want: "2 updated, 0 waiting: Available" },
    { claim: "rolling back", record: external([later("a", 0), on("b", 1)]), want: "1 updated, 1 waiting: HeldBack" },
    {
      claim: "just became External",
      record: external([waiting("a")]),
      want: "0 updated, 1 waiting: HeldBack",
    },
  ];
  test.each(rows)("$claim: $want", ({ record: own, want }) => {
    const { updated, heldBack: waits, state } = summaryOf(own);
    expect(`${updated} updated, ${waits} waiting: ${state}`).toBe(want);
  });
});
