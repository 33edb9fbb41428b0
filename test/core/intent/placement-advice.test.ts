import { describe, expect, it } from "vitest";
import { objectText } from "../../../src/core/model/manifest.ts";
import { unselectedObjects } from "../../../src/core/render/select.ts";
import { problemText } from "../../../src/core/yaml/problems.ts";
import { cluster, configMap, type Files, placement, read } from "./reading.ts";

const namespace = (name: string): string =>
  `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, labels: {team: ${name}-people}}\n`;

const fleet: Files = {
  "clusters/a.yaml": cluster("a", "env: prod, region: eu"),
  "clusters/b.yaml": cluster("b", "env: dev, region: us"),
  "web.yaml": namespace("web"),
  "shop.yaml": namespace("shop"),
};

const where = (expression: string): string => `  policy:
    placementType: PickAll
    affinity: {clusterAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {clusterSelectorTerms: [${expression}]}}}
`;

const labels = (text: string): string => where(`{labelSelector: {matchLabels: {${text}}}}`);

const selecting = (selector: string): string =>
  placement("p").replace(/resourceSelectors: .*/, `resourceSelectors: [{group: "", version: v1, ${selector}}]`);

const advice = (files: Files): readonly string[] =>
  read({ ...fleet, ...files })
    .problems.filter(({ code }) => /FLT134[01]/.test(code))
    .map((it) => problemText(it).replace(/^\S+ /, ""));

const at =
  "spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms[0]";

describe("a placement that matches no cluster says what was perhaps meant", () => {
  const cases: readonly (readonly [ref: string, policy: string, want: readonly string[]])[] = [
    ["one that matches says nothing", labels("env: prod"), []],
    [
      "one of two terms is enough",
      where("{labelSelector: {matchLabels: {env: x}}}, {labelSelector: {matchLabels: {env: dev}}}"),
      [],
    ],
    ["a value that is misspelt", labels("env: prdo"), [`none has the label env=prdo; did you mean "prod"?`]],
    ["a key that is misspelt", labels("regoin: eu"), [`none has the label regoin; did you mean "region"?`]],
    ["a value like none", labels("env: staging"), ["none has the label env=staging; there are: dev, prod"]],
    ["what no cluster meets at once", labels("env: prod, region: us"), ["; correct the selector, or label a cluster"]],
    [
      "an expression",
      where("{labelSelector: {matchExpressions: [{key: env, operator: In, values: [test, live]}]}}"),
      ["none has the label env=test or env=live; there are: dev, prod"],
    ],
  ];
  it.each(cases)("%s", (_, policy, want) => {
    const said = advice({ "p.yaml": placement("p", policy) });
    expect(said).toEqual(
      want.map((it) => `warning FLT1340: ${at}: matches none of 2 clusters${it.startsWith(";") ? "" : ": "}${it}`),
    );
  });

  describe("by properties", () => {
    const having = (name: string, value: string): string =>
      `${cluster(name)}status: {properties: {np: {value: "${value}"}}, resourceUsage: {capacity: {cpu: 4}}}\n`;
    const needing = (name: string): string =>
      where(`{propertySelector: {matchExpressions: [{name: ${name}, operator: Ge, values: ["1"]}]}}`);
    const path = `${at}.propertySelector.matchExpressions[0].name`;
    const rows: readonly (readonly [ref: string, policy: string, want: readonly string[]])[] = [
      ["one that clusters have", needing("resources.kubernetes-fleet.io/total-cpu"), []],
      [
        "one that is misspelt",
        needing("resources.kubernetes-fleet.io/total-cpo"),
        [
          'no MemberCluster declares the property resources.kubernetes-fleet.io/total-cpo; did you mean "resources.kubernetes-fleet.io/total-cpu"?',
        ],
      ],
      [
        "A 29: one that is no quantity somewhere",
        needing("np"),
        ["is no quantity, and counts as missing, on d (got np); correct their files"],
      ],
    ];
    it.each(rows)("%s", (_, policy, want) => {
      const files = { "clusters/c.yaml": having("c", "5"), "clusters/d.yaml": having("d", "v1") };
      expect(advice({ ...files, "p.yaml": placement("p", policy) })).toEqual(
        want.map((it) => `warning FLT1340: ${path}: ${it}`),
      );
    });
  });

  it("nothing is said while there is no cluster, or one cannot be read", () => {
    const lone = { "p.yaml": placement("p", labels("env: x")), "web.yaml": namespace("web") };
    expect(read(lone).problems.filter(({ code }) => code === "FLT1340")).toEqual([]);
    expect(advice({ ...lone, "c.yaml": `${cluster("c")}x: y\n` })).toEqual([]);
  });
});

describe("a selector that selects nothing says what was perhaps meant", () => {
  const cases: readonly (readonly [ref: string, selector: string, want: readonly string[]])[] = [
    ["one that is there says nothing", "kind: Namespace, name: shop", []],
    ["all of a kind that is there", "kind: Namespace", []],
    ["a name that is misspelt", "kind: Namespace, name: shpo", [`there is no Namespace shpo; did you mean "shop"?`]],
    [
      "a name like none",
      "kind: Namespace, name: kitchen",
      ["there is no Namespace kitchen; add it, or correct the name"],
    ],
    [
      "a label that is misspelt",
      "kind: Namespace, labelSelector: {matchLabels: {team: shop-peple}}",
      [`no Namespace has the label team=shop-peple; did you mean "shop-people"?`],
    ],
    [
      "a kind of which there is none",
      "kind: PersistentVolume",
      ["there is no PersistentVolume; add one, or remove the selector"],
    ],
  ];
  it.each(cases)("%s", (_, selector, want) => {
    const said = advice({ "p.yaml": selecting(selector) });
    expect(said.map((it) => it.replace(/^.*selects nothing: /, ""))).toEqual(want);
  });

  it("a namespaced kind is looked for in the namespace that is selected with it", () => {
    const home = "{group: '', version: v1, kind: Namespace, name: web, selectionScope: NamespaceWithResourceSelectors}";
    const own = placement("p").replace(/\[\{.*\}\]/, `[${home}, {group: "", version: v1, kind: ConfigMap, name: cfg}]`);
    const other = configMap("cfg").replace("namespace: web", "namespace: shop");
    expect(advice({ "p.yaml": own, "cfg.yaml": configMap("cfg") })).toEqual([]);
    expect(advice({ "p.yaml": own, "cfg.yaml": other })).toEqual([
      "warning FLT1341: spec.resourceSelectors[1].name: selects nothing: there is no ConfigMap cfg in the namespace web; add it, or correct the name",
    ]);
  });
});

it("objects that no placement selects are known", () => {
  const files = { ...fleet, "p.yaml": placement("p"), "cfg.yaml": configMap("cfg") };
  expect(unselectedObjects(read(files)).map((it) => objectText(it.id))).toEqual(["Namespace shop"]);
});
