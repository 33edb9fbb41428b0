import { expect, test } from "vitest";
import type { Binding, PendingRemoval, Target } from "../../../src/core/model/binding.ts";
import type { ClusterRecord, Ledger, PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { ClusterName, Commit, Instant, PlacementKey } from "../../../src/core/model/value.ts";
import { isDecision, isFinalNews } from "../../../src/core/plan/decision.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

const web = "web" as PlacementKey;
const m1 = "m1" as ClusterName;

function ledgerOf(): Ledger {
  const world = new World();
  world.commit(() => {
    world.join(clusterOf("m1", ["env=prod"]));
    write(world, objectOf("Namespace", "web", "one"));
    write(world, objectOf("ConfigMap", "web/config", "one"));
    world.overrides.set("loud", overrideOf("loud", keyOf("ConfigMap", "web/config"), "env=prod", "more"));
    world.placements.set(web, placementOf({ name: "web", policy: policyOf("PickAll", undefined), options: [] }));
  });
  world.pass();
  world.pass();
  world.flush();
  return world.head;
}

const before = ledgerOf();

const withRecord = (change: (it: PlacementRecord) => Partial<PlacementRecord>): Ledger => {
  const record = before.placements.get(web) as PlacementRecord;
  return { ...before, placements: new Map([[web, { ...record, ...change(record) }]]) };
};
const withBinding = (change: (it: Binding) => Partial<Binding>): Ledger =>
  withRecord(({ bindings }) => {
    const binding = bindings.get(m1) as Binding;
    return { bindings: new Map([[m1, { ...binding, ...change(binding) }]]) };
  });
const withCluster = (change: Partial<ClusterRecord>): Ledger => {
  const cluster = before.clusters.get(m1) as ClusterRecord;
  return { ...before, clusters: new Map([[m1, { ...cluster, ...change }]]) };
};
const contactFailure = { code: "Unreachable", message: "", since: 0 as Instant } as const;

const leaving: PendingRemoval = {
  id: { group: "", kind: "ConfigMap", namespace: "web", name: "config" },
  cause: "c1" as Commit,
  released: false,
  evenAdopted: false,
};

const decisions: readonly (readonly [string, Ledger])[] = [
  ["another source commit", { ...before, sourceCommit: "c9" as Commit }],
  ["a fleet that gets its name", { ...before, fleet: "other" }],
  ["a hold", { ...before, holds: [] }],
  ["a deletion that is permitted or held", { ...before, deletions: { ...before.deletions } }],
  ["a new override snapshot", { ...before, overrides: before.overrides.map((it) => ({ ...it, index: 1 })) }],
  ["a member that joined", withCluster({ kubeSystemUid: "another" })],
  ["a placement's new spec", withRecord(() => ({ specDigest: "x" as PlacementRecord["specDigest"] }))],
  ["a placement's removal", withRecord(() => ({ deleting: { since: 0 as Instant, cause: "c1" as Commit } }))],
  [
    "a new resource snapshot",
    withRecord(({ resourceSnapshots }) => ({
      resourceSnapshots: [...resourceSnapshots, ...resourceSnapshots.map((it) => ({ ...it, index: 1 }))],
    })),
  ],
  [
    "a new binding",
    withRecord((it) => ({ bindings: new Map([...it.bindings, ["m2" as ClusterName, bindingOn(it)]]) })),
  ],
  ["a binding's state", withBinding(() => ({ state: "Unscheduled" }))],
  ["a target", withBinding(({ target }) => ({ target: { ...(target as Target) } }))],
  ["a removal", withBinding(() => ({ removal: removal() }))],
  ["an object that begins to leave", withBinding(() => ({ leaving: [leaving] }))],
  ["a binding that is confirmed gone", withRecord(() => ({ bindings: new Map() }))],
  ["a placement that is confirmed gone", { ...before, placements: new Map() }],
];

const news: readonly (readonly [string, Ledger])[] = [
  ["nothing", before],
  ["silence", withCluster({ contactFailure })],
  ["what a member says of its objects", withBinding(() => ({ facts: null }))],
  ["conditions", withRecord(() => ({ conditions: [] }))],
  ["an object that is confirmed gone", withBinding(() => ({ leaving: [] }))],
  ["a resource snapshot that nothing names any more", withRecord(() => ({ resourceSnapshots: [] }))],
  ["an override snapshot that nothing names any more", { ...before, overrides: [] }],
];

function bindingOn({ bindings }: PlacementRecord): Binding {
  return { ...(bindings.get(m1) as Binding), cluster: "m2" as ClusterName };
}

function removal(): Binding["removal"] {
  return { sequence: before.sequence, since: 0 as Instant, cause: "c1" as Commit, propagation: "Delete" };
}

test("that nobody takes any more what was to be handed over is a decision", () => {
  const kept = withBinding(() => ({ leaving: [{ ...leaving, handOver: { to: "next" as PlacementKey, by: null } }] }));
  expect(
    isDecision(
      kept,
      withBinding(() => ({ leaving: [leaving] })),
    ),
  ).toBe(true);
});

test.each(decisions)("%s is a decision: written down before anything is touched", (_, after) => {
  expect(isDecision(before, after)).toBe(true);
});

test.each(news)("%s is no decision", (_, after) => {
  expect(isDecision(before, after)).toBe(false);
});

const binding = (): Binding => before.placements.get(web)?.bindings.get(m1) as Binding;
const facts = { ...binding().facts } as NonNullable<Binding["facts"]>;
const turned = (type: string, status: "False" | "Unknown"): Ledger =>
  withRecord(({ conditions }) => ({
    conditions: conditions.map((it) => (it.type.endsWith(type) ? { ...it, status } : it)),
  }));

const endings: readonly (readonly [string, before: Ledger, after: Ledger])[] = [
  ["a placement that has come to be in place", turned("Available", "Unknown"), before],
  ["a placement that has begun to fail", turned("Available", "Unknown"), turned("Available", "False")],
  ["an object that failed to apply", before, withBinding(() => ({ facts: { ...facts, applied: "failed" } }))],
  ["a workload that failed", before, withBinding(() => ({ facts: { ...facts, phase: "failed" } }))],
  ["a member that stopped answering", before, withCluster({ contactFailure })],
  ["a member that is back", withCluster({ contactFailure }), before],
];

test.each(endings)("%s is final news", (_, was, is) => {
  expect([isDecision(was, is), isFinalNews(was, is)]).toEqual([false, true]);
});

const goingOn: readonly (readonly [string, before: Ledger, after: Ledger])[] = [
  ["nothing", before, before],
  ["what a member says of its objects", before, withBinding(() => ({ facts: { ...facts, phase: "progressing" } }))],
  ["a placement that waits again", before, turned("Available", "Unknown")],
  [
    "a member that is out of reach in other words",
    withCluster({ contactFailure }),
    withCluster({ contactFailure: { ...contactFailure, message: "x" } }),
  ],
  ["an object that is confirmed gone", before, withBinding(() => ({ leaving: [] }))],
];

test.each(goingOn)("%s is no final news", (_, was, is) => {
  expect(isFinalNews(was, is)).toBe(false);
});
