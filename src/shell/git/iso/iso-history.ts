import git from "isomorphic-git";
import type { CommitFact, PathChange } from "../../../core/model/commit.ts";
import type { BlobId, Commit } from "../../../core/model/value.ts";
import type { HistoricCommit, RawCommit } from "../../reconcile/ports.ts";
import { type Ancestry, type HistoryRange, maxCommitRead, parentsFirst } from "../model/commits.ts";
import { repositoryFault } from "../model/repository-fault.ts";
import { commitLinesIn, lenientEntriesIn } from "../model/sound-objects.ts";
import { type TreeDifference, treeDifferences } from "../model/tree-changes.ts";
import { type IsoStore, readTrees } from "./iso-tree.ts";
import { atomicFiles as fs } from "./mirror-folder.ts";

/**
 * Reads history through isomorphic-git: what `Repository.history` promises.
 *
 * Object by object, from the bytes that are stored: what the library makes of a commit is never asked. A branch that was
 * forked off before `base` costs reading all that `base` has: only then it is sure that nothing of it is listed.
 */
export async function isoHistory(store: IsoStore, range: HistoryRange): Promise<readonly HistoricCommit[] | null> {
  const ancestry = await beyond(store, range);
  if (ancestry === null) return null;
  const history: HistoricCommit[] = [];
  for (const commit of parentsFirst(range.head, ancestry)) history.push(await historic(store, commit, ancestry));
  return history;
}

/** Reads commits by their first parents: what `Repository.lineage` promises. */
export async function isoLineage(store: IsoStore, head: Commit, limit: number): Promise<readonly RawCommit[]> {
  const commits: RawCommit[] = [];
  for (let at: Commit | undefined = head; at !== undefined && commits.length < limit; ) {
    const whole = await rawCommit(store, at);
    commits.push({ commit: at, raw: whole.slice(0, maxCommitRead + 1) });
    at = commitLinesIn(whole, at, during).parents[0] as Commit | undefined;
  }
  return commits;
}

const during = "reading the history";

/** Whether `commit` leads to `ancestor`, by the bytes that are stored; an ancestor that is not here is none. */
export async function isoDescends(store: IsoStore, commit: Commit, ancestor: Commit): Promise<boolean> {
  const seen = new Set<Commit>();
  const open = [commit];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === ancestor) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    open.push(...(commitLinesIn(await rawCommit(store, at), at, during).parents as readonly Commit[]));
  }
  return false;
}

/** Null when there are too many. */
async function beyond(store: IsoStore, { head, base, limit }: HistoryRange): Promise<Ancestry | null> {
  if (base === null) return walk(store, head, new Set(), limit);
  const near = await walk(store, head, new Set([base]), limit);
  // Whoever is in the history of `base` leads to the beginning of all without meeting `base`.
  const isExact = near !== null && [...near.values()].every((parents) => parents.length > 0);
  if (isExact) return near;
  const known = (await walk(store, base, new Set(), Number.POSITIVE_INFINITY)) ?? new Map<Commit, never>();
  return walk(store, head, new Set(known.keys()), limit);
}

/** All that `head` leads to, up to what is known; null when that is more than `limit`. */
async function walk(
  store: IsoStore,
  head: Commit,
  known: ReadonlySet<Commit>,
  limit: number,
): Promise<Ancestry | null> {
  const ancestry = new Map<Commit, readonly Commit[]>();
  const open = [head];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (known.has(at) || ancestry.has(at)) continue;
    if (ancestry.size >= limit) return null;
    const parents = commitLinesIn(await rawCommit(store, at), at, during).parents as readonly Commit[];
    ancestry.set(at, parents);
    open.push(...parents);
  }
  return ancestry;
}

async function rawCommit(store: IsoStore, oid: Commit): Promise<Uint8Array> {
  const { type, object } = await git.readObject({ fs, ...store, oid, format: "content" });
  if (type === "commit" && object instanceof Uint8Array) return object;
  throw repositoryFault("RepositoryCorrupt", during, `there is no commit ${oid}`);
}

async function historic(store: IsoStore, commit: Commit, ancestry: Ancestry): Promise<HistoricCommit> {
  const whole = await rawCommit(store, commit);
  const parents = ancestry.get(commit) ?? [];
  const { tree } = commitLinesIn(whole, commit, during);
  const trees: string[] = [];
  for (const it of parents) trees.push(commitLinesIn(await rawCommit(store, it), it, during).tree);
  const [first = [], ...others] = await differencesFrom(store, trees, tree);
  const elsewhere = others.map((it) => new Set(it.map(({ path }) => path)));
  const changes = first.filter(({ path }) => elsewhere.every((it) => it.has(path))).map(pathChangeOf);
  return {
    commit,
    raw: whole.slice(0, maxCommitRead + 1),
    changes,
    merge: mergeOf(parents, ancestry, trees[1] === tree),
  };
}

async function differencesFrom(
  store: IsoStore,
  parents: readonly string[],
  tree: string,
): Promise<readonly (readonly TreeDifference[])[]> {
  // A commit that was never believed may stand between two that are: what it changed counts however it is read.
  const read = (ids: readonly string[]) => readTrees(store, ids, lenientEntriesIn);
  const all: (readonly TreeDifference[])[] = [];
  for (const it of parents.length === 0 ? [null] : parents) all.push(await treeDifferences(read, it, tree));
  return all;
}

const pathChangeOf = ({ path, before, after }: TreeDifference): PathChange => ({
  path,
  before: (before?.id ?? null) as BlobId | null,
  after: (after?.id ?? null) as BlobId | null,
});

/**
 * Merges are not made again here, with one exception: a branch that already had all of the first parent. Merging that
 * comes to its own tree. Anything else counts as unclean, which is the careful answer; the git program knows better.
 */
function mergeOf(parents: readonly Commit[], ancestry: Ancestry, isTreeOfSecond: boolean): CommitFact["merge"] {
  const [first, second, third] = parents;
  if (first === undefined || second === undefined) return null;
  if (third !== undefined || !isTreeOfSecond) return "unclean";
  return leadsTo(second, first, ancestry) ? "clean" : "unclean";
}

/** Whether `from` leads to `to` through these commits. */
function leadsTo(from: Commit, to: Commit, ancestry: Ancestry): boolean {
  const seen = new Set<Commit>();
  const open = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === to) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    open.push(...(ancestry.get(at) ?? []));
  }
  return false;
}
