import { describe, expect, it } from "vitest";
import type { Binding } from "../../../src/core/model/binding.ts";
import { memberAt } from "../../../src/core/model/json.ts";
import type { PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { Commit } from "../../../src/core/model/value.ts";
import { perClusterRows } from "../../../src/core/status/per-cluster-rows.ts";
import { placementVerdicts } from "../../../src/core/status/placement-conditions.ts";
import { clientSide } from "../../strategy.ts";
import {
  binding,
  contents,
  facts,
  fine,
  heldBack,
  noon,
  notApplied,
  notYet,
  passedOver,
  pickAll,
  picked,
  pickN,
  policySnapshot,
  record,
  removal,
  target,
  terse,
  unfulfilled,
  waiting,
} from "./record.ts";

const scheduled = "Scheduled True SchedulingPolicyFulfilled";
const short = "Scheduled False SchedulingPolicyUnfulfilled";
const begun = [
  "RolloutStarted True RolloutStarted",
  "Overridden True NoOverrideSpecified",
  "WorkSynchronized True WorkSynchronized",
];
const landed = [...begun, "Applied True ApplySucceeded", "Available True ResourceAvailable"];
const twoContents = [contents(0), contents(1)];
/**
 * Still on content 0 although the newest is 1, and nobody said that it waits: its conditions are of an earlier
 * revision.
 */
const stale = (cluster: string): Binding => ({ ...binding(cluster), generation: 4 });
const onNewest = (cluster: string): Binding => binding(cluster, { target: target(1) });
const failing = (cluster: string): Binding =>
  binding(cluster, {}, { ...fine, failure: { code: "OverriddenFailed", message: "override ro-0: no" } });
const foreignPolicy = (cluster: string): Binding => binding(cluster, { policySnapshot: 9 });

describe("a placement's conditions", () => {
  const cases: readonly { id: string; claim: string; record: PlacementRecord; want: readonly string[] }[] = [
    { id: "S-01", claim: "all is well", record: record([binding("c1"), binding("c2")]), want: [scheduled, ...landed] },
    {
      id: "S-02, against it C 5",
      claim: "in progress is Unknown",
      record: record([binding("c1", { facts: null }), binding("c2")]),
      want: [scheduled, ...begun, "Applied Unknown ApplyPending"],
    },
    {
      id: "S-03",
      claim: "Unknown beats False",
      record: record([stale("c1"), binding("c2", {}, heldBack)], { resourceSnapshots: twoContents }),
      want: [scheduled, "RolloutStarted Unknown RolloutStartedUnknown"],
    },
    {
      id: "S-04",
      claim: "one bad cluster",
      record: record([binding("c1"), binding("c2", { facts: notApplied })]),
      want: [scheduled, ...begun, "Applied False ApplyFailed"],
    },
    {
      id: "S-05, P4",
      claim: "too few clusters do not hide that the others are well",
      record: record([binding("c1"), binding("c2")], {
        policy: pickN(3),
        policySnapshots: [
          policySnapshot(pickN(3), [picked("c1"), picked("c2"), passedOver("c3", "tainted")], unfulfilled),
        ],
      }),
      want: [short, ...landed],
    },
    { id: "S-06", claim: "no cluster selected", record: record([], { policy: pickN(0) }), want: [scheduled] },
    {
      id: "S-08",
      claim: "a switch to ReportDiff",
      record: record([binding("c1")], { applyStrategy: { ...clientSide, type: "ReportDiff" } }),
      want: [scheduled, ...begun, "DiffReported Unknown DiffReportingPending"],
    },
    {
      id: "S-09, P1",
      claim: "held back, although the old version is running fine",
      record: record([binding("c1", { target: target(1) }), binding("c2", {}, heldBack), waiting("c3")], {
        resourceSnapshots: twoContents,
      }),
      want: [scheduled, "RolloutStarted False RolloutNotStartedYet"],
    },
    {
      id: "P2",
      claim: "one undecided cluster hides the blocked ones",
      record: record([binding("c1", {}, heldBack), binding("c2", {}, heldBack), stale("c3")], {
        resourceSnapshots: twoContents,
      }),
      want: [scheduled, "RolloutStarted Unknown RolloutStartedUnknown"],
    },
    {
      id: "P3",
      claim: "all on the newest content, one not applied",
      record: record(
        ["c1", "c2", "c3"].map((it) =>
          binding(it, { target: target(1), ...(it === "c3" ? { facts: notApplied } : {}) }),
        ),
        { resourceSnapshots: twoContents },
      ),
      want: [scheduled, ...begun, "Applied False ApplyFailed"],
    },
    {
      id: "also",
      claim: "not yet available",
      record: record([binding("c1", { facts: notYet })]),
      want: [scheduled, ...begun, "Applied True ApplySucceeded", "Available False ResourceNotAvailableYet"],
    },
    {
      id: "also",
      claim: "untrackable is available",
      record: record([binding("c1", { facts: facts({ phase: "untrackable" }) })]),
      want: [scheduled, ...landed],
    },
    {
      id: "O-02",
      claim: "an override on one of two clusters",
      record: record([binding("c1", { target: target(0, { clusterOverrides: ["cro-0"] }) }), binding("c2")]),
      want: [
        scheduled,
        "RolloutStarted True RolloutStarted",
        "Overridden True OverriddenSucceeded",
        ...landed.slice(2),
      ],
    },
    {
      id: "O-04",
      claim: "an override that fails, on content that nobody got yet",
      record: record([failing("c1")], { resourceSnapshots: twoContents }),
      want: [scheduled, "RolloutStarted True RolloutStarted", "Overridden False OverriddenFailed"],
    },
    {
      id: "R-05",
      claim: "newest content that cannot be rendered for another cause",
      record: record([binding("c1", {}, { ...fine, failure: { code: "SyncWorkFailed", message: "no" } })], {
        resourceSnapshots: twoContents,
      }),
      want: [
        scheduled,
        "RolloutStarted True RolloutStarted",
        "Overridden True NoOverrideSpecified",
        "WorkSynchronized False WorkNotSynchronizedYet",
      ],
    },
    {
      id: "also",
      claim: "on the newest content, what was said of an earlier revision counts as absent",
      record: record([stale("c1")]),
      want: [scheduled, "RolloutStarted Unknown RolloutStartedUnknown"],
    },
    {
      id: "also",
      claim: "a binding that is on its way out is not looked at",
      record: record([binding("c1", { removal })]),
      want: [scheduled, "RolloutStarted Unknown RolloutStartedUnknown"],
    },
    {
      id: "also",
      claim: "a binding of an earlier policy is not looked at",
      record: record([foreignPolicy("c1")]),
      want: [scheduled, "RolloutStarted Unknown RolloutStartedUnknown"],
    },
    {
      id: "P11, C 36",
      claim: "while scheduling is pending, nothing else is claimed",
      record: record([binding("c1")], { generation: 6 }),
      want: ["Scheduled Unknown SchedulePending"],
    },
    {
      id: "A 46",
      claim: "a scheduling error keeps its reason",
      record: record([binding("c1")], {
        policySnapshots: [
          policySnapshot(pickAll, [], { ...unfulfilled, status: "Unknown", reason: "SchedulingFailed" }),
        ],
      }),
      want: ["Scheduled Unknown SchedulingFailed"],
    },
    {
      id: "C 36",
      claim: "selectors that are refused",
      record: record([binding("c1")], { selectionError: "the namespace kube-system is reserved" }),
      want: ["Scheduled False InvalidResourceSelectors"],
    },
    {
      id: "C 34",
      claim: "a placement that is going claims nothing of its clusters",
      record: record([binding("c1")], { deleting: { since: noon, cause: "c0ffee" as Commit } }),
      want: [scheduled],
    },
  ];
  for (const { id, claim, record: own, want } of cases)
    it(`${id}: ${claim}`, () =>
      expect(placementVerdicts(own, null).map(terse)).toEqual(want.map((it) => `ClusterResourcePlacement${it}`)));

  it("those of a ResourcePlacement have its prefix", () => {
    const verdicts = placementVerdicts(record([binding("c1")], { scope: "Namespaced", namespace: "shop" }), null);
    expect(verdicts.map((it) => it.type)).toEqual(
      ["Scheduled", "RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available"].map(
        (it) => `ResourcePlacement${it}`,
      ),
    );
  });

  it("every one is about the placement's current generation", () =>
    expect(new Set(placementVerdicts(record([binding("c1")]), null).map((it) => it.observedGeneration))).toEqual(
      new Set([5]),
    ));
});

describe("what they say", () => {
  const last = (own: PlacementRecord): string | undefined => placementVerdicts(own, null).at(-1)?.message;

  it("how many clusters decided, and what is wrong with the first", () =>
    expect(last(record([binding("c1"), binding("c2", { facts: notApplied })]))).toBe(
      "not every object could be applied to 1 of 2 clusters (True 1, False 1, Unknown 0); " +
        "first c2: Deployment shop/web: spec.selector is immutable",
    ));

  it("P1: how many wait for the budget", () => {
    const own = record([onNewest("a"), ...["b", "c", "d"].map((it) => binding(it, {}, heldBack))], {
      resourceSnapshots: twoContents,
    });
    expect(last(own)).toBe(
      "the newest version waits for the rollout's budget on 3 of 4 clusters (True 1, False 3, Unknown 0); " +
        "first b: a newer version waits for the rollout's budget",
    );
    expect(perClusterRows(own).map((it) => memberAt(it, "observedResourceIndex"))).toEqual(["1", "1", "1", "1"]);
  });

  it("P3: how many came through the steps before", () =>
    expect(
      placementVerdicts(record([binding("c1"), binding("c2"), binding("c3", { facts: notApplied })]), null),
    ).toMatchObject([
      {},
      { message: "the newest version has started on 3 of 3 clusters" },
      { message: "no override applies to any selected cluster" },
      { message: "rendered and recorded for 3 of 3 clusters" },
      { message: expect.stringMatching(/^not every object could be applied to 1 of 3 clusters/) },
    ]));

  it("P2, B 24: how many say what the worst hides", () => {
    const own = record([binding("c1", {}, heldBack), binding("c2", {}, heldBack), stale("c3"), onNewest("c4")], {
      resourceSnapshots: twoContents,
    });
    expect(last(own)).toBe(
      "not decided yet whether to start the newest version on 1 of 4 clusters (True 1, False 2, Unknown 1); " +
        "first c3: not decided yet whether to start the newest version on this cluster",
    );
  });

  it("how many clusters are well", () => expect(last(record([binding("c1")]))).toBe("available on 1 of 1 cluster"));

  it("why nothing is selected", () =>
    expect(last(record([], { selectionError: "the namespace kube-system is reserved" }))).toBe(
      "the namespace kube-system is reserved",
    ));
});

it("what is bound beyond the thousand decisions is counted too, but not what is wanted no more", () => {
  const beyond = (more: Partial<Binding>): PlacementRecord =>
    record([binding("c1"), binding("c2", { facts: notApplied, ...more })], {
      policySnapshots: [policySnapshot(pickAll, [picked("c1")])],
    });
  expect(placementVerdicts(beyond({}), null).at(-1)?.reason).toBe("ApplyFailed");
  expect(placementVerdicts(beyond({ state: "Unscheduled" }), null).at(-1)?.reason).toBe("ResourceAvailable");
  expect(placementVerdicts(beyond({ removal }), null).at(-1)?.reason).toBe("ResourceAvailable");
});
