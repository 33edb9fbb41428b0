import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Json } from "../../src/core/model/json.ts";
import type { Kubeconfig } from "../kubernetes/kubeconfig.ts";

/** A request that could change something. */
export interface Change {
  /** Milliseconds since the epoch, when it came. */
  readonly at: number;
  readonly method: string;
  readonly cluster: string;
  /** Below the cluster, without the query. */
  readonly path: string;
  readonly body: Json;
}

/** The way of one process to embedded members, on which everything is noted that could change something there. */
export interface Door {
  /** Leads to the same members, through this door. */
  readonly kubeconfig: Kubeconfig;
  readonly changes: readonly Change[];
  close(): Promise<void>;
}

export async function openDoor(kubeconfig: Kubeconfig): Promise<Door> {
  const changes: Change[] = [];
  const agent = new Agent({ keepAlive: true });
  const target = new URL(String(kubeconfig.clusters[0]?.cluster["server"]));
  const server = createServer((message, response) => {
    serve({ target, agent, changes }, message, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const through = (url: unknown): string => String(url).replace(target.host, `127.0.0.1:${port}`);
  const clusters = kubeconfig.clusters.map(({ name, cluster }) => ({
    name,
    cluster: { ...cluster, server: through(cluster["server"]) },
  }));
  return {
    kubeconfig: { ...kubeconfig, clusters },
    changes,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        agent.destroy();
      }),
  };
}

interface House {
  readonly target: URL;
  readonly agent: Agent;
  readonly changes: Change[];
}

async function serve(
  { target, agent, changes }: House,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = "GET", headers } = message;
  const url = new URL(message.url ?? "/", target);
  const body = method === "GET" ? Buffer.alloc(0) : await buffer(message);
  if (method !== "GET" && !url.searchParams.has("dryRun")) {
    const [, , cluster = "", ...path] = url.pathname.split("/");
    const sent = body.length === 0 ? null : (JSON.parse(body.toString("utf8")) as Json);
    changes.push({ at: Date.now(), method, cluster, path: `/${path.join("/")}`, body: sent });
  }
  const onward = request(url, { method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  onward.end(body);
}
