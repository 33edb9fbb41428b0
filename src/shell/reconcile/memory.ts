import type { DecodedFile } from "../../core/intent/documents.ts";
import type { AcceptedSource, SourceFile } from "../../core/intent/intent.ts";
import type { CommitFact, SignatureFact } from "../../core/model/commit.ts";
import type { ForgeFinding, History, PastDocument } from "../../core/model/history.ts";
import type { Intent } from "../../core/model/intent.ts";
import type { Ledger } from "../../core/model/ledger.ts";
import type { BlobId, Commit, Instant } from "../../core/model/value.ts";
import type { Heads } from "./ports.ts";
import type { WalkedHistory } from "./repository-queries.ts";

/** The caches of one process, all of which can be read again from Git: without them it decides the same. */
export interface Memory {
  /**
   * Names this process in its commits. Two that see the same decide the same, within one second and to the last byte; did
   * they make the same commit, both would find it on the branch after a push, and neither would have lost.
   */
  readonly writer: string;
  readonly decoded: DecodedFiles;
  /** The heads of the branches when last read or written. */
  heads: Heads | null;
  /** The state branch as last read or written. */
  state: State | null;
  /** The source branch as last listed. */
  source: SourceListing | null;
  /** What was accepted, as last decoded. */
  accepted: { readonly of: AcceptedState; readonly value: AcceptedSource } | null;
  /** The intent as last read, and what it was read from. */
  intent: { readonly head: Commit; readonly of: AcceptedState; readonly value: Intent } | null;
  /** News about members that decides nothing and is not committed yet, on top of `state`. */
  pending: Ledger | null;
  readonly history: HistoryMemory;
  /** The text of the page on the state branch, if this process wrote it. */
  page: string | null;
}

/** Cached facts about signatures. */
interface HistoryMemory {
  /** The history as last read, and everything that it was read from. */
  last: { readonly of: readonly unknown[]; readonly value: History } | null;
  walks: WalkedHistory | null;
  /** The certificates that were last verified with: the same list as long as they are the same. */
  certificates: readonly string[];
  readonly commits: FactCache<CommitFact>;
  /** Signatures in files: in approvals by the file's blob, under a trust file by its blob and their own. */
  readonly detached: FactCache<SignatureFact>;
  /** What stood in files that commits changed, by blob. */
  readonly pastFiles: PastFiles;
  /** The forge's last findings by question, and when each is asked again. */
  readonly reviews: Map<string, RecentReview>;
}

/** What was found in blobs of earlier commits; null: nothing that could be taken apart. */
type PastFiles = Map<BlobId, readonly PastDocument[] | null>;

/** A forge's finding, and until when it is not asked again. */
export interface RecentReview {
  readonly finding: ForgeFinding;
  readonly until: Instant;
}

/** The files of a source commit that are read, by path. */
export interface SourceListing {
  readonly commit: Commit;
  readonly files: ReadonlyMap<string, SourceFile>;
}

/** The part of a state that an intent depends on. */
export interface AcceptedState {
  readonly commit: Commit | null;
  readonly files: State["accepted"];
  readonly holds: Ledger["holds"];
}

/** The content of the state branch at one commit. */
export interface State {
  /** Null before the branch exists. */
  readonly commit: Commit | null;
  readonly ledger: Ledger;
  /** Source files as last accepted: path → blob. */
  readonly accepted: ReadonlyMap<string, BlobId>;
  /** Files of held objects: `<commit>/<path>` → blob. */
  readonly held: ReadonlyMap<string, BlobId>;
}

export const newMemory = (): Memory => ({
  writer: crypto.randomUUID().slice(0, 8),
  decoded: newDecodedFiles(),
  heads: null,
  state: null,
  source: null,
  accepted: null,
  intent: null,
  pending: null,
  history: {
    last: null,
    walks: null,
    certificates: [],
    commits: newFactCache(factsKept),
    detached: newFactCache(factsKept),
    pastFiles: new Map(),
    reviews: new Map(),
  },
  page: null,
});

/** Twice as many as one history may have. */
const factsKept = 20_000;

/**
 * Decoded files by blob id, of the last two readings: files that are not known by path are asked for (moved, held, of
 * earlier targets), and a daemon keeps little. One that was evicted too early is decoded again.
 */
interface DecodedFiles {
  get(id: BlobId): DecodedFile | undefined;
  set(id: BlobId, file: DecodedFile): void;
  /** Starts another reading: files that the last one did not use are evicted. */
  rotate(): void;
}

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
 * At most `limit` facts; the oldest are evicted. Those about SSH signatures, and that there is none, hold for good; the
 * others depend on certificates and time, and are evicted when either changes.
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
