import type { Buffer } from "node:buffer";
import { mkdtemp, rm } from "node:fs/promises";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import type { PathChange } from "../../../core/model/commit.ts";
import { type BlobId, type Commit, compareText } from "../../../core/model/value.ts";
import type { HistoricCommit } from "../../reconcile/ports.ts";
import {
  type Ancestry,
  type HistoryRange,
  isObjectId,
  isPlainlyBeyond,
  maxCommitRead,
  parentsFirst,
} from "../model/commits.ts";
import { faultFromGitError, repositoryFault } from "../model/repository-fault.ts";
import { commitLinesIn } from "../model/sound-objects.ts";
import type { ObjectReader } from "./object-reader.ts";
import { type Git, runGit } from "./process.ts";

/** Commits of one `diff-tree`: an answer has to fit into memory. */
const diffedAtOnce = 1000;

interface HistorySource {
  readonly git: Git;
  readonly name: string;
  readonly objects: ObjectReader;
}

/**
 * Reads history through the git program (`Repository.history`), with a handful of processes for thousands of commits,
 * by objects alone: no replaced objects, grafts, shallow edge or commit-graph file have a say.
 */
export async function programHistory(
  source: HistorySource,
  range: HistoryRange,
): Promise<readonly HistoricCommit[] | null> {
  const unsound = [range.head, range.base ?? range.head].find((it) => !isObjectId(it));
  if (unsound !== undefined)
    throw repositoryFault("RepositoryCorrupt", duringOf(source), `there is no commit ${unsound.slice(0, 80)}`);
  const ancestry = await beyond(source, range);
  if (ancestry === null) return null;
  const commits = parentsFirst(range.head, ancestry);
  const raws = await source.objects.read("commit", commits, maxCommitRead);
  const changes = await changesOf(source, commits);
  const merges = commits.flatMap((commit): readonly Merge[] => {
    const [first, second, third] = ancestry.get(commit) ?? [];
    if (first === undefined || second === undefined || third !== undefined) return [];
    return [{ commit, parents: [first, second], tree: commitLinesIn(raws.get(commit), commit, duringOf(source)).tree }];
  });
  const clean = await cleanMerges(objectsAlone(source.git), merges);
  return commits.map((commit) => ({
    commit,
    raw: raws.get(commit) ?? new Uint8Array(),
    changes: changes.get(commit) ?? [],
    merge: (ancestry.get(commit)?.length ?? 0) < 2 ? null : clean.has(commit) ? "clean" : "unclean",
  }));
}

const duringOf = ({ name }: HistorySource): string => `reading the history of ${name}`;

/** An empty shallow file is none: what is cut off is then missing, and not the beginning of all. */
export const objectsAlone = (git: Git): Git => ({
  ...git,
  environment: { ...git.environment, GIT_GRAFT_FILE: devNull, GIT_SHALLOW_FILE: "" },
});

/** Null when there are too many. */
async function beyond(source: HistorySource, { head, base, limit }: HistoryRange): Promise<Ancestry | null> {
  const most = `--max-count=${limit + 1}`;
  const found = await revisions(source, [most, "--parents", head, ...(base === null ? [] : [`^${base}`])]);
  const ancestry = new Map(found.map(([commit, ...parents]) => [commit, parents]));
  if (ancestry.size > limit) return null;
  if (base === null || isPlainlyBeyond(base, ancestry)) return ancestry;
  // Git goes by the dates of commits, which anybody can set, so it may list what `base` has too.
  for (const [known] of await revisions(source, [base])) ancestry.delete(known);
  return ancestry;
}

type Revision = readonly [Commit, ...Commit[]];

async function revisions(source: HistorySource, args: readonly string[]): Promise<readonly Revision[]> {
  const output = await sure(source, ["rev-list", ...args, "--"], "");
  const lines = output.toString("latin1").split("\n").slice(0, -1);
  return lines.map((it) => it.split(" ") as [Commit, ...Commit[]]);
}

