import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";

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
