// Where a tenant's placement may go: TenantClusters filters, and takes nothing away.
import { expect, test } from "vitest";
import { assessClusters } from "../../../src/core/schedule/assessment.ts";
import { profiles } from "../../../src/core/schedule/profile.ts";
import { isLookedPast } from "../../../src/core/schedule/same-outcome.ts";
import { cycleBindings, fleet, granted, now, policyOf, schedule } from "./notation.ts";

const members = fleet("a{e=p} b{e=q} c{e=p} d");
const grants = [granted({ matchLabels: { e: "p" } })];
const because = "teams/web/** is not granted this cluster (fleet.yaml:5:7)";

const cases: readonly (readonly [policy: string, standing: string, want: string])[] = [
  ["all", "", "+a +c"],
  ["1", "", "+c"],
  ["3", "", "+a +c"],
  ["fixed a,b", "", "+a"],
  // What is there under the policy in force stays.
  ["all", "b:B1", "+a +c"],
  ["2", "b:B1", "+c"],
  ["fixed a,b", "b:B1", "+a"],
  // Another policy judges again, but does not take what it names itself.
  ["all", "b:B0", "+a +c -b"],
  ["2", "b:B0", "+a +c -b"],
  ["fixed a,b", "b:B0", "+a =b"],
];

test.each(cases.flatMap((it) => (["default", "kubefleet"] as const).map((profile) => [profile, ...it] as const)))(
  "T-24 in the profile %s: %s with %s standing: %s",
  (profile, policy, standing, want) => {
    const bindings = cycleBindings(standing, 1);
    const { create, keep, drop } = schedule(
      { policy: policyOf(policy), candidates: members, cycleBindings: bindings, grants },
      profiles[profile],
    );
    const said = [
      ...create.map((it) => `+${it.cluster}`),
      ...keep.map((it) => `=${it.binding.cluster}`),
      ...drop.map((it) => `-${it.cluster}`),
    ];
    expect(said.sort()).toEqual(want.split(" ").filter(Boolean).sort());
  },
);

test.each(["all", "3", "fixed a,b"])("%s: it says whose grant does not reach a cluster", (policy) => {
  const { decisions } = schedule(
    { policy: policyOf(policy), candidates: members, cycleBindings: [], grants },
    profiles.default,
  );
  const refused = decisions.find((it) => it.cluster === "b");
  expect(refused).toMatchObject({ selected: false });
  expect(refused?.reason).toContain(because);
  expect(refused?.reason).toContain("TenantClusters");
  const cycle = {
    policy: policyOf(policy),
    namespace: null,
    grants,
    candidates: members,
    cycleBindings: [],
    recorded: [],
    now,
  };
  const assessed = assessClusters(cycle, profiles.default).find((it) => it.cluster === "b");
  expect(assessed).toMatchObject({ isSelected: false, refusals: [{ plugin: "TenantClusters", because }] });
});

test.each(["all", "3", "fixed a,b"])("%s: a label that a grant looks at is looked at", (policy) => {
  const [was, is, other] = fleet("b{e=q} b{e=p} b{e=q,x=y}");
  if (was === undefined || is === undefined || other === undefined) throw new Error("three");
  const place = { policy: policyOf(policy), namespace: null, grants };
  expect(isLookedPast(place, { was, is }, profiles.default)).toBe(false);
  expect(isLookedPast(place, { was, is: other }, profiles.default)).toBe(true);
  expect(isLookedPast({ ...place, grants: [] }, { was, is }, profiles.default)).toBe(true);
});
