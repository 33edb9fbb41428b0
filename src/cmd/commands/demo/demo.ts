import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Defect } from "../../../core/model/assert.ts";
import type { Ledger } from "../../../core/model/ledger.ts";
import { type DurationMs, seconds } from "../../../core/model/value.ts";
import { reasonLines } from "../../../core/report/reason-lines.ts";
import { clusterRows, placementRows, runRows } from "../../../core/report/tables.ts";
import { type EmbeddedServer, startEmbedded } from "../../../shell/embedded/server.ts";
import { gitEnvironment, runGit } from "../../../shell/git/program/process.ts";
import { systemClock } from "../../../shell/host/system.ts";
import { Fault } from "../../../shell/reconcile/fault.ts";
import { newMemory } from "../../../shell/reconcile/memory.ts";
import { runUntilSettled } from "../../../shell/reconcile/settle.ts";
import { readStateBranch } from "../../../shell/reconcile/state.ts";
import { type HubOptions, openHub, openPorts } from "../../hub/wire.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import { type Terminal, table } from "../../terminal/terminal.ts";
import { nodesDeclaredIn } from "./declared-clusters.ts";
import { type DemoEnvironment, demoStagedRollout } from "./demo-rollout.ts";

/** Shows a whole fleet in one process: real Git, real HTTP, simulated clusters. Ends in well under a minute. */
export async function demo(terminal: Terminal): Promise<ExitCode> {
  const folder = await mkdtemp(join(tmpdir(), "flotilla-demo-"));
  let server: EmbeddedServer | null = null;
  try {
    const stage = await setUp(folder);
    server = stage.server;
    await runDemo(stage, terminal);
    return exitCodes.done;
  } finally {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A person's clone, the hub it pushes to, and the members. */
interface DemoSetup {
  readonly clone: string;
  readonly hub: string;
  readonly kubeconfig: string;
  readonly server: EmbeddedServer;
}

/** The person of the story, as git knows them. */
const ada = { "user.name": "Ada", "user.email": "ada@acme.example", "commit.gpgSign": "false" } as const;

/** How long a simulated workload takes to become available: long enough to be seen waiting for. */
const availableAfter = 400;

async function setUp(folder: string): Promise<DemoSetup> {
  const clone = join(folder, "fleet");
  const hub = join(folder, "hub.git");
  const kubeconfig = join(folder, "kubeconfig");
  // A copied link would make the demo edit the examples themselves.
  await cp(await realpath(examplesFolder()), clone, { recursive: true });
  const members = (await readdir(join(clone, "clusters"))).map((it) => it.replace(/\.yaml$/, ""));
  const server = await startEmbedded({
    clusters: members,
    availableAfterMs: availableAfter,
    nodes: await nodesDeclaredIn(join(clone, "clusters")),
    now: () => systemClock.now(),
  });
  await writeFile(kubeconfig, server.kubeconfig(), { mode: 0o600 });
  await git(folder, "init", "--quiet", "--bare", "--initial-branch=main", hub);
  await git(clone, "init", "--quiet", "--initial-branch=main");
  await git(clone, "remote", "add", "origin", hub);
  // The user's own Git identity and signing key stay out of the demo.
  for (const [key, value] of Object.entries(ada)) await git(clone, "config", key, value);
  return { clone, hub, kubeconfig, server };
}

async function runDemo(stage: DemoSetup, terminal: Terminal): Promise<void> {
  const { clone, server } = stage;
  const say = (text: string): void => terminal.out(`\n== ${text}\n`);
  const environment = environmentOf(stage, say, terminal);

  say("A repository describes a fleet and what runs on it. Somebody pushes it.");
  await push(clone, "Describe the fleet");
  await reconcileOnce(stage, terminal);

  say("A new version of the collector: it rolls through eight clusters, a quarter of them at a time.");
  await edit(clone, "resources/observability/collector.yaml", (it) =>
    it.replace("collector:1.18.0", "collector:1.19.0"),
  );
  await push(clone, "Roll out collector 1.19.0");
  await reconcileOnce(stage, terminal);

  say("An override: American shops are labelled with their jurisdiction. Only the cluster it matches changes.");
  await edit(clone, "overrides/shop-by-cluster.yaml", (it) => it + americanRule);
  await push(clone, "Label American shops");
  await reconcileOnce(stage, terminal);

  say("A cluster fails while all get a new setting. Nothing is deleted, and no other cluster waits for it.");
  const broken = server.cluster("prod-us-1");
  broken.control({ faults: { down: true } });
  await edit(clone, "resources/platform/config.yaml", (it) => it.replace("RENEW_BEFORE: 720h", "RENEW_BEFORE: 360h"));
  await push(clone, "Renew certificates earlier");
  await reconcileOnce(stage, terminal);

  say("It comes back, and gets what it missed.");
  broken.control({ faults: { down: false } });
  await reconcileOnce(stage, terminal);

  await demoStagedRollout(environment, terminal);

  say("The fleet, as the state branch records it:");
  await showFleet(stage, terminal);
}

const environmentOf = (stage: DemoSetup, say: DemoEnvironment["say"], terminal: Terminal): DemoEnvironment => ({
  work: hubAt(stage.clone),
  person: ada["user.email"],
  say,
  edit: (path, change) => edit(stage.clone, path, change),
  push: (message) => push(stage.clone, message),
  reconcile: (wait) => reconcileOnce(stage, terminal, wait),
  ledger: () => recordedAt(stage, terminal),
});

async function reconcileOnce(
  { hub, kubeconfig }: DemoSetup,
  terminal: Terminal,
  wait: DurationMs = seconds(20),
): Promise<void> {
  const ports = await openPorts(hubAt(hub), { kubeconfig, deadline: seconds(5) }, terminal.environment);
  try {
    const settled = await runUntilSettled(ports, newMemory(), {
      settings: { members: "ask", patience: "none", acceptRewrite: null, trustAnchor: null },
      wait,
      signal: new AbortController().signal,
      report: (result) => {
        if (result.kind !== "passed" || result.committed === null) return;
        terminal.out(`commit ${result.committed.slice(0, 10)}\n`);
        for (const line of result.lines) terminal.out(`  ${line}\n`);
      },
    });
    if (settled.kind === "unsound") throw new Defect(`the plan ${settled.faults.map((it) => it.message).join("; ")}`);
    const refusal = settled.last?.plan.refusal ?? null;
    if (refusal !== null) throw new Defect(refusal.message);
    const reasons = settled.last?.plan.reasons ?? [];
    for (const line of reasonLines(reasons, "recorded")) terminal.out(`${line}\n`);
  } finally {
    await ports.fleet.close();
    await ports.repository.close();
  }
}

async function showFleet(stage: DemoSetup, terminal: Terminal): Promise<void> {
  const ledger = await recordedAt(stage, terminal);
  for (const rows of [clusterRows(ledger, null), placementRows(ledger, null), runRows(ledger, null, false)])
    terminal.out(`\n${table(...rows)}`);
}

async function recordedAt({ hub }: DemoSetup, terminal: Terminal): Promise<Ledger> {
  const repository = await openHub(hubAt(hub), terminal.environment);
  try {
    return (await readStateBranch(repository, (await repository.heads()).state)).ledger;
  } finally {
    await repository.close();
  }
}

const hubAt = (repo: string): HubOptions => ({
  repo,
  branch: "main",
  stateBranch: "fleet/state",
  git: "auto",
  cache: null,
});

const americanRule = `      - clusterSelector:
          clusterSelectorTerms:
            - labelSelector:
                matchLabels:
                  region: us
        jsonPatchOverrides:
          - op: add
            path: /metadata/labels/acme.example~1jurisdiction
            value: us
`;

/** `examples-repo/` beside the bundle, or at the root of a checkout. */
function examplesFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "examples-repo")) && folder !== dirname(folder)) folder = dirname(folder);
  return join(folder, "examples-repo");
}

async function edit(clone: string, path: string, change: (text: string) => string): Promise<void> {
  const file = join(clone, path);
  const before = existsSync(file) ? await readFile(file, "utf8") : "";
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, change(before));
}

async function push(clone: string, message: string): Promise<void> {
  await git(clone, "add", "--all");
  await git(clone, "commit", "--quiet", "-m", message);
  await git(clone, "push", "--quiet", "origin", "main");
}

async function git(folder: string, ...args: readonly string[]): Promise<void> {
  const during = `running git ${args[0]} in ${folder}`;
  const answer = await runGit({ gitDir: null, environment: gitEnvironment(), secrets: [] }, ["-C", folder, ...args], {
    during,
  });
  if (answer.code !== 0)
    throw new Fault("RepositoryRefused", during, answer.stderr, "the demo needs a working git program");
}
