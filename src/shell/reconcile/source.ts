import { type DecodedFile, decodeBlob } from "../../core/intent/documents.ts";
import { type AcceptedSource, readIntent, type SourceFile } from "../../core/intent/intent.ts";
import { isTrustPath, isYamlPath } from "../../core/intent/source-file.ts";
import { trustPath } from "../../core/intent/trust/trust-file.ts";
import { reuseIntent } from "../../core/ledger/identity.ts";
import type { Hold, Intent } from "../../core/model/intent.ts";
import type { Reason } from "../../core/model/reason.ts";
import type { BlobId, Commit } from "../../core/model/value.ts";
import { someNames } from "../../core/report/phrases.ts";
import { maxFileBytes } from "../../core/yaml/text.ts";
import { Fault } from "./fault.ts";
import type { AcceptedState, Memory, SourceListing, State } from "./memory.ts";
import type { Repository, Settings, TreeFile } from "./ports.ts";
import { treeChangesSince } from "./repository-queries.ts";

/** What the source branch asks for; when its head is not accepted, what was accepted before. */
export interface Source {
  /** The commit that was read: the head of the branch, or what was accepted where that is held back. */
  readonly head: Commit;
  readonly isHeld: boolean;
  readonly intent: Intent;
  readonly reasons: readonly Reason[];
}

/**
 * Reads the source branch at `head`. One that does not descend from what was accepted, is empty where files were, or is
 * read differently by programs is not believed: what was accepted decides
 * (`reconcile/README.md#branches-that-are-not-as-they-were`; `plan/README.md#d-2`).
 */
export async function readSource(
  repository: Repository,
  head: Commit,
  state: State,
  { memory, settings }: { readonly memory: Memory; readonly settings: Settings },
): Promise<Source> {
  try {
    return await readHead(repository, head, state, { memory, settings });
  } catch (error) {
    const { sourceCommit: accepted } = state.ledger;
    if (accepted === null || !(error instanceof Fault) || error.code !== "ObjectUnsound") throw error;
    const message =
      `${error.message}, which programs read differently, so this commit is ignored and what was accepted ` +
      `with ${accepted} stays in force; ${error.fix}`;
    return heldSource(held("SourceUnsound", head, message), { repository, state, memory });
  }
}

async function readHead(
  repository: Repository,
  head: Commit,
  state: State,
  { memory, settings }: { readonly memory: Memory; readonly settings: Settings },
): Promise<Source> {
  const accepted = state.ledger.sourceCommit;
  if (accepted !== null && accepted !== head && !isAccepted(settings, accepted, head)) {
    if (!(await repository.descends(head, accepted))) {
      const message = `it does not descend from ${accepted}, which was accepted; run with --accept-rewrite ${accepted}..${head} if this is intended`;
      return heldSource(held("HistoryRewritten", head, message), { repository, state, memory });
    }
  }
  const isRewrite = accepted !== null && isAccepted(settings, accepted, head);
  const intent = await intentAt(repository, head, { state, memory, isRewrite });
  if (intent.files.size === 0 && state.accepted.size > 0) {
    const message = "it contains no file that Flotilla reads; what was accepted before stays in force";
    return heldSource(held("SourceEmpty", head, message), { repository, state, memory });
  }
  return { head, isHeld: false, intent, reasons: [] };
}

/** What was accepted before, where the head is not. */
async function heldSource(
  reason: Reason,
  { repository, state, memory }: Pick<Reading, "state" | "memory"> & { readonly repository: Repository },
): Promise<Source> {
  const intent = await acceptedIntent(repository, state, memory);
  return { head: intent.commit, isHeld: true, intent, reasons: [reason] };
}

const held = (code: Extract<Reason, { kind: "sourceHeld" }>["code"], head: Commit, message: string): Reason => ({
  kind: "sourceHeld",
  code,
  head,
  message,
});

const isAccepted = ({ acceptRewrite }: Settings, from: Commit, to: Commit): boolean =>
  acceptRewrite !== null && acceptRewrite.from === from && acceptRewrite.to === to;

interface Reading {
  readonly state: State;
  readonly memory: Memory;
  /** The head was accepted although it does not descend from what was accepted before. */
  readonly isRewrite: boolean;
}

/** The intent of one commit; one that changes no file we read is named by the last that did, unless it is a rewrite. */
async function intentAt(repository: Repository, head: Commit, { state, memory, isRewrite }: Reading): Promise<Intent> {
  const of = acceptedStateOf(state);
  const seen = memory.intent;
  if (seen !== null && seen.head === head && sameState(seen.of, of)) return seen.value;
  memory.decoded.rotate();
  const files = await filesAt(repository, head, memory);
  const accepted = await acceptedFiles(repository, of, memory);
  const intent = readIntent({ commit: head, files: [...files.values()], accepted });
  const isSame =
    !isRewrite && of.commit !== null && sameFiles(intent.files, of.files) && sameHolds(intent.holds, of.holds);
  const named = isSame ? { ...intent, commit: of.commit ?? head } : intent;
  const value = reuseIntent(seen?.value ?? null, named);
  memory.intent = { head, of, value };
  return value;
}

