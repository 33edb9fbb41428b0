import { describe, expect, it } from "vitest";
import { problemText } from "../../../src/core/yaml/problems.ts";
import {
  cluster,
  configMap,
  errorsOf,
  type Files,
  inForce,
  override,
  placement,
  read,
  readAll,
  resourceOverride,
} from "./reading.ts";

describe("overrides (C 21)", () => {
  it("V-CRO-07, B-85: two of one object for one placement: neither is new, the accepted one stays", () => {
    const intent = readAll(
      { "a.yaml": override("a", "web", "p") },
      { "a.yaml": override("a", "web", "p"), "b.yaml": override("b", "web", "p") },
    );
    expect(inForce(intent)).toEqual(["ClusterResourceOverride a (held c1 a.yaml#0)"]);
    expect(errorsOf(intent)).toEqual([
      "a.yaml:5:3: error FLT1331: spec: Namespace web is also overridden by b (b.yaml:1) for the same placement",
      "b.yaml:5:3: error FLT1331: spec: Namespace web is also overridden by a (a.yaml:1) for the same placement",
    ]);
  });

  it("of one object for two placements they go together, beside one for all they do not", () => {
    const two: Files = { "a.yaml": override("a", "web", "p"), "b.yaml": override("b", "web", "q") };
    expect(inForce(read(two))).toEqual(["ClusterResourceOverride a", "ClusterResourceOverride b"]);
    expect(inForce(read({ ...two, "c.yaml": override("c", "web") }))).toEqual([]);
  });

  it("V-CRO-08 the 101st is not taken in", () => {
    const hundred = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`o${at}.yaml`, override(`o${at}`, `n${at}`)]),
    );
    const intent = readAll(hundred, { ...hundred, "extra.yaml": override("extra", "n100") });
    expect(intent.overrides.length).toBe(100);
    expect(errorsOf(intent)).toEqual(["extra.yaml:3:18: error FLT1338: metadata.name: more than 100 overrides"]);
  });

  it("one without a placement says to which it applies", () => {
    const { problems } = read({
      "a.yaml": override("a", "web"),
      "p.yaml": placement("p"),
      "q.yaml": placement("q"),
      "c.yaml": cluster("eu"),
    });
    expect(problems.filter((it) => it.code !== "FLT1342").map(problemText)).toEqual([
      "a.yaml:6:3: note FLT1334: spec: applies to p, q; name one in spec.placement to narrow it down",
    ]);
  });

  it("B-87 one that has no effect is named", () => {
    const nowhere = override("a", "web", "pp").replace(
      "clusterSelectorTerms: []",
      "clusterSelectorTerms: [{labelSelector: {matchLabels: {env: dev}}}]",
    );
    const { problems } = read({
      "a.yaml": nowhere,
      "b.yaml": override("b", "other"),
      "p.yaml": placement("p"),
      "c.yaml": cluster("eu"),
    });
    expect(problems.map((it) => `${it.path} ${it.code} ${it.message}`)).toEqual([
      "a.yaml FLT1337 spec.placement.name: there is no placement pp",
      "a.yaml FLT1333 spec.policy.overrideRules[0].clusterSelector: no cluster matches: the rule has no effect",
      "b.yaml FLT1333 spec: no placement it belongs to selects Namespace other: it has no effect",
    ]);
  });

  it("V-RO-04 two of one object in a namespace: neither is new, the accepted one stays", () => {
    const before = { "a.yaml": resourceOverride("a", "settings") };
    const intent = readAll(before, { ...before, "b.yaml": resourceOverride("b", "settings") });
    expect(inForce(intent)).toEqual(["ResourceOverride web/a (held c1 a.yaml#0)"]);
    expect(errorsOf(intent)[0]).toContain("ConfigMap web/settings is also overridden by b (b.yaml:1)");
  });

  it("V-RO-04 in two namespaces, or beside a cluster override of the Namespace, they go together", () => {
    const files: Files = {
      "a.yaml": resourceOverride("a", "settings"),
      "b.yaml": resourceOverride("b", "settings", "", "db"),
      "c.yaml": override("c", "web"),
    };
    expect(inForce(read(files))).toEqual([
      "ClusterResourceOverride c",
      "ResourceOverride db/b",
      "ResourceOverride web/a",
    ]);
  });

  it("V-RO-04 for two placements of one name and of both kinds they go together", () => {
    const files: Files = {
      "a.yaml": resourceOverride("a", "settings", "p"),
      "b.yaml": resourceOverride("b", "settings", "p, scope: Namespaced"),
    };
    expect(inForce(read(files))).toHaveLength(2);
  });

  it("V-RO-05 the 101st in a namespace is not taken in, beside a hundred elsewhere", () => {
    const hundred = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [
        [`o${at}.yaml`, resourceOverride(`o${at}`, `c${at}`)],
        [`d${at}.yaml`, resourceOverride(`o${at}`, `c${at}`, "", "db")],
      ]).flat(),
    );
    const intent = readAll(hundred, { ...hundred, "extra.yaml": resourceOverride("extra", "c100") });
    expect(intent.overrides.length).toBe(200);
    expect(errorsOf(intent)).toEqual([
      "extra.yaml:3:18: error FLT1338: metadata.name: more than 100 overrides in namespace web",
    ]);
    expect(read({ ...hundred, "extra.yaml": resourceOverride("extra", "c100", "", "shop") }).overrides).toHaveLength(
      201,
    );
  });

  it.each([
    ["V-RO-01 to another placement", "p", "q"],
    ["V-RO-01 from one placement to all", "p", ""],
    ["V-RO-01 to the placement of that name in its namespace", "p", "p, scope: Namespaced"],
  ])("%s none of them moves", (_, before, after) => {
    const intent = readAll(
      { "a.yaml": resourceOverride("a", "settings", before) },
      { "a.yaml": resourceOverride("a", "settings", after) },
    );
    expect(inForce(intent)).toEqual(["ResourceOverride web/a (held c1 a.yaml#0)"]);
    expect(errorsOf(intent)).toEqual([expect.stringContaining("FLT1315: spec.placement: cannot change from p to")]);
  });
});

