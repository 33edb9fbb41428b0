import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { stringify } from "yaml";
import { isObject, type Json, type JsonObject, member, textOf } from "../../core/model/json.ts";
import { runControllers } from "./controllers/controllers.ts";
import { type ClusterHandle, changeCluster, clusterReport, newClusterHandle, parseClusterChange } from "./handle.ts";
import { type HttpResponse, jsonResponse, send } from "./http/bodies.ts";
import { dispatch } from "./http/dispatch.ts";
import { textOfBinary } from "./http/protobuf.ts";
import type { WatchStream } from "./http/request.ts";
import { bootstrapCluster } from "./registry/bootstrap.ts";
import type { SimulatedNode } from "./registry/declared-nodes.ts";
import { Cluster, RealTimers } from "./storage/cluster.ts";

interface EmbeddedServerOptions {
  /** Names of the clusters to begin with: DNS labels, which become part of their addresses. */
  readonly clusters: readonly string[];
  /** 0 or absent: any free one. */
  readonly port?: number;
  /** How long workloads take to become available, namespaces to go. 50 ms when absent. */
  readonly availableAfterMs?: number;
  /** The nodes of clusters; one that is not named has a single one, of ordinary size. */
  readonly nodes?: Readonly<Record<string, readonly SimulatedNode[]>>;
  /** Bearer tokens by cluster; a cluster without one asks for none. */
  readonly tokens?: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch: what timestamps are written from. Delays are real. */
  readonly now: () => number;
}

/** Simulated clusters behind one port of the loopback interface, each under a path of its own. */
export interface EmbeddedServer {
  readonly port: number;
  /** What a kubeconfig's `cluster.server` says: `http://127.0.0.1:PORT/clusters/NAME`. */
  url(cluster: string): string;
  /** A kubeconfig as YAML: one context per cluster, named like it. */
  kubeconfig(): string;
  /** The handle of a cluster. Throws for an unknown name. */
  cluster(name: string): ClusterHandle;
  addCluster(name: string): ClusterHandle;
  close(): Promise<void>;
}

/** As much as kube-apiserver takes. */
const bodyLimit = 3 * 1024 * 1024;

/**
 * Starts simulated clusters: a small Kubernetes API server over HTTP, kept in memory, with controllers that make workloads
 * available. What it is asked is answered as kube-apiserver v1.36 answers; recorded conversations hold it to that.
 *
 * A container's image decides what becomes of its workload: with `broken` in its text it never becomes available, with `crash` it
 * is reported as failed once its deadline (`spec.progressDeadlineSeconds`) has passed. No pods are made.
 */
export async function startEmbedded(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const { availableAfterMs = 50, tokens = {}, nodes = {}, now } = options;
  const clusters = new Map<string, Cluster>();
  const add = (name: string): Cluster => {
    requireNewName(name, clusters);
    const token = tokens[name] ?? null;
    const newDelayedWork = (): RealTimers => new RealTimers();
    const cluster = new Cluster({
      name,
      availableAfterMs,
      token,
      now,
      newDelayedWork,
      runControllers,
      bootstrap: (it) => bootstrapCluster(it, nodes[name]),
    });
    clusters.set(name, cluster);
    return cluster;
  };
  for (const name of options.clusters) add(name);
  const server = createServer({ keepAliveTimeout: 60_000 }, (message, response) => {
    handle({ clusters, add, now }, message, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = (name: string): string => `http://127.0.0.1:${port}/clusters/${name}`;
  return {
    port,
    url,
    kubeconfig: () =>
      kubeconfigOf([...clusters.values()].map(({ name, token }) => ({ name, server: url(name), token }))),
    cluster: (name) => newClusterHandle(known(clusters, name)),
    addCluster: (name) => newClusterHandle(add(name)),
    close: () => {
      for (const it of clusters.values()) it.close();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function requireNewName(name: string, clusters: ReadonlyMap<string, Cluster>): void {
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name))
    throw new Error(`"${name}" is no name for a cluster: it must be a DNS label`);
  if (clusters.has(name)) throw new Error(`there is a cluster ${name} already`);
}

function known(clusters: ReadonlyMap<string, Cluster>, name: string): Cluster {
  const cluster = clusters.get(name);
  if (cluster === undefined) throw new Error(`there is no embedded cluster ${name}`);
  return cluster;
}

interface ServerState {
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly add: (name: string) => Cluster;
  readonly now: () => number;
}

async function handle(state: ServerState, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = message.url ?? "/";
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  const [, root, name = "", ...rest] = path.split("/");
  if (root === "control") {
    send(response, controlAnswer(state, message.method ?? "GET", name, (await bytesOf(message)).toString("utf8")));
    return;
  }
  const cluster = root === "clusters" ? state.clusters.get(name) : undefined;
  if (cluster === undefined) {
    send(response, jsonResponse(404, { error: `there is no cluster at ${path}` }));
    return;
  }
  const sent = textOfBody(message.headers, message.method === "GET" ? Buffer.of() : await bytesOf(message));
  const query = new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1));
  await serveRequest(cluster, { message, response, path: `/${rest.join("/")}`, query, ...sent, now: state.now() });
}

/** What was sent, as text: Kubernetes' binary form as JSON, where it can be read; otherwise it is refused for what it is. */
function textOfBody(headers: Headers, bytes: Buffer): Pick<ClusterRequest, "body" | "headers"> {
  const read = headers["content-type"]?.includes("protobuf") === true ? textOfBinary(bytes) : null;
  if (read === null) return { headers, body: bytes.toString("utf8") };
  return { headers: { ...headers, "content-type": "application/json" }, body: read };
}

function bytesOf(message: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    message.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyLimit) reject(new Error("request body too large"));
      else chunks.push(chunk);
    });
    message.once("end", () => {
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
    });
    message.once("error", reject).once("aborted", () => reject(new Error("request aborted")));
  });
}

