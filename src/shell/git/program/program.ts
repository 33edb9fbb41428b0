import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type CommitLines, commitLines } from "../../../core/model/commit.ts";
import { type BlobId, type Commit, compareText } from "../../../core/model/value.ts";
import type {
  BranchNames,
  CommitResult,
  Heads,
  HistoricCommit,
  Proposal,
  RawCommit,
  Repository,
  TreeChange,
  TreeFile,
} from "../../reconcile/ports.ts";
import { isObjectId, maxCommitRead, type SignCommit, signedCommit } from "../model/commits.ts";
import { faultFromGitError, repositoryFault } from "../model/repository-fault.ts";
import { commitLinesIn, strictEntriesIn, unsoundCommit } from "../model/sound-objects.ts";
import { treeChanges } from "../model/tree-changes.ts";
import { importStream } from "./import-stream.ts";
import { ObjectReader } from "./object-reader.ts";
import { type Git, type GitResult, runGit } from "./process.ts";
import { objectsAlone, programHistory, refuseShallow } from "./program-history.ts";

/** What differs between a hub at a path and a hub behind a URL: where its branches are. */
export interface Hub {
  heads(): Promise<Heads>;
  branches(): Promise<BranchNames>;
  /** Moves the state branch from `parent` to `commit`, which only `scratch` holds; may take `scratch` away with it. */
  move(commit: Commit, parent: Commit | null, scratch: string): Promise<CommitResult>;
}

/** Where commits stand before the state branch moves to them: `refs/flotilla/write/<seconds>-<process>-<random>`. */
const scratchFolder = "refs/flotilla/write";

/** A scratch ref older than a day was left behind by a dead process. */
const scratchLifetimeSeconds = 86_400;

/** Without deltas and tight compression, which are left to repacking: a third of the time for a first commit. */
const quickly = ["-c", "pack.compression=3"];

/** How many ancestors are searched object by object before git is run. */
const nearestAncestors = 16;

/** Commits between two runs of `git gc --auto`, which usually does nothing. */
const commitsBetweenTidying = 200;

/** The hub through the git program: reads by one `cat-file --batch`, writes by one `fast-import`. */
export class ProgramRepository implements Repository {
  readonly name: string;
  readonly #git: Git;
  readonly #hub: Hub;
  readonly #objects: ObjectReader;
  readonly #sign: SignCommit | null;
  #commits = 0;

  constructor(name: string, git: Git, hub: Hub, sign: SignCommit | null) {
    this.name = name;
    this.#git = git;
    this.#hub = hub;
    this.#sign = sign;
    this.#objects = new ObjectReader(git, name);
  }

  heads(): Promise<Heads> {
    return this.#hub.heads();
  }

  branches(): Promise<BranchNames> {
    return this.#hub.branches();
  }

  async files(commit: Commit, under?: string): Promise<readonly TreeFile[]> {
    const folder = under === undefined ? [] : ["--", `${under.replace(/\/+$/, "")}/`];
    const { output } = await this.#sure(["ls-tree", "-r", "-z", "-l", "--full-tree", commit, ...folder], "reading");
    const files = output.toString("utf8").split("\0").slice(0, -1).map(treeFileOf);
    return files.sort((a, b) => compareText(a.path, b.path));
  }

  async changes(from: Commit | null, to: Commit, enters?: (folder: string) => boolean): Promise<readonly TreeChange[]> {
    const commits = await this.#objects.read("commit", from === null ? [to] : [from, to]);
    const linesOf = (commit: Commit): CommitLines => commitLinesIn(commits.get(commit), commit, `reading ${this.name}`);
    await this.#confirm(to, linesOf(to));
    const read = async (ids: readonly string[]) => {
      const trees = await this.#objects.read("tree", ids);
      return new Map([...trees].map(([id, tree]) => [id, strictEntriesIn(tree, id, `reading ${this.name}`)]));
    };
    return treeChanges(read, from === null ? null : linesOf(from).tree, linesOf(to).tree, enters);
  }

