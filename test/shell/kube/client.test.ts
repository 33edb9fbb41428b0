import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { maxJsonTokens } from "../../../src/shell/kube/client/bounded-json.ts";
import { type Client, openClient } from "../../../src/shell/kube/client/client.ts";
import { limiter } from "../../../src/shell/kube/client/concurrency.ts";
import { anyResourceOf, newDiscovery, resourceOf } from "../../../src/shell/kube/client/discovery.ts";
import { openKubeconfig } from "../../../src/shell/kube/client/kubeconfig.ts";
import { MemberUnreachable } from "../../../src/shell/kube/client/member-unreachable.ts";
import { defaultDeadlines } from "../../../src/shell/kube/client/transport.ts";
import { identity } from "./certificate.ts";
import { plainConnection } from "./plain-connection.ts";

type Reply = (request: http.IncomingMessage, response: http.ServerResponse, count: number) => void;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const json = (
  response: http.ServerResponse,
  status: number,
  body: unknown,
  headers: http.OutgoingHttpHeaders = {},
): void => {
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
};

/** A server that misbehaves as told, and a client whose patience is short. */
async function serve(reply: Reply, deadlines = { connectMs: 500, requestMs: 500, largestBody: 10_000 }) {
  const seen: string[] = [];
  const server = http.createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    reply(request, response, seen.length);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  let tokens = 0;
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/prefix`);
  const connection = plainConnection(url, async () => ({ Authorization: `Bearer ${++tokens}` }));
  const client: Client = openClient(connection, deadlines);
  closing.push(
    () => client.close(),
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return { client, seen };
}

/** A server by a name that is not in its certificate, which is its own authority. */
async function servedOtherwise(): Promise<readonly [url: string, ca: string]> {
  const { certificate: cert, key } = identity("member");
  const server = https.createServer({ cert, key });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  closing.push(() => server.close());
  return [`https://localhost:${(server.address() as AddressInfo).port}`, cert];
}

const ask = { method: "GET", path: "/api" } as const;
const lossOf = (asking: Promise<unknown>): Promise<unknown> =>
  asking.then(
    () => "answered",
    (error) => error.code,
  );

