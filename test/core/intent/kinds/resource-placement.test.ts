import { describe, expect, it } from "vitest";
import { placementKey } from "../../../../src/core/model/placement.ts";
import {
  budget,
  cluster,
  codesOf,
  configMap,
  errorsOf,
  eviction,
  inForce,
  placement,
  problemsOf,
  read,
  readAll,
} from "../reading.ts";

const mine = '[{group: "", version: v1, kind: ConfigMap, name: web}]';

const ofTeam = (
  { name = "app", namespace = "web", selectors = mine, version = "v1beta1" } = {},
  spec = "",
): string => `apiVersion: placement.kubernetes-fleet.io/${version}
kind: ResourcePlacement
metadata: {name: ${name}, namespace: ${namespace}}
spec:
  resourceSelectors: ${selectors}
${spec}`;

const one = (more: string): string => `[{version: v1, ${more}}]`;

describe("a ResourcePlacement is read like a ClusterResourcePlacement", () => {
  it("with the same defaults, under its namespace and name", () => {
    const found = read({ "a.yaml": ofTeam(), "b.yaml": placement("app") }).placements;
    const [own, fleet] = [found.get(placementKey("web", "app")), found.get(placementKey(null, "app"))];
    expect([own?.key, own?.scope, own?.namespace, own?.name]).toEqual(["web/app", "Namespaced", "web", "app"]);
    expect([fleet?.key, fleet?.scope, fleet?.namespace]).toEqual(["app", "Cluster", null]);
    expect({ ...own?.spec, resourceSelectors: [] }).toEqual({ ...fleet?.spec, resourceSelectors: [] });
  });

  it("and in two namespaces it is two placements", () => {
    const two = read({ "a.yaml": ofTeam(), "b.yaml": ofTeam({ namespace: "shop" }) });
    expect([...two.placements.keys()]).toEqual(["shop/app", "web/app"]);
  });
});

describe("what a hub would refuse of it is refused", () => {
  const cases: readonly [id: string, what: string, text: string, want: readonly string[]][] = [
    ["V-RP-01", "a name of 63 characters", ofTeam({ name: "a".repeat(63) }), []],
    ["V-RP-01", "a name of 64 characters", ofTeam({ name: "a".repeat(64) }), ["error FLT1309"]],
    ["V-RP-01", "a name with a dot", ofTeam({ name: "a.b" }), ["error FLT1309"]],
    [
      "V-RP-03",
      "a Deployment by labels",
      ofTeam({ selectors: one("group: apps, kind: Deployment, labelSelector: {matchLabels: {a: b}}") }),
      [],
    ],
    ["V-RP-03", "all of a kind", ofTeam({ selectors: one("group: apps, kind: Deployment") }), []],
    [
      "V-RP-03, L9",
      "a ClusterRole",
      ofTeam({ selectors: one("group: rbac.authorization.k8s.io, kind: ClusterRole, name: r") }),
      ["error FLT1311"],
    ],
    [
      "V-RP-03",
      "a kind that nobody knows",
      ofTeam({ selectors: one("group: acme.example, kind: Gadget, name: g") }),
      ["error FLT1301"],
    ],
    [
      "V-RP-04, L9",
      "a Namespace",
      ofTeam({ selectors: one('group: "", kind: Namespace, name: web') }),
      ["error FLT1311"],
    ],
    [
      "V-RP-04",
      "a Namespace alone, which is said once",
      ofTeam({
        selectors: one('group: "", kind: Namespace, name: kube-system, selectionScope: NamespaceWithResourceSelectors'),
      }),
      ["error FLT1311"],
    ],
    [
      "V-RP-05",
      "where its status is to be seen",
      ofTeam({}, "  statusReportingScope: NamespaceAccessible\n"),
      ["warning FLT1307"],
    ],
    ["V-RP-06", "a namespace that is Kubernetes' own", ofTeam({ namespace: "kube-system" }), ["error FLT1403"]],
    ["V-RP-06", "ours", ofTeam({ namespace: "flotilla-system" }), ["error FLT1403"]],
    ["V-PL-01", "nothing to select", ofTeam({ selectors: "[]" }), ["error FLT1302"]],
    [
      "V-PL-12",
      "Pods, which are never placed",
      ofTeam({ selectors: one('group: "", kind: Pod, name: p') }),
      ["warning FLT1311"],
    ],
    ["V-PL-24", "PickN without a number", ofTeam({}, "  policy: {placementType: PickN}\n"), ["error FLT1304"]],
    ["versions", "v1", ofTeam({ version: "v1" }), []],
    [
      "versions",
      "v1 with what it does not have",
      ofTeam({ version: "v1" }, "  strategy: {deleteStrategy: {propagationPolicy: Delete}}\n"),
      ["error FLT1301"],
    ],
    ["versions", "v1alpha1", ofTeam({ version: "v1alpha1" }), ["error FLT1301"]],
    ["", "no namespace", ofTeam().replace(", namespace: web", ""), ["error FLT1412"]],
    ["", "a namespace that is none", ofTeam({ namespace: "A" }), ["error FLT1309"]],
  ];
  it.each(cases)("%s %s", (_, __, text, want) => {
    expect(codesOf(text).map((it) => it.replace(/^\S+ /, ""))).toEqual(want);
  });

  it("V-RP-04 and says what to do", () => {
    expect(problemsOf(ofTeam({ selectors: one('group: "", kind: Namespace, name: web') }))).toEqual([
      "5:23: error FLT1311: spec.resourceSelectors[0]: Namespace is cluster-scoped; a ResourcePlacement selects objects in its own namespace; select it with a ClusterResourcePlacement",
    ]);
  });

  it("V-RP-02 a policy that goes counts as PickAll", () => {
    const fixed = ofTeam({}, "  policy: {placementType: PickFixed, clusterNames: [east]}\n");
    expect(errorsOf(readAll({ "a.yaml": fixed }, { "a.yaml": ofTeam() }))).toEqual([
      expect.stringMatching(/^a\.yaml:\S+ error FLT1315: .*PickFixed.*PickAll/),
    ]);
  });
});

