// A watch against servers that do as they are told: what it goes on after, and what it gives up on.
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { memberAt } from "../../../src/core/model/json.ts";
import { openClient } from "../../../src/shell/kube/client/client.ts";
import { httpStreams } from "../../../src/shell/kube/client/transport.ts";
import { type RetryWatcher, retryWatch, type WatchFailure } from "../../../src/shell/kube/watch/retry-watcher.ts";
import { eventually } from "../../kubernetes/eventually.ts";
import { plainConnection } from "./plain-connection.ts";

/** Answers the n-th request, from 1 on. */
type Reply = (response: http.ServerResponse, count: number, request: http.IncomingMessage) => void;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const line = (type: string, version: number, name = `at-${version}`): string =>
  `${JSON.stringify({ type, object: { metadata: { name, resourceVersion: String(version) } } })}\n`;

/** Follows ConfigMaps from version 10 on. */
async function start(reply: Reply) {
  const asked: string[] = [];
  const server = http.createServer((request, response) => {
    asked.push(new URL(request.url ?? "", "http://x").searchParams.get("resourceVersion") ?? "");
    reply(response, asked.length, request);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const connection = plainConnection(url);
  const client = openClient(connection, { connectMs: 500, requestMs: 500, largestBody: 2_000 });
  const told: string[] = [];
  const broken: WatchFailure[] = [];
  const following: RetryWatcher = retryWatch({
    client,
    what: { path: "/api/v1/configmaps", labelSelector: "ours" },
    from: "10",
    onObject: (object, isGone) => void told.push(`${isGone ? "-" : "+"}${memberAt(object, "metadata", "name")}`),
    onProgress: () => {},
    onBroken: (why) => void broken.push(why),
  });
  closing.push(
    () => following.stop(),
    () => client.close(),
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const until = (what: string, isSo: () => boolean) => eventually(what, async () => (isSo() ? true : null));
  return { asked, told, broken, following, until };
}

describe("a watch", () => {
  it("tells of every object, however its bytes are cut, and knows how far it is", async () => {
    const bytes = Buffer.from(line("ADDED", 11, "größe") + line("BOOKMARK", 12) + line("DELETED", 13));
    const { told, following, until } = await start((response) => {
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
    });
    await until("it is told", () => following.version === 13);
    expect(told).toEqual(["+größe", "-at-13"]);
  });

  it.each<{ name: string; end: (response: http.ServerResponse) => void }>([
    { name: "is ended by the member", end: (response) => response.end() },
    { name: "loses its connection", end: (response) => response.destroy() },
  ])("that $name goes on from where it was", async ({ end }) => {
    const { asked, told, broken, until } = await start((response, count) => {
      response.write(line("ADDED", 10 + count), () => (count < 3 ? end(response) : undefined));
    });
    await until("it went on", () => told.length === 3);
    expect([asked, told, broken]).toEqual([["10", "11", "12"], ["+at-11", "+at-12", "+at-13"], []]);
  });

  const status = (code: number) => JSON.stringify({ kind: "Status", status: "Failure", code, message: `no: ${code}` });
  const ends: readonly { name: string; reply: Reply; why: string; requests: number }[] = [
    {
      name: "is told that its version is forgotten",
      reply: (response) => response.write(`{"type":"ERROR","object":${status(410)}}\n`),
      why: "no: 410",
      requests: 1,
    },
    { name: "is refused as too old", reply: (it) => it.writeHead(410).end(status(410)), why: "no: 410", requests: 1 },
    { name: "is not allowed", reply: (it) => it.writeHead(403).end(status(403)), why: "refused", requests: 1 },
    { name: "ends at once without a word", reply: (it) => it.end(), why: "its watches end immediately", requests: 1 },
    {
      name: "gets no answer",
      reply: () => {},
      why: "no response within 500 ms",
      requests: 1,
    },
    { name: "gets no JSON", reply: (it) => it.write("<html>\n"), why: "a watch failed", requests: 1 },
    {
      name: "gets a line that does not end",
      reply: (it) => it.write("x".repeat(3_000)),
      why: "a line of a watch is longer than 2000 bytes",
      requests: 1,
    },
    {
      name: "meets a member that is overloaded for good",
      reply: (it) => it.writeHead(429, { "Retry-After": "0" }).end(status(429)),
      why: "no: 429",
      requests: 5,
    },
  ];
  it.each(ends)("that $name says so, once", async ({ reply, why, requests }) => {
    const { asked, broken, until } = await start(reply);
    await until("it gave up", () => broken.length > 0);
    expect(broken.map((it) => (it.kind === "lost" ? it.lost.message : it.kind))).toEqual([why]);
    expect(asked.length).toBe(requests);
  });

  it("that is stopped tells nothing more", async () => {
    let later: http.ServerResponse | null = null;
    const { told, broken, following, until } = await start((response) => {
      later = response;
      response.write(line("ADDED", 11));
    });
    await until("it is told", () => told.length === 1);
    following.stop();
    await until("its connection is closed", () => later?.destroyed === true);
    expect([told, broken]).toEqual([["+at-11"], []]);
  });

  it("through which nothing comes for longer than the member promised is lost", async () => {
    const server = http.createServer((_, response) => response.writeHead(200).flushHeaders());
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    closing.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const deadlines = { connectMs: 500, requestMs: 500, largestBody: 2_000 };
    const agent = new http.Agent();
    const outgoing = { method: "GET", url, agent, headers: {}, body: null, deadlines, signal: null };
    const opened = await httpStreams.open(outgoing, 100, () => {});
    expect("ended" in opened ? (await opened.ended)?.message : opened).toBe("a watch fell silent");
  });
});