type Headers = IncomingMessage["headers"];

interface ClusterRequest {
  readonly message: IncomingMessage;
  readonly headers: Headers;
  readonly response: ServerResponse;
  /** Below the cluster. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly now: number;
}

/** Applies injected faults to a request, then serves it. */
async function serveRequest(cluster: Cluster, visit: ClusterRequest): Promise<void> {
  const { response, path, query, message, headers, body, now } = visit;
  if (cluster.faults.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, cluster.faults.latencyMs));
  // Trouble is looked at afterwards: it may have begun in the meantime.
  if (cluster.faults.down) {
    message.socket.destroy();
    return;
  }
  if (cluster.faults.hang) return;
  const { method = "GET" } = message;
  const answer = dispatch(cluster, { method, path, query, headers, body, now }, streamOver(response, cluster));
  if (answer !== null) send(response, answer);
}

/** Events of one moment, such as a hundred workloads becoming available together, are sent in one chunk. */
function streamOver(response: ServerResponse, cluster: Cluster): WatchStream {
  let pending = "";
  const flush = (): void => {
    if (pending !== "" && !response.destroyed) response.write(pending);
    pending = "";
  };
  return {
    begin() {
      if (response.headersSent) return;
      response.writeHead(200, { "content-type": "application/json", date: cluster.date() });
      response.flushHeaders();
    },
    send(text) {
      if (pending === "") setImmediate(flush);
      pending += text;
    },
    end() {
      flush();
      response.end();
    },
    onClose: (stop) => void response.on("close", stop),
  };
}

/** `/control`: the names of the clusters, or a new one; `/control/NAME`: what a cluster tells about itself, or a change of it. */
function controlAnswer({ clusters, add }: ServerState, method: string, name: string, text: string): HttpResponse {
  const wrong = (message: string): HttpResponse => jsonResponse(400, { error: message });
  const body = jsonOf(text);
  if (name === "") {
    if (method === "GET") return jsonResponse(200, { clusters: [...clusters.keys()] });
    const wanted = textOf(member(body, "name"));
    if (method !== "POST" || wanted === null) return wrong('POST {"name": "…"} adds a cluster');
    try {
      return jsonResponse(201, clusterReport(add(wanted)));
    } catch (error) {
      return wrong((error as Error).message);
    }
  }
  const cluster = clusters.get(name);
  if (cluster === undefined) return jsonResponse(404, { error: `there is no cluster ${name}` });
  if (method === "GET") return jsonResponse(200, clusterReport(cluster));
  const change = method === "PATCH" ? parseClusterChange(body) : null;
  if (change === null) return wrong("PATCH takes faults, availableAfterMs, log, resetCounters, reset");
  changeCluster(cluster, change);
  return jsonResponse(200, clusterReport(cluster));
}

function jsonOf(text: string): Json {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

interface KubeconfigEntry {
  readonly name: string;
  readonly server: string;
  readonly token: string | null;
}

/** A kubeconfig with one context per cluster, named like it; the first is current. */
function kubeconfigOf(entries: readonly KubeconfigEntry[]): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: entries.map(({ name, server }) => ({ name, cluster: { server } })),
    users: entries.map(({ name, token }) => ({ name, user: token === null ? {} : { token } })),
    contexts: entries.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
    ...(entries[0] === undefined ? {} : { "current-context": entries[0].name }),
  });
}
