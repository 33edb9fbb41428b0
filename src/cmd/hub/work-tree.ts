import { isUnderRoots } from "../../core/intent/source-file.ts";
import type { Author } from "../../shell/reconcile/ports.ts";
import {
  documentsOf,
  type FoundDocument,
  namesOfKind,
  rootsOf,
  type TextFile,
  type WantedDocument,
} from "../edits/found-document.ts";
import { type HubOptions, openWorkTree } from "./wire.ts";

/** A person's work tree, read: what commands that write files begin with. */
export interface WorkTree {
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
export async function loadWorkTree(options: HubOptions): Promise<WorkTree> {
  const author = await openWorkTree(options);
  const all: readonly TextFile[] = author.files();
  const roots = rootsOf(all);
  const files = all.filter((it) => isUnderRoots(it.path, roots));
  const [root] = roots;
  return {
    author,
    files: all,
    root: root === undefined ? "" : `${root}/`,
    find: (wanted) => documentsOf(files, wanted),
    named: (kind, namespace) => namesOfKind(files, kind, namespace),
  };
}