/** What was accepted, read as if it were the head. */
export async function acceptedIntent(repository: Repository, state: State, memory: Memory): Promise<Intent> {
  const accepted = await acceptedFiles(repository, acceptedStateOf(state), memory);
  const commit = state.ledger.sourceCommit ?? ("" as Commit);
  return reuseIntent(memory.intent?.value ?? null, readIntent({ commit, files: accepted?.files ?? [], accepted }));
}

const acceptedStateOf = ({ ledger, accepted }: State): AcceptedState => ({
  commit: ledger.sourceCommit,
  files: accepted,
  holds: ledger.holds,
});

const sameState = (a: AcceptedState, b: AcceptedState): boolean =>
  a.commit === b.commit && a.files === b.files && a.holds === b.holds;

/** What the head of the source branch holds: what was listed last with what changed since. */
async function filesAt(repository: Repository, head: Commit, memory: Memory): Promise<SourceListing["files"]> {
  if (memory.source?.commit === head) return memory.source.files;
  const before = memory.source;
  const { from, changes } = await treeChangesSince(repository, before?.commit ?? null, { to: head, enters: isOpen });
  const isWanted = ({ path, kind }: TreeFile): boolean => kind !== "file" || isYamlPath(path) || isTrustPath(path);
  const standing = changes.flatMap((it) => it.file ?? []).filter(isWanted);
  const found = await sourceFiles(repository, standing, memory);
  const files = new Map(from === null ? [] : before?.files);
  // A link may have become a file that nobody reads.
  for (const { path } of changes) files.delete(path);
  for (const it of found) files.set(it.path, it);
  memory.source = { commit: head, files };
  return files;
}

/** Folders with a leading dot are never read. */
const isOpen = (folder: string): boolean => !/(?:^|\/)\.[^/]*\/$/.test(folder);

async function acceptedFiles(
  repository: Repository,
  of: AcceptedState,
  memory: Memory,
): Promise<AcceptedSource | null> {
  if (of.commit === null) return null;
  const known = memory.accepted;
  if (known !== null && sameState(known.of, of)) return known.value;
  const entries = [...of.files].map(([path, blob]) => ({ path, blob, kind: "file" as const }));
  const files = await sourceFiles(repository, entries, memory);
  const heldFiles = await decodeBlobs(repository, [...new Set(of.holds.map((it) => it.blob))], memory);
  const value = { commit: of.commit, files, holds: of.holds, heldFiles };
  memory.accepted = { of, value };
  return value;
}

/** Files decoded. One that was seen at its path before is the same object. */
async function sourceFiles(
  repository: Repository,
  entries: readonly Pick<TreeFile, "path" | "blob" | "kind">[],
  memory: Memory,
): Promise<readonly SourceFile[]> {
  const known = entries.map(({ path, blob, kind }) => {
    const file = memory.source?.files.get(path);
    return file?.blob === blob && file.kind === kind ? file : null;
  });
  const unknown = entries.filter((it, at) => known[at] === null && it.kind === "file" && isYamlPath(it.path));
  const decoded = await decodeBlobs(
    repository,
    unknown.map((it) => it.blob),
    memory,
  );
  const trust = unknown.find((it) => it.path === trustPath);
  const bytes = trust === undefined ? null : (await repository.blobs([trust.blob], maxTrustBytes)).get(trust.blob);
  const text = bytes == null ? null : exactText(bytes);
  return entries.map(({ path, blob, kind }, at) => {
    const file = known[at] ?? { path, blob, kind, decoded: decoded.get(blob) ?? null };
    return path === trustPath && known[at] === null ? { ...file, text } : file;
  });
}

/** Blobs decoded, and read unless they were lately; of one that is too long only the beginning. */
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
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [path, blob] of a) if (b.get(path) !== blob) return false;
  return true;
}

const sameHolds = (a: readonly Hold[], b: readonly Hold[]): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** More than a trust file may be long, in bytes. */
export const maxTrustBytes = 256 * 1024;

/** The text of exactly these bytes, byte order mark included; null where not UTF-8, or beyond {@link maxTrustBytes}. */
export function exactText(bytes: Uint8Array): string | null {
  if (bytes.length > maxTrustBytes) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** That there is no source branch of that name, and which it could be instead; `otherwise`: what to do without any. */
export async function sourceBranchMissing(repository: Repository, otherwise: string): Promise<Fault> {
  // The missing branch is reported even where the other branches are not known.
  const known = await repository.branches?.().catch(() => null);
  const there = (known?.there ?? []).filter((it) => it !== known?.state);
  const [first, ...more] = there;
  const what = known == null ? "the source branch" : `the source branch ${known.source}`;
  const others = more.length === 0 ? "" : `, or another of its branches: ${someNames(more)}`;
  const fix = first === undefined ? otherwise : `the repository has ${first}: give --branch ${first}${others}`;
  return new Fault("SourceBranchMissing", `reading ${repository.name}`, `${what} does not exist`, fix);
}
