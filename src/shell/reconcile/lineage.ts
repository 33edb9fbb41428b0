import { commitLines } from "../../core/model/commit.ts";
import type { Commit } from "../../core/model/value.ts";
import type { RawCommit, Repository } from "./ports.ts";

/** More than this is asked of no adapter that reads a whole history for it. */
const longest = 100_000;

/** A commit and those before it by first parents, the newest first, whatever the adapter has to tell it by. */
export async function lineageOf(repository: Repository, head: Commit, limit: number): Promise<readonly RawCommit[]> {
  if (repository.lineage !== undefined) return repository.lineage(head, limit);
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
