import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Something that lives until it is stopped, or until our process is gone, however it went. */
export interface Supervised {
  /** Its own id, which is also the id of its process group. */
  readonly pid: number;
  /** Why it ended by itself; null while it runs. */
  ended(): string | null;
  /** Ends the whole group and waits until its leader is gone. Stopping twice is stopping once. */
  stop(): Promise<void>;
}

/**
 * The group's leader waits for its program, and beside it a watcher for the end of a pipe whose writing end is ours. That end is
 * the order to die: we close the pipe to stop the program, and the system closes it when our process ends, be it by SIGKILL.
 *
 * The leader kills what it is the parent of and has not waited for yet, so no id can have been given to somebody else in between;
 * what the program may have started itself goes with the leader's group.
 */
const untilThePipeEnds = `
  exec 3<&0
  trap 'kill -KILL $program; wait $program $watcher; kill -KILL 0' TERM
  "$@" </dev/null 3<&- &
  program=$!
  { read -r _ <&3; kill -TERM $$; } &
  watcher=$!
  wait $program
  code=$?
  trap - TERM
  { kill -KILL $watcher; wait $watcher; } 2>/dev/null
  exit $code
`;

/** Starts a program whose output goes to the file `log`. */
export function startProgram(command: readonly string[], log: string, home: string): Supervised {
  const output = openSync(log, "a");
  try {
    const child = spawn("sh", ["-c", untilThePipeEnds, "sh", ...command], {
      detached: true,
      cwd: home,
      env: { PATH: process.env["PATH"], HOME: home },
      stdio: ["pipe", output, output],
    });
    return supervised(child);
  } finally {
    closeSync(output);
  }
}

/** Files may still appear while the programs that write them are dying. */
const removeAtTheEnd = `
  read -r _
  for try in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1" 2>/dev/null && exit; sleep 0.2; done
`;

/** A folder for temporary files. */
export interface Scratch extends Supervised {
  readonly path: string;
}

/** Makes a folder for temporary files that goes away when it is stopped, or after our process is gone. */
export async function makeScratch(): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), "flotilla-test-"));
  const child = spawn("sh", ["-c", removeAtTheEnd, "sh", path], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  return { path, ...supervised(child) };
}

/** The last lines that a program wrote, for messages. */
export async function tailOfLog(log: string): Promise<string> {
  const text = await readFile(log, "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-15).join("\n");
}

function supervised(child: ChildProcess): Supervised {
  let ending: string | null = null;
  const gone = once(child, "exit").then(
    ([code, signal]) => {
      ending = signal === null ? `exit code ${code}` : `signal ${signal}`;
    },
    (error) => {
      ending = String(error);
    },
  );
  // A test that forgets to stop it must not keep its process alive.
  child.unref();
  child.stdin?.on("error", () => {});
  if (child.stdin && "unref" in child.stdin && typeof child.stdin.unref === "function") child.stdin.unref();
  return {
    pid: child.pid ?? 0,
    ended: () => ending,
    stop: async () => {
      child.ref();
      child.stdin?.destroy();
      await gone;
    },
  };
}

/** Whether a process of that id exists and has not ended. One that ended and was not waited for by its parent does not run. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
