// What is found out of a member, how often it is asked, and what becomes of what it refuses.
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/core/model/json.ts";
import type { ClusterName } from "../../../src/core/model/value.ts";
import { type EmbeddedServer, startEmbedded } from "../../../src/shell/embedded/server.ts";
import { openClient } from "../../../src/shell/kube/client/client.ts";
import type { ProgramEnd } from "../../../src/shell/kube/client/run-program.ts";
import { defaultDeadlines, httpNetwork, httpStreams, type Network } from "../../../src/shell/kube/client/transport.ts";
import { kubeFleet, kubeFleetOver } from "../../../src/shell/kube/fleet.ts";
import { type Collector, newCollector } from "../../../src/shell/kube/watch/collect.ts";
import { openPropertyCommand } from "../../../src/shell/kube/watch/property-command.ts";
import { eventually } from "../../kubernetes/eventually.ts";
import { temporaryFolder } from "../git/hub.ts";
import { identity } from "./certificate.ts";
import { clock } from "./member-world.ts";
import { plainConnection } from "./plain-connection.ts";

let server: EmbeddedServer;
beforeAll(async () => {
  server = await startEmbedded({ clusters: ["one"], availableAfterMs: 0, now: () => Date.now() });
});
afterAll(() => server.close());

/** Paths that are refused as Kubernetes does without the permission, and those that are never answered. */
const refused = new Set<string>();
const silent = new Set<string>();
let listed: string[] = [];
/** How often the version was asked for. */
let versions = 0;

const network: Network = {
  ...httpNetwork,
  async exchange(outgoing) {
    const path = outgoing.url.pathname.replace("/clusters/one", "");
    listed.push(`${path.split("/").at(-1)}${outgoing.url.searchParams.get("limit") === "1" ? " (count)" : ""}`);
    const says = { retryAfterMs: null, date: null };
    if (refused.has(path)) return { ...says, status: 403, text: forbidden };
    if (path === "/version") return { ...says, status: 200, text: `{"gitVersion": "v1.36.${versions++}"}` };
    if (silent.has(path)) await new Promise((resolve) => outgoing.signal?.addEventListener("abort", resolve));
    return httpNetwork.exchange(outgoing);
  },
};
const forbidden = JSON.stringify({ kind: "Status", status: "Failure", reason: "Forbidden", code: 403 });

const connection = () => plainConnection(new URL(server.url("one")));
const address = { name: "one" as ClusterName, context: "one" };
const fleetWith = (ways: Partial<Parameters<typeof kubeFleetOver>[1]>) => {
  const only = connection();
  return kubeFleetOver({ connection: async () => only, close: () => {} }, { clock, ...ways });
};

let now: number;
let deadlineMs: number;
let collector: Collector;
beforeEach(() => {
  server.cluster("one").control({ reset: true });
  [now, listed, deadlineMs] = [Date.parse("2026-11-02T08:00:00Z"), [], 10_000];
  refused.clear();
  silent.clear();
  const client = openClient(connection(), defaultDeadlines, network, httpStreams);
  collector = newCollector({ now: () => now, client: () => client.until(AbortSignal.timeout(deadlineMs)) });
});

const member = () => server.cluster("one");
const node = (name: string): JsonObject => ({ apiVersion: "v1", kind: "Node", metadata: { name } });

function pod(name: string, cpu: string): void {
  const containers = [{ name: "c", image: "i", resources: { requests: { cpu, memory: "1Gi" } } }];
  const metadata = { name, namespace: "default" };
  member().create("test", { apiVersion: "v1", kind: "Pod", metadata, spec: { nodeName: "node-1", containers } });
}

const values = async (): Promise<readonly string[]> =>
  [...(await collector.collect()).properties]
    .filter(([name]) => /node-count|-cpu$/.test(name))
    .map(([name, value]) => `${name.split("/").at(-1)}=${value}`);

/** What was asked since this was last asked. */
const asked = (): readonly string[] => listed.splice(0).sort();

const all = ["flotilla-properties", "nodes", "pods"];

