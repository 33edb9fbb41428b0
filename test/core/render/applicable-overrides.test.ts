import { describe, expect, it } from "vitest";
import type { OverrideRule, OverrideSnapshot } from "../../../src/core/model/override.ts";
import type { Labels, PlacementKey } from "../../../src/core/model/value.ts";
import { consultedLabels, overridesOf, overridesOn } from "../../../src/core/render/applicable-overrides.ts";
import { overrideSnapshotKey } from "../../../src/core/render/override-snapshot.ts";
import { devLabels, everywhere, inProd, object, override, patch, prodLabels, remove, scopes } from "./repository.ts";

const resources = [
  object("v1 Namespace app"),
  object("rbac.authorization.k8s.io/v1 ClusterRole admin"),
  object("apps/v1 Deployment app/web"),
];
const rules = [remove(everywhere)];
const names = (snapshots: readonly OverrideSnapshot[]): readonly string[] => snapshots.map(overrideSnapshotKey);
const belonging = (latest: readonly OverrideSnapshot[], placement = "crp"): readonly string[] =>
  names(overridesOf(placement as PlacementKey, resources, latest, scopes));

describe("which overrides belong to a placement", () => {
  const cases: readonly { id: string; claim: string; override: OverrideSnapshot; placement?: string; want: boolean }[] =
    [
      {
        id: "O-01",
        claim: "one that names a namespaced object",
        override: override("app/o-0", "apps/v1 Deployment web", rules),
        want: true,
      },
      {
        id: "O-03",
        claim: "one that names a Namespace",
        override: override("o-0", "v1 Namespace app", rules),
        want: true,
      },
      {
        id: "reach",
        claim: "one that names a cluster-scoped object",
        override: override("o-0", "rbac.authorization.k8s.io/v1 ClusterRole admin", rules),
        want: true,
      },
      {
        id: "reach",
        claim: "not a cluster-scoped one that names a namespaced object",
        override: override("o-0", "apps/v1 Deployment web", rules),
        want: false,
      },
      {
        id: "reach",
        claim: "not one of another namespace",
        override: override("other/o-0", "apps/v1 Deployment web", rules),
        want: false,
      },
      {
        id: "O-20",
        claim: "not one of another version",
        override: override("app/o-0", "apps/v1beta1 Deployment web", rules),
        want: false,
      },
      {
        id: "O-21",
        claim: "not one of another placement",
        override: override("app/o-0", "apps/v1 Deployment web", rules, "other"),
        want: false,
      },
      {
        id: "O-21",
        claim: "one of this placement",
        override: override("app/o-0", "apps/v1 Deployment web", rules, "crp"),
        want: true,
      },
      {
        id: "O-21",
        claim: "one of a ResourcePlacement, by its full key",
        override: override("app/o-0", "apps/v1 Deployment web", rules, "app/rp"),
        placement: "app/rp",
        want: true,
      },
      {
        id: "C 27",
        claim: "not one of a same-named ClusterResourcePlacement",
        override: override("app/o-0", "apps/v1 Deployment web", rules, "rp"),
        placement: "app/rp",
        want: false,
      },
      {
        id: "O-21",
        claim: "one of any placement, for a ResourcePlacement too",
        override: override("o-0", "v1 Namespace app", rules),
        placement: "app/rp",
        want: true,
      },
    ];
  for (const { id, claim, override: own, placement, want } of cases)
    it(`${id}: ${claim}`, () => expect(belonging([own], placement).length === 1).toBe(want));

  it("O-22: cluster-scoped first, each kind in the order of snapshot names as texts", () => {
    const latest = [
      override("app/ro-10", "apps/v1 Deployment web", rules),
      override("app/ro-2", "apps/v1 Deployment web", rules),
      override("x-2", "v1 Namespace app", rules),
      override("x-1-0", "v1 Namespace app", rules),
    ];
    expect(belonging(latest)).toEqual(["x-1-0", "x-2", "app/ro-10", "app/ro-2"]);
  });
});

describe("which of them act on a cluster", () => {
  const cases: readonly { id: string; claim: string; rules: readonly OverrideRule[]; labels: Labels; want: boolean }[] =
    [
      { id: "O-01", claim: "labels that match", rules: [remove(inProd)], labels: prodLabels, want: true },
      { id: "O-02", claim: "labels that do not", rules: [remove(inProd)], labels: devLabels, want: false },
      { id: "O-06", claim: "no selector matches no cluster", rules: [remove(null)], labels: prodLabels, want: false },
      { id: "O-06", claim: "an empty one matches every cluster", rules: [remove([])], labels: devLabels, want: true },
      {
        id: "O-06",
        claim: "one of each is attached",
        rules: [remove(null), remove([])],
        labels: devLabels,
        want: true,
      },
      {
        id: "rules",
        claim: "an empty term matches every cluster",
        rules: [remove([{}])],
        labels: devLabels,
        want: true,
      },
      {
        id: "rules",
        claim: "terms are alternatives",
        rules: [remove([{ matchLabels: { env: "qa" } }, { matchLabels: { env: "dev" } }])],
        labels: devLabels,
        want: true,
      },
      {
        id: "rules",
        claim: "one cluster, by its name",
        rules: [remove([{ matchLabels: { "kubernetes-fleet.io/member-name": "c1" } }])],
        labels: prodLabels,
        want: true,
      },
    ];
  for (const { id, claim, rules: own, labels, want } of cases)
    it(`${id}: ${claim}`, () =>
      expect(overridesOn(labels, [override("o-0", "v1 Namespace app", own)]).length === 1).toBe(want));
});

describe("the labels that overrides consult (C 22)", () => {
  const labels: Labels = { ...prodLabels, team: "shop", tier: "1" };
  const consulted = (...own: readonly OverrideRule[]): Labels =>
    consultedLabels([override("o-0", "v1 Namespace app", own)], labels);

  it("are none without overrides", () => expect(consultedLabels([], labels)).toEqual({}));

  it("are those that selectors look at, also when they do not match", () =>
    expect(consulted(remove([{ matchExpressions: [{ key: "tier", operator: "NotIn", values: ["1"] }] }]))).toEqual({
      tier: "1",
    }));

  it("are those that variables name, in values and in keys, sorted", () => {
    const value = { "${MEMBER-CLUSTER-LABEL-KEY-team}": ["${MEMBER-CLUSTER-LABEL-KEY-region}"] };
    expect(Object.entries(consulted(patch(everywhere, `add /spec ${JSON.stringify(value)}`)))).toEqual([
      ["region", "eu"],
      ["team", "shop"],
    ]);
  });

  it("include the one that a variable names by the cluster's name", () => {
    const named = { ...labels, c1: "yes" };
    const rule = patch(everywhere, 'add /spec "${MEMBER-CLUSTER-LABEL-KEY-${MEMBER-CLUSTER-NAME}}"');
    expect(consultedLabels([override("o-0", "v1 Namespace app", [rule])], named)).toEqual({ c1: "yes" });
  });

  it("leave out what the cluster does not have", () =>
    expect(consulted(remove([{ matchLabels: { zone: "a" } }]))).toEqual({}));

  it("are enough: the same overrides act with them as with all labels", () => {
    const own = [remove(inProd), remove([{ matchExpressions: [{ key: "zone", operator: "DoesNotExist" }] }])];
    const candidates = own.map((rule, at) => override(`o-${at}`, "v1 Namespace app", [rule]));
    expect(overridesOn(consultedLabels(candidates, labels), candidates)).toEqual(overridesOn(labels, candidates));
  });
});