describe("to which placements a namespaced override applies", () => {
  const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: web, labels: {team: shop}}\n";
  const selecting = (name: string, selectors: string): string =>
    placement(name).replace(/resourceSelectors: .*/, `resourceSelectors: [${selectors}]`);
  const home = (scope: string, named = "name: web"): string =>
    `{group: "", version: v1, kind: Namespace, ${named}, selectionScope: ${scope}}`;
  const own = '{group: "", version: v1, kind: ConfigMap, name: settings}';
  const other = '{group: "", version: v1, kind: ConfigMap, name: other}';
  const wrapped = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourceEnvelope
metadata: {name: e, namespace: web}
data: {s: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: web}}}
`;

  const reaches = "note FLT1334 spec: applies to p";
  const nothing = "warning FLT1333 spec: no placement it belongs to selects ConfigMap web/settings: it has no effect";
  const cases: readonly [name: string, selectors: string, text: string, want: readonly string[]][] = [
    ["one that selects its Namespace with everything in it", home("NamespaceWithResources"), "", [reaches]],
    [
      "one that finds the Namespace by its labels",
      home("NamespaceWithResources", "labelSelector: {matchLabels: {team: shop}}"),
      "",
      [reaches],
    ],
    ["not one that selects the Namespace alone", home("NamespaceOnly"), "", [nothing]],
    ["one that selects it with its Namespace", `${home("NamespaceWithResourceSelectors")}, ${own}`, "", [reaches]],
    ["not one that selects something else of it", `${home("NamespaceWithResourceSelectors")}, ${other}`, "", [nothing]],
    [
      "not one that selects it in another namespace",
      `${home("NamespaceWithResourceSelectors", "name: db")}, ${own}`,
      "",
      [nothing],
    ],
    ["O-23 one of which an envelope wraps it", home("NamespaceWithResources"), wrapped, [reaches]],
  ];
  for (const [name, selectors, text, want] of cases)
    it(name, () => {
      const { problems } = read({
        "n.yaml": namespace,
        "d.yaml": namespace.replace("name: web", "name: db"),
        "m.yaml": text === "" ? configMap("settings") : text,
        "x.yaml": configMap("other"),
        "c.yaml": cluster("eu"),
        "p.yaml": selecting("p", selectors),
        "o.yaml": resourceOverride("o", "settings"),
      });
      const said = problems.filter((it) => it.path === "o.yaml");
      expect(said.map((it) => `${it.severity} ${it.code} ${it.message}`)).toEqual(want);
    });
});
