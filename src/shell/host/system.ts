import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../../core/model/value.ts";
import type { Clock } from "../reconcile/ports.ts";

/** The machine's clock: where every `now` that decides or is recorded comes from. */
export const systemClock: Clock = {
  now: () => Date.now() as Instant,

  async sleepUntil(moment, signal) {
    // A timer cannot wait longer than 2^31 ms; whoever sleeps wakes up, looks, and sleeps again.
    const delay = Math.min(Math.max(0, moment - Date.now()), 2 ** 31 - 1);
    await sleep(delay, undefined, { signal }).catch(() => {});
  },
};

/** 32 bytes of the system's randomness, in hexadecimal digits, for nonces (`trust/README.md#t-04`). */
export const systemEntropy = (): string => randomBytes(32).toString("hex");

/** Where a program runs, and what it is told by its environment. */
interface Surroundings {
  readonly cwd?: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/**
 * Starts a program with open pipes: no shell, one argument per array element, and a process group, but no terminal, of its
 * own. Whatever still runs when this process exits is killed. That it cannot be started is told by the child's `error` event.
 */
export function startGroup(
  program: string,
  args: readonly string[],
  { cwd, env }: Surroundings,
): ChildProcessWithoutNullStreams {
  const child = spawn(program, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env,
    stdio: "pipe",
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  running.add(child);
  child.once("close", () => running.delete(child));
  // A child that went away breaks the pipe; its exit code says why.
  child.stdin.on("error", () => {});
  return child;
}

const running = new Set<ChildProcessWithoutNullStreams>();
process.once("exit", () => {
  for (const child of running) killGroup(child);
});

/** Kills a child together with what it started. */
export function killGroup(child: ChildProcessWithoutNullStreams): void {
  try {
    if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // It is gone already.
  }
}
