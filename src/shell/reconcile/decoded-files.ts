import type { DecodedFile } from "../../core/intent/documents.ts";
import type { BlobId } from "../../core/model/value.ts";

/**
 * Decoded files by blob id: what the last two readings of the source asked for, and nothing older.
 *
 * A reading asks for what is not known by its path already: what moved, what is held, what targets of earlier commits
 * name. So the daemon holds little here, however many commits go by; what was forgotten too early is decoded again.
 */
export interface DecodedFiles {
  get(id: BlobId): DecodedFile | undefined;
  set(id: BlobId, file: DecodedFile): void;
  /** Another reading begins: what the one before the last asked for is forgotten. */
  turn(): void;
}

/** A cache that holds nothing yet. */
export function newDecodedFiles(): DecodedFiles {
  let current = new Map<BlobId, DecodedFile>();
  let last: ReadonlyMap<BlobId, DecodedFile> = new Map();
  return {
    get: (id) => {
      const file = current.get(id) ?? last.get(id);
      if (file !== undefined) current.set(id, file);
      return file;
    },
    set: (id, file) => void current.set(id, file),
    turn: () => {
      last = current;
      current = new Map();
    },
  };
}
