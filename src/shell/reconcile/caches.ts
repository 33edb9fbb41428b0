import type { DecodedFile } from "../../core/intent/documents.ts";
import type { SignatureFact } from "../../core/model/commit.ts";
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
  rotate(): void;
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
    rotate: () => {
      last = current;
      current = new Map();
    },
  };
}

/** What was found out about signatures, by whatever names what they stand on. */
export interface FactCache<F> {
  get(key: string): F | undefined;
  set(key: string, signature: SignatureFact, fact: F): void;
  /** From now on it is looked at with these certificates, and in this period of time. */
  expireFor(certificates: readonly string[], period: number): void;
}

/**
 * A cache of at most `limit` facts; the oldest are forgotten.
 *
 * What an SSH signature says, and that there is none, holds for good. Everything else depends on which certificates are
 * given and on the time, and is forgotten when either is another.
 */
export function newFactCache<F>(limit: number): FactCache<F> {
  const lasting = new Map<string, F>();
  const passing = new Map<string, F>();
  let known: readonly string[] = [];
  let last = Number.NaN;
  return {
    get: (key) => lasting.get(key) ?? passing.get(key),
    set(key, { kind }, fact) {
      if (lasting.size + passing.size >= limit) forgetOldest(passing.size > 0 ? passing : lasting);
      (kind === "ssh" || kind === "unsigned" ? lasting : passing).set(key, fact);
    },
    expireFor(certificates, period) {
      if (certificates !== known || period !== last) passing.clear();
      known = certificates;
      last = period;
    },
  };
}

function forgetOldest(facts: Map<string, unknown>): void {
  for (const key of facts.keys()) {
    facts.delete(key);
    return;
  }
}
