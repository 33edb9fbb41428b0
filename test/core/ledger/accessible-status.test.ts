import { deepStrictEqual } from "node:assert/strict";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readLedger } from "../../../src/core/ledger/reader.ts";
import { stateEdits } from "../../../src/core/ledger/writer.ts";
import { settleConditions } from "../../../src/core/model/condition.ts";
import { isObject, type Json, type JsonObject, listAt, memberAt } from "../../../src/core/model/json.ts";
import { emptyLedger, type Ledger, type PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { Instant } from "../../../src/core/model/value.ts";
import { perClusterRows } from "../../../src/core/status/per-cluster-rows.ts";
import { placementVerdicts } from "../../../src/core/status/placement-conditions.ts";
import { binding, facts, fine, later, noon, notYet, record } from "../status/record.ts";
import { randomLedger } from "./ledgers.ts";

const shop = {
  group: "",
  version: "v1",
  kind: "Namespace",
  name: "shop",
  labelSelector: null,
  selectionScope: "NamespaceWithResources",
} as const;
const path = "namespaces/shop/placement-statuses/web.yaml";

/** A placement whose status is shown in the namespace `shop`, with the conditions that it has got by then. */
function accessible(it: PlacementRecord, now: Instant, before: PlacementRecord["conditions"] = []): PlacementRecord {
  const spec = { ...it.spec, resourceSelectors: [shop], statusReportingScope: "NamespaceAccessible" } as const;
  const placed = { ...it, spec };
  return { ...placed, conditions: settleConditions(before, placementVerdicts(placed, null), now) };
}

const ledgerWith = (it: PlacementRecord): Ledger => ({
  ...emptyLedger,
  fleet: randomLedger(1).fleet,
  sequence: randomLedger(1).sequence,
  placements: new Map([[it.key, it]]),
});
const shown = {
  rowsOf: perClusterRows,
  indexOf: (): string => "0",
  selectedOf: (): readonly Json[] => [{ kind: "Namespace", name: "shop", version: "v1" }],
};
const textsOf = (ledger: Ledger): ReadonlyMap<string, string> =>
  new Map(stateEdits(emptyLedger, ledger, shown).flatMap((it) => (it.kind === "write" ? [[it.path, it.text]] : [])));
const copyOf = (it: PlacementRecord): JsonObject => parse(textsOf(ledgerWith(it)).get(path) ?? "{}");

const placed = accessible(record([binding("c1"), binding("c2")]), noon);
const synced = "ClusterResourcePlacementStatusSynced";

describe("the status of a placement that is NamespaceAccessible", () => {
  test("S-10: is shown in its namespace, without the condition that says so", () => {
    const whole = parse(textsOf(ledgerWith(placed)).get("placements/web/placement.yaml") ?? "");
    const [last] = whole.status.conditions.slice(-1);
    expect(last).toMatchObject({ type: synced, status: "True", reason: "StatusSyncSucceeded", observedGeneration: 5 });
    expect(copyOf(placed)).toEqual({
      apiVersion: "placement.kubernetes-fleet.io/v1beta1",
      kind: "ClusterResourcePlacementStatus",
      metadata: {
        name: "web",
        namespace: "shop",
        ownerReferences: [
          {
            apiVersion: "placement.kubernetes-fleet.io/v1beta1",
            kind: "ClusterResourcePlacement",
            name: "web",
            uid: "u",
            controller: true,
          },
        ],
      },
      lastUpdatedTime: "2026-11-21T12:00:00Z",
      sourceStatus: { ...whole.status, conditions: whole.status.conditions.slice(0, -1) },
    });
    expect(listAt(copyOf(placed), "sourceStatus", "placementStatuses").filter(isObject)).toHaveLength(2);
  });

  test("has the time of the last transition that it shows, and no heartbeat", () => {
    const timeOf = (it: PlacementRecord): Json => memberAt(copyOf(it), "lastUpdatedTime");
    expect(timeOf(accessible(placed, later, placed.conditions))).toBe("2026-11-21T12:00:00Z");
    const slower = record([binding("c1"), binding("c2", { facts: notYet })]);
    expect(timeOf(accessible(slower, later, placed.conditions))).toBe("2026-11-21T12:05:00Z");
    // The placement's own conditions stay what they are: one of its rows says something new.
    const moved = binding("c2", { facts: facts() }, fine);
    const conditions = moved.conditions.map((it) => ({ ...it, lastTransitionTime: later }));
    const bindings = new Map(placed.bindings).set(moved.cluster, { ...moved, conditions });
    expect(timeOf({ ...placed, bindings })).toBe("2026-11-21T12:05:00Z");
  });

  test("is not read back: the record is the same without it, and whatever stands there", () => {
    const ledger = ledgerWith(placed);
    const texts = new Map(textsOf(ledger));
    expect(texts.get("ledger.yaml")).toContain("formatVersion: 6\n");
    expect(texts.has(path)).toBe(true);
    deepStrictEqual(readLedger(texts), { kind: "read", ledger });
    deepStrictEqual(readLedger(new Map(texts).set(path, "kind: [\n")), { kind: "read", ledger });
    texts.delete(path);
    deepStrictEqual(readLedger(texts), { kind: "read", ledger });
  });

  test("goes with the placement, and is written only where it changes", () => {
    const ledger = ledgerWith(placed);
    const none = { ...ledger, placements: new Map() };
    const edits = (before: Ledger, after: Ledger) =>
      stateEdits(before, after, shown).map((it) => `${it.kind} ${it.path}`);
    expect(edits(ledger, none)).toContain(`remove ${path}`);
    expect(edits(ledger, { ...ledger })).toEqual([]);
  });

  test("stands nowhere else where nobody asked for it, or nothing is known yet", () => {
    const { statusReportingScope: _, ...spec } = placed.spec;
    for (const it of [
      { ...placed, spec },
      { ...placed, conditions: [] },
    ])
      expect([...textsOf(ledgerWith(it)).keys()].filter((one) => one.startsWith("namespaces/"))).toEqual([]);
  });
});
