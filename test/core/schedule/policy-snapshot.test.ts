import { describe, expect, test } from "vitest";
import type { PolicySnapshot } from "../../../src/core/model/ledger.ts";
import type { PlacementPolicy } from "../../../src/core/model/placement.ts";
import type { LabelRequirement } from "../../../src/core/model/value.ts";
import { nextPolicySnapshots, policyHash } from "../../../src/core/schedule/policy-snapshot.ts";
import { policyOf } from "./notation.ts";

const next = (
  before: readonly PolicySnapshot[],
  policy: string | PlacementPolicy,
  historyLimit = 10,
  inUse: readonly number[] = [],
): readonly PolicySnapshot[] =>
  nextPolicySnapshots(before, typeof policy === "string" ? policyOf(policy) : policy, {
    historyLimit,
    inUse: new Set(inUse),
  });

const grown = (...policies: readonly string[]): readonly PolicySnapshot[] =>
  policies.reduce<readonly PolicySnapshot[]>((before, it) => next(before, it, 100), []);

const indices = (snapshots: readonly PolicySnapshot[]): readonly number[] => snapshots.map((it) => it.index);

/** As many snapshots as that, from index 0. */
const history = (count: number): readonly PolicySnapshot[] =>
  grown(...Array.from({ length: count }, (_, at) => `all version=${at}`));

describe("a policy snapshot", () => {
  test("P1: the first one has index 0", () => {
    const policy = policyOf("3");
    expect(next([], policy)).toEqual([{ index: 0, hash: policyHash(policy), policy, verdict: null }]);
  });

  test("P6: stays the very same as long as the policy does", () => {
    const before = grown("3 e=p prefer 5:x=y tolerate k");
    expect(next(before, "3 e=p prefer 5:x=y tolerate k")).toBe(before);
  });

  test("P4: going back to an earlier policy is a new one with the same hash", () => {
    const snapshots = grown("all a=1", "all b=1", "all a=1");
    expect(indices(snapshots)).toEqual([0, 1, 2]);
    expect(snapshots[2]?.hash).toBe(snapshots[0]?.hash);
  });
});

const rewritten = [
  { id: "P2: another number", from: "3 e=p", to: "5 e=p" },
  { id: "P10 with A 54: another order of names", from: "fixed a,b", to: "fixed b,a" },
  { id: "A 54: another order of terms", from: "2 a=1|b=1 prefer 1:x=y,2:z=1", to: "2 b=1|a=1 prefer 2:z=1,1:x=y" },
  { id: "A 54: another order of tolerations", from: "all tolerate k,z", to: "all tolerate z,k" },
  { id: "N27 with A 54: a toleration more", from: "2 e=p tolerate k", to: "2 e=p tolerate z=1,k" },
  { id: "A 54: a toleration more and another number", from: "2 e=p", to: "4 e=p tolerate k" },
];

test.each(rewritten)("$id rewrites the latest snapshot in place", ({ from, to }) => {
  const before = grown("fixed earlier", from);
  const policy = policyOf(to);
  expect(next(before, policy)).toEqual([before[0], { ...before[1], policy, hash: policyHash(policy) }]);
});

const renewed = [
  { id: "P3: another term", from: "3 e=p", to: "3 e=q" },
  { id: "P7: another number and another weight", from: "3 prefer 1:x=y", to: "4 prefer 2:x=y" },
  { id: "a term twice as preferred", from: "3 prefer 1:x=y", to: "3 prefer 1:x=y,1:x=y" },
  { id: "another type", from: "all", to: "3" },
  { id: "another name", from: "fixed a", to: "fixed a,b" },
  { id: "a toleration less", from: "all tolerate k,z", to: "all tolerate k" },
  { id: "a toleration more and another term", from: "all a=1", to: "all a=2 tolerate k" },
];

test.each(renewed)("$id makes a new snapshot and keeps the old one", ({ from, to }) => {
  const before = grown("all never=again", from);
  const policy = policyOf(to);
  const snapshots = next(before, policy);
  expect(snapshots).toEqual([...before, { index: 2, hash: policyHash(policy), policy, verdict: null }]);
});

test("P5 with A 42: an absent and an empty selector are the same policy", () => {
  const absent: PlacementPolicy = {
    kind: "PickAll",
    required: [{ labelSelector: null, properties: [] }],
    tolerations: [],
  };
  const empty: PlacementPolicy = {
    kind: "PickAll",
    required: [{ labelSelector: {}, properties: [] }],
    tolerations: [],
  };
  expect(policyHash(absent)).toBe(policyHash(empty));
});

test("A 54: another order of a selector's expressions and of their values is the same policy", () => {
  const [region, tier] = [
    { key: "region", operator: "In", values: ["eu", "us"] },
    { key: "tier", operator: "Exists" },
  ] as const;
  const of = (...matchExpressions: readonly LabelRequirement[]): PlacementPolicy => ({
    kind: "PickAll",
    required: [{ labelSelector: { matchExpressions }, properties: [] }],
    tolerations: [],
  });
  expect(policyHash(of(tier, { ...region, values: ["us", "eu"] }))).toBe(policyHash(of(region, tier)));
  expect(policyHash(of(region))).not.toBe(policyHash(of(region, tier)));
});

describe("history is trimmed", () => {
  const trims = [
    { id: "P8: when a new one is made", before: history(5).slice(3), policy: "all new=1", limit: 2, want: [4, 5] },
    { id: "P9 with A 52: on every pass", before: history(10), policy: "all version=9", limit: 3, want: [7, 8, 9] },
    { id: "to the latest one alone", before: history(3), policy: "all version=2", limit: 1, want: [2] },
    {
      id: "A 51: but not what is in use",
      before: history(5),
      policy: "all new=1",
      limit: 2,
      inUse: [1, 2],
      want: [1, 2, 4, 5],
    },
    {
      id: "and what is kept for use does not push out others",
      before: history(5),
      policy: "all version=4",
      limit: 2,
      inUse: [0],
      want: [0, 3, 4],
    },
  ];

  test.each(trims)("$id", ({ before, policy, limit, inUse, want }) => {
    expect(indices(next(before, policy, limit, inUse))).toEqual(want);
  });
});
