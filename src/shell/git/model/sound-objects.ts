import { type CommitLines, commitLines } from "../../../core/model/commit.ts";
import { Fault } from "../../reconcile/fault.ts";
import { repositoryFault } from "./repository-fault.ts";
import type { TreeEntry } from "./tree-changes.ts";
import { readTree } from "./tree-object.ts";

/** The fault for a commit that programs may read differently. */
export const unsoundCommit = (during: string, message: string): Fault =>
  new Fault("ObjectUnsound", during, message, "push another commit, made by git, in its place");

/** A new commit with sound folders is enough, whatever its ancestors contain. */
const soundTree =
  "push a commit with other folders on top of it: git fetch, then " +
  'git push origin $(git commit-tree SOUND^{tree} -p origin/BRANCH -m "Go back"):BRANCH, ' +
  "where SOUND is the last commit that was sound";

/** The header lines of a commit; a fault for one that git rejects. */
export function commitLinesIn(raw: Uint8Array | undefined, commit: string, during: string): CommitLines {
  const lines = raw === undefined ? null : commitLines(raw);
  if (lines !== null) return lines;
  const message = `commit ${commit} does not begin with a tree and its parents, as git writes commits`;
  throw unsoundCommit(during, message);
}

/** The entries of a tree; a fault for one that programs may read differently. */
export function strictEntriesIn(
  raw: Uint8Array<ArrayBuffer> | undefined,
  tree: string,
  during: string,
): readonly TreeEntry[] {
  return entriesOf(raw, tree, { during, isExact: true });
}

/** All entries of a tree, unsound ones too, so that no change is missed. Never for what is deployed. */
export const lenientEntriesIn = (
  raw: Uint8Array<ArrayBuffer> | undefined,
  tree: string,
  during: string,
): readonly TreeEntry[] => entriesOf(raw, tree, { during, isExact: false });

function entriesOf(
  raw: Uint8Array<ArrayBuffer> | undefined,
  tree: string,
  { during, isExact }: { readonly during: string; readonly isExact: boolean },
): readonly TreeEntry[] {
  if (raw === undefined) throw repositoryFault("RepositoryCorrupt", during, `tree ${tree}: it is not a tree`);
  const read = readTree(raw, isExact);
  if (read.kind === "read") return read.entries;
  throw new Fault("ObjectUnsound", during, `tree ${tree}: ${read.because}`, soundTree);
}