describe("what a member is", () => {
  it("comes of all its nodes, all its pods page by page, and its platform", async () => {
    for (let at = 0; at < 520; at++) pod(`p${at}`, "10m");
    member().create("test", { apiVersion: "v1", kind: "Namespace", metadata: { name: "flotilla-system" } });
    const metadata = { name: "flotilla-properties", namespace: "flotilla-system" };
    member().create("test", { apiVersion: "v1", kind: "ConfigMap", metadata, data: { tier: "2" } });
    expect(await values()).toEqual(["node-count=1", "allocatable-cpu=8", "total-cpu=8", "available-cpu=2800m"]);
    const { provided, missing } = await collector.collect();
    expect([[...provided], missing]).toEqual([[["tier", "2"]], []]);
    expect(asked()).toEqual(["flotilla-properties", "nodes", "pods", "pods"]);
  });

  it("is asked for every five minutes, and the same object as long as nothing changed", async () => {
    const first = await collector.collect();
    expect(asked()).toEqual(all);
    now += 5 * 60_000 - 1;
    expect(await collector.collect()).toBe(first);
    expect(asked()).toEqual([]);
    now += 1;
    expect(await collector.collect()).toBe(first);
    expect(asked()).toEqual(all);
    pod("more", "1");
    now += 5 * 60_000;
    expect(await values()).toContain("available-cpu=7");
  });

  it("is asked for at once where the number of nodes changed, and pods once a minute at most", async () => {
    pod("one", "1");
    await collector.collect();
    asked();
    expect(await collector.probe()).toBe(false);
    member().create("test", node("node-2"));
    pod("two", "1");
    now += 30_000;
    expect(await collector.probe()).toBe(true);
    expect(await values()).toEqual(["node-count=2", "allocatable-cpu=8", "total-cpu=8", "available-cpu=7"]);
    expect(asked()).toEqual(["flotilla-properties", "nodes", "nodes (count)", "nodes (count)"]);
    now += 60_000;
    expect(await values()).toContain("available-cpu=6");
    expect(asked()).toEqual(all);
  });

  it("is asked for once by any number of askers", async () => {
    const [a, b] = await Promise.all([collector.collect(), collector.collect()]);
    expect(a).toBe(b);
    expect(asked()).toEqual(all);
  });
});

describe("a member that says something else each time", () => {
  /** Another number of nodes with each look. */
  const looks = async (times: number): Promise<readonly string[]> => {
    const told: string[] = [];
    for (let at = 0; at < times; at++) {
      const has = member().list("", "Node").length > 1;
      if (!has) member().create("test", node("node-2"));
      else member().remove({ group: "", kind: "Node", namespace: null, name: "node-2" });
      now += 10_000;
      await collector.probe();
      told.push((await collector.collect()).properties.get("kubernetes-fleet.io/node-count") ?? "none");
    }
    return told;
  };

  it("is believed ten times within ten minutes, and is not asked more often for that", async () => {
    await collector.collect();
    expect(await looks(13)).toEqual(["2", "1", "2", "1", "2", "1", "2", "1", "2", "1", "1", "1", "1"]);
    asked();
    await looks(6);
    // Once in that minute, as any other.
    expect(asked()).toEqual(all);
    now += 10 * 60_000;
    expect(await values()).toContain("node-count=2");
    expect((await looks(1)).at(-1)).toBe("1");
  });

  it("is believed again as soon as ten minutes are over, without another change", async () => {
    await collector.collect();
    const first = now + 10_000;
    await looks(13);
    while (!(await values()).includes("node-count=2") && now < first + 3_600_000) now += 10_000;
    expect(now - first).toBe(600_000);
  });

  it("is believed as often in what is read with every look", async () => {
    const said = Array.from({ length: 15 }, (_, at) => collector.steady(new Map([["v", String(at)]])).get("v"));
    expect(said).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "10", "10", "10", "10"]);
    now += 10 * 60_000;
    expect(collector.steady(new Map([["v", "15"]])).get("v")).toBe("15");
  });

  it.each(["listed", "watched"])("is believed no longer where it is %s", async (how) => {
    const watch = how === "watched" ? { watch: { onChange: () => {}, heartbeatMs: 5 } } : {};
    const fleet = fleetWith({ network, ...watch });
    const versionAfter = async (more: number): Promise<string | undefined> => {
      const enough = versions + more;
      const askedAgain = async () => ((await fleet.observe(address)) && versions >= enough ? true : null);
      await eventually("it is asked again", askedAgain);
      const last = await fleet.observe(address);
      return last.kind === "reached" ? last.properties.get("k8s.io/k8s-version") : undefined;
    };
    const believed = await versionAfter(20);
    expect(believed).toMatch(/^v1\.36\./);
    expect(await versionAfter(5)).toBe(believed);
    await fleet.close();
  });
});