describe("the client", () => {
  it("loses a member whose answer is not too large, and holds more values than anybody has time for (F-46)", async () => {
    const empty = "[],".repeat(maxJsonTokens / 2);
    const deadlines = { connectMs: 5_000, requestMs: 30_000, largestBody: 64 * 1024 * 1024 };
    const { client } = await serve((_, response) => response.end(`{"items":[${empty}[]]}`), deadlines);
    expect(await lossOf(client.request(ask))).toBe("Unintelligible");
  });

  const losses: { name: string; reply: Reply; want: string }[] = [
    { name: "never answers", reply: () => undefined, want: "Unreachable" },
    {
      name: "drips",
      reply: (_, response) => {
        const drip = setInterval(() => response.write(" "), 50);
        closing.push(() => clearInterval(drip));
      },
      want: "Unreachable",
    },
    { name: "floods", reply: (_, response) => response.end("x".repeat(20_000)), want: "Unintelligible" },
    { name: "is no Kubernetes", reply: (_, response) => response.end("<html>"), want: "Unintelligible" },
    {
      name: "redirects",
      reply: (_, response) => json(response, 302, {}, { Location: "http://127.0.0.1:1/" }),
      want: "Unintelligible",
    },
    { name: "hangs up", reply: (request) => request.socket.destroy(), want: "Unreachable" },
    { name: "does not know us", reply: (_, response) => json(response, 401, {}), want: "Unauthorized" },
  ];
  for (const { name, reply, want } of losses) {
    it(`T-25: gives up a member that ${name}: ${want}`, async () => {
      const { client, seen } = await serve(reply);
      expect(await lossOf(client.request(ask))).toBe(want);
      expect(seen.length).toBeLessThanOrEqual(2);
    });
  }

  it("gives up a port where nobody listens, at once (F-34)", async () => {
    const connection = plainConnection(new URL("http://127.0.0.1:1"));
    await expect(openClient(connection, defaultDeadlines).request(ask)).rejects.toBeInstanceOf(MemberUnreachable);
  });

  const unreached: readonly (readonly [
    why: string,
    at: () => Promise<readonly [url: string, ca: string]>,
    is: RegExp,
  ])[] = [
    ["nobody listens", async () => ["http://127.0.0.1:1", ""], /^ECONNREFUSED: connect ECONNREFUSED$/],
    ["its name is unknown", async () => [`http://${"a".repeat(64)}.invalid:1`, ""], /^E\w+: getaddrinfo E\w+$/],
    [
      "its certificate is for another name",
      servedOtherwise,
      /^ERR_TLS_CERT_ALTNAME_INVALID: .* certificate's altnames$/,
    ],
  ];
  it.each(unreached)("says that %s, and not where: it is recorded", async (_, at, is) => {
    const [url, ca] = await at();
    const agent = ca === "" ? new http.Agent() : new https.Agent({ ca });
    const client = openClient(
      plainConnection(new URL(url), async () => ({}), agent),
      defaultDeadlines,
    );
    const lost: unknown = await client.request(ask).catch((error: unknown) => error);
    expect(lost instanceof MemberUnreachable && lost.message).toMatch(is);
  });

  it("gives up credentials that are no header, and does not repeat them", async () => {
    const credentials = async () => ({ Authorization: "Bearer s3cr3t\nX: y" });
    const client = openClient(plainConnection(new URL("http://127.0.0.1:1"), credentials));
    const lost: unknown = await client.request(ask).catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(MemberUnreachable);
    expect(inspect(lost)).not.toContain("s3cr3t");
  });

  it("waits as long as an overloaded member asks for, and asks again (F-33)", async () => {
    const { client, seen } = await serve((_, response, count) =>
      count < 3 ? json(response, 429, {}, { "Retry-After": "0" }) : json(response, 200, { ok: true }),
    );
    expect(await client.request(ask)).toEqual({ kind: "done", status: 200, body: { ok: true } });
    expect(seen).toEqual(Array(3).fill("GET /prefix/api"));
  });

  it("asks five times at most", async () => {
    const { client, seen } = await serve((_, response) => json(response, 503, {}, { "Retry-After": "0" }));
    expect(await client.request(ask)).toMatchObject({ kind: "refused", status: 503 });
    expect(seen.length).toBe(5);
  });

  it("renews credentials once when they are not accepted", async () => {
    const { client } = await serve((request, response) =>
      request.headers.authorization === "Bearer 2" ? json(response, 200, {}) : json(response, 401, {}),
    );
    expect((await client.request(ask)).kind).toBe("done");
    expect((await client.request(ask)).kind).toBe("done");
  });

  it("asks for credentials again after they could not be obtained once", async () => {
    const server = http.createServer((_, response) => json(response, 200, {}));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    closing.push(() => server.close());
    let asked = 0;
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const connection = plainConnection(url, async () => {
      asked += 1;
      if (asked === 1) throw new MemberUnreachable("Unauthorized", "the plugin failed");
      return {};
    });
    const client = openClient(connection);
    expect(await lossOf(client.request(ask))).toBe("Unauthorized");
    expect((await client.request(ask)).kind).toBe("done");
  });

  it("tells a refusal in Kubernetes' words", async () => {
    const cause = { reason: "FieldManagerConflict", field: ".data.a", message: 'conflict with "x"' };
    const status = { reason: "Conflict", message: "Apply failed", details: { kind: "configmaps", causes: [cause] } };
    const { client } = await serve((_, response) => json(response, 409, status));
    expect(await client.request(ask)).toEqual({
      kind: "refused",
      status: 409,
      reason: "Conflict",
      message: "Apply failed",
      about: "configmaps",
      causes: [cause],
    });
  });

  it("sends large integers as they are", async () => {
    let sent = "";
    const { client } = await serve((request, response) => {
      request.on("data", (chunk) => {
        sent += chunk;
      });
      request.on("end", () => json(response, 200, {}));
    });
    await client.request({ method: "POST", path: "/api", body: { n: 9_007_199_254_740_993n } });
    expect(sent).toBe('{"n":9007199254740993}');
  });

  it("reads a list page by page, and from the start again when its pages have gone (F-39)", async () => {
    const { client, seen } = await serve((request, response, count) => {
      const next = new URL(request.url ?? "", "http://x").searchParams.get("continue");
      if (next === null)
        return json(response, 200, { items: [{ n: 1 }], metadata: { continue: "p2", resourceVersion: "9" } });
      return count === 2
        ? json(response, 410, { reason: "Expired" })
        : json(response, 200, { items: [{ n: 2 }], metadata: {} });
    });
    expect(await client.list({ path: "/api/v1/pods" })).toMatchObject({ kind: "listed", items: [{ n: 1 }, { n: 2 }] });
    expect(seen.length).toBe(4);
  });

  it("takes an empty list for one only when it says that it is a list", async () => {
    const { client } = await serve((_, response, count) =>
      json(response, 200, { kind: count === 1 ? "PartialObjectMetadataList" : "Pod", items: null }),
    );
    expect(await client.list({ path: "/x" })).toMatchObject({ items: [] });
    expect(await lossOf(client.list({ path: "/x" }))).toBe("Unintelligible");
  });

  it("ends with its signal", async () => {
    const { client } = await serve(() => undefined, { ...defaultDeadlines, requestMs: 60_000 });
    expect(await lossOf(client.until(AbortSignal.timeout(50)).request(ask))).toBe("Unreachable");
  });

  it("does not lay it on its credentials that its time was over before", async () => {
    const { client, seen } = await serve((_, response) => json(response, 200, {}));
    const asked = client.until(AbortSignal.abort()).request(ask);
    await expect(asked).rejects.toMatchObject({ code: "Unreachable", message: "timed out" });
    expect(seen).toEqual([]);
  });
});

