import { type CommitLines, commitLines } from "../../core/model/commit-lines.ts";
import { repositoryFault } from "./repository-fault.ts";
import type { TreeEntry } from "./tree-changes.ts";
import { readTree } from "./tree-object.ts";

/** What helps where an object is odd: the next commit's own objects are what counts. */
export const anotherCommit = "push another commit, made by git, on top of it or in its place";

/** The first lines of a commit; rejects one that git refuses, by its id. */
export function linesIn(raw: Uint8Array | undefined, commit: string, during: string): CommitLines {
  const lines = raw === undefined ? null : commitLines(raw);
  if (lines !== null) return lines;
  const message = `commit ${commit} does not begin with a tree and its parents, as git writes commits`;
  throw repositoryFault("RepositoryCorrupt", during, message, { fix: anotherCommit });
}

/** The entries of a tree; rejects one that programs may read differently, by its id. */
export function entriesIn(
  raw: Uint8Array<ArrayBuffer> | undefined,
  tree: string,
  during: string,
): readonly TreeEntry[] {
  const read = raw === undefined ? ({ kind: "refused", because: "it is no tree" } as const) : readTree(raw);
  if (read.kind === "read") return read.entries;
  const fix = `find its folder with git ls-tree -r -t HEAD, and push a commit, made by git, in which that folder is new`;
  throw repositoryFault("RepositoryCorrupt", during, `tree ${tree}: ${read.because}`, { fix });
}