describe("what a member does not tell", () => {
  it("is said with the rule that grants it, and the rest is collected", async () => {
    refused.add("/api/v1/pods");
    expect(await values()).toEqual(["node-count=1", "allocatable-cpu=8", "total-cpu=8"]);
    const { missing } = await collector.collect();
    expect(missing).toEqual([
      {
        source: "pods",
        code: "Forbidden",
        message: "pods may not be read: grant list on pods (core API group)",
      },
    ]);
    refused.clear();
    now += 60_000;
    expect(await values()).toContain("available-cpu=8");
  });

  it("is called by its name where it is the ConfigMap of its platform", async () => {
    refused.add("/api/v1/namespaces/flotilla-system/configmaps/flotilla-properties");
    expect((await collector.collect()).missing.map((it) => it.message)).toEqual([
      "the ConfigMap flotilla-system/flotilla-properties may not be read: " +
        "grant get on configmaps in the namespace flotilla-system (core API group)",
    ]);
  });

  it("is said where it takes too long, and nothing else waits for it for longer", async () => {
    silent.add("/api/v1/nodes");
    deadlineMs = 200;
    const { properties, missing } = await collector.collect();
    expect([properties.size, missing.map((it) => [it.source, it.code])]).toEqual([0, [["nodes", "TimedOut"]]]);
  });

  it("does not make the member unreachable", async () => {
    for (const it of ["/api/v1/nodes", "/api/v1/pods"]) refused.add(it);
    const fleet = fleetWith({ network });
    const seen = await fleet.observe(address);
    expect(seen.kind === "reached" && seen.collected?.missing.map((it) => it.source)).toEqual(["nodes", "pods"]);
    await fleet.close();
  });
});

it("a member that is watched tells of another node with the next heartbeat", async () => {
  let changes = 0;
  const fleet = fleetWith({ watch: { onChange: () => void changes++, heartbeatMs: 20 } });
  const count = async (): Promise<string | undefined> => {
    const seen = await fleet.observe(address);
    return seen.kind === "reached" ? seen.collected?.properties.get("kubernetes-fleet.io/node-count") : undefined;
  };
  expect(await count()).toBe("1");
  const before = changes;
  member().create("test", node("node-2"));
  await eventually("the node is noticed", async () => ((await count()) === "2" ? true : null));
  expect(changes).toBeGreaterThan(before);
  await fleet.close();
});

it("how a member is reached is what our kubeconfig says, also where the CA is a file", async () => {
  const folder = temporaryFolder();
  const { certificate } = identity("ca");
  writeFileSync(join(folder.path, "ca.pem"), certificate);
  const config = join(folder.path, "config");
  const cluster = { server: server.url("one"), "certificate-authority": "ca.pem" };
  writeFileSync(
    config,
    JSON.stringify({
      kind: "Config",
      clusters: [{ name: "c", cluster }],
      users: [{ name: "u", user: { token: "s3cr3t" } }],
      contexts: [{ name: "one", context: { cluster: "c", user: "u" } }],
    }),
  );
  const fleet = await kubeFleet({ kubeconfig: config, clock });
  const seen = await fleet.observe(address);
  expect(seen.kind === "reached" && Object.fromEntries(seen.collected?.access ?? [])).toEqual({
    "k8s.io/cluster-certificate-authority-data": Buffer.from(certificate).toString("base64"),
    "k8s.io/cluster-entrypoint": server.url("one"),
  });
  await fleet.close();
  folder.remove();
});