async function changesOf(
  source: HistorySource,
  commits: readonly Commit[],
): Promise<ReadonlyMap<Commit, readonly PathChange[]>> {
  const all = new Map<Commit, readonly PathChange[]>();
  for (let at = 0; at < commits.length; at += diffedAtOnce) {
    const some = commits.slice(at, at + diffedAtOnce);
    const changes = commitChangesOf(await sure(source, diffTreeArgs, `${some.join("\n")}\n`));
    if (changes === null || some.some((it) => !changes.has(it)))
      throw repositoryFault("RepositoryCorrupt", duringOf(source), "git did not say what each commit changed");
    for (const [commit, it] of changes) all.set(commit, it);
  }
  return all;
}

async function sure(source: HistorySource, args: readonly string[], input: string): Promise<Buffer> {
  const during = duringOf(source);
  const call = ["-c", "core.commitGraph=false", ...args];
  const { code, output, stderr } = await runGit(objectsAlone(source.git), call, { during, input });
  if (code === 0) return output;
  await refuseShallow(source.git, during);
  throw faultFromGitError(during, stderr);
}

/** Rejects a shallow clone: what is not found there may still be (`git/README.md#what-is-promised`). */
export async function refuseShallow(git: Git, during: string): Promise<void> {
  const shallow = await runGit(git, ["rev-parse", "--is-shallow-repository"], { during });
  if (shallow.output.toString("utf8").trim() !== "true") return;
  const fix = "run git fetch --unshallow there, or check out with full history (fetch-depth: 0)";
  throw repositoryFault("RepositoryUnsupported", during, "it is a shallow clone: its history is cut off", { fix });
}

/** How `git diff-tree` is asked: by mode and id alone; of a merge, what differs from every parent (`-c`). */
const diffTreeArgs: readonly string[] = [
  ...["diff-tree", "--stdin", "-r", "-c", "-z", "--raw", "--no-abbrev"],
  ...["--root", "--always", "--no-renames", "--ignore-submodules=none"],
];

/**
 * Reads its answer: for each commit its id, then `:<modes> <ids> <letters>` and a path for everything it changed, with
 * a colon, a mode and an id for each parent. Null for an answer that is not like that.
 */
function commitChangesOf(output: Buffer): ReadonlyMap<Commit, readonly PathChange[]> | null {
  const changes = new Map<Commit, PathChange[]>();
  let current: PathChange[] | undefined;
  let at = 0;
  const next = (): string | null => {
    const end = output.indexOf(0, at);
    if (end < 0) return null;
    const text = output.toString("utf8", at, end);
    at = end + 1;
    return text;
  };
  while (at < output.length) {
    const line = next();
    if (line === null) return null;
    if (/^[0-9a-f]{40}$/.test(line)) {
      current = [];
      changes.set(line as Commit, current);
      continue;
    }
    const ids = idsOf(line);
    const path = next();
    if (ids === null || path === null || current === undefined) return null;
    current.push({ path, before: ids.before, after: ids.after });
  }
  for (const it of changes.values()) it.sort((a, b) => compareText(a.path, b.path));
  return changes;
}

/** Of what stood in the first parent, and of what stands there. */
function idsOf(line: string): Pick<PathChange, "before" | "after"> | null {
  const parents = /^:*/.exec(line)?.[0].length ?? 0;
  const words = line.slice(parents).split(" ");
  const before = words[parents + 1];
  const after = words[2 * parents + 1];
  if (parents === 0 || words.length !== 2 * parents + 3 || before === undefined || after === undefined) return null;
  return { before: blobOf(before), after: blobOf(after) };
}

const blobOf = (id: string): BlobId | null => (/^0+$/.test(id) ? null : (id as BlobId));

/** A merge of two, with the tree that it says came of it. */
interface Merge {
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
async function cleanMerges(git: Git, merges: readonly Merge[]): Promise<ReadonlySet<Commit>> {
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
