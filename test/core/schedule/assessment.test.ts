import { expect, test } from "vitest";
import { type Assessment, assessClusters } from "../../../src/core/schedule/assessment.ts";
import type { Candidate } from "../../../src/core/schedule/framework/cycle.ts";
import { profiles } from "../../../src/core/schedule/profile.ts";
import { cycleBindings, fleet, now, policyOf } from "./notation.ts";

const assess = (members: string | readonly Candidate[], on: string, policy: string): readonly Assessment[] =>
  assessClusters(
    {
      policy: policyOf(policy),
      namespace: null,
      grants: [],
      candidates: typeof members === "string" ? fleet(members) : members,
      cycleBindings: cycleBindings(on, 0),
      recorded: [],
      now,
    },
    profiles.default,
  );

function lines({ cluster, isSelected, refusals, numbers, rank, isNearest }: Assessment): readonly string[] {
  const words = [isSelected ? "on" : "off", ...(rank === null ? [] : [`#${rank}`]), ...(isNearest ? ["nearest"] : [])];
  return [
    `${cluster}: ${words.join(" ")}`,
    ...refusals.map(({ plugin, because, remedy }) => `  ${plugin}: ${because} -> ${remedy}`),
    ...numbers.map((it) => `  ${it}`),
  ];
}

interface Case {
  readonly what: string;
  readonly members: string;
  readonly on: string;
  readonly policy: string;
  readonly want: readonly string[];
}

const cases: readonly Case[] = [
  {
    what: "every plugin that refuses says so, and what would help",
    members: "a{env=prod} b{env=dev}[gpu=](6m) c{env=prod}",
    on: "a:B0",
    policy: "1 env=prod",
    want: [
      "a: on",
      "b: off nearest",
      "  ClusterAffinity: no required term matches: env=prod (it has env=dev) -> change its labels or properties, or the required terms of the policy",
      "  ClusterEligibility: no contact since 2026-11-21T11:54:00Z (Unreachable) -> it has to be in contact again",
      "  TaintToleration: taint gpu:NoSchedule is not tolerated -> tolerate gpu:NoSchedule in the policy, or take the taint off the cluster",
      "c: off #1 nearest",
    ],
  },
  {
    what: "a cluster that would not be picked any more says by what",
    members: "a[gpu=] b",
    on: "a:B0",
    policy: "1",
    want: [
      "a: on",
      "  TaintToleration: taint gpu:NoSchedule is not tolerated -> tolerate gpu:NoSchedule in the policy, or take the taint off the cluster",
      "b: off #1 nearest",
    ],
  },
  {
    what: "sorters and terms show from which numbers a score comes",
    members: "a{env=prod}<np=4> b<np=20> c{env=prod}<np=12> d",
    on: "b:B0",
    policy: "1 prefer 50:@np/Desc,10:env=prod",
    want: [
      "a: off #2 nearest",
      "  ClusterAffinity: 0 of weight 50: np is 4 (from the file), of 4 to 20, Descending",
      "  ClusterAffinity: 10 of weight 10: its labels match",
      "b: on",
      "  ClusterAffinity: 50 of weight 50: np is 20 (from the file), of 4 to 20, Descending",
      "  ClusterAffinity: 0 of weight 10: not env=prod (it has no env)",
      "c: off #1 nearest",
      "  ClusterAffinity: 25 of weight 50: np is 12 (from the file), of 4 to 20, Descending",
      "  ClusterAffinity: 10 of weight 10: its labels match",
      "d: off #3",
      "  ClusterAffinity: 0 of weight 50: it has no np",
      "  ClusterAffinity: 0 of weight 10: not env=prod (it has no env)",
    ],
  },
  {
    what: "constraints show the skew before and after; a selected cluster counts as if it were not there",
    members: "a1{r=a} a2{r=a} b1{r=b} n1",
    on: "a1:B0",
    policy: "1 spread r:1",
    want: [
      "a1: on",
      "  TopologySpreadConstraints: r=a has 0 clusters of it; one more makes the skew 0 → 1 of at most 1",
      "a2: off",
      "  TopologySpreadConstraints: r=a has 1 cluster of it, and the fewest is 0: one more exceeds maxSkew 1 -> more of the placement in other domains, or a larger maxSkew",
      "  TopologySpreadConstraints: r=a has 1 cluster of it; one more makes the skew 1 → 2 of at most 1",
      "b1: off #1 nearest",
      "  TopologySpreadConstraints: r=b has 0 clusters of it; one more makes the skew 1 → 0 of at most 1",
      "n1: off #2 nearest",
      "  TopologySpreadConstraints: it has no r",
    ],
  },
  {
    what: "PickFixed asks no plugin",
    members: "a[gpu=] b",
    on: "a:B0",
    policy: "fixed a",
    want: ["a: on", "b: off", "  PickFixed: the policy does not name it -> add it to clusterNames"],
  },
];

test.each(cases)("$what", ({ members, on, policy, want }) => {
  expect(assess(members, on, policy).flatMap(lines)).toEqual(want);
});

test("labels that nodes tell are those that a preferred term is explained by", () => {
  const located = (it: Candidate, region: string): Candidate => ({
    ...it,
    facts: { ...it.facts, labels: { ...it.facts.labels, region } },
  });
  const [a, b] = fleet("a b") as [Candidate, Candidate];
  expect(assess([located(a, "eu"), located(b, "us")], "", "1 prefer 10:region=eu").flatMap(lines)).toEqual([
    "a: off #1 nearest",
    "  ClusterAffinity: 10 of weight 10: its labels match",
    "b: off #2 nearest",
    "  ClusterAffinity: 0 of weight 10: not region=eu (it has region=us)",
  ]);
});
