import type { Commit } from "../../core/model/value.ts";
import type { HistoricCommit, Repository } from "./ports.ts";

/** What a head has beyond each of some commits, parents first; null: too many to be looked at. */
export interface Walks {
  readonly head: Commit;
  readonly beyond: ReadonlyMap<Commit | null, readonly Commit[] | null>;
}

/** Says what one head has beyond other commits. */
export interface Walker {
  /** The ids, parents first; null when there are more than the limit. */
  ids(base: Commit | null): Promise<readonly Commit[] | null>;
  /** The commits themselves; none when there are too many. */
  commits(base: Commit | null): Promise<readonly HistoricCommit[]>;
  /** Commits that were read for either. */
  readonly read: ReadonlyMap<Commit, HistoricCommit>;
  /** What was found out, for the next head. */
  readonly walks: () => Walks;
}

/**
 * Walks back from `head`. Where the head of the last time is among the ancestors, what it had is not walked again: what
 * is new comes on top of it.
 *
 * A base that the head does not have, as after a rewrite that an operator accepted, bounds nothing: then it is all that
 * the head has.
 */
export function walker(repository: Repository, head: Commit, limit: number, last: Walks | null): Walker {
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

/** Asks once for each value. */
function once<K, V>(ask: (about: K) => Promise<V>): (about: K) => Promise<V> {
  const known = new Map<K, Promise<V>>();
  return (about) => {
    const asked = known.get(about) ?? ask(about);
    known.set(about, asked);
    return asked;
  };
}
