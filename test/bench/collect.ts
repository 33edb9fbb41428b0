import http from "node:http";
import { availableParallelism } from "node:os";
import type { JsonObject } from "../../src/core/model/json.ts";
import { startEmbedded } from "../../src/shell/embedded/server.ts";
import { openClient } from "../../src/shell/kube/client/client.ts";
import { defaultDeadlines, httpStreams } from "../../src/shell/kube/client/transport.ts";
import { type Collector, newCollector } from "../../src/shell/kube/watch/collect.ts";
import { plainConnection } from "../shell/kube/plain-connection.ts";
import { countedNetwork, requests } from "./requests.ts";

/** What collecting the properties of all members cost, once. */
export interface CollectOutcome {
  readonly name: string;
  readonly requests: number;
  /** Seconds by the clock, and of this process on a core: the simulated API server is in it. */
  readonly took: number;
  readonly cpu: number;
  /** By how many MiB the resident memory grew at its peak. */
  readonly memory: number;
}

const memberCount = 100;
const nodeCount = 50;
const podCount = 2_000;

/** As many bytes as what kubelets and controllers write into a Pod besides. */
const padding = "x".repeat(3_000);

/**
 * Has 100 members collected, each with 50 nodes and 2,000 pods: on joining, as every five minutes; how many nodes there are,
 * as with every heartbeat; and after one of them got another node. All are one simulated cluster under many names.
 */
export async function measureCollecting(): Promise<readonly CollectOutcome[]> {
  const nodes = Array.from({ length: nodeCount }, (_, at) => nodeNamed(`node-${at}`));
  const server = await startEmbedded({ clusters: ["one"], nodes: { one: nodes }, now: () => Date.now() });
  const cluster = server.cluster("one");
  for (let at = 0; at < podCount; at++) cluster.create("bench", podNamed(`pod-${at}`));
  let now = Date.now();
  const url = new URL(server.url("one"));
  const collectors: Collector[] = Array.from({ length: memberCount }, () => {
    const connection = plainConnection(url, async () => ({}), new http.Agent({ keepAlive: true, maxSockets: 16 }));
    const client = openClient(connection, defaultDeadlines, countedNetwork, httpStreams);
    return newCollector({ now: () => now, client: () => client.until(AbortSignal.timeout(600_000)) });
  });
  const outcomes = [await measured("joining", collectors, (it) => it.collect())];
  outcomes.push(await measured("heartbeat", collectors, (it) => it.probe()));
  now += 5 * 60_000;
  outcomes.push(await measured("every five minutes", collectors, (it) => it.collect()));
  cluster.create("bench", { apiVersion: "v1", kind: "Node", metadata: { name: "another" } });
  outcomes.push(
    await measured("another node on one member", collectors.slice(0, 1), async (it) => {
      await it.probe();
      await it.collect();
    }),
  );
  await server.close();
  return outcomes;
}

/** Half as many members at once as a fleet lists. */
const atOnce = Math.max(4, 4 * availableParallelism());

async function measured(
  name: string,
  collectors: readonly Collector[],
  ask: (it: Collector) => Promise<unknown>,
): Promise<CollectOutcome> {
  const [began, cpu, asked, before] = [
    performance.now(),
    process.cpuUsage(),
    requests.reads,
    process.memoryUsage.rss(),
  ];
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 20);
  const queue = [...collectors];
  const work = async (): Promise<void> => {
    for (let it = queue.pop(); it !== undefined; it = queue.pop()) await ask(it);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  clearInterval(timer);
  const { user, system } = process.cpuUsage(cpu);
  return {
    name,
    requests: requests.reads - asked,
    took: (performance.now() - began) / 1000,
    cpu: (user + system) / 1e6,
    memory: (peak - before) / 2 ** 20,
  };
}

const amounts = { cpu: "16", memory: "64Gi", pods: "110" };

const nodeNamed = (name: string) => ({
  name,
  labels: { "node.kubernetes.io/instance-type": "Standard_D16s_v5", "topology.kubernetes.io/region": "westeurope" },
  capacity: amounts,
  allocatable: amounts,
});

const podNamed = (name: string): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", annotations: { "bench/padding": padding } },
  spec: {
    nodeName: "node-1",
    containers: [{ name: "app", image: "app:1", resources: { requests: { cpu: "100m", memory: "128Mi" } } }],
  },
});
