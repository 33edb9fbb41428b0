import type { Dirent } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Git holds a lock for as long as it writes one file; who held one for longer died, with the machine or by itself. */
const lifetimeMs = 10 * 60_000;

/** Where git locks something, besides the refs: loose objects, which may be in any number of folders, need no lock. */
const places = [".", "objects", "objects/info", "objects/info/commit-graphs", "objects/pack"];

/** A mirror has a few branches of its own; folders beyond so many hold nothing of ours. */
const mostFolders = 1_000;

/**
 * Removes the locks that git processes left behind when they died, and which nobody else would ever remove.
 *
 * For a mirror of our own only: somebody else's repository may be worked on by whatever knows better, and were a lock
 * wrongly taken for a dead one, what it costs is a fetch. No ref has a name that ends like that of a lock.
 */
export async function sweepStaleLocks(gitDir: string): Promise<void> {
  const folders = [...places, ...(await foldersUnder(gitDir, "refs"))].map((it) => join(gitDir, it));
  const oldest = Date.now() - lifetimeMs;
  for (const folder of folders) {
    for (const entry of await entriesOf(folder)) {
      if (!entry.isFile() || !entry.name.endsWith(".lock")) continue;
      const lock = join(folder, entry.name);
      const isStale = await stat(lock).then(
        (it) => it.mtimeMs < oldest,
        () => false,
      );
      // Where it cannot be removed, git says what stands in its way.
      if (isStale) await rm(lock, { force: true }).catch(() => {});
    }
  }
}

/** The folder and all below it, from the outside in, without following links. */
async function foldersUnder(root: string, top: string): Promise<readonly string[]> {
  const found = [top];
  for (const folder of found) {
    const inside = (await entriesOf(join(root, folder))).filter((it) => it.isDirectory());
    found.push(...inside.slice(0, mostFolders - found.length).map((it) => join(folder, it.name)));
  }
  return found;
}

const entriesOf = (folder: string): Promise<readonly Dirent[]> =>
  readdir(folder, { withFileTypes: true }).catch(() => []);
