/** What a commit's first lines name, each id in small letters. */
export interface CommitLines {
  readonly tree: string;
  /** In the order in which the commit names them. */
  readonly parents: readonly string[];
  /** What stands behind `author ` and `committer `, a character for each byte; null where git finds none there. */
  readonly author: string | null;
  readonly committer: string | null;
}

/**
 * Reads the first lines of a commit object where git's own parser reads them, and nowhere else: the tree in the first
 * line, then parents as long as lines are parents, then author, then committer (git's `parse_commit_buffer` and
 * `parse_commit_date`). What stands further down under the same names is text to git, and so it is here
 * (`trust/README.md#t-35`). Null for what git refuses as a commit.
 */
export function commitLines(raw: Uint8Array): CommitLines | null {
  const tree = idIn(raw, 0, "tree ");
  // Git wants at least one byte behind the tree's line.
  if (tree === null || raw.length <= treeLine) return null;
  const parents: string[] = [];
  let at = treeLine;
  // Git looks for another parent only where a whole line of one would fit.
  while (at + parentLine <= raw.length && startsWith(raw, at, "parent ")) {
    const parent = idIn(raw, at, "parent ");
    // Here, too, it wants one byte more.
    if (parent === null || raw.length <= at + parentLine) return null;
    parents.push(parent);
    at += parentLine;
  }
  const author = lineIn(raw, at, "author ");
  const committer = author === null ? null : lineIn(raw, author.end, "committer ");
  return { tree, parents, author: author?.value ?? null, committer: committer?.value ?? null };
}

const idLength = 40;
const treeLine = "tree ".length + idLength + 1;
const parentLine = "parent ".length + idLength + 1;
const lineFeed = 10;

function startsWith(raw: Uint8Array, at: number, word: string): boolean {
  for (let index = 0; index < word.length; index++) if (raw[at + index] !== word.charCodeAt(index)) return false;
  return true;
}

/** The id in a line of nothing else, in capitals or not, as git reads them both. */
function idIn(raw: Uint8Array, at: number, word: string): string | null {
  const start = at + word.length;
  if (!startsWith(raw, at, word) || raw[start + idLength] !== lineFeed) return null;
  const text = latin1(raw, start, start + idLength);
  return /^[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : null;
}

/** The rest of a line, and where the next one begins; null where it is another line, or does not end. */
function lineIn(raw: Uint8Array, at: number, word: string): { readonly value: string; readonly end: number } | null {
  if (!startsWith(raw, at, word)) return null;
  const end = raw.indexOf(lineFeed, at);
  return end < 0 ? null : { value: latin1(raw, at + word.length, end), end: end + 1 };
}

function latin1(raw: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let at = start; at < end; at++) text += String.fromCharCode(raw[at] ?? 0);
  return text;
}