  /** A second opinion on what is about to be deployed: git names the same tree and parents (`trust/README.md#t-35`). */
  async #confirm(commit: Commit, { tree, parents }: CommitLines): Promise<void> {
    const during = `reading ${this.name}`;
    const question = ["rev-parse", `${commit}^{tree}`, `${commit}^@`];
    const { output } = await runGit(objectsAlone(this.#git), question, { during });
    const words = output.toString("latin1").split("\n").filter(Boolean);
    if (words.join() === [tree, ...parents].join()) return;
    const message = `commit ${commit}: we read tree ${tree} and ${parents.length} parents, git reads ${words.join(", ")}`;
    throw unsoundCommit(during, message);
  }

  blobs(ids: readonly BlobId[], limit?: number): Promise<ReadonlyMap<BlobId, Uint8Array>> {
    return this.#objects.read("blob", ids, limit) as Promise<ReadonlyMap<BlobId, Uint8Array>>;
  }

  async descends(commit: Commit, ancestor: Commit): Promise<boolean> {
    if (commit === ancestor) return true;
    return (await this.#follows(commit, ancestor)) || descends(this.#git, this.name, commit, ancestor);
  }

  /** Searches the nearest ancestors without a process: nearly always it is one of them. False proves nothing. */
  async #follows(commit: Commit, ancestor: Commit): Promise<boolean> {
    // Where history is cut off, a commit names a parent that is not there.
    const isHere = await this.#objects.read("commit", [ancestor]).then(Boolean, () => false);
    let level: readonly string[] = isHere ? [commit] : [];
    for (let depth = 0; depth < nearestAncestors && level.length > 0 && level.length <= nearestAncestors; depth++) {
      const commits = await this.#objects.read("commit", level).catch(() => new Map<string, Uint8Array>());
      level = [...new Set([...commits.values()].flatMap((it) => commitLines(it)?.parents ?? []))];
      if (level.includes(ancestor)) return true;
    }
    return false;
  }

  async history(head: Commit, base: Commit | null, limit: number): Promise<readonly HistoricCommit[] | null> {
    const source = { git: this.#git, name: this.name, objects: this.#objects };
    return programHistory(source, { head, base, limit });
  }

  async firstParents(head: Commit, limit: number): Promise<readonly RawCommit[]> {
    const unsound = isObjectId(head) ? null : head.slice(0, 80);
    if (unsound !== null) throw repositoryFault("RepositoryCorrupt", `reading ${this.name}`, `there is no ${unsound}`);
    const args = ["-c", "core.commitGraph=false", "rev-list", "--first-parent", `--max-count=${limit}`, head, "--"];
    const { output } = await this.#sure(args, "reading the history of");
    const ids = output.toString("latin1").split("\n").slice(0, -1) as Commit[];
    const raws = await this.#objects.read("commit", ids, maxCommitRead);
    return ids.map((commit) => ({ commit, raw: raws.get(commit) ?? new Uint8Array() }));
  }

  async commit(proposal: Proposal): Promise<CommitResult> {
    const stamp = Math.floor(Date.now() / 1000);
    const scratch = `${scratchFolder}/${stamp}-${process.pid}-${randomBytes(6).toString("hex")}`;
    let outcome: CommitResult | null = null;
    try {
      const commit = await this.#signed(await this.#import(proposal, scratch));
      outcome = await this.#hub.move(commit, proposal.parent, scratch);
      return outcome;
    } finally {
      await this.#tidy(outcome?.kind === "committed" ? null : scratch);
    }
  }

  async close(): Promise<void> {
    this.#objects.close();
  }

  async #import(proposal: Proposal, scratch: string): Promise<Commit> {
    const args = [...quickly, "fast-import", "--quiet", "--done", "--date-format=raw", "--depth=0"];
    const answer = await this.#try(args, "writing to", importStream(proposal, scratch));
    if (answer.code === 0) return answer.output.toString("latin1").trim() as Commit;
    const [report, errorText] = splitCrashReport(answer.stderr);
    if (report !== null) await rm(join(this.#git.gitDir ?? "", report), { force: true });
    throw faultFromGitError(`writing to ${this.name}`, errorText);
  }

  /**
   * The same commit with our signature, where we sign: another object. What it leads to hangs on the scratch ref of the
   * one without; itself it is a moment old, and no gc takes that.
   */
  async #signed(commit: Commit): Promise<Commit> {
    if (this.#sign === null) return commit;
    const raw = (await this.#objects.read("commit", [commit])).get(commit) ?? new Uint8Array();
    const text = signedCommit(raw, this.#sign).toString("utf8");
    const { output } = await this.#sure(["hash-object", "-t", "commit", "-w", "--stdin"], "writing to", [text]);
    return output.toString("latin1").trim() as Commit;
  }

  /** Runs after the outcome is known, and cannot change it. */
  async #tidy(scratch: string | null): Promise<void> {
    this.#commits += 1;
    const chores = scratch === null ? [] : [["update-ref", "-d", scratch]];
    if (this.#commits % commitsBetweenTidying === 0) chores.push(["gc", "--auto", "--quiet"]);
    for (const chore of chores) await this.#try(chore, "tidying up").catch(() => {});
  }

  async #sure(args: readonly string[], verb: string, input: Iterable<string> = []): Promise<GitResult> {
    const answer = await this.#try(args, verb, input);
    if (answer.code === 0) return answer;
    throw faultFromGitError(`${verb} ${this.name}`, answer.stderr);
  }

  #try(args: readonly string[], verb: string, input: Iterable<string> = []): Promise<GitResult> {
    return runGit(this.#git, args, { during: `${verb} ${this.name}`, input });
  }
}

/** Takes out of what fast-import said the name of the crash report that it left in the git folder; and the rest. */
function splitCrashReport(errorText: string): readonly [string | null, string] {
  const line = /^fast-import: dumping crash report to .*?(fast_import_crash_\d+)\n?/m.exec(errorText);
  return line === null ? [null, errorText] : [line[1] ?? null, errorText.replace(line[0], "").trim()];
}

/** Removes scratch refs of processes that died between writing a commit and moving the branch. */
export async function removeStaleScratchRefs(git: Git, during: string): Promise<void> {
  const { output } = await runGit(git, ["for-each-ref", "--format=%(refname)", scratchFolder], { during });
  const oldest = Date.now() / 1000 - scratchLifetimeSeconds;
  const dead = output
    .toString("utf8")
    .split("\n")
    .filter((ref) => ref !== "" && Number.parseInt(ref.slice(scratchFolder.length + 1), 10) < oldest);
  if (dead.length > 0)
    await runGit(git, ["update-ref", "--stdin"], { during, input: dead.map((it) => `delete ${it}\n`) });
}

/**
 * Whether `commit` is `ancestor` or follows it. An ancestor that is not here is none; in a shallow clone that would be
 * a guess, and is refused instead (`git/README.md#what-is-promised`).
 */
export async function descends(git: Git, name: string, commit: Commit, ancestor: Commit): Promise<boolean> {
  if (commit === ancestor) return true;
  if (!isObjectId(ancestor)) return false;
  const during = `reading the history of ${name}`;
  const { code, stderr } = await runGit(git, ["merge-base", "--is-ancestor", ancestor, commit], { during });
  if (code === 0) return true;
  await refuseShallow(git, during);
  if (code === 1) return false;
  const here = await runGit(git, ["cat-file", "-e", `${commit}^{commit}`], { during });
  if (here.code === 0) return false;
  throw faultFromGitError(during, stderr);
}

/** `100644 blob <id> <size, padded>\t<path>` */
function treeFileOf(line: string): TreeFile {
  const tab = line.indexOf("\t");
  const [mode, , blob, size] = line.slice(0, tab).split(/ +/);
  return {
    path: line.slice(tab + 1),
    blob: blob as BlobId,
    size: size === "-" ? null : Number(size),
    kind: mode === "120000" ? "link" : mode === "160000" ? "submodule" : "file",
  };
}
