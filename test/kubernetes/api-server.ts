import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { apiServerPrograms, findPrograms, type ProgramName, type Programs } from "./assets.ts";
import { eventually } from "./eventually.ts";
import { type Kubeconfig, kubeconfigOf } from "./kubeconfig.ts";
import { kubectl } from "./kubectl.ts";
import { type Answer, connections, type Request, request } from "./request.ts";
import { makeScratch, type Scratch, type Supervised, startProgram, tailOfLog } from "./supervise.ts";

/** What an API server is to be like. */
export interface ApiServerOptions {
  /** For messages, and the context's name where none is asked for. */
  readonly name?: string;
  /**
   * Who may come in besides `admin`: the groups of each user. They may do nothing until somebody binds a role to them, and the
   * roles `view`, `edit` and `admin` are empty unless a controller manager fills them.
   */
  readonly users?: Readonly<Record<string, readonly string[]>>;
  /** Added to kube-apiserver's own. */
  readonly arguments?: readonly string[];
}

/** A running etcd and kube-apiserver, of which nothing is left after `stop()`, or after our process ends in whatever way. */
export interface ApiServer {
  readonly name: string;
  readonly url: string;
  /** What a client must trust: the server's own certificate, PEM. */
  readonly certificate: string;
  readonly programs: Programs;
  /** Where its data and logs are, while it runs. */
  readonly folder: string;
  /** Ids of the process groups' leaders. */
  readonly pids: readonly number[];
  token(user?: string): string;
  kubeconfig(context?: string, user?: string): Kubeconfig;
  /** Asks as `admin`, or as another user. Every answer is an answer, whatever its status. */
  request(wanted: Request, user?: string): Promise<Answer>;
  /** Runs kubectl and gives what it printed; rejects with what it complained about. */
  kubectl(args: readonly string[], input?: string, user?: string): Promise<string>;
  stop(): Promise<void>;
}

const admin = "admin";
/** A machine whose cores all build or test something else takes its time; an idle one needs three seconds. */
const startLimitMs = 120_000;

/** Starts an API server with an etcd of its own, on free ports, and waits until it is ready. */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const programs = await programsFor(apiServerPrograms);
  const attempts: unknown[] = [];
  // A port that was free a moment ago may not be any more.
  while (attempts.length < 4) {
    try {
      return await startOnce(programs, options);
    } catch (error) {
      attempts.push(error);
    }
  }
  throw new AggregateError(attempts, `${nameOf(options)} did not start: ${attempts.at(-1)}`);
}

/** Gives the programs, or rejects: for tests that were not skipped although they should have been. */
export async function programsFor(names: readonly ProgramName[]): Promise<Programs> {
  const programs = await findPrograms(names);
  if ("kind" in programs) throw new Error(`${names.join(", ")} needed: ${programs.why}`);
  return programs;
}

async function startOnce(programs: Programs, options: ApiServerOptions): Promise<ApiServer> {
  const scratch = await makeScratch();
  const [client, peer, secure] = await freePorts(3);
  const tokens = await writeCredentials(scratch, options.users ?? {});
  const started = [
    start(scratch, "etcd", etcdCommand(programs, scratch, client ?? 0, peer ?? 0)),
    start(scratch, "kube-apiserver", [
      ...apiServerCommand(programs, scratch, client ?? 0, secure ?? 0),
      ...(options.arguments ?? []),
    ]),
  ];
  const stop = async () => {
    await Promise.all(started.map((it) => it.stop()));
    await scratch.stop();
  };
  try {
    const url = `https://127.0.0.1:${secure}`;
    const certificate = await whenReady(scratch, url, tokens, started);
    const pids = started.map((it) => it.pid);
    return handle({ name: nameOf(options), url, certificate, programs, folder: scratch.path, pids, stop }, tokens);
  } catch (error) {
    await stop();
    throw error;
  }
}

type Facts = Pick<ApiServer, "name" | "url" | "certificate" | "programs" | "folder" | "pids" | "stop">;

function handle(facts: Facts, tokens: ReadonlyMap<string, string>): ApiServer {
  const token = (user = admin) => {
    const known = tokens.get(user);
    if (known === undefined) throw new Error(`${facts.name} has no user ${user}; name it in the options`);
    return known;
  };
  const kubeconfig = (context = facts.name, user = admin) =>
    kubeconfigOf(context, facts.url, facts.certificate, token(user));
  const { url, certificate } = facts;
  const agent = connections(certificate);
  return {
    ...facts,
    token,
    kubeconfig,
    request: (wanted, user) => request({ url, certificate, token: token(user) }, wanted, agent),
    kubectl: (args, input, user) => kubectl(facts, kubeconfig(facts.name, user), args, input),
    stop: async () => {
      agent.destroy();
      await facts.stop();
    },
  };
}

