import { describe, expect, it } from "vitest";
import type { Binding } from "../../../src/core/model/binding.ts";
import { type Json, memberAt } from "../../../src/core/model/json.ts";
import type { PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { RolloutStrategy } from "../../../src/core/model/placement.ts";
import { exactInstantText, type Sequence } from "../../../src/core/model/value.ts";
import { perClusterRows, selectedResources } from "../../../src/core/status/per-cluster-rows.ts";
import { observedResourceIndex } from "../../../src/core/status/selected-clusters.ts";
import { clientSide } from "../../strategy.ts";
import {
  binding,
  contents,
  facts,
  fine,
  heldBack,
  later,
  noon,
  notApplied,
  objectFailure,
  passedOver,
  pickAll,
  picked,
  pickN,
  policySnapshot,
  record,
  removal,
  target,
  unfulfilled,
  unreachable,
} from "./record.ts";

const time = "2026-11-21T12:00:00Z";
const condition = (type: string, status: string, reason: string, message: string): Json => ({
  type,
  status,
  reason,
  message,
  observedGeneration: 5,
  lastTransitionTime: time,
});
const scheduled = condition("Scheduled", "True", "Scheduled", "picked by scheduling policy");

const [namespace, deployment] = [
  { version: "v1", kind: "Namespace", name: "shop" },
  { group: "apps", version: "v1", kind: "Deployment", name: "web", namespace: "shop" },
];

/** `Applied False NotAllWorkHaveBeenApplied` of the last condition in the first row. */
function lastOf(own: PlacementRecord): string {
  const conditions = memberAt(perClusterRows(own)[0], "conditions") as readonly Json[];
  const last = conditions.at(-1);
  return ["type", "status", "reason"].map((it) => String(memberAt(last, it))).join(" ");
}

describe("the rows of a placement", () => {
  it("S-01: a cluster where all is well", () => {
    const own = binding("c1", {
      target: target(0, { clusterOverrides: ["cro-0"], resourceOverrides: ["shop/ro-0"] }),
    });
    expect(perClusterRows(record([own]))).toEqual([
      {
        clusterName: "c1",
        observedResourceIndex: "0",
        targetResourceIndex: "0",
        targetCommit: "c0ffee0",
        applicableClusterResourceOverrides: ["cro-0"],
        applicableResourceOverrides: [{ namespace: "shop", name: "ro-0" }],
        conditions: [
          scheduled,
          condition(
            "RolloutStarted",
            "True",
            "RolloutStarted",
            "the rollout of what the cluster is to carry has started",
          ),
          condition("Overridden", "True", "OverriddenSucceeded", "2 overrides applied"),
          condition(
            "WorkSynchronized",
            "True",
            "AllWorkSynced",
            "what the cluster is to carry is rendered and recorded",
          ),
          condition("Applied", "True", "AllWorkHaveBeenApplied", "every object is applied"),
          condition("Available", "True", "AllWorkAreAvailable", "every object is available"),
        ],
      },
    ]);
  });

  it("S-09, C 39: a held-back cluster shows the newest index, and beside it the one it has", () => {
    const own = record([binding("c1", {}, heldBack)], { resourceSnapshots: [contents(0), contents(1)] });
    expect(perClusterRows(own)).toEqual([
      {
        clusterName: "c1",
        observedResourceIndex: "1",
        targetResourceIndex: "0",
        targetCommit: "c0ffee0",
        conditions: [
          scheduled,
          condition(
            "RolloutStarted",
            "False",
            "RolloutNotStartedYet",
            "a newer version waits for the rollout's budget",
          ),
        ],
      },
    ]);
  });

  it("S-05, A 59: clusters come in the order of decisions, then nameless rows for those not found", () => {
    const decisions = [picked("c2"), picked("c1"), passedOver("c3", "tainted"), passedOver("c4", "cordoned")];
    const own = record([binding("c1"), binding("c2")], {
      policy: pickN(3),
      policySnapshots: [policySnapshot(pickN(3), decisions, unfulfilled)],
    });
    const rows = perClusterRows(own);
    expect(rows.map((it) => memberAt(it, "clusterName"))).toEqual(["c2", "c1", null]);
    expect(rows[2]).toEqual({ conditions: [condition("Scheduled", "False", "ScheduleFailed", "c3: tainted")] });
  });

  it("S-12, C 17: objects in trouble stand in the row, with the total where the list is cut", () => {
    const objectFailures = Array.from({ length: 130 }, (_, at) => objectFailure("Available", "no", `web-${at}`));
    const own = binding("c1", {
      facts: facts({ phase: "failed", objectFailures, objectFailureCount: 130 }),
    });
    const [row] = perClusterRows(record([own]));
    expect((memberAt(row, "failedPlacements") as readonly Json[]).length).toBe(100);
    expect(memberAt(row, "failedPlacementsTotal")).toBe(130);
  });

  it("what failed and why, per object", () =>
    expect(memberAt(perClusterRows(record([binding("c1", { facts: notApplied })]))[0], "failedPlacements")).toEqual([
      {
        ...deployment,
        condition: {
          type: "Applied",
          status: "False",
          reason: "ManifestApplyFailed",
          message: "spec.selector is immutable",
          lastTransitionTime: time,
        },
      },
    ]));

  it("an object of an envelope names that", () => {
    const snapshot = contents(0);
    const envelope = { type: "ResourceEnvelope", namespace: "shop", name: "e" } as const;
    const resources = snapshot.resources.map((it) => (it.id.name === "web" ? { ...it, envelope } : it));
    const own = record([binding("c1", { facts: notApplied })], { resourceSnapshots: [{ ...snapshot, resources }] });
    expect(memberAt(perClusterRows(own)[0], "failedPlacements")).toEqual([
      expect.objectContaining({ ...deployment, envelope: { name: "e", namespace: "shop", type: "ResourceEnvelope" } }),
    ]);
    expect(selectedResources(own)).toEqual([
      namespace,
      {
        group: "placement.kubernetes-fleet.io",
        version: "v1beta1",
        kind: "ResourceEnvelope",
        name: "e",
        namespace: "shop",
      },
    ]);
  });

  it("I-22: a silent member's old troubles are not shown as current", () => {
    const own = record([binding("c1", { facts: notApplied }, { ...fine, contactFailure: unreachable })]);
    expect(lastOf(own)).toBe("Applied Unknown ApplyPending");
    expect(memberAt(perClusterRows(own)[0], "failedPlacements")).toBe(null);
  });

  it("objects that were there before are named", () => {
    const adopted = [{ group: "apps", kind: "Deployment", namespace: "shop", name: "web" }];
    const [row] = perClusterRows(record([binding("c1", { facts: facts({ adopted }) })]));
    expect(memberAt(row, "adoptedResources")).toEqual(adopted);
  });

  it("F-41: objects that others keep changing back are named, with who does and how often they were put right", () => {
    const id = { group: "apps", kind: "Deployment", namespace: "shop", name: "web" };
    const contests = [{ id, by: "hpa", repairs: 6, since: noon }];
    const [row] = perClusterRows(record([binding("c1", { facts: facts({ contested: contests }) })]));
    const since = exactInstantText(noon);
    expect(memberAt(row, "contestedResources")).toEqual([{ ...id, manager: "hpa", repairs: 6, since }]);
  });

  it("P11: there are none while scheduling is pending", () =>
    expect(perClusterRows(record([binding("c1")], { generation: 6 }))).toEqual([]));

  it("what it took over for an earlier target is not shown as current", () => {
    const adopted = [{ group: "apps", kind: "Deployment", namespace: "shop", name: "web" }];
    const [row] = perClusterRows(record([binding("c1", { facts: facts({ adopted, sequence: 6 as Sequence }) })]));
    expect(memberAt(row, "adoptedResources")).toBeNull();
  });

  it("B 25: a cluster that is no longer picked stands last, until its removal is admitted", () => {
    const waits = (more: Partial<Binding>): Binding => binding("c0", { state: "Unscheduled", ...more });
    const own = (left: Binding, type: RolloutStrategy["type"]): PlacementRecord =>
      record([binding("c1"), left], { type, policySnapshots: [policySnapshot(pickAll, [picked("c1")])] });
    const row = (waitsFor: string): Json => ({
      clusterName: "c0",
      observedResourceIndex: "0",
      targetResourceIndex: "0",
      targetCommit: "c0ffee0",
      conditions: [
        condition("Scheduled", "False", "PendingRemoval", `no longer picked; its removal waits for ${waitsFor}`),
      ],
    });
    expect(perClusterRows(own(waits({}), "RollingUpdate")).slice(1)).toEqual([row("the rollout's budget")]);
    expect(perClusterRows(own(waits({}), "External")).slice(1)).toEqual([row("an update run")]);
    expect(perClusterRows(own(waits({ removal }), "External")).slice(1)).toEqual([]);
  });

  it("there are never more than a thousand", () => {
    const names = Array.from({ length: 1002 }, (_, at) => `c${at}`);
    expect(perClusterRows(record(names.map((it) => binding(it))))).toHaveLength(1000);
  });

  it("a condition that nobody gave yet begins where the one before it did", () => {
    const own = binding("c1");
    const moved = { ...own, conditions: own.conditions.map((it) => ({ ...it, lastTransitionTime: later })) };
    const reportDiff = record([moved], { applyStrategy: { ...clientSide, type: "ReportDiff" } });
    const conditions = memberAt(perClusterRows(reportDiff)[0], "conditions") as readonly Json[];
    expect(memberAt(conditions.at(-1), "type")).toBe("DiffReported");
    expect(memberAt(conditions.at(-1), "lastTransitionTime")).toBe("2026-11-21T12:05:00Z");
  });

  it("a cluster without binding is undecided", () =>
    expect(lastOf(record([], { policySnapshots: [policySnapshot(pickN(1), [picked("c1")])] }))).toBe(
      "RolloutStarted Unknown RolloutStartedUnknown",
    ));

  it("times are those of the binding", () => {
    const own = binding("c1");
    const moved = { ...own, conditions: own.conditions.map((it) => ({ ...it, lastTransitionTime: later })) };
    const conditions = memberAt(perClusterRows(record([moved]))[0], "conditions") as readonly Json[];
    expect(conditions.map((it) => memberAt(it, "lastTransitionTime"))).toEqual([
      time,
      ...Array.from({ length: 5 }, () => "2026-11-21T12:05:00Z"),
    ]);
  });
});

it("the selected resources are those of the latest snapshot, in order", () => {
  const own = record([], { resourceSnapshots: [contents(0), contents(1)] });
  expect([selectedResources(own), observedResourceIndex(own)]).toEqual([[namespace, deployment], "1"]);
  const empty = record([], { resourceSnapshots: [] });
  expect([selectedResources(empty), observedResourceIndex(empty)]).toEqual([[], ""]);
});
