import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { repositoryFault } from "../model/repository-fault.ts";
import { gitOutput, gitOutputOrNull, type PersonGit } from "./person-git.ts";

// Our commit is at the head of the current branch, and others have pushed before us.

/** How our commit was combined with what others pushed. */
export interface CaughtUp {
  readonly commit: string;
  /** Ours was rebased onto theirs, or theirs was merged into the branch here. */
  readonly way: "rebased" | "merged";
}

/**
 * Brings our commit and what others pushed together, in the branch that is checked out, its index and its work tree;
 * what the person has changed or staged there stays as it is.
 *
 * A commit that is the only one not pushed yet is rebased onto theirs, signed if it was: nothing else of it
 * changes. Where there are more, theirs is merged, which leaves every signature as it is. A fault where both changed the
 * same files, or where it is not signed again (our commit is taken back then), or where files of the person's are in the
 * way.
 */
export async function catchUp(git: PersonGit, ours: string, theirs: string, during: string): Promise<CaughtUp> {
  const parent = await parentOf(git, ours, during);
  if (parent === null || !(await isAncestor(git, parent, theirs, during))) return merged(git, ours, theirs, during);
  const tree = await treeOn(git, { parent, ours, theirs }, during);
  if (tree === null) {
    const paths = await gitOutput(git, ["diff", "--name-only", "--no-renames", parent, ours], { during });
    const fix = `${await undoCommit(git, { head: ours, ours }, during)}: git pull, then run it again`;
    const message = `others pushed changes to ${paths.split("\n").join(", ")} in the meantime`;
    throw repositoryFault("RepositoryRefused", during, message, { fix });
  }
  // Set up to show signatures, git puts what it says of them before the message.
  const message = await gitOutput(git, ["show", "--no-show-signature", "--no-patch", "--format=%B", ours], { during });
  const sign = (await isSigned(git, ours, during)) ? ["-S"] : [];
  const call = { during, input: `${message.trimEnd()}\n` };
  const { code, output, stderr } = await git(["commit-tree", ...sign, "-p", theirs, "-F", "-", tree], call);
  if (code !== 0) {
    const fix = `${await undoCommit(git, { head: ours, ours }, during)}: do what git says above, then run it again`;
    throw repositoryFault("RepositoryRefused", during, stderr, { fix });
  }
  const commit = output.trim();
  await move(git, ours, commit, during);
  return { commit, way: "rebased" };
}

/** Takes our commit and the merge at its `head` off the branch, unless something is in the way; says what is left. */
export async function undoCommit(
  git: PersonGit,
  { head, ours }: { readonly head: string; readonly ours: string },
  during: string,
): Promise<string> {
  const parent = await parentOf(git, ours, during);
  try {
    if (parent !== null) {
      await move(git, head, parent, during);
      return "nothing was committed or pushed";
    }
  } catch {
    // What is left says what to do.
  }
  const how = head === ours ? "--soft" : "--keep";
  const drop = parent === null ? "" : ` (git reset ${how} ${parent.slice(0, 10)} drops it)`;
  return `nothing was pushed, and it stays committed here as ${ours.slice(0, 10)}${drop}`;
}

/** Whether a commit is another one or its ancestor. */
export const isAncestor = async (git: PersonGit, commit: string, other: string, during: string): Promise<boolean> =>
  (await git(["merge-base", "--is-ancestor", commit, other], { during })).code === 0;

const headerEnd = /\n\n[\s\S]*$/;

const isSigned = async (git: PersonGit, commit: string, during: string): Promise<boolean> =>
  /^gpgsig /m.test((await gitOutput(git, ["cat-file", "commit", commit], { during })).replace(headerEnd, ""));

/** The one parent of a commit; null for the first one, and for a merge. */
async function parentOf(git: PersonGit, commit: string, during: string): Promise<string | null> {
  const all = await gitOutput(git, ["rev-list", "--parents", "--max-count=1", commit], { during });
  const [, parent, another] = all.split(" ");
  return another === undefined ? (parent ?? null) : null;
}

interface Sides {
  readonly parent: string;
  readonly ours: string;
  readonly theirs: string;
}

/** The tree of theirs with what our commit changed; null where both changed a file, or nothing of ours is left to do. */
async function treeOn(git: PersonGit, { parent, ours, theirs }: Sides, during: string): Promise<string | null> {
  const folder = await gitOutput(git, ["rev-parse", "--absolute-git-dir"], { during });
  const index = join(folder, `flotilla-index-${process.pid}-${randomBytes(6).toString("hex")}`);
  const call = { during, environment: { GIT_INDEX_FILE: index } };
  try {
    await gitOutput(git, ["read-tree", "-i", "-m", "--aggressive", parent, ours, theirs], call);
    // It refuses what is not merged.
    const tree = await gitOutputOrNull(git, ["write-tree"], call);
    return tree === (await gitOutput(git, ["rev-parse", `${theirs}^{tree}`], { during })) ? null : tree;
  } finally {
    await rm(index, { force: true });
  }
}

/** Moves the branch, its index and its work tree from one commit to another, as a checkout does: all or nothing. */
async function move(git: PersonGit, from: string, to: string, during: string): Promise<void> {
  if ((await gitOutput(git, ["rev-parse", "HEAD"], { during })) !== from) {
    const fix = "see what else is at work in this work tree, then run it again";
    throw repositoryFault("RepositoryRefused", during, "the branch moved in the meantime", { fix });
  }
  // Without it, a file that was only touched counts as changed.
  await git(["update-index", "-q", "--refresh"], { during });
  const { code, stderr } = await git(["read-tree", "-m", "-u", from, to], { during });
  if (code !== 0) throw repositoryFault("RepositoryRefused", during, stderr, { fix: committedAdvice(from) });
  const moved = await git(["update-ref", "-m", "flotilla", "HEAD", to, from], { during });
  if (moved.code === 0) return;
  await git(["read-tree", "-m", "-u", to, from], { during });
  throw repositoryFault("RepositoryRefused", during, moved.stderr, { fix: committedAdvice(from) });
}

async function merged(git: PersonGit, ours: string, theirs: string, during: string): Promise<CaughtUp> {
  const sign = (await isSigned(git, ours, during)) ? ["-S"] : [];
  const words = "Merge what others pushed meanwhile";
  const { code, output, stderr } = await git(["merge", "--quiet", "--ff", ...sign, "-m", words, theirs], { during });
  if (code !== 0) {
    await git(["merge", "--abort"], { during });
    const message = stderr === "" ? output.trim() : stderr;
    throw repositoryFault("RepositoryRefused", during, message, { fix: committedAdvice(ours) });
  }
  return { commit: await gitOutput(git, ["rev-parse", "HEAD"], { during }), way: "merged" };
}

const committedAdvice = (commit: string): string =>
  `it is committed here as ${commit.slice(0, 10)} and not pushed: see what git says above, then ${pullAdvice}`;

/** Integrates what others pushed and keeps signatures: a rebase would drop them. */
export const pullAdvice = "git pull --no-rebase (a rebase would lose the signature), then git push";
