import { request } from "node:http";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type Json, type JsonObject, memberAt } from "../../../src/core/model/json.ts";
import type { ClusterHandle, ObjectPlace } from "../../../src/shell/embedded/handle.ts";
import { type EmbeddedServer, startEmbedded } from "../../../src/shell/embedded/server.ts";
import { noFaults } from "../../../src/shell/embedded/storage/injected-faults.ts";
import { type Answer, ask } from "./conversation.ts";
import type { Step } from "./requests.ts";

/** Two clusters for the tests of one file: `one`, new before every test with a namespace `shop`, and `locked`, which asks for a token. */
export interface Scene {
  readonly server: EmbeddedServer;
  readonly cluster: ClusterHandle;
  readonly now: number;
  get(path: string, name?: string): Promise<Answer>;
  send(step: Step, headers?: Readonly<Record<string, string>>, name?: string): Promise<Answer>;
  control(method: Step["method"], path: string, body?: Json): Promise<Answer>;
  watch(path: string, resourceVersion: number, query?: string): Watching;
}

export function embeddedScene(): Scene {
  const now = Date.parse("2026-03-01T10:00:00Z");
  let server: EmbeddedServer | null = null;
  const started = (): EmbeddedServer => server as EmbeddedServer;
  beforeAll(async () => {
    const tokens = { locked: "key" };
    server = await startEmbedded({ clusters: ["one", "locked"], availableAfterMs: 20, tokens, now: () => now });
  });
  afterAll(() => started().close());
  beforeEach(() => {
    const cluster = started().cluster("one");
    cluster.control({ reset: true, resetCounters: true, faults: noFaults, availableAfterMs: 20, log: false });
    cluster.create("test", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  });
  const send: Scene["send"] = (step, headers = {}, name = "one") => ask({ url: started().url(name), headers }, step);
  return {
    get server() {
      return started();
    },
    get cluster() {
      return started().cluster("one");
    },
    now,
    send,
    get: (path, name = "one") => send({ method: "GET", path }, {}, name),
    control: (method, path, body) =>
      ask(
        { url: `http://127.0.0.1:${started().port}`, headers: {} },
        { method, path: `/control${path}`, ...(body === undefined ? {} : { body }) },
      ),
    watch: (path, resourceVersion, query = "") =>
      watching(`${started().url("one")}${path}?watch=1&resourceVersion=${resourceVersion}${query}`),
  };
}

/** Waits until a claim holds, looking often; fails by the test's own deadline. */
export async function until<T>(read: () => T, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = read();
    if (holds(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

export const place = (group: string, kind: string, name: string, namespace: string | null = "shop"): ObjectPlace => ({
  group,
  kind,
  namespace,
  name,
});

export const pod = (image = "web:1"): JsonObject => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image }] },
});
export const workload = (kind: string, spec: JsonObject = {}, image = "web:1"): JsonObject => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "web", namespace: "shop" },
  spec: { selector: { matchLabels: { app: "web" } }, template: pod(image), ...spec },
});
export const configMap = (name: string, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop", ...metadata },
});

/** What a watch was told so far. */
export interface Watching {
  readonly all: { readonly type: string; readonly object: JsonObject }[];
  readonly stop: () => void;
  ended: boolean;
}

function watching(url: string): Watching {
  const seen: Watching = { all: [], ended: false, stop: () => sent.destroy() };
  const sent = request(url, (response) => {
    let rest = "";
    response.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      seen.all.push(...lines.map((it) => JSON.parse(it) as Watching["all"][number]));
    });
    response
      .on("error", () => {})
      .on("close", () => {
        seen.ended = true;
      });
  });
  sent.on("error", () => {}).end();
  return seen;
}

export const told = ({ all }: Watching): readonly string[] =>
  all.map(({ type, object }) => `${type} ${memberAt(object, "metadata", "name")}`);