describe("the limiter", () => {
  it("runs no more than it may, fewer after a complaint, and recovers", async () => {
    const lanes = limiter(4);
    let running = 0;
    let most = 0;
    const task = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await new Promise((done) => setImmediate(done));
      running -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => lanes.run(task)));
    expect(most).toBe(4);
    lanes.narrow();
    lanes.narrow();
    lanes.narrow();
    most = 0;
    await Promise.all(Array.from({ length: 20 }, () => lanes.run(task)));
    expect([most, lanes.width]).toEqual([1, 1]);
    for (let calm = 0; calm < 6; calm += 1) lanes.widen();
    expect(lanes.width).toBe(4);
  });

  it("lets heavy tasks take the place of several, and one that is too heavy run alone", async () => {
    const lanes = limiter(4);
    const running: number[] = [];
    const together: number[][] = [];
    const task = (weight: number) => async (): Promise<void> => {
      running.push(weight);
      together.push([...running]);
      await new Promise((done) => setImmediate(done));
      running.splice(running.indexOf(weight), 1);
    };
    await Promise.all([3, 1, 2, 9, 4].map((weight) => lanes.run(task(weight), weight)));
    expect(together).toEqual([[3], [3, 1], [1, 2], [9], [4]]);
  });
});

describe("discovery", () => {
  const answers: Readonly<Record<string, unknown>> = {
    "/prefix/api": { kind: "APIVersions", versions: ["v1"] },
    "/prefix/apis": {
      kind: "APIGroupList",
      groups: [
        { name: "apps", versions: [{ version: "v1beta1" }, { version: "v1" }], preferredVersion: { version: "v1" } },
        { name: "broken.io", versions: [{ version: "v1" }], preferredVersion: { version: "v1" } },
      ],
    },
    "/prefix/api/v1": {
      resources: [
        { name: "pods", kind: "Pod", namespaced: true, verbs: ["list"] },
        { name: "pods/log", kind: "Pod" },
      ],
    },
    "/prefix/apis/apps/v1": {
      resources: [{ name: "deployments", kind: "Deployment", namespaced: true, verbs: ["list"] }],
    },
    "/prefix/apis/apps/v1beta1": {
      resources: [{ name: "deployments", kind: "Deployment", namespaced: true, verbs: ["list"] }],
    },
  };

  it("asks group by group where the member does not aggregate, and knows what it does not know (F-38)", async () => {
    const { client, seen } = await serve((request, response) => {
      const answer = answers[request.url ?? ""];
      json(response, answer === undefined ? 404 : 200, answer ?? {});
    });
    const kinds = newDiscovery();
    const served = await kinds.served(client);
    await kinds.served(client);
    expect(seen.length).toBe(6);
    expect(anyResourceOf(served, { group: "apps", kind: "Deployment" })?.version).toBe("v1");
    expect(resourceOf(served, { group: "apps", version: "v1beta1", kind: "Deployment" })?.plural).toBe("deployments");
    expect(resourceOf(served, { group: "", version: "v1", kind: "Pod" })?.plural).toBe("pods");
    expect([...served.uncertainGroups]).toEqual(["broken.io"]);
  });
});

