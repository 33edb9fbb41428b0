import { expect, test } from "vitest";
import type { ClusterName } from "../../../src/core/model/value.ts";
import { explainPlacement } from "../../../src/core/report/placement-text.ts";
import type { Assessment } from "../../../src/core/schedule/assessment.ts";
import { passedOver, picked, pickN, policySnapshot, record, waiting } from "../status/record.ts";

const assessment = (cluster: string, more: Partial<Assessment> = {}): Assessment => ({
  cluster: cluster as ClusterName,
  isSelected: false,
  refusals: [],
  numbers: [],
  rank: null,
  isNearest: false,
  ...more,
});

const tainted = { plugin: "TaintToleration", because: "taint k:NoSchedule is not tolerated", remedy: "tolerate k" };
const silent = { plugin: "ClusterEligibility", because: "no contact", remedy: null };

test("what the scheduler would say now stands below what it said, and the nearest clusters at the end", () => {
  const policy = pickN(1);
  const decisions = [picked("a"), passedOver("b", "TaintToleration: taint k:NoSchedule is not tolerated")];
  const placement = record([waiting("a")], { policy, policySnapshots: [policySnapshot(policy, decisions)] });
  const assessments = [
    assessment("a", { isSelected: true, refusals: [tainted], numbers: ["ClusterAffinity: 5 of weight 5"] }),
    assessment("b", { refusals: [tainted, silent], isNearest: true }),
    assessment("c", { rank: 1, isNearest: true }),
    assessment("d", { rank: 2 }),
  ];
  const text = explainPlacement(placement, () => true, assessments);
  expect(text.slice(text.indexOf("\non a")).split("\n").slice(1)).toEqual([
    "on a: picked by scheduling policy",
    ...text
      .split("\n")
      .filter((it) => /^ {2}(?:RolloutStarted|Overridden|WorkSynchronized|Applied|Available) /.test(it)),
    "  would not be picked today: TaintToleration: taint k:NoSchedule is not tolerated; stays until the policy changes",
    "  ClusterAffinity: 5 of weight 5",
    "",
    "not on b: TaintToleration: taint k:NoSchedule is not tolerated",
    "  to be picked: tolerate k",
    "  refused today: ClusterEligibility: no contact",
    "",
    "not on c",
    "  fits today, number 1 of those that are not picked; numberOfClusters: 2 would pick it",
    "",
    "not on d",
    "  fits today, number 2 of those that are not picked",
    "",
    "nearest to being picked: c (fits); b (refused by TaintToleration, ClusterEligibility)",
    "",
  ]);
});

test("no larger number is suggested while fewer clusters are picked than are wanted", () => {
  const text = explainPlacement(record([waiting("a")], { policy: pickN(2) }), () => true, [
    assessment("b", { rank: 1, isNearest: true }),
  ]);
  expect(text).toContain("\n  fits today, number 1 of those that are not picked\n");
});

test("one cluster is shown alone, also where nothing is recorded of it", () => {
  const text = explainPlacement(record([waiting("a")]), (it) => it === "c", [
    assessment("a", { isNearest: true }),
    assessment("c", { refusals: [silent] }),
  ]);
  expect(text.split("\n").slice(1)).toEqual(["", "not on c", "  refused today: ClusterEligibility: no contact", ""]);
});
