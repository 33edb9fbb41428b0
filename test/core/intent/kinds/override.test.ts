import { describe, expect, it } from "vitest";
import { cluster, configMap, override, placement, problemsOf, read, resourceOverride } from "../reading.ts";

const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n";

const rule = (text: string): string =>
  override("o", "web").replace(/overrideRules:[\s\S]*/, `overrideRules: [${text}]\n`);
const patch = (operation: string): string =>
  rule(`{clusterSelector: {clusterSelectorTerms: []}, jsonPatchOverrides: [{${operation}}]}`);
const add = (path: string, value = "x"): string => patch(`op: add, path: "${path}", value: ${value}`);
const term = (text: string): string =>
  rule(`{clusterSelector: {clusterSelectorTerms: [${text}]}, overrideType: Delete}`);

const twice = (text: string): string => text.replace(/electors: \[(.*)\]/, "electors: [$1, $1]");

/** What a rule says, in a namespaced override of a ConfigMap. */
const namespaced = (text: string): string =>
  text
    .replace("kind: ClusterResourceOverride", "kind: ResourceOverride")
    .replace("metadata: {name: o}", "metadata: {name: o, namespace: web}")
    .replace("clusterResourceSelectors:", "resourceSelectors:")
    .replace("kind: Namespace, name: web", "kind: ConfigMap, name: a");

describe("an override is read with its defaults", () => {
  it("no selector means no cluster, no terms mean all, terms mean theirs", () => {
    const text = override("o", "web", "shop").replace(
      /overrideRules:[\s\S]*/,
      `overrideRules:
      - jsonPatchOverrides: [{op: remove, path: /spec/a}]
      - {clusterSelector: {clusterSelectorTerms: []}, overrideType: Delete}
      - {clusterSelector: {clusterSelectorTerms: [{labelSelector: {matchLabels: {env: prod}}}]}, overrideType: Delete}
`,
    );
    expect(read({ "a.yaml": text }).overrides).toEqual([
      {
        scope: "Cluster",
        namespace: null,
        name: "o",
        spec: {
          placement: "shop",
          selectors: [{ group: "", version: "v1", kind: "Namespace", name: "web" }],
          rules: [
            {
              clusters: null,
              action: { kind: "JSONPatch", operations: [{ op: "remove", path: "/spec/a", value: null }] },
            },
            { clusters: [], action: { kind: "Delete" } },
            { clusters: [{ matchLabels: { env: "prod" } }], action: { kind: "Delete" } },
          ],
        },
        source: { path: "a.yaml", document: 0, line: 1, column: 1 },
      },
    ]);
  });
});

describe("a namespaced override is read with its defaults", () => {
  const specOf = (text: string) => read({ "a.yaml": text }).overrides.map(({ source: _, ...rest }) => rest);

  it("selects in its own namespace, and belongs to a ClusterResourcePlacement unless it says otherwise: O-21", () => {
    const [own] = specOf(resourceOverride("o", "settings", "shop"));
    expect(own).toEqual({
      scope: "Namespaced",
      namespace: "web",
      name: "o",
      spec: {
        placement: "shop",
        selectors: [{ group: "", version: "v1", kind: "ConfigMap", name: "settings" }],
        rules: [
          {
            clusters: [],
            action: { kind: "JSONPatch", operations: [{ op: "add", path: "/metadata/labels/a", value: "b" }] },
          },
        ],
      },
    });
  });

  it.each([
    ["none", "", null],
    ["its own kind of placement, in its namespace", "shop, scope: Namespaced", "web/shop"],
    ["the other one", "shop, scope: Cluster", "shop"],
  ])("belongs to %s", (_, written, want) => {
    expect(specOf(resourceOverride("o", "settings", written))[0]?.spec.placement).toBe(want);
  });

  it("has the name of a cluster override and of one in another namespace without being either", () => {
    const intent = read({
      "a.yaml": override("o", "web"),
      "b.yaml": resourceOverride("o", "settings"),
      "c.yaml": resourceOverride("o", "settings", "", "db"),
    });
    expect(intent.overrides.map((it) => it.namespace)).toEqual([null, "db", "web"]);
  });
});

