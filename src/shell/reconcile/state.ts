import { acceptedFolder, heldFolder, pagePath, renderedFolder } from "../../core/codec/layout.ts";
import { readLedger } from "../../core/codec/state.ts";
import { emptyLedger } from "../../core/model/ledger.ts";
import type { BlobId, Commit } from "../../core/model/value.ts";
import { Fault } from "./fault.ts";
import type { State } from "./memory.ts";
import type { Repository, TreeFile } from "./ports.ts";

/**
 * Reads the state branch at `commit`: the ledger, and which files were accepted. Output (`rendered/`, the page) and the
 * blobs of snapshots are listed and never read.
 */
export async function readState(repository: Repository, commit: Commit | null): Promise<State> {
  if (commit === null) return { commit, ledger: emptyLedger, accepted: new Map(), held: new Map() };
  const files = await repository.files(commit);
  const record = files.filter((it) => isRecord(it.path));
  const blobs = await repository.blobs([...new Set(record.map((it) => it.blob))]);
  const decoder = new TextDecoder();
  const texts = new Map(record.map((it) => [it.path, decoder.decode(blobs.get(it.blob))]));
  const read = readLedger(texts);
  if (read.kind === "unreadable") {
    throw new Fault(
      "StateUnreadable",
      `reading the state branch of ${repository.name} at ${commit}`,
      read.message,
      "restore the state branch to its last commit by flotilla; people never write there",
    );
  }
  return {
    commit,
    ledger: read.ledger,
    accepted: below(files, acceptedFolder, (path) => !path.startsWith(heldFolder)),
    held: below(files, heldFolder, () => true),
  };
}

const isRecord = (path: string): boolean =>
  path !== pagePath &&
  !path.startsWith(acceptedFolder) &&
  !path.startsWith(renderedFolder) &&
  !/\/resource-snapshots\/\d+\/files\//.test(path);

/** Files below a folder, by their path inside it. */
function below(
  files: readonly TreeFile[],
  folder: string,
  test: (path: string) => boolean,
): ReadonlyMap<string, BlobId> {
  const inside = files.filter((it) => it.path.startsWith(folder) && test(it.path));
  return new Map(inside.map((it) => [it.path.slice(folder.length), it.blob]));
}
