import { describe, expect, it } from "vitest";
import type { PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { Commit } from "../../../src/core/model/value.ts";
import { quarantineVerdict } from "../../../src/core/status/quarantine.ts";
import { summaryOf } from "../../../src/core/status/summary.ts";
import {
  binding,
  broken,
  contents,
  fine,
  heldBack,
  noon,
  notApplied,
  notYet,
  picked,
  pickN,
  policySnapshot,
  record,
  target,
  unfulfilled,
  unreachable,
  waiting,
} from "./record.ts";

const newest = { target: target(1) };
const contents01 = { resourceSnapshots: [contents(0), contents(1)] };
const silent = { ...fine, contactFailure: unreachable };
const noPolicy = { ...fine, failure: { code: "OverriddenFailed", message: "no" } } as const;

/** wanted selected updated applied available failed heldBack unknown: state */
function line(own: PlacementRecord): string {
  const { wanted, selected, updated, applied, available, failed, heldBack: held, unknown, state } = summaryOf(own);
  return `${[wanted, selected, updated, applied, available, failed, held, unknown].join(" ")}: ${state}`;
}

const quarantined = (own: PlacementRecord): PlacementRecord => {
  const verdict = quarantineVerdict(own, {
    violations: [{ code: "TargetSequenceWrong", message: "dates it wrongly" }],
  });
  return { ...own, conditions: [{ ...verdict, lastTransitionTime: noon }, ...own.conditions] };
};

describe("a placement in one line", () => {
  const cases: readonly { claim: string; record: PlacementRecord; want: string }[] = [
    { claim: "all is well", record: record([binding("a"), binding("b")]), want: "2 2 2 2 2 0 0 0: Available" },
    {
      claim: "it stays as recorded, since its plan fails the check",
      record: quarantined(record([binding("a"), binding("b")])),
      want: "2 2 2 2 2 0 0 0: Quarantined",
    },
    {
      claim: "one is on its way",
      record: record([binding("a"), binding("b", { facts: null })]),
      want: "2 2 2 1 1 0 0 0: Progressing",
    },
    {
      claim: "not yet available is not failed",
      record: record([binding("a", { facts: notYet })]),
      want: "1 1 1 1 0 0 0 0: Progressing",
    },
    {
      claim: "held back while another moves",
      record: record([binding("a", { ...newest, facts: null }), binding("b", {}, heldBack)], contents01),
      want: "2 2 1 1 1 0 1 0: Progressing",
    },
    {
      claim: "held back and nothing moves",
      record: record([binding("a", newest), binding("b", {}, heldBack)], contents01),
      want: "2 2 1 2 2 0 1 0: HeldBack",
    },
    {
      claim: "held back before anything was placed",
      record: record([waiting("a")]),
      want: "1 1 0 0 0 0 1 0: HeldBack",
    },
    {
      claim: "not applied",
      record: record([binding("a"), binding("b", { facts: notApplied })]),
      want: "2 2 2 1 1 1 0 0: Failed",
    },
    { claim: "explicitly failed", record: record([binding("a", { facts: broken })]), want: "1 1 1 1 0 1 0 0: Failed" },
    {
      claim: "not rendered",
      record: record([binding("a", {}, noPolicy)], contents01),
      want: "1 1 0 0 0 1 0 0: Failed",
    },
    {
      claim: "selectors are refused",
      record: record([binding("a")], { selectionError: "no" }),
      want: "1 1 1 1 1 0 0 0: Failed",
    },
    {
      claim: "a member is silent",
      record: record([binding("a"), binding("b", {}, silent)]),
      want: "2 2 2 1 1 0 0 1: Unknown",
    },
    { claim: "no cluster was found", record: record([], { policy: pickN(2) }), want: "2 0 0 0 0 0 0 0: Unscheduled" },
    {
      claim: "the scheduler has not looked yet",
      record: record([binding("a")], { generation: 6 }),
      want: "0 0 0 0 0 0 0 0: Unscheduled",
    },
    {
      claim: "too few clusters, all well",
      record: record([binding("a")], {
        policy: pickN(2),
        policySnapshots: [policySnapshot(pickN(2), [picked("a")], unfulfilled)],
      }),
      want: "2 1 1 1 1 0 0 0: Unfulfilled",
    },
    { claim: "none wanted, none found", record: record([], { policy: pickN(0) }), want: "0 0 0 0 0 0 0 0: NoClusters" },
    { claim: "all clusters that match are none", record: record([]), want: "0 0 0 0 0 0 0 0: NoClusters" },
    {
      claim: "in order everywhere, with nothing in it",
      record: record([binding("a")], { resourceSnapshots: [{ ...contents(0), resources: [] }] }),
      want: "1 1 1 1 1 0 0 0: NoResources",
    },
    {
      claim: "going",
      record: record([binding("a")], { deleting: { since: noon, cause: "c0ffee" as Commit } }),
      want: "0 0 0 0 0 0 0 0: Deleting",
    },
  ];
  for (const { claim, record: own, want } of cases) it(`${claim}: ${want}`, () => expect(line(own)).toBe(want));
});
