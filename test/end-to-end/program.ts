import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { lateOptimization } from "../late-optimization.ts";
import { walksAreFull } from "../long-walks.ts";
import { bundle } from "./bundle.ts";
import { runInProcess } from "./in-process.ts";

/** How one run of the program ended. */
export interface Run {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A run that goes on. */
export interface Running {
  readonly pid: number;
  /** What it printed so far, on stdout and on stderr. */
  out(): string;
  err(): string;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<Run>;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Killed after this long: no test waits for a program that hangs. */
  readonly limitMs?: number;
  /** Told what it prints on stdout, as it comes. */
  readonly hear?: (text: string) => void;
}

/**
 * Runs `flotilla …`, and gives what it printed and its exit code: with `WALKS=full` as its user does, else in this process,
 * since the start of a process and the first compilation of everything take longer than most commands.
 */
export async function flotilla(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  const { cwd = process.cwd(), environment = {} } = options;
  const place = { cwd, environment: { ...cleanEnvironment(), ...environment } };
  const run = walksAreFull ? null : await runInProcess(args, place);
  return run ?? (await startFlotilla(args, options)).ended;
}

/** Starts `flotilla …`, with `WALKS=full` exactly as its user does. */
export async function startFlotilla(args: readonly string[], options: RunOptions = {}): Promise<Running> {
  const engine = walksAreFull ? [] : lateOptimization;
  return start([process.execPath, ...engine, await bundle(), ...args], options);
}

/** Starts any program under the same conditions. */
export function start([program = "", ...args]: readonly string[], options: RunOptions = {}): Running {
  const { cwd, environment = {}, limitMs = 240_000, hear = () => {} } = options;
  const env = { ...cleanEnvironment(), ...environment };
  const child = spawn(program, args, { ...(cwd === undefined ? {} : { cwd }), env, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  const limit = setTimeout(() => child.kill("SIGKILL"), limitMs);
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (it: string) => {
    said.out += it;
    hear(it);
  });
  child.stderr.setEncoding("utf8").on("data", (it: string) => {
    said.err += it;
  });
  const ended = once(child, "close").then(([code]): Run => {
    clearTimeout(limit);
    running.delete(child);
    return { code, ...said };
  });
  return {
    pid: child.pid ?? 0,
    out: () => said.out,
    err: () => said.err,
    signal: (name) => void child.kill(name),
    ended,
  };
}

/** What a failed test did not wait for ends with it. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Nothing of the machine's own setup decides: no kubeconfig, no git settings, no annotations for a runner. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = [
    "KUBECONFIG",
    "GITHUB_ACTIONS",
    "FLOTILLA_GIT_TOKEN",
    "FLOTILLA_FORGE_TOKEN",
    "XDG_CACHE_HOME",
    "FORCE_COLOR",
  ];
  const own = Object.entries(process.env).filter(([name]) => !foreign.includes(name));
  return { ...Object.fromEntries(own), GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", LC_ALL: "C" };
}
