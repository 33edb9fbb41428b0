import { randomBytes } from "node:crypto";
import fs from "node:fs/promises";
import type { PromiseFsClient } from "isomorphic-git";

/**
 * The file system for isomorphic-git, with writes that happen wholly or not at all.
 *
 * On its own it writes in place, and an object or a ref that was half written when the process died is never repaired
 * (`git/README.md#libraries`).
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
