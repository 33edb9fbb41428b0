import { devNull } from "node:os";
import type { PathChange } from "../../../core/model/commit.ts";
import type { Commit } from "../../../core/model/value.ts";
import type { HistoricCommit } from "../../reconcile/ports.ts";
import { type Ancestry, type HistoryRange, isPlainlyBeyond, longestCommit, parentsFirst } from "../model/ancestry.ts";
import { isObjectId } from "../model/object-id.ts";
import { faultOfComplaint, repositoryFault } from "../model/repository-fault.ts";
import { linesIn } from "../model/sound-objects.ts";
import { cleanMerges, type Merge } from "./clean-merges.ts";
import { commitChangesOf, diffTreeArgs } from "./commit-changes.ts";
import type { ObjectReader } from "./object-reader.ts";
import { type Git, runGit } from "./process.ts";
import { refuseShallow } from "./shallow.ts";

/** Commits of one `diff-tree`: an answer has to fit into memory. */
const diffedAtOnce = 1000;

/** Where the history is read. */
export interface HistorySource {
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
  const raws = await source.objects.read("commit", commits, longestCommit);
  const changes = await changesOf(source, commits);
  const merges = commits.flatMap((commit): readonly Merge[] => {
    const [first, second, third] = ancestry.get(commit) ?? [];
    if (first === undefined || second === undefined || third !== undefined) return [];
    return [{ commit, parents: [first, second], tree: linesIn(raws.get(commit), commit, duringOf(source)).tree }];
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
  const { code, output, complaint } = await runGit(objectsAlone(source.git), call, { during, input });
  if (code === 0) return output;
  await refuseShallow(source.git, during);
  throw faultOfComplaint(during, complaint);
}
