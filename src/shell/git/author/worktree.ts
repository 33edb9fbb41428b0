import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type BlobId, compareText } from "../../../core/model/value.ts";
import { repositoryFault } from "../model/repository-fault.ts";

interface WorkTreeFile {
  /** From the root, with `/`. */
  readonly path: string;
  /** Of a symbolic link, the text it points to: as git stores it. */
  readonly bytes: Uint8Array;
  readonly kind: "file" | "link";
}

/** Limits of a fleet's repository (`yaml/README.md#limits`). */
const filesLimit = 20_000;
const bytesLimit = 100 << 20;

/**
 * Reads the files under a folder, or the one file that `root` is, ordered by path: for `validate PATH` and
 * `plan --worktree`.
 *
 * Folders whose name begins with a dot and `node_modules` are left out, as are files that `wants` does not want; links
 * are listed and not followed (`yaml/README.md#b-30`). Nothing else is honoured, no ignore file either: what lies
 * there is what gets checked.
 *
 * Synchronous: a command does this before anything else, and four round trips to the thread pool a file would cost more
 * than the reading.
 */
export function readWorkTree(root: string, wants: (path: string) => boolean = () => true): readonly WorkTreeFile[] {
  const during = `reading ${root}`;
  try {
    const isFile = lstatSync(root).isFile();
    const folder = isFile ? dirname(root) : root;
    const paths = isFile ? [basename(root)] : pathsUnder(root, "", wants);
    return readAll(folder, paths.sort(compareText), during);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw repositoryFault("RepositoryNotFound", during, "there is no such file or folder", { cause });
    }
    if (code === "EACCES" || code === "EPERM") {
      throw repositoryFault("RepositoryForbidden", during, "it may not be read", {
        fix: "check its permissions",
        cause,
      });
    }
    throw cause;
  }
}

/** The id that git gives these bytes as a blob: SHA-1 over a header and the bytes. */
export function blobIdOf(bytes: Uint8Array): BlobId {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex") as BlobId;
}

function pathsUnder(root: string, prefix: string, wants: (path: string) => boolean): string[] {
  const paths: string[] = [];
  for (const entry of readdirSync(join(root, prefix), { withFileTypes: true })) {
    const path = prefix + entry.name;
    if (entry.isDirectory()) {
      const isSkipped = entry.name.startsWith(".") || entry.name === "node_modules";
      if (!isSkipped) paths.push(...pathsUnder(root, `${path}/`, wants));
    } else if ((entry.isFile() || entry.isSymbolicLink()) && wants(path)) paths.push(path);
    if (paths.length > filesLimit) throw tooMuch(`reading ${root}`, `more than ${filesLimit} files`);
  }
  return paths;
}

function readAll(root: string, paths: readonly string[], during: string): readonly WorkTreeFile[] {
  const files: WorkTreeFile[] = [];
  let size = 0;
  for (const path of paths) {
    const full = join(root, path);
    const entry = lstatSync(full);
    size += entry.size;
    if (size > bytesLimit) throw tooMuch(during, `more than ${bytesLimit >> 20} MiB of files`);
    const isLink = entry.isSymbolicLink();
    const bytes = isLink ? Buffer.from(readlinkSync(full)) : readFileSync(full);
    files.push({ path, bytes, kind: isLink ? "link" : "file" });
  }
  return files;
}

const tooMuch = (during: string, what: string) =>
  repositoryFault("RepositoryUnsupported", during, `there are ${what}`, {
    fix: "name the folder that holds the fleet's files",
  });
