import type { Dirent } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Commit } from "../../../core/model/value.ts";
import { Fault } from "../../reconcile/fault.ts";
import type { BranchNames, CommitResult, Heads, Repository } from "../../reconcile/ports.ts";
import {
  cacheNameOf,
  exchangeDeadlineMs,
  type HttpAddress,
  type RemoteOptions,
  type SshAddress,
} from "../model/address.ts";
import { type Branches, branchNamesOf, refOf, trackingRef } from "../model/branch.ts";
import { faultFromGitError, repositoryFault } from "../model/repository-fault.ts";
import { readRefs } from "./path-hub.ts";
import { type Git, type GitResult, gitEnvironment, runGit } from "./process.ts";
import { descends, type Hub, ProgramRepository, removeStaleScratchRefs } from "./program.ts";

/** A first clone of a large repository takes long; a connection on which nothing moves is given up after a minute. */
const firstFetchDeadlineMs = 30 * 60_000;

/** For as long as git itself waits for the lock of a ref. */
const configAttempts = 50;

const configPauseMs = 100;

/** Times that one call looks again when another process moved a ref of the mirror under it. */
const attempts = 3;

/**
 * Opens a hub behind a URL through a bare mirror in the cache folder.
 *
 * Several processes may share a mirror: refs move by git's own locks, each commit waits under a name of its own, and
 * the server's compare-and-swap decides. The user's credential helpers, askpass, ssh setup and headers are used.
 */
export async function openRemote(address: HttpAddress | SshAddress, options: RemoteOptions): Promise<Repository> {
  const gitDir = join(options.cacheFolder, `${cacheNameOf(address.url)}.git`);
  const git: Git = {
    gitDir,
    environment: gitEnvironment(settingsOf(address)),
    secrets: address.kind === "http" ? address.secrets : [],
  };
  const hub = new MirrorHub(address, git, options);
  await hub.prepare();
  await removeStaleScratchRefs(git, `reading ${address.name}`);
  return new ProgramRepository(address.name, git, hub, options.sign ?? null);
}

/** A token that was given replaces headers configured for that server: two Authorization headers would be refused. */
function settingsOf(address: HttpAddress | SshAddress): readonly (readonly [string, string])[] {
  if (address.kind !== "http") return [];
  const { url, authorization, username } = address;
  if (authorization !== null) {
    const key = `http.${url}.extraHeader`;
    return [
      [key, ""],
      [key, `Authorization: ${authorization}`],
    ];
  }
  return username === null ? [] : [[`credential.${url}.username`, username]];
}

class MirrorHub implements Hub {
  readonly #address: HttpAddress | SshAddress;
  readonly #git: Git;
  readonly #options: RemoteOptions;
  /** Both branches were there when we last looked. */
  #isWhole = true;
  /** The mirror was empty, or may have been: there may be much to fetch. */
  #mayBeEmpty = true;

  constructor(address: HttpAddress | SshAddress, git: Git, options: RemoteOptions) {
    this.#address = address;
    this.#git = git;
    this.#options = options;
  }

