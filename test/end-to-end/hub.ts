import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gitIn, temporaryFolder } from "../shell/git/hub.ts";
import { projectFolder } from "./bundle.ts";

/** A bare repository as the hub, and a clone of it in which a person works. Begins as examples-repo. */
export interface Hub {
  /** Path of the bare repository: what `--repo` is given. */
  readonly repo: string;
  /** Path of the person's clone. */
  readonly clone: string;
  read(path: string): Promise<string>;
  write(path: string, text: string): Promise<void>;
  /** Replaces `from`, which must stand there, by `to`. */
  edit(path: string, from: string, to: string): Promise<void>;
  /** Takes a file away, or a folder with everything in it. */
  remove(path: string): Promise<void>;
  /** Commits everything and pushes it; gives the commit. */
  push(message: string): string;
  /** Takes the last commit back, and pushes that. */
  revert(): void;
  /** Takes everything out of the clone but fleet.yaml, without committing it. */
  clear(): Promise<void>;
  /** Makes the clone what examples-repo is, without committing it. */
  restore(): Promise<void>;
  /** How many commits the state branch has; 0 when there is none. */
  stateCommits(): number;
  /** Messages of the state branch's latest commits, latest first. */
  stateLog(commits: number): string;
  /** A file of the state branch; null when it does not exist. */
  stateFile(path: string): string | null;
  statePaths(): readonly string[];
}

const stateBranch = "fleet/state";
const examples = join(projectFolder, "examples-repo");

/** Makes a hub below a folder from examples-repo, whose first commit has been pushed. */
export async function makeHub(folder: string): Promise<Hub> {
  pattern ??= makePattern();
  await mkdir(folder, { recursive: true });
  cpSync(pattern, folder, { recursive: true, preserveTimestamps: true });
  const [repo, clone] = [join(folder, "hub.git"), join(folder, "clone")];
  const config = join(clone, ".git", "config");
  writeFileSync(config, readFileSync(config, "utf8").replace(join(pattern, "hub.git"), repo));
  return { repo, clone, ...filesIn(clone), ...stateIn(repo), ...commitsIn(clone) };
}

/** What hubs are copied from, made once: copying files is many times faster than having git make them. */
let pattern: string | null = null;

function makePattern(): string {
  const { path: folder, remove } = temporaryFolder();
  process.once("exit", remove);
  const [repo, clone] = [join(folder, "hub.git"), join(folder, "clone")];
  cpSync(examples, clone, { recursive: true });
  gitIn(folder, ["init", "--quiet", "--bare", "--initial-branch=main", repo]);
  gitIn(repo, ["config", "http.receivepack", "true"]);
  gitIn(clone, ["init", "--quiet", "--initial-branch=main"]);
  gitIn(clone, ["remote", "add", "origin", repo]);
  commitsIn(clone).push("Describe the fleet");
  return folder;
}

function filesIn(clone: string): Pick<Hub, "read" | "write" | "edit" | "remove" | "clear" | "restore"> {
  const read = (path: string): Promise<string> => readFile(join(clone, path), "utf8");
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(clone, path)), { recursive: true });
    await writeFile(join(clone, path), text);
  };
  const edit = async (path: string, from: string, to: string): Promise<void> => {
    const text = await read(path);
    if (!text.includes(from)) throw new Error(`${path} does not say: ${from}`);
    await write(path, text.replace(from, to));
  };
  const remove = (path: string): Promise<void> => rm(join(clone, path), { recursive: true });
  const clear = async (): Promise<void> => {
    for (const it of await readdir(clone)) if (it !== ".git" && it !== "fleet.yaml") await remove(it);
  };
  const restore = async (): Promise<void> => {
    gitIn(clone, ["rm", "-r", "--quiet", "--force", "--ignore-unmatch", "."]);
    await cp(examples, clone, { recursive: true });
  };
  return { read, write, edit, remove, clear, restore };
}

function commitsIn(clone: string): Pick<Hub, "push" | "revert"> {
  const pushed = (): string => {
    gitIn(clone, ["push", "--quiet", "origin", "main"]);
    return readFileSync(join(clone, ".git", "refs", "heads", "main"), "utf8").trim();
  };
  return {
    push: (message) => {
      gitIn(clone, ["add", "--all"]);
      gitIn(clone, ["commit", "--quiet", "--allow-empty", "-m", message]);
      return pushed();
    },
    revert: () => {
      gitIn(clone, ["revert", "--no-edit", "HEAD"]);
      pushed();
    },
  };
}

function stateIn(repo: string): Pick<Hub, "stateCommits" | "stateLog" | "stateFile" | "statePaths"> {
  const exists = (): boolean =>
    existsSync(join(repo, "refs", "heads", stateBranch)) ||
    gitIn(repo, ["for-each-ref", `refs/heads/${stateBranch}`]) !== "";
  const paths = (): readonly string[] =>
    exists() ? gitIn(repo, ["ls-tree", "-r", "--name-only", stateBranch]).split("\n") : [];
  return {
    stateCommits: () => (exists() ? Number(gitIn(repo, ["rev-list", "--count", stateBranch])) : 0),
    stateLog: (commits) => gitIn(repo, ["log", "--format=%B", `-${commits}`, stateBranch]),
    stateFile: (path) => {
      const answer = gitIn(repo, ["cat-file", "--batch"], `refs/heads/${stateBranch}:${path}\n`);
      const end = answer.indexOf("\n");
      return end < 0 ? null : answer.slice(end + 1).replace(/\n$/, "");
    },
    statePaths: paths,
  };
}
