import { type BlobId, type Commit, compareText } from "../../../src/core/model/value.ts";
import type { Repository, TreeChange, TreeFile } from "../../../src/shell/reconcile/ports.ts";
import type { Hub } from "../../simulation/world/hub.ts";

/** The repository port over a hub in memory, and what was asked of it. */
export interface HubRepository extends Repository {
  /** Paths that were listed or told to have changed since the last look. */
  readonly seen: string[];
  /** Blobs that were read since the last look. */
  readonly read: BlobId[];
}

/** Without `changes`, as an adapter that can only list. */
export function listingRepository(hub: Hub): HubRepository {
  const { changes: _, ...rest } = hubRepository(hub);
  return rest;
}

export function hubRepository(hub: Hub): HubRepository {
  const seen: string[] = [];
  const read: BlobId[] = [];
  const fileOf = (path: string, blob: BlobId): TreeFile => ({ path, blob, size: null, kind: "file" });
  return {
    name: "the hub",
    seen,
    read,
    heads: async () => ({ source: hub.source, state: hub.state }),
    files: async (commit, under = "") => {
      const inside = [...hub.treeAt(commit)].filter(([path]) => path.startsWith(under));
      const files = inside.map(([path, blob]) => fileOf(path, blob));
      seen.push(...files.map((it) => it.path));
      return files.sort((a, b) => compareText(a.path, b.path));
    },
    changes: async (from, to, enters = () => true) => {
      const [before, after] = [hub.treeAt(from), hub.treeAt(to)];
      const paths = [...new Set([...before.keys(), ...after.keys()])].filter((it) => foldersOf(it).every(enters));
      const changes = paths.flatMap((path): readonly TreeChange[] => {
        const [was, is] = [before.get(path), after.get(path)];
        return was === is ? [] : [{ path, file: is === undefined ? null : fileOf(path, is) }];
      });
      seen.push(...changes.map((it) => it.path));
      return changes.sort((a, b) => compareText(a.path, b.path));
    },
    blobs: async (ids) => {
      read.push(...ids);
      return new Map(ids.map((it) => [it, hub.blob(it) ?? new Uint8Array()]));
    },
    descends: async (commit: Commit, ancestor: Commit) => hub.descends(commit, ancestor),
    history: async (...range) => hub.historyOf(...range),
    commit: async (proposal) => hub.pushState(proposal),
    close: async () => {},
  };
}

function foldersOf(path: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) folders.push(path.slice(0, at + 1));
  return folders;
}
