import type { Commit } from "../../../core/model/value.ts";

/** Commits with their parents, in order. */
export type Ancestry = ReadonlyMap<Commit, readonly Commit[]>;

/** Which part of the history is asked for: all that `head` has and `base` has not, unless that is more than `limit`. */
export interface HistoryRange {
  readonly head: Commit;
  /** Null: all that `head` has. */
  readonly base: Commit | null;
  readonly limit: number;
}

/** Of a longer commit, this much and one byte more is read: longer signed commits do not count. */
export const maxCommitRead = 64 * 1024;

/**
 * Orders the commits reachable from `head`, parents before children. Every engine gives the same order, since it depends
 * on parents only, not on dates.
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
 * Whether certainly none of these commits is reachable from `base`: those without a parent among them are all children of
 * `base`. False proves nothing.
 */
export function isPlainlyBeyond(base: Commit, ancestry: Ancestry): boolean {
  const isFirst = (parents: readonly Commit[]): boolean => !parents.some((it) => ancestry.has(it));
  return [...ancestry.values()].every((parents) => !isFirst(parents) || parents.includes(base));
}