/** They live for a minute or two: most never come to the point at which collecting garbage is worth it. */
const collectLate = ["env", "GOGC=off", "GOMEMLIMIT=400MiB"];

/** Starts one of the server's programs, logging into a file named after it. */
export function start(
  scratch: Pick<Scratch, "path">,
  name: string,
  command: readonly string[],
): Supervised & { name: string } {
  return { name, ...startProgram([...collectLate, ...command], join(scratch.path, `${name}.log`), scratch.path) };
}

/** Rejects as soon as one of the programs has ended by itself, with its last words. */
export async function assertRunning(
  folder: string,
  programs: readonly (Supervised & { name: string })[],
): Promise<void> {
  for (const program of programs) {
    const ended = program.ended();
    if (ended === null) continue;
    throw new Error(`${program.name} ended with ${ended}:\n${await tailOfLog(join(folder, `${program.name}.log`))}`);
  }
}

function etcdCommand(programs: Programs, scratch: Scratch, client: number, peer: number): readonly string[] {
  const clientUrl = `http://127.0.0.1:${client}`;
  const peerUrl = `http://127.0.0.1:${peer}`;
  return [
    programs.etcd,
    "--name=test",
    `--data-dir=${scratch.path}/etcd`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=test=${peerUrl}`,
    "--unsafe-no-fsync",
    "--log-level=error",
  ];
}

function apiServerCommand(programs: Programs, scratch: Scratch, etcd: number, secure: number): readonly string[] {
  return [
    programs["kube-apiserver"],
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    `--secure-port=${secure}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--cert-dir=${scratch.path}/certs`,
    `--token-auth-file=${scratch.path}/tokens.csv`,
    "--authorization-mode=RBAC",
    `--service-account-issuer=https://127.0.0.1:${secure}`,
    `--service-account-key-file=${scratch.path}/sa.key`,
    `--service-account-signing-key-file=${scratch.path}/sa.key`,
    "--service-cluster-ip-range=10.0.0.0/24",
    // Pods need no tokens of service accounts that nobody makes.
    "--disable-admission-plugins=ServiceAccount",
    "--allow-privileged",
  ];
}

async function writeCredentials(
  scratch: Scratch,
  users: Readonly<Record<string, readonly string[]>>,
): Promise<ReadonlyMap<string, string>> {
  const groups = Object.entries({ [admin]: ["system:masters"], ...users });
  const tokens = new Map(groups.map(([user]) => [user, randomBytes(16).toString("hex")]));
  const lines = groups.map(([user, of]) => `${tokens.get(user)},${user},${user}-uid,"${of.join(",")}"\n`);
  await writeFile(join(scratch.path, "tokens.csv"), lines.join(""), { mode: 0o600 });
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await writeFile(join(scratch.path, "sa.key"), privateKey.export({ type: "pkcs1", format: "pem" }), { mode: 0o600 });
  return tokens;
}

/** Gives the server's certificate once `/readyz` says ok over it and the namespaces that every cluster has are there. */
async function whenReady(
  scratch: Scratch,
  url: string,
  tokens: ReadonlyMap<string, string>,
  started: readonly (Supervised & { name: string })[],
): Promise<string> {
  const file = join(scratch.path, "certs/apiserver.crt");
  const ask = async () => {
    await assertRunning(scratch.path, started);
    const certificate = await readFile(file, "utf8").catch(() => null);
    if (certificate === null) return null;
    const door = { url, certificate, token: tokens.get(admin) ?? "" };
    for (const path of ["/readyz", "/api/v1/namespaces/kube-system", "/api/v1/namespaces/default"]) {
      const answer = await request(door, { path }).catch(() => null);
      if (answer?.status !== 200) return null;
    }
    return certificate;
  };
  return eventually(`kube-apiserver at ${url} is ready`, ask, startLimitMs);
}

/** Ports on which nobody listens. All are held open until all are chosen, so they differ. */
async function freePorts(count: number): Promise<readonly number[]> {
  const held = await Promise.all(Array.from({ length: count }, openPort));
  return Promise.all(held.map(({ port, close }) => close().then(() => port)));
}

async function openPort(): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no TCP port");
  return { port: address.port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

function nameOf(options: ApiServerOptions): string {
  return options.name ?? "test";
}
