import { acceptedFolder, heldFolder, pagePath, renderedFolder } from "../../core/ledger/layout.ts";
import { ledgerReader } from "../../core/ledger/reader.ts";
import { emptyLedger, type Ledger } from "../../core/model/ledger.ts";
import type { BlobId, Commit } from "../../core/model/value.ts";
import { Fault } from "./fault.ts";
import type { State } from "./memory.ts";
import type { Repository, TreeChange } from "./ports.ts";
import { treeChangesSince } from "./repository-queries.ts";

/**
 * Reads the ledger and the accepted files at `commit`, never output or snapshots' blobs. On top of a `known` state only
 * what differs is read, and what is the same keeps its identity: another process that decided first costs what it
 * decided.
 */
export async function readStateBranch(
  repository: Repository,
  commit: Commit | null,
  known: State | null = null,
): Promise<State> {
  if (commit === null) return { commit, ledger: emptyLedger, accepted: new Map(), held: new Map() };
  const { from, changes } = await treeChangesSince(repository, known?.commit ?? null, {
    to: commit,
    enters: isRecordFolder,
  });
  return stateOf(repository, from === null ? null : known, { commit, changes });
}

/** What stands at a commit, and where it differs from what was read before, or from nothing. */
interface StateChanges {
  readonly commit: Commit;
  readonly changes: readonly TreeChange[];
}

/** The state `base` with these changes; from nothing when it is null. */
export async function stateOf(
  repository: Repository,
  base: State | null,
  { commit, changes }: StateChanges,
): Promise<State> {
  return {
    commit,
    ledger: await ledgerOf(repository, base, { commit, changes }),
    accepted: below(acceptedFolder, changes, base?.accepted ?? new Map()),
    held: below(heldFolder, changes, base?.held ?? new Map()),
  };
}

/** Folders in which the record stands, or what was accepted: not what is only shown. */
export const isRecordFolder = (folder: string): boolean => folder !== renderedFolder && !snapshotFiles.test(folder);

/** Where a snapshot keeps blobs reachable. People may call folders of their own like that: those stand in `accepted/`. */
const snapshotFiles = /^(?:namespaces\/[^/]+\/)?placements\/[^/]+\/resource-snapshots\/\d+\/files\//;

/** Files whose texts are held at the same time. */
const filesAtOnce = 64;

async function ledgerOf(
  repository: Repository,
  base: State | null,
  { commit, changes }: StateChanges,
): Promise<Ledger> {
  const reader = ledgerReader(base?.ledger ?? null);
  const record = changes.filter((it) => isRecord(it.path));
  const decoder = new TextDecoder();
  for (let at = 0; at < record.length; at += filesAtOnce) {
    const some = record.slice(at, at + filesAtOnce);
    const blobs = await repository.blobs([...new Set(some.flatMap((it) => it.file?.blob ?? []))]);
    for (const { path, file } of some) reader.read(path, file === null ? null : decoder.decode(blobs.get(file.blob)));
  }
  const read = reader.result();
  if (read.kind === "read") return read.ledger;
  throw new Fault(
    "StateUnreadable",
    `reading the state branch of ${repository.name} at ${commit}`,
    read.message,
    "restore the state branch to its last commit by flotilla; people never write there",
  );
}

const isRecord = (path: string): boolean =>
  path !== pagePath &&
  !path.startsWith(acceptedFolder) &&
  !path.startsWith(renderedFolder) &&
  !snapshotFiles.test(path);

/** Files below a folder, by their path inside it: those of before with what changed; the same map when nothing did. */
function below(
  folder: typeof acceptedFolder | typeof heldFolder,
  changes: readonly TreeChange[],
  before: ReadonlyMap<string, BlobId>,
): ReadonlyMap<string, BlobId> {
  const isInside = (path: string): boolean =>
    path.startsWith(folder) && (folder === heldFolder || !path.startsWith(heldFolder));
  const inside = changes.filter((it) => isInside(it.path));
  if (inside.length === 0) return before;
  const files = new Map(before);
  for (const { path, file } of inside)
    if (file === null) files.delete(path.slice(folder.length));
    else files.set(path.slice(folder.length), file.blob);
  return files;
}
