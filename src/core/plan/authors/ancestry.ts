import type { History } from "../../model/history.ts";
import type { Commit } from "../../model/value.ts";

/** What these commits have, themselves included, as far as it is known; not entered: what stands in `without`. */
export function reachable(
  from: readonly Commit[],
  commits: History["commits"],
  without: Pick<ReadonlySet<Commit>, "has">,
): Set<Commit> {
  const seen = new Set<Commit>();
  const open = [...from];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next) || without.has(next)) continue;
    seen.add(next);
    open.push(...(commits.get(next)?.parents ?? []));
  }
  return seen;
}

/**
 * By which commit of the branch itself each commit came there: by the first, along first parents, that has it. A merge
 * brings what was merged; a commit that was made there brings itself.
 */
export function arrivalsIn({ head, commits }: Pick<History, "head" | "commits">): ReadonlyMap<Commit, Commit> {
  const line: Commit[] = [];
  for (let at: Commit | undefined = head; at !== undefined && commits.has(at); at = commits.get(at)?.parents[0])
    line.push(at);
  const arrivals = new Map<Commit, Commit>();
  for (const it of line.reverse()) for (const id of reachable([it], commits, arrivals)) arrivals.set(id, it);
  return arrivals;
}
