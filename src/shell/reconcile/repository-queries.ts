import { commitLines } from "../../core/model/commit.ts";
import type { Commit } from "../../core/model/value.ts";
import { Fault } from "./fault.ts";
import type { HistoricCommit, RawCommit, Repository, TreeChange } from "./ports.ts";

/** What a head has beyond each of some commits, parents first; null: too many to be looked at. */
export interface WalkedHistory {
  readonly head: Commit;
  readonly beyond: ReadonlyMap<Commit | null, readonly Commit[] | null>;
}

/** Gives the commits that a head has beyond other commits. */
export interface CommitWalker {
  /** The ids, parents first; null when there are more than the limit. */
  ids(base: Commit | null): Promise<readonly Commit[] | null>;
  /** The commits themselves; none when there are too many. */
  commits(base: Commit | null): Promise<readonly HistoricCommit[]>;
  /** Commits that were read for either. */
  readonly read: ReadonlyMap<Commit, HistoricCommit>;
  /** The result, for the next head. */
  readonly walks: () => WalkedHistory;
}

/**
 * Walks back from `head`; where the last head is among the ancestors, only what is new is walked. A base that the head
 * does not have, as after an accepted rewrite, bounds nothing: then it is all that the head has.
 */
export function newCommitWalker(
  repository: Repository,
  head: Commit,
  limit: number,
  last: WalkedHistory | null,
): CommitWalker {
  const read = new Map<Commit, HistoricCommit>();
  const beyond = new Map<Commit | null, readonly Commit[] | null>();
  const unbounded = new Set<Commit | null>();
  const walk = once(async (base: Commit | null): Promise<readonly HistoricCommit[] | null> => {
    if (base === head) return [];
    const from = base !== null && (await repository.descends(head, base)) ? base : null;
    if (from !== base) unbounded.add(base);
    const commits = await repository.history(head, from, limit);
    for (const it of commits ?? []) read.set(it.commit, it);
    return commits;
  });
  const isOnTop = once((before: Commit) => repository.descends(head, before));
  const ids = async (base: Commit | null): Promise<readonly Commit[] | null> => {
    const older = last?.beyond.get(base);
    if (last === null || older === undefined || !(await isOnTop(last.head))) return idsOf(await walk(base));
    const newer = older === null ? null : idsOf(await walk(last.head));
    return older === null || newer === null || older.length + newer.length > limit ? null : [...older, ...newer];
  };
  return {
    ids: async (base) => {
      const found = await ids(base);
      // A base that comes into the history later will bound it then.
      if (!unbounded.has(base)) beyond.set(base, found);
      return found;
    },
    commits: async (base) => (await walk(base)) ?? [],
    read,
    walks: () => ({ head, beyond }),
  };
}

const idsOf = (commits: readonly HistoricCommit[] | null): readonly Commit[] | null =>
  commits?.map((it) => it.commit) ?? null;

/** Calls once for each value. */
function once<K, V>(ask: (about: K) => Promise<V>): (about: K) => Promise<V> {
  const known = new Map<K, Promise<V>>();
  return (about) => {
    const asked = known.get(about) ?? ask(about);
    known.set(about, asked);
    return asked;
  };
}

/** More than this is asked of no adapter that reads a whole history for it. */
const longest = 100_000;

/** A commit and those before it by first parents, the newest first, with any adapter. */
export async function firstParentHistory(
  repository: Repository,
  head: Commit,
  limit: number,
): Promise<readonly RawCommit[]> {
  if (repository.firstParents !== undefined) return repository.firstParents(head, limit);
  const all = new Map((await repository.history(head, null, longest))?.map((it) => [it.commit, it]));
  const found: RawCommit[] = [];
  for (let at = all.get(head); at !== undefined && found.length < limit; at = all.get(firstParent(at) as Commit))
    found.push(at);
  return found;
}

/** The first commit that a commit names as its parent, by its bytes; null for a root. */
export const firstParent = ({ raw }: RawCommit): Commit | null => (parentsOf(raw)[0] as Commit | undefined) ?? null;

/** The commits that a commit names as its parents. */
export function parentsOf(raw: Uint8Array): readonly string[] {
  return commitLines(raw)?.parents ?? [];
}

/** The changes up to a commit. */
interface Since {
  /** From which commit on; null: the changes are everything. */
  readonly from: Commit | null;
  readonly changes: readonly TreeChange[];
}

/** Where and up to where changes are asked for. */
interface SinceQuestion {
  readonly to: Commit;
  /** Which folders are looked into. An adapter that lists instead may give more. */
  readonly enters: (folder: string) => boolean;
}

/** Gives what changed since a commit that was read before, or everything where that is not available. */
export async function treeChangesSince(
  repository: Repository,
  from: Commit | null,
  { to, enters }: SinceQuestion,
): Promise<Since> {
  if (repository.changes === undefined) {
    const files = await repository.files(to);
    return { from: null, changes: files.map((file) => ({ path: file.path, file })) };
  }
  try {
    return { from, changes: await repository.changes(from, to, enters) };
  } catch (error) {
    // After a reset of the branch, the earlier commit may be gone.
    if (from === null || !(error instanceof Fault) || error.code !== "RepositoryCorrupt") throw error;
    return { from: null, changes: await repository.changes(null, to, enters) };
  }
}
