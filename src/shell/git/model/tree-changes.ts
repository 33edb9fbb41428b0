import { type BlobId, compareText } from "../../../core/model/value.ts";
import type { TreeChange, TreeFile } from "../../reconcile/ports.ts";

export interface TreeEntry {
  readonly name: string;
  readonly id: string;
  readonly kind: "folder" | TreeFile["kind"];
  /** For files: a mode change, which is no change to us. */
  readonly isExecutable: boolean;
}

/** A path at which two trees differ in file or mode; null where there is none. */
export interface TreeDifference {
  readonly path: string;
  readonly before: TreeEntry | null;
  readonly after: TreeEntry | null;
}

/** Reads folders by id, in bulk. */
type ReadTrees = (ids: readonly string[]) => Promise<ReadonlyMap<string, readonly TreeEntry[]>>;

/** A folder that may differ: its path with a slash at the end, and its id before and after; null where there is none. */
interface Pair {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** The paths at which `after` has another file than `before`, or none, in order; executable or not is the same. */
export async function treeChanges(
  read: ReadTrees,
  before: string | null,
  after: string,
  enters: (folder: string) => boolean = everywhere,
): Promise<readonly TreeChange[]> {
  const all = await treeDifferences(read, before, after, enters);
  const changes = all.filter((it) => it.before?.id !== it.after?.id || it.before?.kind !== it.after?.kind);
  return changes.map(({ path, after }) => ({ path, file: after === null ? null : fileOf(path, after) }));
}

/**
 * The paths at which `after` has not the file or mode that `before` has, in order. Only folders on the way to a
 * difference are read, all of one depth at once; those that `enters` refuses are passed over.
 */
export async function treeDifferences(
  read: ReadTrees,
  before: string | null,
  after: string,
  enters: (folder: string) => boolean = everywhere,
): Promise<readonly TreeDifference[]> {
  const differences: TreeDifference[] = [];
  let level: readonly Pair[] = before === after ? [] : [{ path: "", before, after }];
  while (level.length > 0) {
    const trees = await read([...new Set(level.flatMap((it) => [it.before, it.after]).filter((it) => it !== null))]);
    const next: Pair[] = [];
    for (const pair of level) {
      for (const [name, then, now] of entriesOfBoth(pair, trees)) {
        const path = pair.path + name;
        const folders = { path: `${path}/`, before: folderOf(then), after: folderOf(now) };
        const files = { path, before: fileIn(then), after: fileIn(now) };
        if ((folders.before ?? folders.after) !== null && enters(folders.path)) next.push(folders);
        if ((files.before ?? files.after) !== null) differences.push(files);
      }
    }
    level = next;
  }
  return differences.sort((a, b) => compareText(a.path, b.path));
}

const everywhere = (): boolean => true;

/** Names under which something differs, with what stood and what stands there. */
function* entriesOfBoth(
  { before, after }: Pair,
  trees: ReadonlyMap<string, readonly TreeEntry[]>,
): Generator<readonly [name: string, then: TreeEntry | undefined, now: TreeEntry | undefined]> {
  const was = before === null ? [] : (trees.get(before) ?? []);
  const old = new Map(was.map((it) => [it.name, it]));
  for (const now of after === null ? [] : (trees.get(after) ?? [])) {
    const then = old.get(now.name);
    old.delete(now.name);
    if (then === undefined || !isSame(then, now)) yield [now.name, then, now];
  }
  for (const then of old.values()) yield [then.name, then, undefined];
}

const isSame = (a: TreeEntry, b: TreeEntry): boolean =>
  a.id === b.id && a.kind === b.kind && a.isExecutable === b.isExecutable;

const folderOf = (entry: TreeEntry | undefined): string | null => (entry?.kind === "folder" ? entry.id : null);

const fileIn = (entry: TreeEntry | undefined): TreeEntry | null =>
  entry === undefined || entry.kind === "folder" ? null : entry;

const fileOf = (path: string, { id, kind }: TreeEntry): TreeFile | null =>
  kind === "folder" ? null : { path, blob: id as BlobId, size: null, kind };
