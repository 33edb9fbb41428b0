import { remembered } from "../model/memo.ts";
import { type DocumentRef, keyOfId } from "./resolve.ts";
import { isSourceFile, isUnderRoots, type SourceFile } from "./source-file.ts";

/** Every document under the roots of a commit: what is claimed, and what cannot be known. */
export interface DocumentIndex {
  /** In the order of paths and documents. */
  readonly claims: readonly DocumentRef[];
  /** Documents that might be any object: where they stand, and what they say of themselves. */
  readonly unidentified: readonly string[];
  /** Files without any document. */
  readonly emptied: readonly string[];
  /** Links and submodules: what stands behind them is not read. */
  readonly unfollowed: readonly string[];
  /** Roots in which no document is. The empty root is the whole repository. */
  readonly emptyRoots: readonly string[];
}

/** Counts the documents of a commit. `files` are ordered by path. */
export function indexDocuments(files: readonly SourceFile[], roots: readonly string[]): DocumentIndex {
  const claims: DocumentRef[] = [];
  const unidentified: string[] = [];
  const emptied: string[] = [];
  const unfollowed: string[] = [];
  const silentRoots = new Set(roots.length === 0 ? [""] : roots);
  for (const file of files) {
    if (file.kind !== "file") unfollowed.push(file.path);
    if (file.kind !== "file" || !isSourceFile(file, roots)) continue;
    const survey = indexFile(file);
    claims.push(...survey.claims);
    unidentified.push(...survey.unidentified);
    if (survey.isEmpty) emptied.push(file.path);
    if (survey.says)
      for (const it of silentRoots) if (it === "" || isUnderRoots(file.path, [it])) silentRoots.delete(it);
  }
  return { claims, unidentified, emptied, unfollowed, emptyRoots: [...silentRoots] };
}

/** What one file adds to a census. */
interface FileIndex {
  readonly claims: readonly DocumentRef[];
  readonly unidentified: readonly string[];
  /** It was read and holds no document. */
  readonly isEmpty: boolean;
  /** It holds more than notes. */
  readonly says: boolean;
}

/** A file is surveyed once: commits come and go, and most files stay. */
const indexFile = remembered(({ path, blob, decoded }: SourceFile): FileIndex => {
  if (decoded === null)
    return { claims: [], unidentified: [`${path}, which was not read`], isEmpty: false, says: false };
  const { documents } = decoded;
  const claims = documents.flatMap((document, index): readonly DocumentRef[] => {
    if (document.kind !== "object") return [];
    const { id, content, line, column } = document;
    return [{ key: keyOfId(id), id, content, source: { path, document: index, line, column }, blob, document }];
  });
  return {
    claims,
    unidentified: documents.flatMap((it) =>
      it.kind === "unidentified" ? [`${it.said === null ? "" : `${it.said} in `}${path}:${it.line}`] : [],
    ),
    isEmpty: documents.length === 0,
    says: documents.some((it) => it.kind !== "note"),
  };
});
