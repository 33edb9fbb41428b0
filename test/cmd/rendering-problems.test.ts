import { describe, expect, it } from "vitest";
import { problemsOfOverrides } from "../../src/cmd/commands/reconcile/rendering-problems.ts";
import { maxTries, overrideFindings } from "../../src/core/render/override-findings.ts";
import { problemText } from "../../src/core/yaml/problems.ts";
import { cluster, configMap, type Files, placement, read, sourceFiles } from "../core/intent/reading.ts";

const namespace = (name: string, labels = ""): string =>
  `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}${labels === "" ? "" : `, labels: {${labels}}`}}\n`;

const labelled = (name: string, labels: string): string =>
  configMap(name).replace("namespace: web", `namespace: web, labels: {${labels}}`);

/** An override of the Namespace web: rules as flow YAML. */
const override = (name: string, rules: readonly string[], placementName = ""): string =>
  `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourceOverride
metadata: {name: ${name}}
spec:
  ${placementName === "" ? "" : `placement: {name: ${placementName}}`}
  clusterResourceSelectors: [{group: "", version: v1, kind: Namespace, name: web}]
  policy:
    overrideRules:
${rules.map((it) => `      - ${it}\n`).join("")}`;

/** An override of ConfigMaps of the namespace web. */
const resourceOverride = (name: string, objects: readonly string[], rules: readonly string[], placed = ""): string =>
  override(name, rules, placed)
    .replace("kind: ClusterResourceOverride", "kind: ResourceOverride")
    .replace(`metadata: {name: ${name}}`, `metadata: {name: ${name}, namespace: web}`)
    .replace(
      /clusterResourceSelectors: .*/,
      `resourceSelectors: [${objects.map((it) => `{group: "", version: v1, kind: ConfigMap, name: ${it}}`).join(", ")}]`,
    );

const everywhere = "clusterSelector: {clusterSelectorTerms: []}";
const where = (labels: string): string =>
  `clusterSelector: {clusterSelectorTerms: [{labelSelector: {matchLabels: {${labels}}}}]}`;
const patch = (clusters: string, ...operations: readonly string[]): string =>
  `{${clusters}, jsonPatchOverrides: [${operations.join(", ")}]}`;
const add = (path: string, value: string): string => `{op: add, path: ${path}, value: ${value}}`;

/** What is found, without the notes of what an override applies to. */
function found(files: Files): readonly string[] {
  const source = sourceFiles(files);
  const decoded = new Map(source.map((it) => [it.path, it.decoded]));
  const intent = read(files);
  return problemsOfOverrides(
    overrideFindings(intent),
    ({ path, document }) => decoded.get(path)?.documents[document] ?? null,
  ).map(problemText);
}

const mend =
  "correct the operation, or the clusterSelector of its rule: until then nothing new of the placement reaches such a cluster";
const idleFix = "correct it, or keep these clusters out of its selectors";
const soAlready = "what it selects is so already, or left out there";

const fleet = {
  "n.yaml": namespace("web", "team: shop"),
  "p.yaml": placement("web"),
  "c1.yaml": cluster("c1", "env: prod, region: eu"),
  "c2.yaml": cluster("c2", "env: dev"),
  "c3.yaml": cluster("c3", "env: dev, region: us"),
};

