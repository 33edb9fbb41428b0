import type { Buffer } from "node:buffer";
import type { PathChange } from "../../../core/model/commit.ts";
import { type BlobId, type Commit, compareText } from "../../../core/model/value.ts";

/**
 * How `git diff-tree` is asked what commits changed, by ids on its input: by mode and id alone, whatever the user's
 * configuration says about renames and submodules; of a merge, what differs from every parent (`-c`).
 */
export const diffTreeArgs: readonly string[] = [
  ...["diff-tree", "--stdin", "-r", "-c", "-z", "--raw", "--no-abbrev"],
  ...["--root", "--always", "--no-renames", "--ignore-submodules=none"],
];

/**
 * Reads its answer: for each commit its id, then `:<modes> <ids> <letters>` and a path for everything it changed, with
 * a colon, a mode and an id for each parent. Null for an answer that is not like that.
 */
export function commitChangesOf(output: Buffer): ReadonlyMap<Commit, readonly PathChange[]> | null {
  const changes = new Map<Commit, PathChange[]>();
  let current: PathChange[] | undefined;
  let at = 0;
  const next = (): string | null => {
    const end = output.indexOf(0, at);
    if (end < 0) return null;
    const text = output.toString("utf8", at, end);
    at = end + 1;
    return text;
  };
  while (at < output.length) {
    const line = next();
    if (line === null) return null;
    if (/^[0-9a-f]{40}$/.test(line)) {
      current = [];
      changes.set(line as Commit, current);
      continue;
    }
    const ids = idsOf(line);
    const path = next();
    if (ids === null || path === null || current === undefined) return null;
    current.push({ path, before: ids.before, after: ids.after });
  }
  for (const it of changes.values()) it.sort((a, b) => compareText(a.path, b.path));
  return changes;
}

/** Of what stood in the first parent, and of what stands there. */
function idsOf(line: string): Pick<PathChange, "before" | "after"> | null {
  const parents = /^:*/.exec(line)?.[0].length ?? 0;
  const words = line.slice(parents).split(" ");
  const before = words[parents + 1];
  const after = words[2 * parents + 1];
  if (parents === 0 || words.length !== 2 * parents + 3 || before === undefined || after === undefined) return null;
  return { before: blobOf(before), after: blobOf(after) };
}

const blobOf = (id: string): BlobId | null => (/^0+$/.test(id) ? null : (id as BlobId));
