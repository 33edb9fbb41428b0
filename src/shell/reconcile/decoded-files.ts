import type { DecodedFile } from "../../core/codec/documents.ts";
import type { BlobId } from "../../core/model/value.ts";

/**
 * Decoded files by blob id: what the last two readings of the source asked for, and nothing older.
 *
 * Every reading asks for all that is in force. So what two of them did not ask for is in force no more, and the daemon
 * holds about two commits' worth however many go by.
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
