import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import type { Commit } from "../../../core/model/value.ts";
import type { BranchNames, CommitResult, Heads, Repository } from "../../reconcile/ports.ts";
import type { PathAddress } from "../model/address.ts";
import { type Branches, branchNamesOf, refOf } from "../model/branch.ts";
import type { SignCommit } from "../model/commits.ts";
import { faultFromGitError, repositoryFault } from "../model/repository-fault.ts";
import { type Git, gitEnvironment, runGit } from "./process.ts";
import { type Hub, ProgramRepository, removeStaleScratchRefs } from "./program.ts";

interface PathUse {
  /** Signs our commits; null: they are unsigned. */
  readonly sign: SignCommit | null;
  /** A branch that is not there is read where git keeps what it fetched of it from `origin`. Only for reading. */
  readonly tracked: boolean;
}

/**
 * Opens a repository on this machine as the hub. The state branch moves by compare-and-swap of its ref; index and
 * checked-out files are never touched, so a person should not have that branch checked out.
 */
export async function openPath(
  address: PathAddress,
  branches: Branches,
  { sign, tracked }: PathUse,
): Promise<Repository> {
  const git = await gitAt(address);
  await removeStaleScratchRefs(git, `reading ${address.name}`);
  return new ProgramRepository(address.name, git, new PathHub(address.name, git, { branches, tracked }), sign);
}

/** Where a clone has a branch as last fetched: `origin/fleet/state`. Null where it has its own, or neither. */
export async function trackedBranch(address: PathAddress, branch: string): Promise<string | null> {
  const [own, fetched] = [refOf(branch), fetchedRef(branch)];
  const refs = await readRefs(await gitAt(address), [own, fetched], `reading ${address.name}`);
  return !refs.has(own) && refs.has(fetched) ? `origin/${branch}` : null;
}

const fetchedRef = (branch: string): string => `refs/remotes/origin/${branch}`;

/**
 * Where a repository at a path keeps its refs; of a linked work tree, that is the main one's. The folders above the
 * path are not asked: a folder inside another project is not a fleet.
 */
export async function gitFolderOf({ name, path }: PathAddress): Promise<string> {
  return (await describe(name, path)).folder;
}

async function gitAt({ name, path }: PathAddress): Promise<Git> {
  const { folder, format } = await describe(name, path);
  if (format !== "sha1") {
    throw repositoryFault("RepositoryUnsupported", `reading ${name}`, `its object format is ${format}`);
  }
  return { gitDir: folder, environment: gitEnvironment(), secrets: [] };
}

async function describe(name: string, path: string): Promise<{ folder: string; format: string }> {
  const during = `reading ${name}`;
  const real = await realpath(path).catch((cause: unknown) => {
    throw repositoryFault("RepositoryNotFound", during, "there is no such folder", { cause });
  });
  const environment = { ...gitEnvironment(), GIT_CEILING_DIRECTORIES: dirname(real) };
  const asked = ["--path-format=absolute", "--git-common-dir", "--show-object-format"];
  const answer = await runGit({ gitDir: null, environment, secrets: [] }, ["-C", real, "rev-parse", ...asked], {
    during,
  });
  if (answer.code !== 0) throw faultFromGitError(during, answer.stderr);
  const [folder = "", format = ""] = answer.output.toString("utf8").trimEnd().split("\n");
  return { folder, format };
}

class PathHub implements Hub {
  readonly #name: string;
  readonly #git: Git;
  readonly #branches: Branches;
  readonly #tracked: boolean;

  constructor(
    name: string,
    git: Git,
    { branches, tracked }: { readonly branches: Branches; readonly tracked: boolean },
  ) {
    this.#name = name;
    this.#git = git;
    this.#branches = branches;
    this.#tracked = tracked;
  }

  async heads(): Promise<Heads> {
    const placesOf = (branch: string): readonly string[] =>
      this.#tracked ? [refOf(branch), fetchedRef(branch)] : [refOf(branch)];
    const source = placesOf(this.#branches.source);
    const state = placesOf(this.#branches.state);
    const refs = await readRefs(this.#git, [...source, ...state], `reading ${this.#name}`);
    const headOf = (places: readonly string[]): Commit | null => places.flatMap((it) => refs.get(it) ?? [])[0] ?? null;
    return { source: headOf(source), state: headOf(state) };
  }

  async branches(): Promise<BranchNames> {
    const { source, state } = this.#branches;
    const during = `reading the branches of ${this.#name}`;
    const refs = await readRefs(this.#git, ["refs/heads/"], during);
    const head = await runGit(this.#git, ["symbolic-ref", "--quiet", "HEAD"], { during });
    return { source, state, there: branchNamesOf([...refs.keys()], head.output.toString("utf8").trimEnd()) };
  }

  async move(commit: Commit, parent: Commit | null, scratch: string): Promise<CommitResult> {
    const ref = refOf(this.#branches.state);
    const during = `moving ${this.#branches.state} of ${this.#name}`;
    const swap = parent === null ? `create ${ref} ${commit}` : `update ${ref} ${commit} ${parent}`;
    const input = `${swap}\ndelete ${scratch}\n`;
    const answer = await runGit(this.#git, ["update-ref", "-m", "flotilla", "--stdin"], { during, input });
    if (answer.code === 0) return { kind: "committed", commit };
    const { state } = await this.heads();
    if (state !== parent) return { kind: "superseded" };
    throw faultFromGitError(during, answer.stderr);
  }
}

/** Where the named refs stand; those that do not exist are left out. */
export async function readRefs(
  git: Git,
  refs: readonly string[],
  during: string,
): Promise<ReadonlyMap<string, Commit>> {
  const answer = await runGit(git, ["for-each-ref", "--format=%(objectname) %(refname)", ...refs], { during });
  if (answer.code !== 0) throw faultFromGitError(during, answer.stderr);
  const lines = answer.output.toString("utf8").split("\n").slice(0, -1);
  return new Map(lines.map((line) => [line.slice(41), line.slice(0, 40) as Commit]));
}
