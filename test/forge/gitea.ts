import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { eventually } from "../kubernetes/eventually.ts";
import { buildPrograms, type GoModule, go, type Missing } from "../kubernetes/go-programs.ts";
import { makeScratch, startProgram, tailOfLog } from "../kubernetes/supervise.ts";

const run = promisify(execFile);
const folder = fileURLToPath(new URL(".", import.meta.url));

/** Gitea's program, and the folder of its module: templates and texts are read from there. */
export interface GiteaProgram {
  readonly kind: "found";
  readonly program: string;
  readonly statics: string;
}

/** Finds Gitea in the cache folder, or builds it there. */
export async function findGitea(): Promise<GiteaProgram | Missing> {
  const module: GoModule = {
    folder,
    packages: { gitea: "code.gitea.io/gitea" },
    linkerFlags: [],
    cgoTags: ["sqlite", "sqlite_unlock_notify"],
    companions: async () => ({}),
  };
  const built = await buildPrograms(module, ["gitea"]);
  if (built.kind === "missing") return built;
  const sources = await go(folder, ["mod", "download", "-json", "code.gitea.io/gitea"]).catch(() => null);
  if (sources === null) return { kind: "missing", why: "the texts of Gitea's module cannot be had" };
  const { Dir } = JSON.parse(sources) as { Dir: string };
  return { kind: "found", program: join(built.folder, "gitea"), statics: Dir };
}

/** A forge with two people: ann, who administers it, and bob. */
export interface Gitea {
  readonly url: string;
  readonly tokens: Readonly<Record<"ann" | "bob", string>>;
  /** Asks its API as somebody, and gives the answer; anything but success fails the test. */
  as(who: "ann" | "bob", method: string, path: string, body?: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

/** JSON, of which a test reads what it knows to be there. */
export interface Answer {
  readonly [name: string]: unknown;
}

/** Starts Gitea in a folder of its own; about two seconds. */
export async function startGitea({ program, statics }: GiteaProgram): Promise<Gitea> {
  const scratch = await makeScratch();
  const work = join(scratch.path, "gitea");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = join(work, "app.ini");
  await mkdir(work, { recursive: true });
  await writeFile(config, configuration(work, port, statics));
  const env = { PATH: process.env["PATH"] ?? "", HOME: work, GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: "true" };
  const command = ["--config", config, "--work-path", work];
  const gitea = async (...args: readonly string[]): Promise<string> =>
    (await run(program, [...command, ...args], { env, cwd: work })).stdout;
  await gitea("migrate");
  const tokens = { ann: await person("ann", gitea, "--admin"), bob: await person("bob", gitea) };
  const log = join(work, "log");
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const server = startProgram(["env", ...variables, program, ...command, "web"], log, work);
  const stop = async (): Promise<void> => {
    await server.stop();
    await scratch.stop();
  };
  await eventually("Gitea to be there", async () => {
    if (server.ended() !== null) throw new Error(`Gitea ended: ${await tailOfLog(log)}`);
    return (await fetch(`${url}/api/healthz`).catch(() => null))?.ok === true ? true : null;
  });
  const as: Gitea["as"] = async (who, method, path, body) => {
    const headers = { authorization: `token ${tokens[who]}`, "content-type": "application/json" };
    const content = body === undefined ? null : JSON.stringify(body);
    const answer = await fetch(`${url}/api/v1${path}`, { method, headers, body: content });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} as ${who}: ${answer.status} ${text}`);
    return text === "" ? {} : (JSON.parse(text) as Answer);
  };
  return { url, tokens, as, stop };
}

type Command = (...args: readonly string[]) => Promise<string>;

async function person(name: string, gitea: Command, ...more: readonly string[]): Promise<string> {
  const password = randomBytes(12).toString("hex");
  const account = ["--username", name, "--email", `${name}@example.com`, "--password", password];
  await gitea("admin", "user", "create", ...account, "--must-change-password=false", ...more);
  const token = ["--username", name, "--token-name", "test", "--raw", "--scopes", "all"];
  const printed = await gitea("admin", "user", "generate-access-token", ...token);
  // It may say other things before or after.
  const [found] = /^[0-9a-f]{40}$/m.exec(printed) ?? [];
  if (found === undefined) throw new Error(`Gitea printed no token for ${name}`);
  return found;
}

const configuration = (work: string, port: number, statics: string): string =>
  `
RUN_USER = ${userInfo().username}
WORK_PATH = ${work}
[server]
PROTOCOL = http
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = http://127.0.0.1:${port}/
DISABLE_SSH = true
OFFLINE_MODE = true
STATIC_ROOT_PATH = ${statics}
[database]
DB_TYPE = sqlite3
PATH = ${work}/gitea.db
SQLITE_TIMEOUT = 10000
SQLITE_JOURNAL_MODE = WAL
[repository]
ROOT = ${work}/repositories
[security]
INSTALL_LOCK = true
SECRET_KEY = ${randomBytes(16).toString("hex")}
[cron]
ENABLED = false
[actions]
ENABLED = false
[service]
DISABLE_REGISTRATION = true
[indexer]
ISSUE_INDEXER_TYPE = db
[log]
LEVEL = warn
`.trimStart();

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
