import type { DecodedFile } from "../../core/intent/documents.ts";
import type { SignatureFact } from "../../core/model/commit.ts";
import type { BlobId } from "../../core/model/value.ts";

/**
 * Decoded files by blob id: those that the last two readings of the source used.
 *
 * A reading asks for files that are not known by path: moved ones, held ones, those of targets of earlier commits. So the
 * daemon keeps little here, however many commits it reads; a file that was evicted too early is decoded again.
 */
export interface DecodedFiles {
  get(id: BlobId): DecodedFile | undefined;
  set(id: BlobId, file: DecodedFile): void;
  /** Starts another reading: files that the last one did not use are evicted. */
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

/** Facts about signatures, by a key for what was signed. */
export interface FactCache<F> {
  get(key: string): F | undefined;
  set(key: string, signature: SignatureFact, fact: F): void;
  /** Evicts facts that depend on other certificates or another period. */
  expireFor(certificates: readonly string[], period: number): void;
}

/**
 * A cache of at most `limit` facts; the oldest are evicted.
 *
 * Facts about SSH signatures, and that there is none, hold for good. Everything else depends on the certificates and the
 * time, and is evicted when either changes.
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
