import { mkdtemp, rm } from "node:fs/promises";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import type { Commit } from "../../../core/model/value.ts";
import { type Git, runGit } from "./process.ts";

/** A merge of two, with the tree that it says came of it. */
export interface Merge {
  readonly commit: Commit;
  readonly parents: readonly [Commit, Commit];
  readonly tree: string;
}

/** Git's defaults, whatever the user's configuration and `.gitattributes` say. */
const plainly = [
  ...["-c", "core.commitGraph=false", "-c", `core.attributesFile=${devNull}`],
  // The empty tree: no attributes. Git knows it without having it.
  ...["-c", "attr.tree=4b825dc642cb6eb9a060e54bf8d69288fbee4904"],
  ...["-c", "merge.renames=true", "-c", "merge.renameLimit=7000"],
  ...["-c", "merge.directoryRenames=conflict", "-c", "merge.renormalize=false"],
];

const args = [...plainly, "merge-tree", "--write-tree", "--stdin", "--no-messages", "--name-only"];

/** Merges per process: one that makes git fail affects these only. */
const atOnce = 200;

/**
 * Gives those merges whose tree is what merging their parents again comes to, without a conflict
 * (`trust/README.md#step-4`).
 *
 * What git makes goes to a folder that is removed at once: whoever only reads a repository leaves nothing in it. A git
 * older than 2.39, or one that fails, has found no merge clean; that is the careful answer, so this never rejects.
 */
export async function cleanMerges(git: Git, merges: readonly Merge[]): Promise<ReadonlySet<Commit>> {
  const clean = new Set<Commit>();
  if (merges.length === 0) return clean;
  const folder = await mkdtemp(join(tmpdir(), "flotilla-merges-")).catch(() => null);
  if (folder === null) return clean;
  const aside: Git = { ...git, environment: { ...git.environment, ...writingTo(folder, git) } };
  for (let at = 0; at < merges.length; at += atOnce) {
    const some = merges.slice(at, at + atOnce);
    const trees = await mergedTrees(aside, some);
    for (const [at, it] of some.entries()) if (trees[at] === it.tree) clean.add(it.commit);
  }
  await rm(folder, { recursive: true, force: true }).catch(() => {});
  return clean;
}

const writingTo = (folder: string, { gitDir }: Git): NodeJS.ProcessEnv => ({
  GIT_OBJECT_DIRECTORY: folder,
  // Quoted, since a colon would part two folders.
  GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(gitDir ?? "", "objects")),
  GIT_ATTR_NOSYSTEM: "1",
});

/** The tree of each that merges without a conflict, null of any other; those after a failure are left out. */
async function mergedTrees(git: Git, merges: readonly Merge[]): Promise<readonly (string | null)[]> {
  const input = merges.map(({ parents }) => `${parents.join(" ")}\n`).join("");
  const answer = await runGit(git, args, { during: "merging again", input }).catch(() => null);
  const words = answer?.output.toString("latin1").split("\0") ?? [];
  const trees: (string | null)[] = [];
  // `1 <tree>`, or `0 <tree>` and the paths in conflict; then an empty word.
  for (let at = 0; at < words.length; at = words.indexOf("", at) + 1) {
    const [clean, tree] = words.slice(at, at + 2);
    if (tree === undefined || !/^[0-9a-f]{40}$/.test(tree)) break;
    trees.push(clean === "1" ? tree : null);
    if (!words.includes("", at)) break;
  }
  return trees;
}
