import git, { type TreeEntry } from "isomorphic-git";
import { type BlobId, type Commit, compareText } from "../../../core/model/value.ts";
import type { Edit, TreeChange, TreeFile } from "../../reconcile/ports.ts";
import { commitLinesIn, strictEntriesIn } from "../model/sound-objects.ts";
import { type TreeEntry as FolderEntry, treeChanges } from "../model/tree-changes.ts";
import { assertTreePath } from "../model/tree-object.ts";
import { atomicFiles } from "./mirror-folder.ts";

/** Objects of one repository, as isomorphic-git is asked for them. */
export interface IsoStore {
  readonly gitdir: string;
  /** Shared by all calls; without it every read parses the packs' indexes again (`git/README.md#libraries`). */
  readonly cache: object;
}

/** Every file of a commit, ordered by path; only those under `under` when it is given. Sizes stay unknown. */
export async function listFiles(store: IsoStore, commit: Commit, under?: string): Promise<readonly TreeFile[]> {
  const folder = under === undefined ? [] : under.split("/").filter((it) => it !== "");
  let tree: string | null = await treeOf(store, commit);
  for (const name of folder) {
    const entries: readonly FolderEntry[] = tree === null ? [] : await folderEntries(store, tree);
    tree = entries.find((it) => it.kind === "folder" && it.name === name)?.id ?? null;
  }
  const files: TreeFile[] = [];
  if (tree !== null) await collect(store, tree, folder.map((it) => `${it}/`).join(""), files);
  return files.sort((a, b) => compareText(a.path, b.path));
}

/** Where two commits differ: what {@link treeChanges} gives for their trees. */
export async function changesBetween(
  store: IsoStore,
  from: Commit | null,
  { to, enters }: { readonly to: Commit; readonly enters: ((folder: string) => boolean) | undefined },
): Promise<readonly TreeChange[]> {
  const read = (ids: readonly string[]) => readTrees(store, ids);
  return treeChanges(read, from === null ? null : await treeOf(store, from), await treeOf(store, to), enters);
}

/** The root of a commit, from the bytes that are stored: what the library makes of a commit is never asked. */
async function treeOf(store: IsoStore, oid: Commit): Promise<string> {
  const { type, object } = await git.readObject({ fs: atomicFiles, ...store, oid, format: "content" });
  const raw = type === "commit" && object instanceof Uint8Array ? object : undefined;
  return commitLinesIn(raw, oid, "reading the repository").tree;
}

/** Reads folders by id, each as it has to be, or with all that may stand there. */
export async function readTrees(
  store: IsoStore,
  ids: readonly string[],
  entries: typeof strictEntriesIn = strictEntriesIn,
): Promise<ReadonlyMap<string, readonly FolderEntry[]>> {
  const trees = new Map<string, readonly FolderEntry[]>();
  for (const id of ids) trees.set(id, await folderEntries(store, id, entries));
  return trees;
}

async function folderEntries(
  store: IsoStore,
  oid: string,
  entries: typeof strictEntriesIn = strictEntriesIn,
): Promise<readonly FolderEntry[]> {
  const { type, object } = await git.readObject({ fs: atomicFiles, ...store, oid, format: "content" });
  const bytes = type === "tree" && object instanceof Uint8Array ? new Uint8Array(object) : undefined;
  return entries(bytes, oid, "reading the repository");
}

/**
 * Writes the trees that `edits` make out of `parent`'s, reading only folders with edits; gives the id of the root,
 * which may be empty. A folder that lost its last file is gone, as in git.
 */
export async function writeTrees(store: IsoStore, parent: Commit | null, edits: readonly Edit[]): Promise<string> {
  const blobs = await writeBlobs(store, edits);
  const root = folderOf(edits, blobs);
  return (await applyFolder(store, parent, root)) ?? writeTree(store, []);
}

/** The edits of one folder: names that go, blobs that are to stand there, and the edits of folders inside. */
interface Folder {
  readonly removed: Set<string>;
  readonly files: Map<string, string>;
  readonly folders: Map<string, Folder>;
}

const emptyFolder = (): Folder => ({ removed: new Set(), files: new Map(), folders: new Map() });

function folderOf(edits: readonly Edit[], blobs: ReadonlyMap<string, string>): Folder {
  const root = emptyFolder();
  for (const edit of edits) {
    assertTreePath(edit.path);
    const parts = edit.path.split("/");
    const name = parts.pop() ?? "";
    const folder = parts.reduce(enter, root);
    const blob = edit.kind === "link" ? edit.blob : blobs.get(edit.path);
    if (blob === undefined) folder.removed.add(name);
    else folder.files.set(name, blob);
  }
  return root;
}

function enter(folder: Folder, name: string): Folder {
  const inner = folder.folders.get(name) ?? emptyFolder();
  folder.folders.set(name, inner);
  return inner;
}

/** What goes, goes first, as in the other engine: a file may become a folder in the same commit, and a folder a file. */
async function applyFolder(store: IsoStore, tree: string | null, folder: Folder): Promise<string | null> {
  const entries = tree === null ? new Map<string, TreeEntry>() : await entriesOf(store, tree);
  for (const name of folder.removed) entries.delete(name);
  for (const [name, inner] of folder.folders) {
    const before = entries.get(name);
    const beneath = before?.type === "tree" ? before.oid : null;
    const oid = await applyFolder(store, beneath, inner);
    if (oid !== null) entries.set(name, { mode: "040000", path: name, oid, type: "tree" });
    else if (beneath !== null) entries.delete(name);
  }
  for (const [name, oid] of folder.files) entries.set(name, { mode: "100644", path: name, oid, type: "blob" });
  return entries.size === 0 ? null : writeTree(store, [...entries.values()]);
}

const writeTree = (store: IsoStore, tree: TreeEntry[]): Promise<string> =>
  git.writeTree({ fs: atomicFiles, gitdir: store.gitdir, tree });

/** Sixteen at a time: enough to keep the disk busy, few enough to bound memory. */
const writersAtOnce = 16;

async function writeBlobs(store: IsoStore, edits: readonly Edit[]): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  const queue = edits.values();
  const writer = async (): Promise<void> => {
    for (const edit of queue) {
      if (edit.kind !== "write") continue;
      const blob = Buffer.from(edit.text);
      ids.set(edit.path, await git.writeBlob({ fs: atomicFiles, gitdir: store.gitdir, blob }));
    }
  };
  await Promise.all(Array.from({ length: writersAtOnce }, writer));
  return ids;
}

async function entriesOf(store: IsoStore, oid: string): Promise<Map<string, TreeEntry>> {
  const { tree } = await git.readTree({ fs: atomicFiles, ...store, oid });
  return new Map(tree.map((it) => [it.path, it]));
}

async function collect(store: IsoStore, tree: string, prefix: string, files: TreeFile[]): Promise<void> {
  for (const { name, id, kind } of await folderEntries(store, tree)) {
    const path = prefix + name;
    if (kind === "folder") await collect(store, id, `${path}/`, files);
    else files.push({ path, blob: id as BlobId, size: null, kind });
  }
}
