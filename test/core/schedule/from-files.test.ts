// Policies by properties as people write them, from their files to the picks: a fleet of three clusters, and what the
// formulas of property sorters make of it.
import { describe, expect, test } from "vitest";
import { candidateOf } from "../../../src/core/schedule/framework/cycle.ts";
import { profiles } from "../../../src/core/schedule/profile.ts";
import { problemText } from "../../../src/core/yaml/problems.ts";
import { read, readAll } from "../intent/reading.ts";
import { schedule } from "./notation.ts";

const cluster = (name: string, labels: string, [cpu, cost, nodes]: readonly [string, string, string]): string =>
  `apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: ${name}, labels: {${labels}}}
spec: {identity: {kind: User, name: ${name}}}
status:
  properties:
    kubernetes-fleet.io/node-count: {value: "${nodes}", observationTime: "2026-11-21T12:00:00Z"}
    kubernetes.azure.com/per-cpu-core-cost: {value: "${cost}"}
  resourceUsage:
    capacity: {cpu: ${cpu}}
    available: {cpu: ${cpu}}
`;

const clusters = {
  "bravelion.yaml": cluster("bravelion", "region: east, env: prod", ["100", "1", "5"]),
  "smartfish.yaml": cluster("smartfish", "region: east", ["20", "0.2", "3"]),
  "jumpingcat.yaml": cluster("jumpingcat", "region: west, env: prod", ["10", "0.1", "8"]),
};

const crp = (policy: string): string => `apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: crp}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: web}]
  policy:
    ${policy.trim().replaceAll("\n", "\n    ")}
`;

const required = (term: string): string => `placementType: PickAll
affinity:
  clusterAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      clusterSelectorTerms: [${term}]`;

const preferred = (weight: number, preference: string): string => `placementType: PickN
numberOfClusters: 10
affinity:
  clusterAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: ${weight}
        preference: ${preference}`;

const nodes =
  "propertySelector: {matchExpressions: [{name: kubernetes-fleet.io/node-count, operator: Ge, values: ['5']}]}";
const cpu = "resources.kubernetes-fleet.io";

const rows: readonly (readonly [name: string, policy: string, want: string])[] = [
  ["five nodes or more", required(`{${nodes}}`), "bravelion jumpingcat"],
  ["five nodes or more in the east", required(`{labelSelector: {matchLabels: {region: east}}, ${nodes}}`), "bravelion"],
  [
    "more available CPU is better",
    preferred(100, `{propertySorter: {name: ${cpu}/available-cpu, sortOrder: Descending}}`),
    "bravelion:100 smartfish:11 jumpingcat:0",
  ],
  [
    "cheaper cores are better",
    preferred(100, "{propertySorter: {name: kubernetes.azure.com/per-cpu-core-cost, sortOrder: Ascending}}"),
    "jumpingcat:100 smartfish:89 bravelion:0",
  ],
  [
    "more nodes are better",
    preferred(20, "{propertySorter: {name: kubernetes-fleet.io/node-count, sortOrder: Descending}}"),
    "jumpingcat:20 bravelion:8 smartfish:0",
  ],
  [
    "more CPU is better, in production",
    preferred(
      20,
      `{labelSelector: {matchLabels: {env: prod}}, propertySorter: {name: ${cpu}/total-cpu, sortOrder: Descending}}`,
    ),
    "bravelion:20 smartfish:0 jumpingcat:0",
  ],
];

describe.each(Object.values(profiles))("in the profile $name, from files", (profile) => {
  test.each(rows)("%s", (_, policy, want) => {
    const intent = read({ ...clusters, "crp.yaml": crp(policy) });
    expect(intent.problems.filter((it) => it.severity === "error").map(problemText)).toEqual([]);
    const placement = [...intent.placements.values()][0];
    if (placement === undefined) throw new Error("one placement");
    const candidates = [...intent.clusters.values()].map((it) => candidateOf(it, null));
    const { create } = schedule({ policy: placement.spec.policy, candidates, cycleBindings: [] }, profile);
    const isScored = placement.spec.policy.kind === "PickN";
    expect(create.map((it) => (isScored ? `${it.cluster}:${it.score?.affinity}` : it.cluster)).join(" ")).toBe(want);
  });
});

const spread = "topologySpreadConstraints: [{topologyKey: region}, {topologyKey: region}]";
const unusable: readonly (readonly [name: string, policy: string, said: string])[] = [
  [
    "a value that is no quantity",
    required(`{${nodes.replace("'5'", "5 nodes")}}`),
    'crp.yaml:11:135: error FLT1305: spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms[0].propertySelector.matchExpressions[0].values[0]: is not a quantity (got "5 nodes"); write 4, 500m or 16Gi',
  ],
  [
    "an operator that there is not",
    required(`{${nodes.replace("Ge", "Near")}}`),
    'crp.yaml:11:122: error FLT1302: spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms[0].propertySelector.matchExpressions[0].operator: must be one of Gt, Ge, Eq, Ne, Lt, Le (got "Near"); choose one of them',
  ],
  [
    "PickFixed with affinity",
    required(`{${nodes}}`).replace("PickAll", "PickFixed\nclusterNames: [bravelion]"),
    "crp.yaml:10:7: error FLT1304: spec.policy.affinity: does not go with placementType PickFixed; remove it, or use PickAll or PickN",
  ],
  [
    "a weight of 101",
    preferred(101, "{labelSelector: {matchLabels: {env: prod}}}"),
    "crp.yaml:12:21: error FLT1302: spec.policy.affinity.clusterAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: must be <= 100 (got 101); correct it",
  ],
  [
    "a topology key that occurs twice",
    `placementType: PickN\nnumberOfClusters: 2\n${spread}`,
    "crp.yaml:9:56: error FLT1308: spec.policy.topologySpreadConstraints[1]: this topologyKey occurs twice; remove one of the two",
  ],
];

test.each(unusable)(
  "%s: it is said where, and the placement keeps the policy that was accepted last",
  (_, policy, said) => {
    const good = { ...clusters, "crp.yaml": crp(required(`{${nodes}}`)) };
    const intent = readAll(good, { ...clusters, "crp.yaml": crp(policy) });
    expect(intent.problems.filter((it) => it.severity === "error").map(problemText)).toEqual([said]);
    const [kept] = intent.placements.values();
    expect(kept?.spec.policy).toEqual(read(good).placements.values().next().value?.spec.policy);
  },
);