describe("an override is tried on every cluster that the files declare, before it is pushed", () => {
  const cases: readonly [name: string, files: Files, want: readonly string[]][] = [
    [
      "V-OV-16 a label for everything in a namespace fails on an object without labels",
      {
        ...fleet,
        "a.yaml": configMap("a"),
        "b.yaml": configMap("b"),
        "o.yaml": override("o", [patch(everywhere, add("/metadata/labels/a", "x"))]),
      },
      [
        `o.yaml:9:76: error FLT1343: spec.policy.overrideRules[0].jsonPatchOverrides[0]: fails on the cluster c1 and 2 more (placement web), for ConfigMap web/a and 1 more: /metadata/labels does not exist; ${mend}`,
      ],
    ],
    [
      "only where the rule acts",
      {
        ...fleet,
        "a.yaml": configMap("a"),
        "o.yaml": override("o", [patch(where("env: prod"), add("/metadata/labels/a", "x"))]),
      },
      [
        expect.stringContaining(
          "fails on the cluster c1 (placement web), for ConfigMap web/a: /metadata/labels does not",
        ) as unknown as string,
      ],
    ],
    [
      "a label that a cluster does not have",
      {
        ...fleet,
        "o.yaml": override("o", [
          patch(everywhere, add("/metadata/labels/r", `"\${MEMBER-CLUSTER-LABEL-KEY-region}"`)),
        ]),
      },
      [
        expect.stringContaining(
          "fails on the cluster c2 (placement web), for Namespace web: the member cluster has no label region;",
        ) as unknown as string,
      ],
    ],
    [
      "a cluster that the placement does not pick by its labels is none of its business",
      {
        ...fleet,
        "p.yaml": placement("web", "  policy: {placementType: PickFixed, clusterNames: [c1, c3]}\n"),
        "o.yaml": override("o", [
          patch(everywhere, add("/metadata/labels/r", `"\${MEMBER-CLUSTER-LABEL-KEY-region}"`)),
        ]),
      },
      [],
    ],
    [
      "a rule that takes away what the next one needs, by the place of the next one",
      {
        ...fleet,
        "o.yaml": override("o", [
          patch(everywhere, "{op: remove, path: /metadata/labels/team}"),
          patch(
            where("env: dev"),
            add("/metadata/labels/a", "x"),
            "{op: replace, path: /metadata/labels/team, value: y}",
          ),
        ]),
      },
      [
        expect.stringMatching(
          /^o\.yaml:10:\d+: error FLT1343: spec\.policy\.overrideRules\[1\]\.jsonPatchOverrides\[1\]: fails on the cluster c2 and 1 more/,
        ) as unknown as string,
      ],
    ],
    [
      "O-18 patches of what is deleted there do not fail",
      {
        ...fleet,
        "a.yaml": configMap("a"),
        "o.yaml": override("o", [`{${everywhere}, overrideType: Delete}`, patch(everywhere, add("/x/y", "x"))]),
      },
      [],
    ],
    [
      "what is so already is a warning that names the clusters",
      {
        ...fleet,
        "o.yaml": override("o", [
          patch(where("env: dev"), add("/metadata/labels/team", "shop")),
          patch(where("env: prod"), add("/metadata/labels/team", "pay")),
        ]),
      },
      [
        `o.yaml:8:5: warning FLT1333: spec.policy: changes nothing on the cluster c2 and 1 more (placement web): ${soAlready}; ${idleFix}`,
      ],
    ],
    [
      "one object that it changes is enough",
      {
        ...fleet,
        "a.yaml": labelled("a", "team: pay"),
        "o.yaml": override("o", [patch(everywhere, add("/metadata/labels/team", "shop"))]),
      },
      [],
    ],
    [
      "a value that differs from cluster to cluster may well be that of one of them",
      {
        ...fleet,
        "n.yaml": namespace("web", "team: c1"),
        "o.yaml": override("o", [patch(where("env: prod"), add("/metadata/labels/team", `"\${MEMBER-CLUSTER-NAME}"`))]),
      },
      [],
    ],
    [
      "a path into a key that is made from the name of the cluster is tried on each of them",
      {
        ...fleet,
        "o.yaml": override("o", [
          patch(
            everywhere,
            add("/metadata/annotations", `{"\${MEMBER-CLUSTER-NAME}": x}`),
            "{op: remove, path: /metadata/annotations/c2}",
          ),
        ]),
      },
      [
        expect.stringContaining(
          "fails on the cluster c1 and 1 more (placement web), for Namespace web: /metadata/annotations/c2",
        ) as unknown as string,
      ],
    ],
    [
      "one failure in several placements is one problem",
      {
        ...fleet,
        "a.yaml": configMap("a"),
        "q.yaml": placement("also").replace("name: web}]", "name: web}]"),
        "o.yaml": override("o", [patch(everywhere, add("/metadata/labels/a", "x"))]),
      },
      [expect.stringContaining("(placement also and 1 more), for ConfigMap web/a: ") as unknown as string],
    ],
    [
      "an override of one placement is not tried in another",
      {
        ...fleet,
        "a.yaml": configMap("a"),
        "q.yaml": placement("also"),
        "o.yaml": override("o", [patch(everywhere, add("/metadata/labels/a", "x"))], "also"),
      },
      [expect.stringContaining("(placement also), for ConfigMap web/a: ") as unknown as string],
    ],
    [
      "without clusters nothing is tried",
      {
        "n.yaml": namespace("web"),
        "p.yaml": placement("web"),
        "o.yaml": override("o", [patch(everywhere, add("/x/y", "x"))]),
      },
      [],
    ],
    [
      "an override of a broken placement has nothing to be tried on",
      {
        ...fleet,
        "p.yaml": placement("web", "  polcy: {}\n"),
        "o.yaml": override("o", [patch(everywhere, add("/x/y", "x"))]),
      },
      [],
    ],
  ];
  for (const [name, files, want] of cases) it(name, () => expect(found(files)).toEqual(want));
});

