import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gitIn, temporaryFolder } from "./hub.ts";

/** Somebody's clone of a hub, on `main`, which both have. */
export interface Clone {
  /** The work tree. */
  readonly path: string;
  /** The hub that it was cloned from, and what it is to {@link refusePushes}. */
  readonly hub: { readonly folder: string; readonly name: string };
  /** Runs git in the clone and gives what it printed, without the last line's end. */
  git(...args: readonly string[]): string;
  /** The same in the hub. */
  inHub(...args: readonly string[]): string;
  write(path: string, text: string): void;
  remove(): void;
}

/** Makes clones whose first commit holds these files. All are copies of one that is made once. */
export function clonesWith(files: Readonly<Record<string, string>>): () => Clone {
  let pattern: string | null = null;
  return () => {
    pattern ??= madeWith(files);
    const { path: folder, remove } = temporaryFolder();
    cpSync(pattern, folder, { recursive: true });
    return cloneIn(folder, remove);
  };
}

function cloneIn(folder: string, remove: () => void): Clone {
  const path = join(folder, "clone");
  return {
    path,
    hub: { folder, name: "hub.git" },
    git: (...args) => gitIn(path, args),
    inHub: (...args) => gitIn(join(folder, "hub.git"), args),
    write: (file, text) => {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), text);
    },
    remove,
  };
}

function madeWith(files: Readonly<Record<string, string>>): string {
  const { path: folder, remove } = temporaryFolder();
  process.once("exit", remove);
  const { git, write } = cloneIn(folder, remove);
  gitIn(folder, ["init", "--quiet", "--template=", "--bare", "--initial-branch=main", "hub.git"]);
  gitIn(folder, ["init", "--quiet", "--template=", "--initial-branch=main", "clone"]);
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.com");
  // Git reads it from the top of the work tree, so it holds in every copy.
  git("remote", "add", "origin", "../hub.git");
  for (const [path, text] of Object.entries(files)) write(path, text);
  git("add", ".");
  git("commit", "--quiet", "-m", "first");
  git("push", "--quiet", "-u", "origin", "main");
  return folder;
}