describe("the operator's command", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeAll(() => {
    folder = temporaryFolder();
  });
  afterAll(() => folder.remove());

  /** What is provided, and what is missing, with a program of these lines. */
  async function withProgram(lines: string, programMs = 10_000) {
    const program = join(folder.path, "program");
    writeFileSync(program, `#!/bin/sh\n${lines}\n`);
    chmodSync(program, 0o755);
    const fleet = fleetWith({ network, propertyCommand: program, deadlineMs: programMs });
    try {
      const seen = await fleet.observe({ ...address, context: "east" });
      if (seen.kind !== "reached" || seen.collected === undefined) throw new Error("it was not reached");
      return { provided: Object.fromEntries(seen.collected.provided), missing: seen.collected.missing };
    } finally {
      await fleet.close();
    }
  }

  it("is told which member it is and what was collected, and says more", async () => {
    const seen = join(folder.path, "seen");
    const { provided, missing } = await withProgram(`cat > ${seen}; echo '{"properties": {"acme.example/quota": 40}}'`);
    expect([provided, missing]).toEqual([{ "acme.example/quota": "40" }, []]);
    const told = JSON.parse(readFileSync(seen, "utf8"));
    expect([told.context, told.properties["kubernetes-fleet.io/node-count"]]).toEqual(["east", "1"]);
  });

  it("says what the ConfigMap does not say", async () => {
    member().create("test", { apiVersion: "v1", kind: "Namespace", metadata: { name: "flotilla-system" } });
    const metadata = { name: "flotilla-properties", namespace: "flotilla-system" };
    member().create("test", { apiVersion: "v1", kind: "ConfigMap", metadata, data: { tier: "2" } });
    const { provided } = await withProgram(`echo '{"properties": {"tier": "9", "zone": "1"}}'`);
    expect(provided).toEqual({ tier: "2", zone: "1" });
  });

  it("is waited for by the first look alone: what it says later counts when it comes", async () => {
    const answers: ((text: string) => void)[] = [];
    const command = (): Promise<ProgramEnd> =>
      new Promise((resolve) => answers.push((text) => resolve({ kind: "printed", text })));
    const client = openClient(connection(), defaultDeadlines, network, httpStreams);
    const own = newCollector({ now: () => now, client: () => client.until(AbortSignal.timeout(10_000)), command });
    const quota = async (): Promise<string | undefined> => (await own.collect()).provided.get("quota");
    const first = quota();
    await eventually("it is asked", async () => (answers.length === 1 ? true : null));
    answers[0]?.('{"properties": {"quota": 1}}');
    expect(await first).toBe("1");
    for (const _ of [1, 2]) {
      now += 5 * 60_000;
      expect(await quota()).toBe("1");
    }
    // One that hangs is not asked twice.
    expect(answers).toHaveLength(2);
    // Meanwhile something else is found out, and stays so.
    member().create("test", node("node-2"));
    await own.probe();
    const count = async () => (await own.collect()).properties.get("kubernetes-fleet.io/node-count");
    expect(await count()).toBe("2");
    answers[1]?.('{"properties": {"quota": 2}}');
    await eventually("it has answered", async () => ((await quota()) === "2" ? true : null));
    expect(await count()).toBe("2");
  });

  it("waits for those of other members no longer than it may take", async () => {
    const program = join(folder.path, "program");
    writeFileSync(program, "#!/bin/sh\nsleep 60\n");
    chmodSync(program, 0o755);
    const commands = openPropertyCommand(program, 200);
    const ends = await Promise.all(Array.from({ length: 12 }, (_, at) => commands?.of(`member-${at}`)(new Map())));
    expect(ends.map((it) => (it?.kind === "failed" ? it.why : it))).toEqual([
      ...Array(8).fill("gave no response within 1 s"),
      ...Array(4).fill("waited longer than 1 s for those of other members"),
    ]);
    commands?.close();
  });

  const failures: readonly (readonly [name: string, lines: string, message: string, programMs: number])[] = [
    ["that fails", "echo s3cr3t; exit 3", "it ended with exit code 3", 10_000],
    ["that prints no JSON", "echo s3cr3t", "it gave no JSON object with properties", 10_000],
    ["that hangs, with a child", "sleep 60 & sleep 60", "it gave no response within 1 s", 1_000],
  ];
  it.each(failures)("%s costs what it would have said, and its output is not told", async (_, lines, message, ms) => {
    const { provided, missing } = await withProgram(lines, ms);
    expect([provided, missing]).toEqual([
      {},
      [{ source: "providers", code: "CollectionFailed", message: `the property command is of no use: ${message}` }],
    ]);
  });
});