describe("an override of a namespace is tried like any other", () => {
  const cases: readonly [name: string, files: Files, want: readonly unknown[]][] = [
    [
      "on the objects that it names alone",
      {
        "a.yaml": configMap("a"),
        "b.yaml": labelled("b", "x: y"),
        "o.yaml": resourceOverride("o", ["a", "b"], [patch(where("env: dev"), add("/metadata/labels/a", "x"))]),
      },
      [
        `o.yaml:9:118: error FLT1343: spec.policy.overrideRules[0].jsonPatchOverrides[0]: fails on the cluster c2 and 1 more (placement web), for ConfigMap web/a: /metadata/labels does not exist; ${mend}`,
      ],
    ],
    [
      "O-05 on what the overrides of its Namespace have left",
      {
        "a.yaml": configMap("a"),
        "c.yaml": override("o", [patch(everywhere, add("/metadata/labels", "{x: y}"))]),
        "o.yaml": resourceOverride("o", ["a"], [patch(everywhere, add("/metadata/labels/a", "x"))]),
      },
      [],
    ],
    [
      "O-18 and not on what these take away",
      {
        "a.yaml": configMap("a"),
        "c.yaml": override("o", [`{${where("env: dev")}, overrideType: Delete}`]),
        "o.yaml": resourceOverride("o", ["a"], [patch(where("env: dev"), add("/metadata/labels/a", "x"))]),
      },
      [
        expect.stringContaining(
          `warning FLT1333: spec.policy: changes nothing on the cluster c2 and 1 more (placement web): ${soAlready};`,
        ),
      ],
    ],
    [
      "O-23 on what an envelope wraps, too",
      {
        "e.yaml": `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourceEnvelope
metadata: {name: e, namespace: web}
data: {a: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: web}}}
`,
        "o.yaml": resourceOverride("o", ["a"], [patch(everywhere, add("/metadata/labels/a", "x"))]),
      },
      [expect.stringContaining("for ConfigMap web/a in ResourceEnvelope web/e: /metadata/labels does not exist;")],
    ],
    [
      "what is so already is a warning",
      {
        "a.yaml": labelled("a", "a: x"),
        "o.yaml": resourceOverride("o", ["a"], [patch(everywhere, add("/metadata/labels/a", "x"))]),
      },
      [expect.stringContaining("warning FLT1333: spec.policy: changes nothing on the cluster c1 and 2 more")],
    ],
    [
      "O-21 and not for placements that it does not belong to",
      {
        "a.yaml": configMap("a"),
        "o.yaml": resourceOverride("o", ["a"], [patch(everywhere, add("/x/y", "x"))], "web, scope: Namespaced"),
      },
      [],
    ],
    [
      "two of one name, in the fleet and in a namespace called null, are two, and after a failure nothing is said to be idle",
      {
        "n.yaml": namespace('"null"', "team: shop"),
        "a.yaml": configMap("a").replace("namespace: web", 'namespace: "null"'),
        "p.yaml": placement("web").replace("name: web}]", 'name: "null"}]'),
        "c.yaml": override("o", [patch(everywhere, add("/x/y", "x"))]).replace(", name: web}", ', name: "null"}'),
        "o.yaml": resourceOverride("o", ["a"], [patch(everywhere, add("/metadata/labels", "{a: b}"))]).replace(
          "namespace: web",
          'namespace: "null"',
        ),
      },
      [expect.stringMatching(/^c\.yaml:.*fails on the cluster c1 and 2 more/)],
    ],
  ];
  for (const [name, files, want] of cases) it(name, () => expect(found({ ...fleet, ...files })).toEqual(want));
});