  /** Makes the mirror, or leaves the one that is there as it is. */
  async prepare(): Promise<void> {
    const during = `preparing a mirror of ${this.#address.name}`;
    const folder = this.#git.gitDir ?? "";
    // A mirror holds all that the repository holds, Secrets included: for nobody else on this machine.
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
      const fix = "give --cache a folder that can be written";
      throw repositoryFault("RepositoryRefused", during, "the cache folder cannot be written", { fix, cause });
    });
    await removeStaleLocks(folder);
    const args = ["init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=none"];
    for (let attempt = 1; ; attempt++) {
      const answer = await runGit({ ...this.#git, gitDir: null }, [...args, folder], { during });
      if (answer.code === 0) return;
      // Another process is preparing the same mirror: git waits for locks of refs, and never for that of a config.
      if (attempt >= configAttempts || !answer.stderr.includes("could not lock config file"))
        throw faultFromGitError(during, answer.stderr);
      await sleep(configPauseMs);
    }
  }

  async heads(): Promise<Heads> {
    try {
      return await this.#fetch();
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "RepositoryCorrupt") throw error;
    }
    // A mirror that a crash or a full disk damaged is worth nothing: it is fetched anew (`git/README.md#f-05`).
    await rm(this.#git.gitDir ?? "", { recursive: true, force: true });
    this.#mayBeEmpty = true;
    await this.prepare();
    return this.#fetch();
  }

  async branches(): Promise<BranchNames> {
    const { source, state } = this.#branches;
    const args = ["ls-remote", "--symref", this.#address.url, "HEAD", "refs/heads/*"];
    const answer = await this.#exchange(args, "asking");
    if (answer.code !== 0) throw faultFromGitError(`asking ${this.#address.name}`, answer.stderr);
    const lines = answer.output.toString("utf8").split("\n");
    const head = lines.flatMap((it) => /^ref: (.*)\tHEAD$/.exec(it)?.[1] ?? [])[0] ?? null;
    const refs = lines.map((it) => it.slice(it.indexOf("\t") + 1));
    return { source, state, there: branchNamesOf(refs, head) };
  }

  async move(commit: Commit, parent: Commit | null, scratch: string): Promise<CommitResult> {
    const ref = refOf(this.#branches.state);
    const lease = `--force-with-lease=${ref}:${parent ?? ""}`;
    const args = ["push", "--porcelain", "--no-progress", "--no-verify", lease, this.#address.url, `${commit}:${ref}`];
    const failure = await this.#exchange(args, "pushing to").then(failureOf(this.#address.name), faultOnly);
    if (failure !== null && !(await this.#landed(commit, parent, failure))) return { kind: "superseded" };
    const input = `update ${trackingRef(this.#branches.state)} ${commit}\ndelete ${scratch}\n`;
    // The push counts, whatever becomes of this: the mirror learns of it with the next fetch, if not now.
    await runGit(this.#git, ["update-ref", "--stdin"], { during: "noting a push", input }).catch(faultOnly);
    return { kind: "committed", commit };
  }

  /**
   * What a push that failed, or whose answer got lost, amounts to: the branch tells (`git/README.md#f-10`, `#f-12`).
   * True when it is there, false when somebody else moved the branch; a branch that did not move means a refusal.
   */
  async #landed(commit: Commit, parent: Commit | null, failure: Fault): Promise<boolean> {
    const { state } = await this.heads();
    if (state === parent) throw failure;
    return state !== null && descends(this.#git, this.#address.name, state, commit);
  }

  /** One fetch for both branches, which git refuses while one is missing: then the server is asked which it has. */
  async #fetch(): Promise<Heads> {
    // A process that stays may have begun before the lock of a dead one was old enough.
    await removeStaleLocks(this.#git.gitDir ?? "");
    const both = [this.#branches.source, this.#branches.state];
    let wanted: readonly string[] = this.#isWhole ? both : await this.#list();
    let errorText = "";
    for (let attempt = 0; attempt < attempts && wanted.length > 0; attempt++) {
      const specs = wanted.map((it) => `+${refOf(it)}:${trackingRef(it)}`);
      const deadlineMs = this.#mayBeEmpty ? firstFetchDeadlineMs : exchangeDeadlineMs;
      const answer = await this.#exchange([...fetchArgs, this.#address.url, ...specs], "fetching", deadlineMs);
      this.#isWhole = answer.code === 0 && wanted.length === both.length;
      if (answer.code === 0) {
        this.#mayBeEmpty = false;
        return this.#tracked(wanted);
      }
      errorText = answer.stderr;
      wanted = await this.#list();
    }
    if (wanted.length === 0) return { source: null, state: null };
    throw faultFromGitError(`fetching ${this.#address.name}`, errorText);
  }

  async #tracked(wanted: readonly string[]): Promise<Heads> {
    const during = `reading the mirror of ${this.#address.name}`;
    const refs = await readRefs(this.#git, wanted.map(trackingRef), during);
    const headOf = (branch: string): Commit | null => {
      if (!wanted.includes(branch)) return null;
      const head = refs.get(trackingRef(branch));
      // A fetch from a shallow repository succeeds and brings nothing.
      if (head === undefined) throw repositoryFault("RepositoryUnsupported", during, `${branch} could not be fetched`);
      return head;
    };
    return { source: headOf(this.#branches.source), state: headOf(this.#branches.state) };
  }

  /** Which of the two branches the server has. */
  async #list(): Promise<readonly string[]> {
    const { source, state } = this.#branches;
    const answer = await this.#exchange(["ls-remote", this.#address.url, refOf(source), refOf(state)], "asking");
    if (answer.code !== 0) throw faultFromGitError(`asking ${this.#address.name}`, answer.stderr);
    const lines = answer.output.toString("utf8").split("\n").slice(0, -1);
    const refs = new Set(lines.map((line) => line.slice(line.indexOf("\t") + 1)));
    return [source, state].filter((it) => refs.has(refOf(it)));
  }

  /** `preset` is the deadline unless the hub was opened with another. */
  #exchange(args: readonly string[], verb: string, preset = exchangeDeadlineMs): Promise<GitResult> {
    const { deadlineMs = preset } = this.#options;
    return runGit(this.#git, args, { during: `${verb} ${this.#address.name}`, deadlineMs });
  }

  get #branches(): Branches {
    return this.#options.branches;
  }
}

const fetchArgs = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];

/** What went wrong with a push; null when nothing did. */
const failureOf =
  (name: string) =>
  (answer: GitResult): Fault | null => {
    if (answer.code === 0) return null;
    const during = `pushing to ${name}`;
    const status = answer.output.toString("utf8").split("\n");
    // `! <tab> <from>:<to> <tab> [remote rejected] (pre-receive hook declined)`
    const reasons = status.filter((line) => line.startsWith("!\t")).map((line) => line.split("\t").slice(2).join(" "));
    const words = [answer.stderr, ...reasons].filter((it) => it !== "").join("\n");
    // The server took the push and said no: its words are its own, whatever they sound like.
    if (words.includes("[remote rejected]")) return repositoryFault("RepositoryRefused", during, words);
    return faultFromGitError(during, words);
  };

function faultOnly(error: unknown): Fault {
  if (error instanceof Fault) return error;
  throw error;
}

/** Git holds a lock while it writes one file; the owner of an older one is dead. */
const lifetimeMs = 10 * 60_000;

/** Where git locks something, besides the refs: loose objects, which may be in any number of folders, need no lock. */
const places = [".", "objects", "objects/info", "objects/info/commit-graphs", "objects/pack"];

/** Limit for ref folders; a mirror has a few branches only. */
const mostFolders = 1_000;

/** Removes the locks that dead git processes left in our own mirrors; removing a live one costs a fetch at most. */
export async function removeStaleLocks(gitDir: string): Promise<void> {
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
      // If it cannot be removed, git reports the lock.
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
