import type { CommitFact } from "../../model/commit.ts";
import type { History } from "../../model/history.ts";
import type { BlobId, Commit } from "../../model/value.ts";
import { reachable } from "./ancestry.ts";

/** Where a merge is looked at. */
interface MergeContext {
  readonly facts: readonly CommitFact[];
  readonly commits: History["commits"];
  /** What stands at a path at the head. */
  readonly standing: ReadonlyMap<string, BlobId>;
  /** Whether a commit changed something that matters in the file at a path. */
  readonly matters: (fact: CommitFact, path: string) => boolean;
}

/**
 * Whether a merge leaves out what one of its sides changed, in a file that is in the end as another side had it: that is
 * in none of the diffs against its parents, and whoever merged so made it.
 */
export function dropsParentChanges({ commit, parents, changes }: CommitFact, context: MergeContext): boolean {
  const { facts, commits } = context;
  const listed = new Set(changes.map((it) => it.path));
  const sides = parents.map((it) => reachable([it], commits, new Set()));
  return sides.some((side, at) => {
    const isOwn = (it: Commit): boolean => side.has(it) && !sides.some((other, of) => of !== at && other.has(it));
    const own = facts.filter((it) => isOwn(it.commit));
    const paths = new Set(
      own.flatMap((fact) => fact.changes.filter((it) => context.matters(fact, it.path)).map((it) => it.path)),
    );
    return [...paths].some((path) => !listed.has(path) && !isKept(path, commit, own, context));
  });
}

/** Whether the file is after the merge as the last commit of a side left it. */
function isKept(
  path: string,
  merge: Commit,
  own: readonly CommitFact[],
  { facts, commits, standing }: MergeContext,
): boolean {
  const touching = (it: CommitFact) => it.changes.find((change) => change.path === path);
  const last = own.filter(
    (it) =>
      touching(it) !== undefined &&
      !own.some(
        (other) => other !== it && touching(other) && reachable([other.commit], commits, new Set()).has(it.commit),
      ),
  );
  const left = last.map((it) => touching(it)?.after ?? null);
  // What stood there is told by the next commit that changes it, or else by the head.
  const next = facts.filter(
    (it) => it.commit !== merge && touching(it) !== undefined && reachable([it.commit], commits, new Set()).has(merge),
  );
  const stood = next.length === 0 ? [standing.get(path) ?? null] : next.map((it) => touching(it)?.before ?? null);
  return left.some((it) => stood.includes(it));
}
