// The fleet of three clusters by which Azure's pages explain property selectors and sorters, with nodes, pods and prices
// instead of declared values: what is collected places everything as those pages say.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { PlacementKey } from "../../src/core/model/value.ts";
import { type SmallStage, setSmallStage } from "./rollouts.ts";
import { file, memberCluster, namespace, openFleet, placement } from "./small-fleet.ts";
import { historyOf } from "./state-branch.ts";

interface Machines {
  readonly labels: { readonly [key: string]: string };
  /** How many of a type, with how many cores each. */
  readonly nodes: readonly (readonly [count: number, type: string, cpu: string])[];
  /** What its pods ask for. */
  readonly requested: string | null;
}

/** Available are 100, 20 and 10 cores; a core costs 1, 0.2 and 0.1; nodes are 5, 3 and 8. */
const clusters: Readonly<Record<string, Machines>> = {
  bravelion: { labels: { region: "east", env: "prod" }, nodes: [[5, "large", "24"]], requested: "20" },
  smartfish: {
    labels: { region: "east" },
    nodes: [
      [1, "medium", "8"],
      [2, "small", "6"],
    ],
    requested: null,
  },
  jumpingcat: { labels: { region: "west", env: "prod" }, nodes: [[8, "tiny", "1250m"]], requested: null },
};

const prices: JsonObject = {
  apiVersion: "flotilla.dev/v1alpha1",
  kind: "PriceList",
  metadata: { name: "azure" },
  spec: { perHour: { large: { "*": "24" }, medium: { "*": "1.6" }, small: { "*": "1.2" }, tiny: { "*": "0.125" } } },
};

const required = (...terms: readonly JsonObject[]): JsonObject => ({
  placementType: "PickAll",
  affinity: {
    clusterAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms: [...terms] } },
  },
});

const preferred = (weight: number, preference: JsonObject): JsonObject => ({
  placementType: "PickN",
  numberOfClusters: 10,
  affinity: { clusterAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, preference }] } },
});

const sorter = (name: string, sortOrder: string): JsonObject => ({ propertySorter: { name, sortOrder } });
const matching = (matchLabels: JsonObject): JsonObject => ({ labelSelector: { matchLabels } });
const nodeCount = "kubernetes-fleet.io/node-count";
const resources = "resources.kubernetes-fleet.io";
const fiveNodes = {
  propertySelector: { matchExpressions: [{ name: nodeCount, operator: "Ge", values: ["5"] }] },
};

const rows: Readonly<Record<string, readonly [policy: JsonObject, want: string]>> = {
  "five-nodes": [required(fiveNodes), "bravelion jumpingcat"],
  "five-nodes-east": [required({ ...matching({ region: "east" }), ...fiveNodes }), "bravelion"],
  "most-cpu": [
    preferred(100, sorter(`${resources}/available-cpu`, "Descending")),
    "bravelion:100 jumpingcat:0 smartfish:11",
  ],
  "cheapest-core": [
    preferred(100, sorter("kubernetes.azure.com/per-cpu-core-cost", "Ascending")),
    "bravelion:0 jumpingcat:100 smartfish:89",
  ],
  "most-nodes": [preferred(20, sorter(nodeCount, "Descending")), "bravelion:8 jumpingcat:20 smartfish:0"],
  "most-cpu-in-production": [
    preferred(20, { ...matching({ env: "prod" }), ...sorter(`${resources}/total-cpu`, "Descending") }),
    "bravelion:20 jumpingcat:0 smartfish:0",
  ],
};

const fleetFile: JsonObject = { ...openFleet, spec: { ...(openFleet["spec"] as JsonObject), prices: "azure" } };
const files = {
  "fleet.yaml": file(fleetFile),
  "prices.yaml": file(prices),
  "clusters.yaml": file(...Object.entries(clusters).map(([name, it]) => memberCluster(name, it.labels))),
  ...Object.fromEntries(
    Object.entries(rows).map(([name, [policy]]) => {
      const written = placement(name);
      return [
        `${name}.yaml`,
        file({ ...written, spec: { ...(written["spec"] as JsonObject), policy } }, namespace(name)),
      ];
    }),
  ),
};

let stage: SmallStage;
beforeAll(async () => {
  stage = await setSmallStage(files, { servers: [], embedded: Object.keys(clusters) });
  for (const name of Object.keys(clusters)) await furnish(name);
}, 120_000);
afterAll(() => stage?.stop());

const mergePatch = "application/merge-patch+json";

async function furnish(name: string): Promise<void> {
  const member = stage.member(name);
  const ask = async (method: string, path: string, body?: JsonObject): Promise<void> => {
    const { status } = await member.request(method, path, body, method === "PATCH" ? mergePatch : undefined);
    expect(status, `${method} ${path}`).toBeLessThan(300);
  };
  await ask("DELETE", "/api/v1/nodes/node-1");
  const { nodes = [], requested = null } = clusters[name] ?? {};
  for (const [count, type, cpu] of nodes)
    for (let at = 0; at < count; at++) {
      const room = { cpu, memory: "64Gi" };
      const metadata = { name: `${type}-${at}`, labels: { "node.kubernetes.io/instance-type": type } };
      await ask("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata });
      await ask("PATCH", `/api/v1/nodes/${metadata.name}/status`, { status: { capacity: room, allocatable: room } });
    }
  if (requested === null) return;
  const containers = [{ name: "c", image: "i", resources: { requests: { cpu: requested } } }];
  const spec = { nodeName: `${nodes[0]?.[1]}-0`, containers };
  await ask("POST", "/api/v1/namespaces/default/pods", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "busy" },
    spec,
  });
}

describe("by what is collected of clusters and what their machines cost", () => {
  beforeAll(async () => {
    const { code, out, err } = await stage.reconcile("--wait", "30s");
    expect(code, `${out}${err}`).toBe(0);
  }, 120_000);

  test.each(Object.entries(rows))("%s ends where it should", (name, [policy, want]) => {
    const { ledger } = historyOf(stage.hub.repo).at(-1) ?? expect.unreachable("nothing was decided");
    const record = ledger.placements.get(name as PlacementKey);
    const scores = new Map(
      record?.policySnapshots.at(-1)?.verdict?.decisions.map((it) => [it.cluster, it.score?.affinity]),
    );
    const isScored = policy["placementType"] === "PickN";
    const bound = [...(record?.bindings.values() ?? [])].filter((it) => it.state === "Bound").map((it) => it.cluster);
    expect(bound.map((it) => (isScored ? `${it}:${scores.get(it)}` : it)).join(" ")).toBe(want);
  });

  test("and the second run has nothing to say", async () => {
    const before = historyOf(stage.hub.repo).length;
    expect((await stage.reconcile("--wait", "30s")).code).toBe(0);
    expect(historyOf(stage.hub.repo)).toHaveLength(before);
  });
});