describe("a member that does not tell what it serves", () => {
  it("is not taken for one that serves nothing", async () => {
    const { client } = await serve((_, response) => json(response, 200, {}));
    expect(await lossOf(newDiscovery().served(client))).toBe("Unintelligible");
  });
});

describe("the kubeconfig", () => {
  const folder = (): string => {
    const made = mkdtempSync(path.join(tmpdir(), "flotilla-kubeconfig-"));
    closing.push(() => rmSync(made, { recursive: true }));
    return made;
  };
  const config = (server: string): string =>
    JSON.stringify({
      kind: "Config",
      clusters: [{ name: "c", cluster: { server } }],
      users: [{ name: "u", user: { token: "s3cr3t" } }],
      contexts: [
        { name: "one", context: { cluster: "c", user: "u" } },
        { name: "lost", context: { cluster: "nowhere", user: "u" } },
      ],
    });

  it("leads to a server with its credentials, over http too, and follows changes of the file", async () => {
    const file = path.join(folder(), "config");
    writeFileSync(file, config("http://127.0.0.1:1"));
    const kubeconfig = await openKubeconfig(file);
    const first = await kubeconfig.connection("one");
    expect(first?.server.href).toBe("http://127.0.0.1:1/");
    expect((await first?.access())?.headers).toEqual({ Authorization: "Bearer s3cr3t" });
    expect(await kubeconfig.connection("one")).toBe(first);
    expect(await kubeconfig.connection("two")).toBeNull();
    expect(await kubeconfig.connection("lost")).toBeNull();
    writeFileSync(file, config("https://127.0.0.1:2"));
    expect((await kubeconfig.connection("one"))?.server.href).toBe("https://127.0.0.1:2/");
  });

  const unreadable: { name: string; text: string | null }[] = [
    { name: "a file that does not exist", text: null },
    { name: "no YAML", text: "{[" },
    { name: "another document", text: "hello: s3cr3t" },
    { name: "a list where contexts should be", text: "kind: Config\ncontexts: s3cr3t" },
  ];
  for (const { name, text } of unreadable) {
    it(`is refused as a fault, without its content: ${name}`, async () => {
      const file = path.join(folder(), "config");
      if (text !== null) writeFileSync(file, text);
      const fault = await openKubeconfig(file).then(
        () => null,
        (error) => error,
      );
      expect(fault).toMatchObject({ name: "Fault", code: "KubeconfigUnreadable" });
      expect(String(fault)).not.toContain("s3cr3t");
    });
  }
});
