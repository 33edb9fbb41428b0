import { resolve } from "node:path";
import { Fault } from "../reconcile/fault.ts";
import type { Repository } from "../reconcile/ports.ts";
import { addressOf } from "./model/address.ts";
import { branchesOf } from "./model/branch.ts";
import { repositoryFault } from "./model/repository-fault.ts";
import { openRemote } from "./program/mirror-hub.ts";
import { gitFolderOf, openPath, trackedBranch } from "./program/path-hub.ts";
import { type Git, gitEnvironment, runGit } from "./program/process.ts";

export interface RepositoryOptions {
  /** A path, an http(s), ssh or file URL, or `git@host:path`. May carry credentials. */
  readonly repo: string;
  readonly branch: string;
  readonly stateBranch: string;
  /** "auto" takes the git program where there is one, and isomorphic-git for http(s) where there is none. */
  readonly engine: "auto" | "iso" | "program";
  /** Mirrors of remote hubs live here; a hub at a path does not use it. */
  readonly cacheFolder: string;
  /** For http(s), sent up front; null leaves it to the URL and to git's credential helpers. */
  readonly token: string | null;
  /** Longest wait for one exchange with a server; two minutes when absent, half an hour for a first clone. */
  readonly deadlineMs?: number;
  /** An armored signature over the content of a commit: what is committed carries it. Absent: nobody signs. */
  readonly sign?: (payload: Uint8Array) => string;
  /** For who only reads: in a clone, a branch that it does not have is the one that git last fetched from `origin`. */
  readonly tracked?: boolean;
}

/**
 * Opens the hub. Rejects with a fault when the address or a branch's name is refused, or when no engine can reach it;
 * whether a remote hub exists and lets us in shows at the first `heads`.
 */
export async function openRepository(options: RepositoryOptions): Promise<Repository> {
  const address = addressOf(options.repo, options.token);
  const branches = branchesOf(options.branch, options.stateBranch);
  const { cacheFolder, deadlineMs, engine, sign, tracked = false } = options;
  const more = { ...(deadlineMs === undefined ? {} : { deadlineMs }), ...(sign === undefined ? {} : { sign }) };
  const remote = { branches, cacheFolder, ...more };
  if (engine === "program" || (engine === "auto" && (await hasGit()))) {
    return address.kind === "path"
      ? openPath(address, branches, { sign: sign ?? null, tracked })
      : openRemote(address, remote);
  }
  if (address.kind === "http") {
    const { openIso } = await import("./iso/iso.ts");
    return openIso(address, remote);
  }
  const message = engine === "iso" ? "isomorphic-git speaks http and https only" : "no git program was found";
  const fix = "install git 2.31 or newer and leave out --git, or give an https URL";
  throw repositoryFault("RepositoryUnsupported", `opening ${address.name}`, message, { fix });
}

/** The folder to watch for changes of a hub on this machine (see `watchRepository`); null for one behind a URL. */
export async function localGitDir(repo: string): Promise<string | null> {
  const address = addressOf(repo, null);
  return address.kind === "path" ? gitFolderOf(address) : null;
}

/** Where a clone has a branch that it only fetched, for people: `origin/fleet/state`; null for its own and URLs. */
export async function fetchedBranch(repo: string, branch: string): Promise<string | null> {
  const address = addressOf(repo, null);
  return address.kind === "path" ? trackedBranch(address, branch) : null;
}

/** The oldest git that knows everything we ask: `GIT_CONFIG_COUNT` and `rev-parse --path-format` came with it. */
const oldest = [2, 31] as const;

/** The PATH on which such a git was found: it is not looked for again. */
let knownPath: string | undefined;

async function hasGit(): Promise<boolean> {
  const path = process.env["PATH"] ?? "";
  if (path === knownPath) return true;
  const git = { gitDir: null, environment: gitEnvironment(), secrets: [] };
  const answer = await runGit(git, ["--version"], { during: "looking for git" }).catch(() => null);
  const version = /(\d+)\.(\d+)/.exec(answer?.output.toString("latin1") ?? "");
  if (version === null) return false;
  const [major, minor] = [Number(version[1]), Number(version[2])];
  const isUsable = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
  if (isUsable) knownPath = path;
  return isUsable;
}

/**
 * Where the remote `origin` of the repository around `folder` is, credentials included; null without one, or without
 * git. An origin that cannot be the hub is a fault: passing over it would make another repository the hub.
 */
export async function originOf(folder: string): Promise<string | null> {
  const url = await ask(folder, "remote", "get-url", "origin");
  if (url === null || url === "") return null;
  if (addressOf(url, null).kind !== "path") return url;
  // Git reads a relative path from the top of the work tree.
  return resolve((await ask(folder, "rev-parse", "--show-toplevel")) ?? folder, url);
}

async function ask(folder: string, ...args: readonly string[]): Promise<string | null> {
  const git: Git = { gitDir: null, environment: gitEnvironment(), secrets: [] };
  try {
    const during = "looking for the remote origin";
    const { code, output } = await runGit(git, ["-C", resolve(folder), ...args], { during });
    return code === 0 ? output.toString("utf8").trimEnd() : null;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}
