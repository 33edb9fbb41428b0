import type { Claim } from "./claim.ts";
import { isSource, isUnder, type SourceFile } from "./source-file.ts";

/** Every document under the roots of a commit: what is claimed, and what cannot be known. */
export interface Census {
  /** In the order of paths and documents. */
  readonly claims: readonly Claim[];
  /** How many documents might be any object. */
  readonly unidentified: number;
  /** Files without any document. */
  readonly emptied: readonly string[];
  /** Links and submodules: what stands behind them is not read. */
  readonly unfollowed: readonly string[];
  /** Roots in which no document is. The empty root is the whole repository. */
  readonly emptyRoots: readonly string[];
}

/** Counts the documents of a commit. `files` are ordered by path. */
export function censusOf(files: readonly SourceFile[], roots: readonly string[]): Census {
  const claims: Claim[] = [];
  let unidentified = 0;
  const emptied: string[] = [];
  const told = new Set<string>();
  for (const file of files) {
    if (file.kind !== "file" || !isSource(file.path, roots)) continue;
    const { path, blob, decoded } = file;
    if (decoded === null) unidentified += 1;
    else if (decoded.documents.length === 0) emptied.push(path);
    for (const [index, document] of (decoded?.documents ?? []).entries()) {
      const { line, column } = document;
      if (document.kind === "unidentified") unidentified += 1;
      if (document.kind !== "note") for (const it of rootsOf(path, roots)) told.add(it);
      if (document.kind !== "object") continue;
      const source = { path, document: index, line, column };
      claims.push({ id: document.id, content: document.content, source, blob, document });
    }
  }
  const emptyRoots = (roots.length === 0 ? [""] : roots).filter((it) => !told.has(it));
  const unfollowed = files.filter((it) => it.kind !== "file").map((it) => it.path);
  return { claims, unidentified, emptied, unfollowed, emptyRoots };
}

const rootsOf = (path: string, roots: readonly string[]): readonly string[] =>
  roots.length === 0 ? [""] : roots.filter((it) => isUnder(path, [it]));
