// An object that is nested deeper than anybody can look into: its member is lost, and nobody else is (F-46).
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { fieldManager } from "../../../src/core/model/names.ts";
import { type Client, openClient } from "../../../src/shell/kube/client/client.ts";
import { contactFailureOf } from "../../../src/shell/kube/client/member-unreachable.ts";
import { reduceAll, reduceOne } from "../../../src/shell/kube/watch/live-objects.ts";
import { retryWatch, type WatchFailure } from "../../../src/shell/kube/watch/retry-watcher.ts";
import { eventually } from "../../kubernetes/eventually.ts";
import { plainConnection } from "./plain-connection.ts";

const depth = 200_000;
const owned = [{ manager: fieldManager, operation: "Apply", fieldsV1: { "f:data": { "f:value": {} } } }];
const metadata = JSON.stringify({ name: "settings", namespace: "web", resourceVersion: "11", managedFields: owned });
const object = `{"metadata":${metadata},"data":{"value":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
const configMaps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true, verbs: [] };
const lost = { code: "Unintelligible", message: "its response could not be read: RangeError" };

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A client of a server that says the same to everybody. */
async function saying(text: string): Promise<Client> {
  const server = http.createServer((_, response) => response.end(text));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const deadlines = { connectMs: 5_000, requestMs: 5_000, largestBody: 2_000_000 };
  const client = openClient(plainConnection(url), deadlines);
  closing.push(
    () => client.close(),
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return client;
}

test("in a list", async () => {
  const client = await saying(`{"kind":"ConfigMapList","items":[${object}]}`);
  const listing = await client.list({ path: "/api/v1/configmaps" });
  if (listing.kind === "refused") expect.fail("it is listed");
  const look = async () => reduceAll(listing.items, configMaps);
  expect(await look().catch(contactFailureOf)).toEqual(lost);
});

test("in a watch", async () => {
  const client = await saying(`{"type":"MODIFIED","object":${object}}\n`);
  const broken: WatchFailure[] = [];
  const following = retryWatch({
    client,
    what: { path: "/api/v1/configmaps" },
    from: "10",
    onObject: (it) => void reduceOne(it, configMaps)[1](),
    onProgress: () => {},
    onBroken: (why) => void broken.push(why),
  });
  await eventually("it is truncated", async () => broken[0] ?? null);
  following.stop();
  expect(broken).toMatchObject([{ kind: "lost", lost }]);
});
