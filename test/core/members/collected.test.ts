import { describe, expect, test } from "vitest";
import {
  availableProperties,
  nodeFactsOf,
  nodeLabels,
  nodeProperties,
  reducedNode,
} from "../../../src/core/members/nodes.ts";
import { requestedBy, summedPods } from "../../../src/core/members/pods.ts";
import { providedByMap, providedByText } from "../../../src/core/members/provided.ts";
import type { JsonObject } from "../../../src/core/model/json.ts";

/** `4 16Gi Standard_D4s_v5 eu gpu:1`: CPU, memory, type, region, extended resources. */
function node(text: string): JsonObject {
  const [cpu = "", memory = "", type = "", region = "", ...extended] = text.split(" ");
  const more = Object.fromEntries(extended.map((it) => it.split(":") as [string, string]));
  const amounts = { cpu, memory, pods: "110", "ephemeral-storage": "100Gi", "hugepages-2Mi": "0", ...more };
  return {
    metadata: {
      name: "n",
      labels: {
        ...(type === "" ? {} : { "node.kubernetes.io/instance-type": type }),
        ...(region === "" ? {} : { "topology.kubernetes.io/region": region }),
      },
    },
    status: { capacity: amounts, allocatable: { ...amounts, cpu: cpu === "4" ? "3860m" : cpu } },
  };
}

const facts = (nodes: readonly string[]) => nodes.map((it) => nodeFactsOf(reducedNode(node(it))));

const shown = (properties: ReadonlyMap<string, string>): string =>
  [...properties].map(([name, value]) => `${name.replace("resources.kubernetes-fleet.io/", "")}=${value}`).join(" ");

describe("properties that nodes tell", () => {
  const cases: readonly [name: string, nodes: readonly string[], properties: string][] = [
    [
      "no node is a count as well",
      [],
      "kubernetes-fleet.io/node-count=0 allocatable-cpu=0 allocatable-memory=0 total-cpu=0 total-memory=0",
    ],
    [
      "amounts are summed exactly, in the unit that fits",
      ["4 16Gi", "4 32855896Ki", "500m 1000"],
      "kubernetes-fleet.io/node-count=3 allocatable-cpu=8220m allocatable-memory=50824307688 " +
        "total-cpu=8500m total-memory=50824307688",
    ],
    [
      "nodes are counted by their type",
      ["8 32Gi Standard_D8s_v5", "8 32Gi Standard_D8s_v5", "2 8Gi m7i.large", "2 8Gi"],
      "kubernetes-fleet.io/node-count=4 kubernetes.azure.com/vm-sizes/Standard_D8s_v5/count=2 " +
        "kubernetes.azure.com/vm-sizes/m7i.large/count=1 " +
        "allocatable-cpu=20 allocatable-memory=80Gi total-cpu=20 total-memory=80Gi",
    ],
    [
      "extended resources are totals, and Kubernetes' own are none",
      ["8 32Gi t eu nvidia.com/gpu:4 example.kubernetes.io/x:1", "8 32Gi t eu nvidia.com/gpu:3"],
      "flotilla.dev/total.nvidia.com.gpu=7 kubernetes-fleet.io/node-count=2 kubernetes.azure.com/vm-sizes/t/count=2 " +
        "allocatable-cpu=16 allocatable-memory=64Gi total-cpu=16 total-memory=64Gi",
    ],
    [
      "what is no quantity is left out",
      ["four 16Gi", "8 16Gi"],
      "kubernetes-fleet.io/node-count=2 allocatable-cpu=8 allocatable-memory=32Gi total-cpu=8 total-memory=32Gi",
    ],
    [
      "what is negative is left out",
      ["-4 16Gi", "8 16Gi"],
      "kubernetes-fleet.io/node-count=2 allocatable-cpu=8 allocatable-memory=32Gi total-cpu=8 total-memory=32Gi",
    ],
    [
      "a type or an extended resource of which the name is made up is left out",
      [`8 32Gi ${"t".repeat(64)} eu example.com/${"x".repeat(300)}:1 example.com/*:1`],
      "kubernetes-fleet.io/node-count=1 allocatable-cpu=8 allocatable-memory=32Gi total-cpu=8 total-memory=32Gi",
    ],
  ];
  test.each(cases)("%s", (_, nodes, expected) => {
    expect(shown(nodeProperties(facts(nodes)))).toBe(expected);
  });
});

