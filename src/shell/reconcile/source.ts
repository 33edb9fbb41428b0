import { type DecodedFile, decodeBlob } from "../../core/codec/documents.ts";
import { readIntent, type SourceFile } from "../../core/codec/intent.ts";
import { isRead } from "../../core/codec/source-file.ts";
import { maxFileBytes } from "../../core/codec/text.ts";
import type { Hold, Intent } from "../../core/model/intent.ts";
import type { Reason } from "../../core/model/plan.ts";
import type { BlobId, Commit } from "../../core/model/value.ts";
import type { Memory, State } from "./memory.ts";
import type { Repository, TreeFile } from "./ports.ts";
import type { Settings } from "./settings.ts";

/** What the source branch asks for, and why it may be asking for less than its head says. */
export interface Source {
  readonly intent: Intent;
  readonly reasons: readonly Reason[];
}

/**
 * Reads the source branch at `head` into an intent.
 *
 * A head that does not descend from what was accepted, and one without any file where there were some, are not
 * believed: decisions keep to what was accepted (`DESIGN.md` §3, source force-pushed; `RULINGS.md` D 2).
 */
export async function readSource(
  repository: Repository,
  head: Commit,
  state: State,
  { memory, settings }: { readonly memory: Memory; readonly settings: Settings },
): Promise<Source> {
  const accepted = state.ledger.sourceCommit;
  if (accepted !== null && accepted !== head && !isAccepted(settings, accepted, head)) {
    if (!(await repository.descends(head, accepted))) {
      const message = `it does not descend from ${accepted}, which was accepted; run with --accept-rewrite ${accepted}..${head} if this is meant`;
      return {
        intent: await acceptedIntent(repository, state, memory),
        reasons: [held("HistoryRewritten", head, message)],
      };
    }
  }
  const intent = await intentAt(repository, head, state, memory);
  if (intent.files.size === 0 && state.accepted.size > 0) {
    const message = "it holds no file that is read; what was accepted before stays in force";
    return { intent: await acceptedIntent(repository, state, memory), reasons: [held("SourceEmpty", head, message)] };
  }
  return { intent, reasons: [] };
}

const held = (code: "HistoryRewritten" | "SourceEmpty", head: Commit, message: string): Reason => ({
  kind: "sourceHeld",
  code,
  head,
  message,
});

const isAccepted = ({ acceptRewrite }: Settings, from: Commit, to: Commit): boolean =>
  acceptRewrite !== null && acceptRewrite.from === from && acceptRewrite.to === to;

/** The intent of one commit. A commit that changes no file we read is named by the one that last did. */
async function intentAt(repository: Repository, head: Commit, state: State, memory: Memory): Promise<Intent> {
  const key = `${head} ${state.commit}`;
  if (memory.intent?.key === key) return memory.intent.value;
  memory.decoded.turn();
  const listed = (await repository.files(head)).filter((it) => it.kind !== "file" || isRead(it.path));
  const before = await acceptedFiles(repository, state, memory);
  const intent = readIntent({ commit: head, files: await decodeAll(repository, listed, memory), accepted: before });
  const { sourceCommit, holds } = state.ledger;
  const isSame = sourceCommit !== null && sameFiles(intent.files, state.accepted) && sameHolds(intent.holds, holds);
  const value = isSame ? { ...intent, commit: sourceCommit } : intent;
  memory.intent = { key, value };
  return value;
}

/** What was accepted, read as if it were the head. */
async function acceptedIntent(repository: Repository, state: State, memory: Memory): Promise<Intent> {
  const accepted = await acceptedFiles(repository, state, memory);
  const commit = state.ledger.sourceCommit ?? ("" as Commit);
  return readIntent({ commit, files: accepted?.files ?? [], accepted });
}

async function acceptedFiles(repository: Repository, state: State, memory: Memory) {
  const { sourceCommit, holds } = state.ledger;
  if (sourceCommit === null) return null;
  const entries = [...state.accepted].map(([path, blob]): TreeFile => ({ path, blob, size: null, kind: "file" }));
  const files = await decodeAll(repository, entries, memory);
  const heldFiles = await decodeBlobs(repository, [...new Set(holds.map((it) => it.blob))], memory);
  return { commit: sourceCommit, files, holds, heldFiles };
}

async function decodeAll(
  repository: Repository,
  files: readonly TreeFile[],
  memory: Memory,
): Promise<readonly SourceFile[]> {
  const decoded = await decodeBlobs(
    repository,
    files.filter((it) => it.kind === "file").map((it) => it.blob),
    memory,
  );
  return files.map(({ path, blob, kind }) => ({ path, blob, kind, decoded: decoded.get(blob) ?? null }));
}

/**
 * Gives blobs decoded, and reads those that were not read lately. Equal ids are equal bytes.
 *
 * Of a file that is too long to be decoded only the beginning is fetched: it costs what it defines, and not the pass.
 */
export async function decodeBlobs(
  repository: Repository,
  ids: readonly BlobId[],
  { decoded }: Pick<Memory, "decoded">,
): Promise<ReadonlyMap<BlobId, DecodedFile>> {
  const files = new Map<BlobId, DecodedFile>();
  const missing: BlobId[] = [];
  for (const id of new Set(ids)) {
    const file = decoded.get(id);
    if (file === undefined) missing.push(id);
    else files.set(id, file);
  }
  if (missing.length === 0) return files;
  for (const [id, bytes] of await repository.blobs(missing, maxFileBytes)) {
    const file = decodeBlob(bytes);
    decoded.set(id, file);
    files.set(id, file);
  }
  return files;
}

function sameFiles(a: ReadonlyMap<string, BlobId>, b: ReadonlyMap<string, BlobId>): boolean {
  if (a.size !== b.size) return false;
  for (const [path, blob] of a) if (b.get(path) !== blob) return false;
  return true;
}

const sameHolds = (a: readonly Hold[], b: readonly Hold[]): boolean => JSON.stringify(a) === JSON.stringify(b);
