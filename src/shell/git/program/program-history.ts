import type { Buffer } from "node:buffer";
import { devNull } from "node:os";
import type { PathChange } from "../../../core/model/commit.ts";
import { type BlobId, type Commit, compareText } from "../../../core/model/value.ts";
import type { HistoricCommit } from "../../reconcile/ports.ts";
import { type Ancestry, type HistoryRange, isPlainlyBeyond, maxCommitRead, parentsFirst } from "../model/ancestry.ts";
import { isObjectId } from "../model/commit-object.ts";
import { faultFromGitError, repositoryFault } from "../model/repository-fault.ts";
import { commitLinesIn } from "../model/sound-objects.ts";
import { cleanMerges, type Merge } from "./clean-merges.ts";
import type { ObjectReader } from "./object-reader.ts";
import { type Git, runGit } from "./process.ts";

/** Commits of one `diff-tree`: an answer has to fit into memory. */
const diffedAtOnce = 1000;

/** Where the history is read. */
interface HistorySource {
  readonly git: Git;
  readonly name: string;
  readonly objects: ObjectReader;
}

/**
 * Reads history through the git program: what `Repository.history` promises, with a handful of processes for thousands of
 * commits.
 *
 * Only what the objects say counts: neither replaced objects nor grafts, the edge of a shallow clone or a commit-graph
 * file have a say in who follows whom.
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

/**
 * Rejects when the repository is a shallow clone: what is not found there may still be
 * (`git/README.md#what-is-promised`). `during` is what failed.
 */
export async function refuseShallow(git: Git, during: string): Promise<void> {
  const shallow = await runGit(git, ["rev-parse", "--is-shallow-repository"], { during });
  if (shallow.output.toString("utf8").trim() !== "true") return;
  const fix = "run git fetch --unshallow there, or check out with full history (fetch-depth: 0)";
  throw repositoryFault("RepositoryUnsupported", during, "it is a shallow clone: its history is cut off", { fix });
}

/**
 * How `git diff-tree` is asked what commits changed, by ids on its input: by mode and id alone, whatever the user's
 * configuration says about renames and submodules; of a merge, what differs from every parent (`-c`).
 */
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