describe("a document of it is that of one object, and of no other", () => {
  const before = { "a.yaml": placement("web"), "b.yaml": ofTeam({ name: "web" }), "c.yaml": configMap("web") };

  it("one that cannot be used stays as it was accepted, and holds nothing else", () => {
    const broken = ofTeam({ name: "web", selectors: "[]" });
    const { "a.yaml": _, ...rest } = before;
    expect(inForce(readAll(before, { ...rest, "b.yaml": broken }))).toEqual([
      "ResourcePlacement web/web (held c1 b.yaml#0)",
      "ConfigMap web/web",
    ]);
  });

  it("D 2: one that lost its namespace may be any of them: nothing that is absent is gone", () => {
    const { "c.yaml": _, ...rest } = before;
    const lost = { ...rest, "b.yaml": ofTeam({ name: "web" }).replace(", namespace: web", "") };
    expect(inForce(readAll(before, lost))).toEqual([
      "ClusterResourcePlacement web",
      "ResourcePlacement web/web (held c1 b.yaml#0)",
      "ConfigMap web/web (held c1 c.yaml#0)",
    ]);
  });

  it("D 2: a ClusterResourcePlacement that lost its first word is not gone", () => {
    const misspelt = { ...before, "a.yaml": placement("web").replace("ClusterResourcePlacement", "ResourcePlacement") };
    expect(inForce(readAll(before, misspelt))).toContain("ClusterResourcePlacement web (held c1 a.yaml#0)");
  });
});

describe("what names the other kind of placement is told so", () => {
  const run = (kind: string, metadata: string): string => `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ${kind}
metadata: {${metadata}}
spec: {placementName: app, stagedRolloutStrategyName: ring}
`;
  const strategy = (kind: string, metadata: string): string => `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ${kind}
metadata: {${metadata}}
spec: {stages: [{name: all, labelSelector: {}}]}
`;
  const own = { "t.yaml": ofTeam({}, "  strategy: {type: External}\n"), "o.yaml": configMap("web") };
  const fixes = (files: Record<string, string>): readonly string[] =>
    read(files).problems.flatMap((it) => (it.path === "a.yaml" ? `${it.code}: ${it.message}; ${it.fix}` : []));

  it("a run of the fleet, of one in a namespace", () => {
    const files = { ...own, "s.yaml": strategy("ClusterStagedUpdateStrategy", "name: ring") };
    expect(fixes({ ...files, "a.yaml": run("ClusterStagedUpdateRun", "name: r") })).toEqual([
      "FLT1314: spec.placementName: there is no placement app; web/app is a ResourcePlacement: its runs are StagedUpdateRuns in the namespace web, and nothing is evicted from it",
    ]);
  });

  it("a run in a namespace, of the fleet's, with a strategy of the fleet", () => {
    const files = { "p.yaml": placement("app"), "s.yaml": strategy("ClusterStagedUpdateStrategy", "name: ring") };
    expect(fixes({ ...files, "a.yaml": run("StagedUpdateRun", "name: r, namespace: web") })).toEqual([
      "FLT1314: spec.placementName: there is no placement app in the namespace web; app is a ClusterResourcePlacement: its runs are ClusterStagedUpdateRuns",
      "FLT1314: spec.stagedRolloutStrategyName: there is no strategy ring in the namespace web; add it, or remove the run when it is over",
    ]);
  });

  it("and nothing where all of it is in one namespace", () => {
    const files = { ...own, "s.yaml": strategy("StagedUpdateStrategy", "name: ring, namespace: web") };
    expect(fixes({ ...files, "a.yaml": run("StagedUpdateRun", "name: r, namespace: web") })).toEqual([]);
  });

  it("C 27: a ResourceOverride that forgot where its placement is, or that says it of one of the fleet", () => {
    const override = (placement: string): string => `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourceOverride
metadata: {name: o, namespace: web}
spec:
  placement: {${placement}}
  resourceSelectors: [{group: "", version: v1, kind: ConfigMap, name: web}]
  policy: {overrideRules: [{clusterSelector: {clusterSelectorTerms: []}, overrideType: Delete}]}
`;
    const files = { ...own, "p.yaml": placement("fleet") };
    expect(fixes({ ...files, "a.yaml": override("name: app") })).toEqual([
      "FLT1337: spec.placement.name: there is no placement app; add scope: Namespaced, since web/app is a ResourcePlacement",
    ]);
    expect(fixes({ ...files, "a.yaml": override("name: fleet, scope: Namespaced") })).toEqual([
      "FLT1337: spec.placement.name: there is no placement web/fleet; leave out scope: Namespaced, since fleet is a ClusterResourcePlacement",
    ]);
    expect(fixes({ ...files, "a.yaml": override("name: app, scope: Namespaced") })).toEqual([]);
  });

  it("an eviction and a budget, which are for the fleet's alone", () => {
    const files = { ...own, "c.yaml": cluster("east") };
    expect(fixes({ ...files, "a.yaml": eviction("e", "app", "east") })).toEqual([
      expect.stringMatching(/^FLT1314: .*web\/app is a ResourcePlacement: .*nothing is evicted from it$/),
    ]);
    expect(fixes({ ...files, "a.yaml": budget("app", "minAvailable: 1") })).toEqual([
      "FLT1337: metadata.name: there is no placement app; web/app is a ResourcePlacement: nothing is evicted from it; remove the budget",
    ]);
  });
});
