// The nodes of simulated clusters, and that a reconciler finds in them what the files declare.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { nodeFactsOf, nodeLabels, nodeProperties } from "../../../src/core/members/nodes.ts";
import type { Json, JsonObject } from "../../../src/core/model/json.ts";
import {
  declaredNodes,
  ordinaryNodes,
  type SimulatedNode,
} from "../../../src/shell/embedded/registry/declared-nodes.ts";

const facts = (nodes: readonly SimulatedNode[]) =>
  nodes.map(({ labels, capacity, allocatable }) =>
    nodeFactsOf({ metadata: { labels }, status: { capacity, allocatable } }),
  );

const counted = (count: string, more: JsonObject = {}, resourceUsage: JsonObject = {}): Json => ({
  status: { properties: { "kubernetes-fleet.io/node-count": { value: count }, ...more }, resourceUsage },
});

test("what is declared is what its nodes have together, whether or not it divides", () => {
  const types = { "kubernetes.azure.com/vm-sizes/big/count": { value: "2" } };
  const usage = { capacity: { cpu: "10", memory: "100Gi" }, allocatable: { cpu: "9500m" } };
  const nodes = declaredNodes(counted("3", types, usage)) ?? [];
  expect(Object.fromEntries(nodeProperties(facts(nodes)))).toEqual({
    "kubernetes-fleet.io/node-count": "3",
    "kubernetes.azure.com/vm-sizes/big/count": "2",
    "resources.kubernetes-fleet.io/allocatable-cpu": "9500m",
    "resources.kubernetes-fleet.io/allocatable-memory": "100Gi",
    "resources.kubernetes-fleet.io/total-cpu": "10",
    "resources.kubernetes-fleet.io/total-memory": "100Gi",
  });
});

test("a region that is declared is that of all nodes", () => {
  const located = { ...(counted("2") as JsonObject), metadata: { labels: { "fleet.azure.com/location": "eu" } } };
  expect([...nodeLabels(facts(declaredNodes(located) ?? []))]).toEqual([["fleet.azure.com/location", "eu"]]);
});

test("a number that is none, or too large, declares nothing", () => {
  expect([counted("many"), counted("-1"), counted("1001"), {}].map(declaredNodes)).toEqual([null, null, null, null]);
  expect(declaredNodes(counted("0"))).toEqual([]);
  expect(ordinaryNodes).toHaveLength(1);
});

test("the example declares what is collected of its clusters", () => {
  const folder = fileURLToPath(new URL("../../../examples-repo/clusters/", import.meta.url));
  for (const file of readdirSync(folder)) {
    const written = parse(readFileSync(folder + file, "utf8"));
    const found = nodeProperties(facts(declaredNodes(written as Json) ?? []));
    const { properties, resourceUsage } = written.status;
    expect(found.get("kubernetes-fleet.io/node-count")).toBe(properties["kubernetes-fleet.io/node-count"].value);
    expect(found.get("resources.kubernetes-fleet.io/total-cpu")).toBe(resourceUsage.capacity.cpu);
    expect(found.get("resources.kubernetes-fleet.io/total-memory")).toBe(resourceUsage.capacity.memory);
  }
});