const cases: readonly [id: string, ref: string, text: string, want: readonly string[]][] = [
  ["V-CRO-01", "a namespaced placement", override("o", "web", "a, scope: Namespaced"), ["FLT1307"]],
  [
    "V-CRO-03",
    "no selector",
    override("o", "web").replace(/clusterResourceSelectors: .*/, "clusterResourceSelectors: []"),
    ["FLT1302"],
  ],
  ["V-CRO-04", "a selector by labels", override("o", "web, labelSelector: {}"), ["FLT1307"]],
  ["V-CRO-05", "a selector without name", override("o", '""'), ["FLT1300"]],
  ["V-OV-01", "no rule", rule(""), ["FLT1302"]],
  [
    "V-OV-02",
    "a property selector",
    term("{labelSelector: {}, propertySelector: {matchExpressions: []}}"),
    ["FLT1306"],
  ],
  ["V-OV-03", "a term without labels", term("{}"), ["FLT1300"]],
  ["V-OV-04", "In without values", term("{labelSelector: {matchExpressions: [{key: a, operator: In}]}}"), ["FLT1305"]],
  ["V-OV-05", "a type that does not exist", rule("{overrideType: Merge}"), ["FLT1302"]],
  [
    "V-OV-06",
    "Delete with patches",
    rule(
      "{clusterSelector: {clusterSelectorTerms: []}, overrideType: Delete, jsonPatchOverrides: [{op: remove, path: /a}]}",
    ),
    ["FLT1307"],
  ],
  ["V-OV-07", "no patches", rule("{clusterSelector: {clusterSelectorTerms: []}}"), ["FLT1300"]],
  ["V-OV-08", "copy", patch("op: copy, path: /a"), ["FLT1302"]],
  ["V-OV-09", "a path without slash", add("spec"), ["FLT1320"]],
  ["V-OV-09", "no path", add(""), ["FLT1320"]],
  ["V-OV-10", "kind", add("/kind"), ["FLT1330"]],
  ["V-OV-10", "below apiVersion", add("/apiVersion/x"), ["FLT1330"]],
  ["V-OV-11", "metadata", add("/metadata"), ["FLT1330"]],
  ["V-OV-11", "a name", add("/metadata/name"), ["FLT1330"]],
  ["V-OV-11", "finalizers", add("/metadata/finalizers"), ["FLT1330"]],
  ["V-OV-11", "one label", add("/metadata/labels/a"), []],
  ["C 35", "all labels at once", add("/metadata/labels", "{a: b}"), ["FLT1339"]],
  ["C 35", "all labels of a template", add("/spec/template/metadata/labels", "{a: b}"), ["FLT1339"]],
  ["V-OV-12", "status", add("/status/x"), ["FLT1330"]],
  ["V-OV-13", "two slashes", add("/spec//x"), ["FLT1320"]],
  ["V-OV-13", "a trailing slash", add("/spec/"), ["FLT1320"]],
  ["V-OV-14", "remove with a value", patch("op: remove, path: /a, value: 1"), ["FLT1325"]],
  ["B-83", "add without a value", patch("op: add, path: /a"), ["FLT1325"]],
  ["B-83", "add of null", patch("op: add, path: /a, value: null"), []],
  ["B-83", "__proto__", add("/__proto__/x"), ["FLT1321"]],
  ["B-83", "a constructor, escaped nowhere", add("/a/constructor/prototype"), ["FLT1321"]],
  ["B-83", "an index with a leading zero", add("/a/01"), ["FLT1320"]],
  ["B-83", "~2", add("/a/~2"), ["FLT1320"]],
  ["B-83", "~1 is a slash in a key", add("/metadata/annotations/example.com~1a"), []],
  ["B-86", "an unknown variable", add("/a", "'${MEMBER-CLUSTER-NAMES}'"), ["FLT1332"]],
  ["V-OV-15", "an unterminated variable", add("/a", "'${MEMBER-CLUSTER-NAME'"), ["FLT1332"]],
  [
    "V-OV-15",
    "known variables, deep inside",
    add("/a", "{b: ['${MEMBER-CLUSTER-NAME}-${MEMBER-CLUSTER-LABEL-KEY-env}']}"),
    [],
  ],
  ["B-86", "variables of others are left alone", add("/a", "'${HOME} $(X) ${'"), []],
  ["", "a rule for no cluster", rule("{jsonPatchOverrides: [{op: remove, path: /a}]}"), ["FLT1333"]],
  ["other versions", "v1alpha1", override("o", "web").replace("v1beta1", "v1alpha1"), ["FLT1910"]],
];

