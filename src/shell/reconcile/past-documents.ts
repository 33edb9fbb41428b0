import { decodeBlob, pastDocuments } from "../../core/intent/documents.ts";
import { isRead } from "../../core/intent/source-file.ts";
import type { History, PastDocument } from "../../core/model/history.ts";
import type { BlobId } from "../../core/model/value.ts";
import { maxFileBytes } from "../../core/yaml/text.ts";
import type { Memory } from "./memory.ts";
import type { Repository } from "./ports.ts";

/** What was found in blobs of earlier commits; null: nothing that could be taken apart. */
export type PastFiles = Map<BlobId, readonly PastDocument[] | null>;

/** So many blobs are kept, and so many read at once before others get their turn: a daemon watches meanwhile. */
const mostKept = 20_000;
const inOneGo = 200;
const turnOfOthers = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Takes apart the files that commits changed, as they were before and after; what answers and trusts is not read so. */
export async function readPastDocuments(
  repository: Repository,
  { pastFiles }: Memory["history"],
  commits: History["commits"],
): Promise<History["documents"]> {
  const wanted = new Set<BlobId>();
  for (const { changes } of commits.values())
    for (const { path, before, after } of changes)
      if (isRead(path) && !/^(?:approvals|trust)\//.test(path))
        for (const it of [before, after]) if (it !== null) wanted.add(it);
  const missing = [...wanted].filter((it) => !pastFiles.has(it));
  for (let at = 0; at < missing.length; at += inOneGo) {
    const blobs = await repository.blobs(missing.slice(at, at + inOneGo), maxFileBytes);
    for (const [id, bytes] of blobs) pastFiles.set(id, pastDocuments(decodeBlob(bytes)));
    await turnOfOthers();
  }
  const found = new Map<BlobId, readonly PastDocument[]>();
  for (const id of wanted) {
    const documents = pastFiles.get(id) ?? null;
    if (documents !== null) found.set(id, documents);
  }
  for (const id of pastFiles.keys()) {
    if (pastFiles.size <= mostKept) break;
    pastFiles.delete(id);
  }
  return found;
}
