import { ledgerPath, placementFolder } from "../../core/ledger/layout.ts";
import { restlessIn } from "../../core/ledger/state-ledger.ts";
import type { Ledger } from "../../core/model/ledger.ts";
import type { Commit, PlacementKey } from "../../core/model/value.ts";
import type { State } from "./memory.ts";
import type { Repository } from "./ports.ts";
import { isRecordFolder, stateOf } from "./state.ts";

/** A state without its placements, which are nearly all of it. */
export interface Outline {
  readonly state: State & { readonly commit: Commit };
  /** Placements that the last plan had something to say about; null: not known. */
  readonly restless: readonly PlacementKey[] | null;
}

/** Reads all of a state but the records of its placements; null where the repository can only be listed as a whole. */
export async function readOutline(repository: Repository, commit: Commit): Promise<Outline | null> {
  const changes = await repository.changes?.(null, commit, (it) => isRecordFolder(it) && !isPlacements(it));
  if (changes === undefined) return null;
  const head = changes.find((it) => it.path === ledgerPath)?.file?.blob;
  const text = head === undefined ? undefined : (await repository.blobs([head])).get(head);
  return {
    state: { ...(await stateOf(repository, null, { commit, changes })), commit },
    restless: text === undefined ? null : restlessIn(new TextDecoder().decode(text)),
  };
}

/** The ledger of an outline with the records of these placements, as far as there are any. */
export async function readPlacements(
  repository: Repository,
  { state }: Outline,
  keys: ReadonlySet<PlacementKey>,
): Promise<Ledger> {
  const folders = new Set<string>();
  for (const key of keys) for (const it of withParents(placementFolder(key))) folders.add(it);
  const isWanted = (folder: string): boolean =>
    folders.has(folder) || (isRecordFolder(folder) && folders.has(placementIn(folder)));
  const changes = (await repository.changes?.(null, state.commit, isWanted)) ?? [];
  const inside = changes.filter((it) => folders.has(placementIn(it.path)));
  return (await stateOf(repository, state, { commit: state.commit, changes: inside })).ledger;
}

const isPlacements = (folder: string): boolean => /^(?:namespaces\/[^/]+\/)?placements\/$/.test(folder);

/** The placement's folder that a path lies in; empty for any other path. */
const placementIn = (path: string): string => /^(?:namespaces\/[^/]+\/)?placements\/[^/]+\//.exec(path)?.[0] ?? "";

function withParents(folder: string): readonly string[] {
  const parents: string[] = [];
  for (let at = folder.indexOf("/"); at >= 0; at = folder.indexOf("/", at + 1)) parents.push(folder.slice(0, at + 1));
  return parents;
}