test("a hundred types and extended resources are recorded at most, in whatever order nodes come", () => {
  const nodes = Array.from({ length: 150 }, (_, at) => `1 1Gi t${at} eu example.com/r${at}:1`);
  const found = nodeProperties(facts(nodes));
  const counted = (prefix: string) => [...found.keys()].filter((it) => it.startsWith(prefix)).length;
  expect([counted("kubernetes.azure.com/vm-sizes/"), counted("flotilla.dev/total.")]).toEqual([100, 100]);
  expect(found.get("kubernetes-fleet.io/node-count")).toBe("150");
  expect(nodeProperties(facts(nodes.toReversed()))).toEqual(found);
});

describe("labels that nodes tell", () => {
  const on = (region: string, providerID: string): JsonObject => ({
    ...node(`4 16Gi t ${region}`),
    spec: { providerID },
  });
  const azure = (subscription: string): string =>
    `azure:///subscriptions/${subscription}/resourceGroups/mc/providers/x`;
  const cases: readonly [name: string, nodes: readonly JsonObject[], labels: string][] = [
    ["none without nodes", [], ""],
    [
      "region and subscription, where all say the same",
      [on("westeurope", azure("a-1")), on("westeurope", azure("a-1"))],
      "fleet.azure.com/location=westeurope fleet.azure.com/subscription-id=a-1",
    ],
    ["nothing that nodes say differently", [on("eu", azure("a")), on("us", azure("b"))], ""],
    ["nothing that one of them does not say", [on("eu", azure("a")), on("", "kind://docker/kind/n")], ""],
    [
      "a region without a subscription elsewhere",
      [on("eu-west-1", "aws:///eu-west-1a/i-0")],
      "fleet.azure.com/location=eu-west-1",
    ],
    ["nothing that is no value of a label", [on("a_", azure("b/c"))], "fleet.azure.com/subscription-id=b"],
  ];
  test.each(cases)("%s", (_, nodes, expected) => {
    expect(shown(nodeLabels(nodes.map((it) => nodeFactsOf(reducedNode(it)))))).toBe(expected);
  });
});

