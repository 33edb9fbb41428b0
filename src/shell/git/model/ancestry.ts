import type { Commit } from "../../../core/model/value.ts";

/** Commits with the commits that each of them follows, in the order in which it names them. */
export type Ancestry = ReadonlyMap<Commit, readonly Commit[]>;

/** Which part of the history is asked for: all that `head` has and `base` has not, unless that is more than `limit`. */
export interface HistoryRange {
  readonly head: Commit;
  /** Null: all that `head` has. */
  readonly base: Commit | null;
  readonly limit: number;
}

/** Of a commit that is longer, this much is read and one byte more: no signed commit that counts is as long. */
export const maxCommitRead = 64 * 1024;

/**
 * Orders those commits that `head` leads to, parents before children: the same for every engine, since only what the
 * commits themselves name decides, not their dates.
 */
export function parentsFirst(head: Commit, ancestry: Ancestry): readonly Commit[] {
  const ordered = new Set<Commit>();
  const begun = new Set<Commit>();
  const open = [head];
  for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
    const parents = ancestry.get(at) ?? [];
    if (begun.has(at) || !ancestry.has(at)) {
      open.pop();
      if (ancestry.has(at)) ordered.add(at);
      continue;
    }
    begun.add(at);
    for (const it of [...parents].reverse()) if (!begun.has(it)) open.push(it);
  }
  return [...ordered];
}

/**
 * Whether it is plain that `base` leads to none of these commits: every path down from them that ends here ends at a
 * child of `base`, and no commit can come before its own parent. When it is not, nothing is said.
 */
export function isPlainlyBeyond(base: Commit, ancestry: Ancestry): boolean {
  const isFirst = (parents: readonly Commit[]): boolean => !parents.some((it) => ancestry.has(it));
  return [...ancestry.values()].every((parents) => !isFirst(parents) || parents.includes(base));
}
