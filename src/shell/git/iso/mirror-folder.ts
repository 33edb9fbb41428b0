import { randomBytes } from "node:crypto";
import fs, { mkdir, readdir, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { PromiseFsClient } from "isomorphic-git";

/** A folder that only this process writes to. */
export interface ClaimedFolder {
  readonly path: string;
  /** Releases it for another process. */
  release(): Promise<void>;
}

/** Folders that this process holds. In a container every process has the same id, so an id alone proves no life. */
const held = new Set<string>();

/**
 * Claims a folder under `parent`, preferably one that an earlier process filled and left.
 *
 * isomorphic-git knows no locks (`git/README.md#libraries`), so two processes never share a folder. The claim is the
 * folder's name, `<prefix>-<host>-<process>-<random>`, and renaming is the lock: only one of two processes can win it.
 * Folders of dead processes of this machine beyond the one that is taken over are removed.
 */
export async function claimFolder(parent: string, prefix: string): Promise<ClaimedFolder> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const host = hostname().replace(/[^A-Za-z0-9.]/g, "_");
  const name = `${prefix}-${host}-${process.pid}-${randomBytes(4).toString("hex")}`;
  held.add(name);
  const own = join(parent, name);
  const free = (await readdir(parent)).filter((it) => it.startsWith(`${prefix}-`) && isFree(it, prefix, host)).sort();
  let taken = false;
  for (const left of free) {
    const won = await renamed(join(parent, left), taken ? `${own}-surplus` : own);
    if (won && taken) await rm(`${own}-surplus`, { recursive: true, force: true });
    taken ||= won;
  }
  await mkdir(own, { recursive: true, mode: 0o700 });
  const release = async (): Promise<void> => {
    const left = join(parent, `${prefix}-free-${randomBytes(4).toString("hex")}`);
    await renamed(own, left);
    held.delete(name);
  };
  return { path: own, release };
}

/** Released, or left behind by a dead process of this machine. */
function isFree(name: string, prefix: string, host: string): boolean {
  const rest = name.slice(prefix.length + 1);
  if (rest.startsWith("free-")) return true;
  if (!rest.startsWith(`${host}-`)) return false;
  const pid = Number.parseInt(rest.slice(host.length + 1), 10);
  return Number.isInteger(pid) && (pid === process.pid ? !held.has(name) : !isAlive(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

const renamed = (from: string, to: string): Promise<boolean> =>
  rename(from, to).then(
    () => true,
    () => false,
  );

/**
 * Files for isomorphic-git, written wholly or not at all: on its own it writes in place, and never repairs an object or
 * a ref that was half written when the process died (`git/README.md#libraries`).
 */
export const atomicFiles: PromiseFsClient = {
  promises: {
    readFile: fs.readFile,
    mkdir: fs.mkdir,
    rmdir: fs.rmdir,
    unlink: fs.unlink,
    stat: fs.stat,
    lstat: fs.lstat,
    readdir: fs.readdir,
    readlink: fs.readlink,
    symlink: fs.symlink,
    writeFile: async (path: string, ...rest: readonly unknown[]): Promise<void> => {
      const beside = `${path}.${randomBytes(6).toString("hex")}.tmp`;
      await (fs.writeFile as (...all: readonly unknown[]) => Promise<void>)(beside, ...rest);
      await fs.rename(beside, path);
    },
  },
};
