import { isUnder } from "../core/intent/source-file.ts";
import { emptyLedger, type Ledger } from "../core/model/ledger.ts";
import { Fault } from "../shell/reconcile/fault.ts";
import type { State } from "../shell/reconcile/memory.ts";
import type { Author } from "../shell/reconcile/ports.ts";
import { readState } from "../shell/reconcile/state.ts";
import {
  documentsOf,
  type FoundDocument,
  namesOfKind,
  rootsOf,
  type TextFile,
  type WantedDocument,
} from "./edits/found-document.ts";
import { type HubOptions, openHub, openRecord, openWorkTree } from "./wire.ts";

/** A person's work tree, read: what commands that write files begin with. */
export interface Workplace {
  readonly author: Author;
  /** Every YAML file, whether it is read or not. */
  readonly files: readonly TextFile[];
  /** Folder below which new files go, with a slash at its end; empty for the top. */
  readonly root: string;
  readonly find: (wanted: WantedDocument) => readonly FoundDocument[];
  /** What is called by name among the objects of a kind; `namespace` null for cluster-scoped kinds. */
  readonly named: (kind: string, namespace: string | null) => readonly string[];
}

/** Reads the work tree at `--repo`, or here. */
export async function openWorkplace(options: HubOptions): Promise<Workplace> {
  const author = await openWorkTree(options);
  const all: readonly TextFile[] = author.files();
  const roots = rootsOf(all);
  const files = all.filter((it) => isUnder(it.path, roots));
  const [root] = roots;
  return {
    author,
    files: all,
    root: root === undefined ? "" : `${root}/`,
    find: (wanted) => documentsOf(files, wanted),
    named: (kind, namespace) => namesOfKind(files, kind, namespace),
  };
}

/** What is recorded of the work tree's fleet. */
export const readRecord = async (
  options: HubOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Ledger> => (await readWhole(options, environment)).ledger;

/** The same with the files that were read last. */
export async function readWhole(
  options: HubOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Pick<State, "ledger" | "accepted">> {
  const repository = await openRecord(options, environment);
  try {
    return await readState(repository, (await repository.heads()).state);
  } finally {
    await repository.close();
  }
}

/**
 * What is recorded of the fleet whose files lie in a folder, as far as that is at hand: on the state branch of the
 * repository there, or as last fetched from `origin`. By the names that branches
 * have unless told otherwise. Nothing where it cannot be read: nobody is asked for it.
 */
export async function recordNear(
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Ledger> {
  try {
    const { name: repo } = await openWorkTree({ repo: folder });
    const hub = { repo, branch: "main", stateBranch: "fleet/state", git: "auto", cache: null, tracked: true } as const;
    const repository = await openHub(hub, environment);
    try {
      return (await readState(repository, (await repository.heads()).state)).ledger;
    } finally {
      await repository.close();
    }
  } catch (error) {
    if (error instanceof Fault) return emptyLedger;
    throw error;
  }
}