/** What is said of a namespaced override alone. */
const ownCases: typeof cases = [
  [
    "V-RO-02",
    "no selector",
    resourceOverride("o", "a").replace(/resourceSelectors: .*/, "resourceSelectors: []"),
    ["FLT1302"],
  ],
  ["V-RO-02", "a selector without name", resourceOverride("o", "a").replace(", name: a}]", "}]"), ["FLT1300"]],
  ["V-RO-02", "a selector with an empty name", resourceOverride("o", '""'), ["FLT1300"]],
  ["V-RO-02", "a selector by labels", resourceOverride("o", "a, labelSelector: {}"), ["FLT1301"]],
  ["V-RO-03", "the same selector twice", twice(resourceOverride("o", "a")), ["FLT1308"]],
  [
    "",
    "a selector of cluster overrides",
    resourceOverride("o", "a").replace("resourceS", "clusterResourceS"),
    ["FLT1300", "FLT1301"],
  ],
  [
    "",
    "a Namespace, which is none of its own",
    resourceOverride("o", "a").replace("ConfigMap", "Namespace"),
    ["FLT1333", "FLT1333"],
  ],
  ["", "a kind that nobody knows", resourceOverride("o", "a").replace("ConfigMap", "Gizmo"), ["FLT1333", "FLT1333"]],
  [
    "",
    "an envelope",
    resourceOverride("o", "a")
      .replace("kind: ConfigMap", "kind: ResourceEnvelope")
      .replace('group: ""', "group: placement.kubernetes-fleet.io"),
    ["FLT1333", "FLT1333"],
  ],
  [
    "O-20",
    "another version than the object is written in",
    resourceOverride("o", "a").replace("version: v1,", "version: v1beta1,"),
    ["FLT1333"],
  ],
  ["", "no namespace", resourceOverride("o", "a").replace(", namespace: web", ""), ["FLT1412"]],
  ["", "all of it as it is to be", resourceOverride("o", "a"), []],
];

describe("what a hub would refuse is refused (O-24)", () => {
  const said = (text: string): readonly string[] => {
    const files = { "n.yaml": namespace, "m.yaml": configMap("a"), "p.yaml": placement("p"), "c.yaml": cluster("c") };
    const { problems } = read({ ...files, "a.yaml": text });
    return problems.filter((it) => it.severity !== "note").map((it) => it.code);
  };
  for (const [id, ref, text, want] of cases) it(`${id} ${ref}`, () => expect(said(text)).toEqual(want));

  const ofRules = cases.filter(([id]) => !id.startsWith("V-CRO"));
  for (const [id, ref, text, want] of ofRules)
    it(`${id} ${ref}, in a namespace`, () => expect(said(namespaced(text))).toEqual(want));

  for (const [id, ref, text, want] of ownCases)
    it(`${id} ${ref}, of a ResourceOverride`, () => expect(said(text)).toEqual(want));

  it("V-CRO-06 the same selector twice", () => {
    const twice =
      '[{group: "", version: v1, kind: Namespace, name: a}, {group: "", version: v1, kind: Namespace, name: a}]';
    const text = override("o", "a").replace(/clusterResourceSelectors: .*/, `clusterResourceSelectors: ${twice}`);
    expect(problemsOf(text)).toEqual([
      "6:82: error FLT1308: spec.clusterResourceSelectors[1]: this selector occurs twice; remove one of the two",
    ]);
  });
});
