import type { CommitFact } from "../src/core/model/commit.ts";
import type { Commit } from "../src/core/model/value.ts";

/** Commits that stand before others. */
export type CommitGraph = ReadonlyMap<Commit, CommitFact>;

/** What `head` has and none of what leads to `base`, parents before their children; `base` null: all of it. */
export function beyond(graph: CommitGraph, head: Commit, base: Commit | null): readonly CommitFact[] {
  const known = new Set(base === null ? [] : leadingTo(graph, base).map((it) => it.commit));
  return leadingTo(graph, head).filter((it) => !known.has(it.commit));
}

/** A commit and all that lead to it, parents first. A commit that nobody knows leads nowhere. */
function leadingTo(graph: CommitGraph, head: Commit): readonly CommitFact[] {
  const found: CommitFact[] = [];
  const seen = new Set<Commit>();
  const open = [{ commit: head, isDone: false }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const fact = graph.get(next.commit);
    if (fact === undefined) continue;
    if (next.isDone) found.push(fact);
    if (next.isDone || seen.has(next.commit)) continue;
    seen.add(next.commit);
    open.push({ commit: next.commit, isDone: true }, ...fact.parents.map((commit) => ({ commit, isDone: false })));
  }
  return found;
}