describe("what is found is bounded", () => {
  const many = (count: number, of: (at: number) => readonly [string, string]): Files =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => of(at)));

  it("a thousand clusters with the same failure are one problem with a number", () => {
    const files = {
      ...fleet,
      ...many(1000, (at) => [`k${at}.yaml`, cluster(`k${at}`, "env: dev")]),
      "a.yaml": configMap("a"),
      "o.yaml": override("o", [patch(everywhere, add("/metadata/labels/a", "x"))]),
    };
    expect(found(files)).toEqual([expect.stringContaining("fails on the cluster c1 and 1002 more (placement web)")]);
  });

  it("clusters that differ in nothing that it looks at are tried once for all of them", () => {
    const files = {
      ...fleet,
      ...many(1000, (at) => [`k${at}.yaml`, cluster(`k${at}`, `env: dev, region: r${at}`)]),
      "o.yaml": override("o", [
        patch(everywhere, add("/metadata/labels/r", `"\${MEMBER-CLUSTER-LABEL-KEY-region}-\${MEMBER-CLUSTER-NAME}"`)),
      ]),
    };
    // 1003 clusters, two groups: with that label and without.
    expect(found(files)).toEqual([
      expect.stringContaining("fails on the cluster c2 (placement web), for Namespace web"),
    ]);
  });

  it("of more than five reasons, five are told", () => {
    const labels = ["a", "b", "c", "d", "e", "f", "g"];
    const files = {
      ...fleet,
      "o.yaml": override(
        "o",
        labels.map((it) => patch(where(`n: ${it}`), add("/metadata/labels/r", `"\${MEMBER-CLUSTER-LABEL-KEY-${it}}"`))),
      ),
      ...many(labels.length, (at) => [`k${at}.yaml`, cluster(`k${at}`, `n: ${labels[at]}`)]),
    };
    const said = found(files);
    expect(said).toHaveLength(6);
    expect(said[5]).toBe(
      "o.yaml:8:5: note FLT1024: spec.policy: fails for more reasons, which are not listed: 2; fix these first",
    );
  });

  it("what is tried too often is said to be", () => {
    const rules = Array.from({ length: 6 }, (_, at) =>
      patch(where(`n: a${at}`), add("/metadata/annotations", `{x: y${at}}`)),
    );
    const files = {
      ...fleet,
      ...many(6, (at) => [`k${at}.yaml`, cluster(`k${at}`, `n: a${at}`)]),
      "objects.yaml": Array.from({ length: 900 }, (_, at) => configMap(`m${at}`)).join("---\n"),
      "o.yaml": override("o", rules),
    };
    expect(found(files)).toEqual([
      `o.yaml:8:5: note FLT1344: spec.policy: is tried ${maxTries} times and no more: on some clusters or objects it may fail unseen; let it select less, or look at what plan says of it`,
    ]);
  });
});
