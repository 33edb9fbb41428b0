import { createHash } from "node:crypto";
import { type BlobId, type Commit, compareText } from "../../src/core/model/value.ts";
import type { Heads, Repository, TreeFile } from "../../src/shell/reconcile/ports.ts";
import type { Edit } from "./workload.ts";

/** A source branch in memory, that costs nothing; what would be committed to the state branch is dropped. */
export interface MemoryRepository extends Repository {
  /** Makes a commit of the source branch; a file without text is removed. */
  write(files: readonly Edit[]): void;
  /** Says where the state branch stands. */
  stateIs(commit: Commit): void;
}

/** A repository that nobody has written to. */
export function memoryRepository(): MemoryRepository {
  const files = new Map<string, TreeFile>();
  const blobs = new Map<BlobId, Uint8Array>();
  let commits = 0;
  let heads: Heads = { source: null, state: null };
  return {
    name: "memory",
    write(written) {
      for (const [path, text] of written) {
        if (text === null) {
          files.delete(path);
          continue;
        }
        const bytes = Buffer.from(text);
        const blob = idOf(text) as BlobId;
        blobs.set(blob, bytes);
        files.set(path, { path, blob, size: bytes.length, kind: "file" });
      }
      commits += 1;
      heads = { ...heads, source: idOf(`commit ${commits}`) as Commit };
    },
    stateIs(commit) {
      heads = { ...heads, state: commit };
    },
    heads: async () => heads,
    files: async () => [...files.values()].sort((a, b) => compareText(a.path, b.path)),
    blobs: async (ids) => new Map(ids.map((it) => [it, blobs.get(it) ?? new Uint8Array()])),
    descends: async () => true,
    history: async () => [],
    commit: async () => ({ kind: "superseded" }),
    close: async () => {},
  };
}

const idOf = (text: string): string => createHash("sha1").update(text).digest("hex");
