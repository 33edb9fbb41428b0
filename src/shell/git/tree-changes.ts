import { type BlobId, compareText } from "../../core/model/value.ts";
import type { Change, TreeFile } from "../reconcile/ports.ts";

/** One entry of a folder, as git keeps it. */
export interface TreeEntry {
  readonly name: string;
  readonly id: string;
  readonly kind: "folder" | TreeFile["kind"];
}

/** Reads folders by id, in bulk. */
export type ReadTrees = (ids: readonly string[]) => Promise<ReadonlyMap<string, readonly TreeEntry[]>>;

/** A folder that may differ: its path with a slash at the end, and its id before and after; null where there is none. */
interface Pair {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * Gives the paths at which tree `after` has another file than `before`, or none, ordered by path.
 *
 * Folders with the same id are the same to the last byte, so only those on the way to a change are read: all of one
 * depth at once. Folders that `enters` refuses are passed over.
 */
export async function treeChanges(
  read: ReadTrees,
  before: string | null,
  after: string,
  enters: (folder: string) => boolean = everywhere,
): Promise<readonly Change[]> {
  const changes: Change[] = [];
  let level: readonly Pair[] = before === after ? [] : [{ path: "", before, after }];
  while (level.length > 0) {
    const trees = await read([...new Set(level.flatMap((it) => [it.before, it.after]).filter((it) => it !== null))]);
    const next: Pair[] = [];
    for (const pair of level) {
      for (const it of entriesOfBoth(pair, trees)) {
        const path = pair.path + it.name;
        if (it.folders !== null && enters(`${path}/`)) next.push({ path: `${path}/`, ...it.folders });
        if (it.file !== undefined) changes.push({ path, file: it.file === null ? null : fileOf(path, it.file) });
      }
    }
    level = next;
  }
  return changes.sort((a, b) => compareText(a.path, b.path));
}

const everywhere = (): boolean => true;

/** What differs under one name: the folders that stood or stand there, and the file, null when there is none any more. */
interface Difference {
  readonly name: string;
  readonly folders: { readonly before: string | null; readonly after: string | null } | null;
  readonly file: TreeEntry | null | undefined;
}

function* entriesOfBoth(
  { before, after }: Pair,
  trees: ReadonlyMap<string, readonly TreeEntry[]>,
): Generator<Difference> {
  const was = before === null ? [] : (trees.get(before) ?? []);
  const old = new Map(was.map((it) => [it.name, it]));
  for (const now of after === null ? [] : (trees.get(after) ?? [])) {
    const then = old.get(now.name);
    old.delete(now.name);
    if (then === undefined || then.id !== now.id || then.kind !== now.kind) yield difference(now.name, then, now);
  }
  for (const then of old.values()) yield difference(then.name, then, undefined);
}

function difference(name: string, then: TreeEntry | undefined, now: TreeEntry | undefined): Difference {
  const before = then?.kind === "folder" ? then.id : null;
  const after = now?.kind === "folder" ? now.id : null;
  const gone = then !== undefined && before === null ? null : undefined;
  return {
    name,
    folders: before === null && after === null ? null : { before, after },
    file: now !== undefined && after === null ? now : gone,
  };
}

const fileOf = (path: string, { id, kind }: TreeEntry): TreeFile | null =>
  kind === "folder" ? null : { path, blob: id as BlobId, size: null, kind };
