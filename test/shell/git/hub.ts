import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A repository on disk for one test, with git at hand. */
export interface Hub {
  /** Holds the repository and everything else of this test. */
  readonly folder: string;
  /** Name of the repository's folder in `folder`. */
  readonly name: string;
  /** Runs git in the repository and gives what it printed, without the last line's end. */
  git(...args: readonly string[]): string;
  /** The same with an input. */
  feed(input: string, ...args: readonly string[]): string;
  remove(): void;
}

const environment = {
  ...process.env,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
  LC_ALL: "C",
};

/** Runs git in a folder, apart from the machine's own git setup, and gives what it printed. */
export function gitIn(folder: string, args: readonly string[], input = "", more: NodeJS.ProcessEnv = {}): string {
  const env = { ...environment, ...more };
  const options = { cwd: folder, input, env, stdio: "pipe", maxBuffer: 1 << 28 } as const;
  return execFileSync("git", args, options).toString("utf8").replace(/\n$/, "");
}

/** An empty folder that `remove` takes away again. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "flotilla-git-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** A hub without any branch. A name that ends in `.git` makes it bare. */
export const emptyHub = (name = "hub.git"): Hub => hubFrom(name, "empty", () => {});

/** A hub with a source branch `main` of two commits that hold every kind of file there is, and no state branch. */
export const hubWithSource = (name = "hub.git"): Hub =>
  hubFrom(name, "source", (path) => {
    gitIn(path, ["fast-import", "--quiet"], sourceStream);
    if (!name.endsWith(".git")) gitIn(path, ["reset", "--hard", "--quiet"]);
  });

/** What hubs are copied from, made once: copying files is many times faster than having git make them. */
let patterns: string | null = null;

function patternsFolder(): string {
  if (patterns !== null) return patterns;
  const { path, remove } = temporaryFolder();
  process.once("exit", remove);
  patterns = path;
  return path;
}

function hubFrom(name: string, kind: string, fill: (path: string) => void): Hub {
  const isBare = name.endsWith(".git");
  const pattern = join(patternsFolder(), `${kind}${isBare ? ".git" : ""}`);
  if (!existsSync(pattern)) {
    const bare = isBare ? ["--bare"] : [];
    gitIn(patternsFolder(), ["init", "--quiet", "--template=", ...bare, "--initial-branch=main", pattern]);
    fill(pattern);
  }
  const { path: folder, remove } = temporaryFolder();
  const path = join(folder, name);
  cpSync(pattern, path, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  return {
    folder,
    name,
    git: (...args) => gitIn(path, args),
    feed: (input, ...args) => gitIn(path, args, input),
    remove,
  };
}

/** Makes the hub refuse every push with these words. */
export function refusePushes({ folder, name }: Pick<Hub, "folder" | "name">, words: string): void {
  const hooks = join(folder, name, "hooks");
  mkdirSync(hooks, { recursive: true });
  writeFileSync(join(hooks, "pre-receive"), `#!/bin/sh\necho '${words}' >&2\nexit 1\n`);
  chmodSync(join(hooks, "pre-receive"), 0o755);
}

/** Folders of all repositories directly under a folder: mirrors in a cache. */
export const repositoriesUnder = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((it) => it.name === "HEAD" && it.isFile())
    .map((it) => it.parentPath);

export const filesUnder = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" });

export const largeText = "0123456789abcdef".repeat(196_608);

const blob = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

const sourceStream = [
  "commit refs/heads/main\ncommitter ada <ada@example.com> 1700000000 +0200\n",
  blob("first\n"),
  `M 100644 inline a.yaml\n${blob("a: 1\n")}`,
  `M 100644 inline clusters/east.yaml\n${blob("name: east\n")}`,
  "commit refs/heads/main\ncommitter ada <ada@example.com> 1700000100 +0200\n",
  blob("second\n"),
  `M 100644 inline a.yaml\n${blob("a: 2\n")}`,
  `M 100644 inline empty.yaml\n${blob("")}`,
  `M 100644 inline clusters/größe/東.yaml\n${blob("größe: 東\n")}`,
  `M 100644 inline "clusters/with \\"quotes\\".yaml"\n${blob("quoted: true\n")}`,
  `M 100755 inline run.sh\n${blob("#!/bin/sh\n")}`,
  `M 120000 inline link.yaml\n${blob("a.yaml")}`,
  `M 160000 1111111111111111111111111111111111111111 vendored\n`,
  `M 100644 inline large.txt\n${blob(largeText)}`,
].join("");