describe("what is available", () => {
  const pod = (requests: readonly JsonObject[], nodeName: string | null = "n", phase = "Running"): JsonObject => ({
    spec: { nodeName, containers: requests.map((it) => ({ resources: { requests: it } })) },
    status: { phase },
  });
  const asks = { cpu: "1500m", memory: "1Gi" };
  const cases: readonly [name: string, pods: readonly JsonObject[], available: string][] = [
    ["all of it without pods", [], "available-cpu=16 available-memory=64Gi"],
    [
      "less what every container asks for",
      [pod([asks, asks]), pod([asks])],
      "available-cpu=11500m available-memory=61Gi",
    ],
    ["a pod that stands on no node takes nothing", [pod([asks], null)], "available-cpu=16 available-memory=64Gi"],
    [
      "neither does one that has ended",
      [pod([asks], "n", "Succeeded"), pod([asks], "n", "Failed")],
      "available-cpu=16 available-memory=64Gi",
    ],
    ["one that is pending on a node does", [pod([asks], "n", "Pending")], "available-cpu=14500m available-memory=63Gi"],
    ["never less than nothing", [pod([{ cpu: "99" }])], "available-cpu=0 available-memory=64Gi"],
    [
      "a container that asks for less than nothing gives nothing",
      [pod([{ cpu: "-99" }])],
      "available-cpu=16 available-memory=64Gi",
    ],
    [
      "a container that asks for more than there can be takes nothing",
      [pod([{ cpu: "1e22" }]), pod([{ cpu: "1e399" }])],
      "available-cpu=16 available-memory=64Gi",
    ],
    ["a container that asks for nothing takes nothing", [pod([{}])], "available-cpu=16 available-memory=64Gi"],
  ];
  test.each(cases)("%s", (_, pods, expected) => {
    const requested = requestedBy(pods);
    expect(shown(availableProperties(facts(["8 32Gi", "8 32Gi"]), requestedBy(summedPods(pods))))).toBe(expected);
    expect(shown(availableProperties(facts(["8 32Gi", "8 32Gi"]), requested))).toBe(expected);
  });

  test("of a page of pods as much is kept as of one", () => {
    const asks = { cpu: "300m", memory: "1Gi", "nvidia.com/gpu": "1" };
    const [first, ...more] = summedPods(Array.from({ length: 500 }, () => pod([asks, asks])));
    expect([JSON.stringify(first).length < 200, more]).toEqual([true, []]);
    const whole = requestedBy([...summedPods([pod([asks])]), ...summedPods([pod([asks]), pod([asks])])]);
    expect([...whole].map(([name, amount]) => `${name} ${amount}`)).toEqual([
      "cpu 900000000",
      "memory 3221225472000000000",
    ]);
  });

  test("a page of pods that together ask for more than counts of one is worth what they ask for", () => {
    const page = Array.from({ length: 3 }, () => pod([{ cpu: "900E", memory: "1Gi" }]));
    expect(requestedBy(summedPods(page))).toEqual(requestedBy(page));
    expect(requestedBy(page).get("cpu")).toBe(2_700n * 10n ** 18n * 10n ** 9n);
  });
});

describe("what a provider says", () => {
  const cases: readonly [name: string, data: JsonObject, expected: string][] = [
    ["each key is a name", { tier: "2", "zone.a": "x" }, "tier=2 zone.a=x"],
    ["nothing is nothing", {}, ""],
    [
      "names with a slash stand in JSON",
      {
        tier: "2",
        "properties.json":
          '{"acme.example/quota": {"value": "40", "observationTime": "2026-11-02T08:00:00Z"}, "b": 1.5}',
      },
      "acme.example/quota=40 b=1.5 tier=2",
    ],
    ["JSON that is none is said", { "properties.json": "[1" }, "wrong: it has no JSON object as properties.json"],
    [
      "JSON that is larger than a ConfigMap may be is not read",
      { "properties.json": `{"a": "1"${" ".repeat(1024 * 1024)}}` },
      "wrong: it has no JSON object as properties.json",
    ],
    [
      "a name that is none is said",
      { "properties.json": '{"a b": "1"}' },
      'wrong: it has "a b", which is no name of a property',
    ],
    ["a value that is none is said", { "properties.json": '{"a": {}}' }, "wrong: it has a without a value"],
    ["too long a value is said", { a: "x".repeat(1025) }, "wrong: it has more than 1024 characters as the value of a"],
    [
      "too many are said",
      Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`p${at}`, "1"])),
      "wrong: it has more than 100 properties",
    ],
  ];
  test.each(cases)("%s", (_, data, expected) => {
    const read = providedByMap({ data });
    expect("wrong" in read ? `wrong: ${read.wrong}` : shown(read.properties)).toBe(expected);
  });

  test("a command gives them in one object", () => {
    const read = (text: string) => {
      const it = providedByText(text);
      return "wrong" in it ? it.wrong : shown(it.properties);
    };
    expect(read('{"properties": {"acme.example/quota": 40}}')).toBe("acme.example/quota=40");
    expect(read('{"quota": 40}')).toBe("it gave no JSON object with properties");
    expect(read("")).toBe("it gave no JSON object with properties");
  });
});
