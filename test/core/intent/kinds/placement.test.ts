import { describe, expect, it } from "vitest";
import type { Placement } from "../../../../src/core/model/placement.ts";
import { durationOf } from "../../../../src/core/model/value.ts";
import { codesOf, placement, problemsOf, read } from "../reading.ts";

function placementIn(text: string): Omit<Placement, "source"> | null {
  const [found] = read({ "a.yaml": text }).placements.values();
  if (found === undefined) return null;
  const { source: _, ...rest } = found;
  return rest;
}

describe("a placement is read with KubeFleet's defaults", () => {
  it("all of them", () => {
    expect(placementIn(placement("web"))).toEqual({
      key: "web",
      scope: "Cluster",
      namespace: null,
      name: "web",
      labels: {},
      annotations: {},
      spec: {
        resourceSelectors: [
          {
            group: "",
            version: "v1",
            kind: "Namespace",
            name: "web",
            labelSelector: null,
            selectionScope: "NamespaceWithResources",
          },
        ],
        policy: { kind: "PickAll", required: [], tolerations: [] },
        strategy: {
          type: "RollingUpdate",
          rollingUpdate: { maxUnavailable: { percent: 25 }, maxSurge: { percent: 25 }, unavailablePeriod: 60_000 },
          applyStrategy: {
            type: "ClientSideApply",
            comparisonOption: "PartialComparison",
            whenToApply: "Always",
            whenToTakeOver: "Always",
            allowCoOwnership: false,
            forceConflicts: false,
          },
          propagationPolicy: "Delete",
          progressDeadline: 600_000,
          deleteAdopted: false,
        },
        revisionHistoryLimit: 10,
      },
    });
  });

  it("nothing is left when everything is said; G22: a spread without maxSkew has 1", () => {
    const spec = `  policy:
    placementType: PickN
    numberOfClusters: 3
    affinity:
      clusterAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          clusterSelectorTerms:
            - labelSelector: {matchLabels: {env: prod}}
              propertySelector: {matchExpressions: [{name: np, operator: Ge, values: ["5"]}]}
            - {}
        preferredDuringSchedulingIgnoredDuringExecution:
          - {weight: -20, preference: {labelSelector: {matchExpressions: [{key: region, operator: Exists}]}}}
          - {weight: 20, preference: {propertySorter: {name: np, sortOrder: Descending}}}
    topologySpreadConstraints: [{topologyKey: region}, {topologyKey: zone, maxSkew: 2, whenUnsatisfiable: ScheduleAnyway}]
    tolerations: [{operator: Exists}, {key: gpu, value: a, effect: NoSchedule}]
  strategy:
    rollingUpdate: {maxUnavailable: 2, maxSurge: 0, unavailablePeriodSeconds: 5}
    applyStrategy: {type: ServerSideApply, serverSideApplyConfig: {force: true}, whenToTakeOver: IfNoDiff, allowCoOwnership: true}
    deleteStrategy: {propagationPolicy: Abandon}
  revisionHistoryLimit: 3
`;
    const text = placement("web", spec).replace(
      "{name: web}",
      '{name: web, annotations: {flotilla.dev/progress-deadline: 1m30s, flotilla.dev/delete-adopted: "true"}}',
    );
    expect(placementIn(text)?.spec).toMatchObject({
      policy: {
        kind: "PickN",
        numberOfClusters: 3,
        required: [
          {
            labelSelector: { matchLabels: { env: "prod" } },
            properties: [{ name: "np", operator: "Ge", value: "5" }],
          },
          { labelSelector: null, properties: [] },
        ],
        preferred: [
          {
            weight: -20,
            preference: {
              labelSelector: { matchExpressions: [{ key: "region", operator: "Exists" }] },
              sorter: null,
            },
          },
          { weight: 20, preference: { labelSelector: null, sorter: { name: "np", order: "Descending" } } },
        ],
        spread: [
          { topologyKey: "region", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" },
          { topologyKey: "zone", maxSkew: 2, whenUnsatisfiable: "ScheduleAnyway" },
        ],
        tolerations: [
          { key: "", operator: "Exists", value: "", effect: "" },
          { key: "gpu", operator: "Equal", value: "a", effect: "NoSchedule" },
        ],
      },
      strategy: {
        rollingUpdate: { maxUnavailable: { count: 2 }, maxSurge: { count: 0 }, unavailablePeriod: 5000 },
        applyStrategy: {
          type: "ServerSideApply",
          forceConflicts: true,
          whenToTakeOver: "IfNoDiff",
          allowCoOwnership: true,
        },
        propagationPolicy: "Abandon",
        progressDeadline: 90_000,
        deleteAdopted: true,
      },
      revisionHistoryLimit: 3,
    });
  });
});

const policy = (fields: string): string => placement("web", `  policy: {${fields}}\n`);
const strategy = (fields: string): string => placement("web", `  strategy: {${fields}}\n`);
const selectors = (...each: readonly string[]): string =>
  placement("web").replace(/resourceSelectors: .*/, `resourceSelectors: [${each.join(", ")}]`);
const required = (term: string): string =>
  policy(
    `affinity: {clusterAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {clusterSelectorTerms: [${term}]}}}`,
  );
const namespace = 'group: "", version: v1, kind: Namespace';
const whole = "selectionScope: NamespaceWithResourceSelectors";

// Codes of errors and warnings; an empty list is a document too.
const capacity = "resources.kubernetes-fleet.io/";
const property = (...expressions: readonly string[]): string =>
  required(`{propertySelector: {matchExpressions: [${expressions.join(", ")}]}}`);
const both = (first: string, a: string, second: string, b: string): string =>
  property(`{name: np, operator: ${first}, values: ["${a}"]}`, `{name: np, operator: ${second}, values: ["${b}"]}`);
const picking = (fields: string): string => policy(`placementType: PickN, numberOfClusters: 1, ${fields}`);
const preferred = (preference: string, weight = 1): string =>
  picking(
    `affinity: {clusterAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: ${weight}, preference: ${preference}}]}}`,
  );
const spread = (constraints: string): string => picking(`topologySpreadConstraints: [${constraints}]`);

const cases: readonly [id: string, ref: string, text: string, want: readonly string[]][] = [
  ["V-ANY-01", "an upper-case name", placement("Web"), ["FLT1309"]],
  ["E 3", "a name with dots", placement("web.prod"), ["FLT1309"]],
  ["V-CRP-01", "a name of 63 characters", placement("a".repeat(63)), []],
  ["V-CRP-01", "a name of 64 characters", placement("a".repeat(64)), ["FLT1309"]],
  ["V-ANY-02", "no spec", placement("web").replace(/spec:[\s\S]*/, ""), ["FLT1300"]],
  ["V-ANY-03", "an empty enum", policy("placementType: ''"), ["FLT1302"]],
  ["V-ANY-04", "null", placement("web", "  policy: null\n"), ["FLT1302"]],
  ["V-ANY-04", "a label that is a number", required("{labelSelector: {matchLabels: {tier: 1}}}"), ["FLT1302"]],
  ["V-ANY-05", "a field that does not exist", policy("placementtype: PickAll"), ["FLT1301"]],
  ["B-70", "a version that does not exist", placement("web").replace("v1beta1", "v2"), ["FLT1301"]],
  [
    "B-70",
    "a kind that does not exist",
    placement("web").replace("ClusterResourcePlacement", "ClusterResourcesPlacement"),
    ["FLT1301"],
  ],
  ["B-71", "a count that is a text", policy('placementType: PickN, numberOfClusters: "3"'), ["FLT1302"]],
  ["B-71", "a negative count", policy("placementType: PickN, numberOfClusters: -1"), ["FLT1302"]],
  ["B-71", "a count beyond 32 bits", policy("placementType: PickN, numberOfClusters: 2147483648"), ["FLT1302"]],
  ["B-71", "half a cluster", policy("placementType: PickN, numberOfClusters: 1.5"), ["FLT1302"]],
  ["V-PL-25", "no cluster at all", policy("placementType: PickN, numberOfClusters: 0"), []],
  ["B-72", "nothing may move", strategy("rollingUpdate: {maxUnavailable: 0, maxSurge: 0}"), ["FLT1303"]],
  ["B-72", "one of them at 0", strategy("rollingUpdate: {maxUnavailable: 0}"), []],
  ["V-PL-63, B-72", "150 %", strategy("rollingUpdate: {maxSurge: 150%}"), ["FLT1303"]],
  ["V-PL-65, B-72", "-1", strategy("rollingUpdate: {maxSurge: -1}"), ["FLT1303"]],
  ["B-72", "a blank before the percent sign", strategy("rollingUpdate: {maxSurge: 25 %}"), ["FLT1303"]],
  ["B-72", "0.5", strategy("rollingUpdate: {maxSurge: 0.5}"), ["FLT1302"]],
  ["V-PL-60", "a strategy that does not exist", strategy("type: Recreate"), ["FLT1302"]],
  ["V-PL-60", "staged runs", strategy("type: External"), []],
  ["V-PL-62", "staged runs with a pace of its own", strategy("type: External, rollingUpdate: {}"), ["FLT1307"]],
  ["V-PL-64", "digits in quotes", strategy('rollingUpdate: {maxSurge: "2"}'), ["FLT1303"]],
  ["V-PL-24, B-73", "PickN without a number", policy("placementType: PickN"), ["FLT1304"]],
  ["B-73", "PickAll with a number", policy("numberOfClusters: 2"), ["FLT1304"]],
  ["V-PL-23, B-73", "PickAll with names", policy("clusterNames: [a]"), ["FLT1304"]],
  [
    "V-PL-22",
    "PickFixed with tolerations",
    policy("placementType: PickFixed, clusterNames: [a], tolerations: [{operator: Exists}]"),
    ["FLT1304"],
  ],
  ["V-PL-22", "PickFixed with an empty list of tolerations", policy("placementType: PickFixed, tolerations: []"), []],
  ["V-PL-22", "PickFixed without names picks nothing", policy("placementType: PickFixed"), []],
  ["V-PL-28", "a cluster named twice", policy("placementType: PickFixed, clusterNames: [a, a]"), ["FLT1308"]],
  [
    "V-PL-29",
    "PickAll with preferences",
    policy(
      "affinity: {clusterAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}]}}",
    ),
    ["FLT1304"],
  ],
  ["V-PL-01", "no selector", selectors(), ["FLT1302"]],
  ["V-PL-02", "a selector without group", selectors("{version: v1, kind: Namespace, name: web}"), []],
  ["V-PL-03", "a name and labels", selectors(`{${namespace}, name: web, labelSelector: {}}`), ["FLT1307"]],
  [
    "V-PL-04",
    "In without values",
    selectors(`{${namespace}, labelSelector: {matchExpressions: [{key: a, operator: In}]}}`),
    ["FLT1305"],
  ],
  [
    "V-PL-04",
    "Exists with values",
    selectors(`{${namespace}, labelSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}`),
    ["FLT1305"],
  ],
  [
    "B-74",
    "a label key that is none",
    selectors(`{${namespace}, labelSelector: {matchLabels: {"a b": c}}}`),
    ["FLT1305"],
  ],
  [
    "B-74",
    "a label key of 64 characters",
    selectors(`{${namespace}, labelSelector: {matchLabels: {${"a".repeat(64)}: c}}}`),
    ["FLT1305"],
  ],
  [
    "V-PL-06",
    "two namespaces by selectors",
    selectors(`{${namespace}, name: a, ${whole}}`, `{${namespace}, name: b, ${whole}}`),
    ["FLT1307"],
  ],
  ["V-PL-07", "a namespace by selectors without a name", selectors(`{${namespace}, ${whole}}`), ["FLT1307"]],
  [
    "V-PL-08",
    "another namespace beside it",
    selectors(`{${namespace}, name: a, ${whole}}`, `{${namespace}, name: b}`),
    ["FLT1307"],
  ],
  ["V-PL-09", "a kind nobody knows", selectors("{group: example.io, version: v1, kind: Gizmo}"), ["FLT1301"]],
  ["V-PL-10", "the same selector twice", selectors(`{${namespace}, name: a}`, `{${namespace}, name: a}`), ["FLT1308"]],
  ["V-PL-11", "a reserved namespace", selectors(`{${namespace}, name: kube-system}`), ["FLT1403"]],
  [
    "A 13",
    "a reserved namespace, alone",
    selectors(`{${namespace}, name: default, selectionScope: NamespaceOnly}`),
    ["FLT1403"],
  ],
  [
    "V-PL-12",
    "a kind that is never placed",
    selectors('{group: "", version: v1, kind: Node, name: node}'),
    ["FLT1311"],
  ],
  ["V-PL-12", "a kind of our own", selectors("{group: flotilla.dev, version: v1alpha1, kind: Fleet}"), ["FLT1311"]],
  ["V-CRP-05", "a namespaced kind", selectors("{group: apps, version: v1, kind: Deployment}"), ["FLT1311"]],
  [
    "V-CRP-05",
    "a namespaced kind inside its namespace",
    selectors(`{${namespace}, name: a, ${whole}}`, "{group: apps, version: v1, kind: Deployment}"),
    [],
  ],
  [
    "V-PL-32",
    "a sorter in a required term",
    required("{propertySorter: {name: a, sortOrder: Ascending}}"),
    ["FLT1306"],
  ],
  [
    "V-PL-33, S25",
    "a property selector in a preferred term",
    preferred("{propertySelector: {matchExpressions: []}}"),
    ["FLT1306"],
  ],
  ["V-PL-34", "a weight of 101", preferred("{}", 101), ["FLT1302"]],
  ["V-PL-35", "an operator that does not exist", property("{name: np, operator: Near, values: ['1']}"), ["FLT1302"]],
  ["V-PL-36", "no value", property("{name: np, operator: Ge, values: []}"), ["FLT1302"]],
  ["V-PL-36", "two values", property("{name: np, operator: Ge, values: ['1', '2']}"), ["FLT1302"]],
  ["V-PL-37", "a value that is no quantity", property("{name: np, operator: Ge, values: [5K]}"), ["FLT1305"]],
  ["V-PL-37", "a quantity", property("{name: np, operator: Ge, values: [1.5Gi]}"), []],
  ["V-PL-38", "no kind of capacity", property(`{name: ${capacity}used-cpu, operator: Ge, values: ['1']}`), ["FLT1305"]],
  ["V-PL-38", "no resource", property(`{name: ${capacity}total-, operator: Ge, values: ['1']}`), ["FLT1305"]],
  [
    "V-PL-38, A 32",
    "a resource with a hyphen",
    property(`{name: ${capacity}total-ephemeral-storage, operator: Ge, values: ['1']}`),
    [],
  ],
  ["V-PL-39", "a name that is none", property("{name: 'a b', operator: Ge, values: ['1']}"), ["FLT1305"]],
  ["V-PL-39", "a name of several parts", property("{name: a.io/b/count, operator: Ge, values: ['1']}"), []],
  [
    "A 30",
    "a property that is a text",
    property("{name: k8s.io/k8s-version, operator: Ge, values: ['1']}"),
    ["FLT1305"],
  ],
  [
    "A 30",
    "a sorter by a text",
    preferred("{propertySorter: {name: k8s.io/k8s-version, sortOrder: Ascending}}"),
    ["FLT1305"],
  ],
  ["V-PL-40", "two values at once", both("Eq", "1", "Eq", "2"), ["FLT1307"]],
  ["V-PL-40", "a value and not that value", both("Eq", "1000m", "Ne", "1"), ["FLT1307"]],
  ["V-PL-40", "above and below", both("Gt", "5", "Lt", "5Ki"), []],
  ["V-PL-40", "at least and at most the same", both("Ge", "5", "Le", "5"), []],
  ["V-PL-40", "more and at most the same", both("Gt", "5", "Le", "5"), ["FLT1307"]],
  ["V-PL-40", "the bounds are crossed", both("Ge", "6", "Le", "5"), ["FLT1307"]],
  ["V-PL-40", "a value outside of a bound", both("Eq", "6", "Le", "5"), ["FLT1307"]],
  ["V-PL-40", "two that it is not", both("Ne", "6", "Ne", "5"), []],
  ["V-PL-41", "an order that does not exist", preferred("{propertySorter: {name: np, sortOrder: Up}}"), ["FLT1302"]],
  ["V-PL-41", "a sorter", preferred("{propertySorter: {name: np, sortOrder: Ascending}}"), []],
  ["V-PL-42", "no skew allowed", spread("{topologyKey: region, maxSkew: 0}"), ["FLT1302"]],
  ["V-PL-43", "no topologyKey", spread("{maxSkew: 1}"), ["FLT1300"]],
  ["V-PL-43", "a topologyKey that is none", spread("{topologyKey: 'a b'}"), ["FLT1305"]],
  ["V-PL-44", "another way out", spread("{topologyKey: region, whenUnsatisfiable: Never}"), ["FLT1302"]],
  [
    "V-PL-45",
    "two constraints of one key",
    spread("{topologyKey: region}, {topologyKey: region, maxSkew: 2}"),
    ["FLT1308"],
  ],
  [
    "V-PL-22",
    "PickFixed with affinity",
    policy("placementType: PickFixed, clusterNames: [a], affinity: {}"),
    ["FLT1304"],
  ],
  ["V-PL-23", "PickAll with a spread", policy("topologySpreadConstraints: [{topologyKey: region}]"), ["FLT1304"]],
  ["V-PL-51", "Exists with a value", policy("tolerations: [{key: a, operator: Exists, value: b}]"), ["FLT1305"]],
  ["V-PL-52", "no key without Exists", policy("tolerations: [{value: b}]"), ["FLT1305"]],
  ["V-PL-53", "a key that is none", policy('tolerations: [{key: "gpu!", operator: Exists}]'), ["FLT1305"]],
  ["V-PL-54", "a value that is none", policy('tolerations: [{key: gpu, value: "a b"}]'), ["FLT1305"]],
  [
    "V-PL-55",
    "a toleration twice, once with its default",
    policy("tolerations: [{key: a}, {key: a, operator: Equal}]"),
    ["FLT1308"],
  ],
  ["V-PL-57", "an effect that does not exist", policy("tolerations: [{key: a, effect: NoExecute}]"), ["FLT1302"]],
  [
    "V-PL-67",
    "server-side options without server-side apply",
    strategy("applyStrategy: {serverSideApplyConfig: {force: true}}"),
    ["FLT1307"],
  ],
  ["V-PL-72", "no history", placement("web", "  revisionHistoryLimit: 0\n"), ["FLT1302"]],
  [
    "other versions",
    "a field of v1beta1 in v1",
    strategy("deleteStrategy: {propagationPolicy: Abandon}").replace("v1beta1", "v1"),
    ["FLT1301"],
  ],
  [
    "B 1",
    "a deadline that is none",
    placement("web").replace("{name: web}", "{name: web, annotations: {flotilla.dev/progress-deadline: 1d}}"),
    ["FLT1310"],
  ],
  [
    "",
    "a setting that does not exist",
    placement("web").replace("{name: web}", "{name: web, annotations: {flotilla.dev/progres-deadline: 1m}}"),
    ["FLT1301"],
  ],
  ["what a server writes", "status in a file", `${placement("web")}status: {conditions: []}\n`, ["FLT1405"]],
  [
    "",
    "a cluster-scoped placement in a namespace",
    placement("web").replace("{name: web}", "{name: web, namespace: a}"),
    ["FLT1413"],
  ],
];

describe("what a hub would refuse is refused", () => {
  for (const [id, ref, text, want] of cases)
    it(`${id} ${ref}`, () => {
      expect(
        codesOf(text)
          .filter((it) => !it.includes("note") && !it.includes("FLT1335"))
          .map((it) => it.replace(/.* /, "")),
      ).toEqual(want);
    });
});

describe("a setting that would be ignored silently is refused until it works", () => {
  const settings: readonly string[] = [
    strategy("applyStrategy: {type: ReportDiff}"),
    strategy("applyStrategy: {comparisonOption: FullComparison}"),
    strategy("applyStrategy: {whenToApply: IfNotDrifted}"),
    strategy("reportBackStrategy: {type: Mirror, destination: WorkAPI}"),
  ];
  for (const text of settings)
    it(text.split("\n").slice(-2).join("").trim().slice(0, 90), () => {
      expect(problemsOf(text)).toEqual([expect.stringMatching(/error FLT1901: .* not yet supported; /)]);
    });
});

describe("a duration is Go's", () => {
  const durations: readonly [text: string, want: number | null][] = [
    ["10m", 600_000],
    ["1h30m", 5_400_000],
    ["1.5s", 1500],
    ["250ms", 250],
    ["0s", null],
    ["-1m", null],
    ["1d", null],
    ["10", null],
    ["", null],
    ["9999999999h", null],
  ];
  for (const [text, want] of durations)
    it(`${JSON.stringify(text)} is ${want}`, () => {
      expect(durationOf(text)).toBe(want);
    });
});
