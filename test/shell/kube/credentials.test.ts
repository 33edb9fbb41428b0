// Whatever a kubeconfig names may be replaced while we run: certificates, authorities, tokens, and what plugins say.

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TLSSocket } from "node:tls";
import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/core/model/json.ts";
import type { ClusterName } from "../../../src/core/model/value.ts";
import { startEmbedded } from "../../../src/shell/embedded/server.ts";
import { type Client, openClient } from "../../../src/shell/kube/client/client.ts";
import { openKubeconfig } from "../../../src/shell/kube/client/kubeconfig.ts";
import { kubeFleet } from "../../../src/shell/kube/fleet.ts";
import { eventually } from "../../kubernetes/eventually.ts";
import { identity } from "./certificate.ts";
import { actionsOf, clock, configMap, namespace } from "./member-world.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

const folder = (): string => {
  const made = mkdtempSync(path.join(tmpdir(), "flotilla-credentials-"));
  closing.push(() => rmSync(made, { recursive: true }));
  return made;
};

/** Writes a kubeconfig with one context, `m`. */
function kubeconfigAt(dir: string, server: string, user: JsonObject, cluster: JsonObject = {}): string {
  const file = path.join(dir, "config");
  const config = {
    kind: "Config",
    clusters: [{ name: "c", cluster: { server, ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "m", context: { cluster: "c", user: "u" } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** A plugin written for a shell. */
function pluginAt(dir: string, script: string, more: JsonObject = {}): JsonObject {
  writeFileSync(path.join(dir, "plugin"), `#!/bin/sh\ncd "$(dirname "$0")"\n${script}\n`);
  chmodSync(path.join(dir, "plugin"), 0o755);
  const apiVersion = "client.authentication.k8s.io/v1";
  return { exec: { apiVersion, command: path.join(dir, "plugin"), interactiveMode: "Never", ...more } };
}

/** Prints the token in the file `token`, good for long unless it says otherwise, and notes that it ran. */
const printToken = (until = "2099-01-01T00:00:00Z"): string => `
echo >> runs
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s","expirationTimestamp":"${until}"}}' "$(cat token)"`;

const runsIn = (dir: string): number =>
  existsSync(path.join(dir, "runs")) ? readFileSync(path.join(dir, "runs"), "utf8").length : 0;

/** Accepts one bearer token, or one name in a client certificate, and notes who came. */
interface Door {
  accepted: string;
  readonly url: string;
  readonly seen: string[];
}

async function listen(server: http.Server | https.Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const answer = (door: Door, who: string, response: http.ServerResponse): void => {
  door.seen.push(who);
  response.writeHead(who === door.accepted ? 200 : 401, { "Content-Type": "application/json" }).end("{}");
};

async function tokenDoor(accepted: string): Promise<Door> {
  const server = http.createServer((request, response) =>
    answer(door, request.headers.authorization?.replace("Bearer ", "") ?? "nobody", response),
  );
  const door = { accepted, url: `http://127.0.0.1:${await listen(server)}`, seen: [] };
  return door;
}

const authority = identity("authority");

async function certificateDoor(accepted: string) {
  const { certificate: cert, key } = identity("server", authority);
  const options = { cert, key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false };
  const server = https.createServer(options, (request, response) =>
    answer(door, (request.socket as TLSSocket).getPeerCertificate().subject?.CN ?? "nobody", response),
  );
  const door = { accepted, url: `https://127.0.0.1:${await listen(server)}`, seen: [] as string[], server };
  return door;
}

const ask = { method: "GET", path: "/api" } as const;
const outcome = (client: Client): Promise<unknown> => client.request(ask).then(({ kind }) => kind, String);

/** Opens the context as the fleet does at each look: whoever gets the same connection again keeps its client. */
async function looker(file: string) {
  const kubeconfig = await openKubeconfig(file);
  closing.push(() => kubeconfig.close());
  const first = await kubeconfig.connection("m");
  if (first === null) throw new Error("there is no context m");
  const client = openClient(first);
  closing.push(() => client.close());
  return {
    client,
    look: async () => {
      expect(await kubeconfig.connection("m")).toBe(first);
      return outcome(client);
    },
  };
}

describe("files behind a kubeconfig that stays as it is", () => {
  it("a client certificate that is replaced is used from the next look on, on new connections", async () => {
    const [dir, door] = [folder(), await certificateDoor("old")];
    const put = (name: string): void => {
      const { certificate, key } = identity(name, authority);
      writeFileSync(path.join(dir, "client.crt"), certificate);
      writeFileSync(path.join(dir, "client.key"), key);
    };
    put("old");
    writeFileSync(path.join(dir, "ca.crt"), authority.certificate);
    const user = { "client-certificate": "client.crt", "client-key": "client.key" };
    const { look } = await looker(kubeconfigAt(dir, door.url, user, { "certificate-authority": "ca.crt" }));
    expect(await look()).toBe("done");
    put("new");
    door.accepted = "new";
    expect(await look()).toBe("done");
    expect(door.seen).toEqual(["old", "new"]);
  });

  it("a client certificate that is refused is read again at once, between two looks", async () => {
    const [dir, door] = [folder(), await certificateDoor("old")];
    const put = (name: string): void => {
      const { certificate, key } = identity(name, authority);
      writeFileSync(path.join(dir, "both.pem"), certificate + key);
    };
    put("old");
    writeFileSync(path.join(dir, "ca.crt"), authority.certificate);
    const user = { "client-certificate": "both.pem", "client-key": "both.pem" };
    const { client } = await looker(kubeconfigAt(dir, door.url, user, { "certificate-authority": "ca.crt" }));
    expect(await outcome(client)).toBe("done");
    put("new");
    door.accepted = "new";
    expect(await outcome(client)).toBe("done");
    expect(door.seen).toEqual(["old", "old", "new"]);
  });

  it("a client certificate that is refused before any request is heard is read again at once", async () => {
    const [dir, door] = [folder(), await certificateDoor("old")];
    // As a proxy does that looks at certificates itself: TLS 1.2's fatal alert `bad_certificate`.
    const alert = Buffer.from([21, 3, 3, 0, 2, 2, 42]);
    let refusals = 0;
    const gate = net.createServer((socket) => {
      socket.on("error", () => {});
      if (refusals > 0) socket.once("data", () => socket.end(alert));
      else socket.pipe(net.connect(Number(new URL(door.url).port), "127.0.0.1").on("error", () => {})).pipe(socket);
      refusals -= 1;
    });
    await new Promise<void>((done) => gate.listen(0, "127.0.0.1", done));
    closing.push(() => void gate.close());
    const put = (name: string): void => {
      const { certificate, key } = identity(name, authority);
      writeFileSync(path.join(dir, "both.pem"), certificate + key);
    };
    put("old");
    writeFileSync(path.join(dir, "ca.crt"), authority.certificate);
    const user = { "client-certificate": "both.pem", "client-key": "both.pem" };
    const server = `https://127.0.0.1:${(gate.address() as AddressInfo).port}`;
    const { client } = await looker(kubeconfigAt(dir, server, user, { "certificate-authority": "ca.crt" }));
    expect(await outcome(client)).toBe("done");
    door.server.closeAllConnections();
    refusals = 1;
    put("new");
    door.accepted = "new";
    expect(await outcome(client)).toBe("done");
    expect(door.seen).toEqual(["old", "new"]);
    door.server.closeAllConnections();
    refusals = 2;
    expect(await outcome(client)).toBe("MemberUnreachable: EPROTO: sslv3 alert bad certificate");
  });

  it("an authority that is replaced is read again when no connection can be made", async () => {
    const [dir, door] = [folder(), await certificateDoor("nobody")];
    writeFileSync(path.join(dir, "ca.crt"), authority.certificate);
    const { client } = await looker(kubeconfigAt(dir, door.url, {}, { "certificate-authority": "ca.crt" }));
    expect(await outcome(client)).toBe("done");
    const next = identity("next authority");
    const { certificate: cert, key } = identity("server", next);
    door.server.setSecureContext({ cert, key });
    door.server.closeAllConnections();
    expect(await outcome(client)).toMatch(/UNABLE_TO|CERT_|SIGNATURE/);
    writeFileSync(path.join(dir, "ca.crt"), next.certificate);
    expect(await outcome(client)).toBe("done");
  });

  it("a token file that is replaced is used from the next look on, on the connections that stand", async () => {
    const [dir, door] = [folder(), await tokenDoor("old")];
    writeFileSync(path.join(dir, "token"), "old\n");
    const { look } = await looker(kubeconfigAt(dir, door.url, { tokenFile: "token" }));
    expect(await look()).toBe("done");
    writeFileSync(path.join(dir, "token"), "newer\n");
    door.accepted = "newer";
    expect(await look()).toBe("done");
    expect(door.seen).toEqual(["old", "newer"]);
  });

  it("what cannot be read while it is being replaced leaves in use what was read before, as long as that is accepted", async () => {
    const [dir, door] = [folder(), await tokenDoor("old")];
    writeFileSync(path.join(dir, "token"), "old");
    const { look } = await looker(kubeconfigAt(dir, door.url, { tokenFile: "token" }));
    expect(await look()).toBe("done");
    rmSync(path.join(dir, "token"));
    expect(await look()).toBe("done");
    door.accepted = "new";
    expect(await look()).toContain("token cannot be read (ENOENT)");
  });

  it("another context of the kubeconfig that changes leaves the connections of the others alone", async () => {
    const [dir, door] = [folder(), await tokenDoor("t")];
    const file = kubeconfigAt(dir, door.url, { token: "t" });
    const { look } = await looker(file);
    const config = JSON.parse(readFileSync(file, "utf8"));
    config.contexts.push({ name: "another", context: { cluster: "c", user: "u" } });
    writeFileSync(file, JSON.stringify(config));
    expect(await look()).toBe("done");
  });
});

describe("a credential plugin", () => {
  it("is asked once while its answer is accepted, and again as soon as it is not", async () => {
    const [dir, door] = [folder(), await tokenDoor("one")];
    writeFileSync(path.join(dir, "token"), "one");
    const { client } = await looker(kubeconfigAt(dir, door.url, pluginAt(dir, printToken())));
    expect(await outcome(client)).toBe("done");
    expect(await outcome(client)).toBe("done");
    expect(runsIn(dir)).toBe(1);
    writeFileSync(path.join(dir, "token"), "two");
    door.accepted = "two";
    expect(await outcome(client)).toBe("done");
    expect(await outcome(client)).toBe("done");
    expect([door.seen, runsIn(dir)]).toEqual([["one", "one", "one", "two", "two"], 2]);
  });

  it("is asked again once its answer has expired", async () => {
    const [dir, door] = [folder(), await tokenDoor("one")];
    writeFileSync(path.join(dir, "token"), "one");
    const user = pluginAt(dir, printToken("2026-11-21T12:00:00Z"));
    let now = Date.UTC(2026, 10, 21, 11, 59, 59);
    const kubeconfig = await openKubeconfig(kubeconfigAt(dir, door.url, user), { now: () => now, deadlineMs: 30_000 });
    const connection = await kubeconfig.connection("m");
    if (connection === null) throw new Error("there is no context m");
    const client = openClient(connection);
    closing.push(() => client.close());
    expect([await outcome(client), await outcome(client), runsIn(dir)]).toEqual(["done", "done", 1]);
    now += 1_000;
    writeFileSync(path.join(dir, "token"), "two");
    door.accepted = "two";
    expect([await outcome(client), runsIn(dir), door.seen]).toEqual(["done", 2, ["one", "one", "two"]]);
  });

  it("may give client certificates, which replace the connections", async () => {
    const [dir, door] = [folder(), await certificateDoor("old")];
    const put = (name: string): void => {
      const { certificate, key } = identity(name, authority);
      const status = { clientCertificateData: certificate, clientKeyData: key };
      const said = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status };
      writeFileSync(path.join(dir, "said"), JSON.stringify(said));
    };
    put("old");
    const user = pluginAt(dir, "cat said");
    const data = { "certificate-authority-data": Buffer.from(authority.certificate).toString("base64") };
    const { client } = await looker(kubeconfigAt(dir, door.url, user, data));
    expect(await outcome(client)).toBe("done");
    put("new");
    door.accepted = "new";
    expect(await outcome(client)).toBe("done");
    expect(door.seen).toEqual(["old", "old", "new"]);
  });

  it("that hangs is killed at the deadline together with what it started, and the look ends", async () => {
    const dir = folder();
    const user = pluginAt(dir, "sleep 600 &\necho $! > child\necho $$ > self\nwait");
    const kubeconfig = kubeconfigAt(dir, "http://127.0.0.1:1", user);
    const fleet = await kubeFleet({ kubeconfig, clock, deadlineMs: 1_000 });
    const seen = await fleet.observe({ name: "m" as ClusterName, context: "m" });
    expect(seen).toMatchObject({ kind: "unreachable", code: "Unauthorized" });
    for (const name of ["self", "child"]) {
      const pid = Number(readFileSync(path.join(dir, name), "utf8"));
      await eventually(`${name} is killed`, async () => (isRunning(pid) ? null : true));
    }
    await fleet.close();
  });

  it("that hangs is killed when nobody needs it any more", async () => {
    const dir = folder();
    const kubeconfig = await openKubeconfig(
      kubeconfigAt(dir, "http://127.0.0.1:1", pluginAt(dir, "echo $$ > self\nsleep 600")),
    );
    const connection = await kubeconfig.connection("m");
    const lost = connection?.access().catch(String);
    await eventually("it runs", async () => existsSync(path.join(dir, "self")) || null);
    kubeconfig.close();
    expect(await lost).toContain("its plugin plugin was stopped");
  });

  const failures: { name: string; script: string; more?: JsonObject; want: RegExp }[] = [
    { name: "fails", script: "echo s3cr3t >&2; echo s3cr3t; exit 3", want: /its plugin plugin ended with exit code 3/ },
    { name: "is killed", script: "echo s3cr3t; kill -9 $$", want: /ended with SIGKILL/ },
    { name: "prints no JSON", script: "echo s3cr3t", want: /printed no ExecCredential/ },
    {
      name: "never stops printing",
      script: "yes s3cr3t",
      want: /printed more than 1048576 bytes/,
    },
    { name: "is not there", script: "", more: { command: "/nowhere/plugin" }, want: /cannot be run \(ENOENT\)/ },
    {
      name: "cannot be told its arguments",
      script: "",
      more: { args: ["s3cr3t\0"] },
      want: /cannot be run with these/,
    },
  ];
  for (const { name, script, more = {}, want } of failures) {
    it(`that ${name} is a lost member, told without a word of what it printed or was told`, async () => {
      const dir = folder();
      const { client } = await looker(kubeconfigAt(dir, "http://127.0.0.1:1", pluginAt(dir, script, more)));
      const lost: unknown = await client.request(ask).catch((error: unknown) => error);
      expect(lost).toMatchObject({
        name: "MemberUnreachable",
        code: "Unauthorized",
        message: expect.stringMatching(want),
      });
      expect(inspect(lost)).not.toContain("s3cr3t");
    });
  }

  it("may be named by its path beside the kubeconfig", async () => {
    const [dir, door] = [folder(), await tokenDoor("one")];
    writeFileSync(path.join(dir, "token"), "one");
    const user = pluginAt(dir, printToken(), { command: "./plugin" });
    const { client } = await looker(kubeconfigAt(dir, door.url, user));
    expect(await outcome(client)).toBe("done");
  });

  it("is asked again by the next request after it failed", async () => {
    const [dir, door] = [folder(), await tokenDoor("one")];
    const { client } = await looker(
      kubeconfigAt(dir, door.url, pluginAt(dir, `[ -e token ] || exit 1\n${printToken()}`)),
    );
    expect(await outcome(client)).toContain("exit code 1");
    writeFileSync(path.join(dir, "token"), "one");
    expect(await outcome(client)).toBe("done");
  });

  it("runs at most twelve times at once, and once for members who are told the same", async () => {
    const dir = folder();
    const script = `echo begin >> log\nwhile [ ! -e go ]; do sleep 0.05; done\n${printToken()}\necho end >> log`;
    const { exec } = pluginAt(dir, script) as { exec: JsonObject };
    const names = Array.from({ length: 20 }, (_, at) => `m${at}`);
    const users = names.map((name, at) => ({ name, user: { exec: { ...exec, args: [String(Math.max(1, at))] } } }));
    const config = {
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: "http://127.0.0.1:1" } }],
      users: [...users, { name: "twin", user: users[19]?.user }],
      contexts: [...names, "twin"].map((name) => ({ name, context: { cluster: "c", user: name } })),
    };
    writeFileSync(path.join(dir, "config"), JSON.stringify(config));
    writeFileSync(path.join(dir, "token"), "t");
    const kubeconfig = await openKubeconfig(path.join(dir, "config"));
    closing.push(() => kubeconfig.close());
    const lines = (): readonly string[] =>
      existsSync(path.join(dir, "log")) ? readFileSync(path.join(dir, "log"), "utf8").trim().split("\n") : [];
    const accesses = [...names, "twin"].map(async (name) => (await kubeconfig.connection(name))?.access());
    await eventually("twelve run", async () => (lines().length >= 12 ? true : null));
    writeFileSync(path.join(dir, "go"), "");
    for (const access of await Promise.all(accesses)) expect(access?.headers).toEqual({ Authorization: "Bearer t" });
    let [running, most] = [0, 0];
    for (const line of lines()) {
      running += line === "begin" ? 1 : -1;
      most = Math.max(most, running);
    }
    // The first two are told the same, and so is the twin of the last.
    expect([runsIn(dir), most]).toEqual([19, 12]);
  });
});

it("an action goes on when the credentials that it began with are refused in its middle", async () => {
  const embedded = await startEmbedded({ clusters: ["m"], availableAfterMs: 0, now: () => Date.now() });
  closing.push(() => void embedded.close());
  const dir = folder();
  const target = new URL(embedded.url("m"));
  let [accepted, writes] = ["one", 0];
  const server = http.createServer((request, response) => {
    if (request.headers.authorization !== `Bearer ${accepted}`) {
      request.resume();
      response.writeHead(401).end("{}");
      return;
    }
    // Claimed, and one object written: from here on another token is good.
    if (request.method === "PATCH") writes += 1;
    if (writes === 2 && accepted === "one") {
      accepted = "two";
      writeFileSync(path.join(dir, "token"), "two");
    }
    const { method, headers, url } = request;
    const onward = { method, headers, path: target.pathname + url, host: target.hostname, port: target.port };
    request.pipe(
      http.request(onward, (answered) => {
        response.writeHead(answered.statusCode ?? 500, answered.headers);
        answered.pipe(response);
      }),
    );
  });
  writeFileSync(path.join(dir, "token"), "one");
  const kubeconfig = kubeconfigAt(dir, `http://127.0.0.1:${await listen(server)}`, pluginAt(dir, printToken()));
  const fleet = await kubeFleet({ kubeconfig, clock });
  const member = { name: "m" as ClusterName, context: "m" };
  const seen = await fleet.observe(member);
  if (seen.kind !== "reached") throw new Error(inspect(seen));
  const apply = [namespace("shop"), ...["a", "b", "c", "d"].map((it) => configMap(`shop/${it}`, { v: "1" }))];
  const actions = { ...actionsOf(seen.clusterUid, [{ placement: "shop", apply }]), cluster: member.name };
  expect(await fleet.act(member, actions)).toMatchObject({ created: 5, failed: 0, interrupted: null });
  expect([accepted, runsIn(dir)]).toEqual(["two", 2]);
  await fleet.close();
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // What is dead and not yet reaped runs no more.
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
