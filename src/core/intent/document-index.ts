import { remembered } from "../model/identity.ts";
import { type DocumentRef, keyOfId } from "./resolve.ts";
import { isSourceFile, isUnderRoots, type SourceFile } from "./source-file.ts";

/** Every document under the roots of a commit, and what could not be read. */
export interface DocumentIndex {
  /** In the order of paths and documents. */
  readonly refs: readonly DocumentRef[];
  readonly unidentified: readonly Unidentified[];
  /** Files without any document. */
  readonly emptied: readonly string[];
  /** Links and submodules, which are not followed. */
  readonly unfollowed: readonly string[];
  /** Roots without any document. The empty root is the whole repository. */
  readonly emptyRoots: readonly string[];
}

/** A document that might be any object that its file may define. */
export interface Unidentified {
  readonly path: string;
  /** What it says it is, and where. */
  readonly text: string;
}

/** Indexes the documents of a commit. `files` are ordered by path. */
export function indexDocuments(files: readonly SourceFile[], roots: readonly string[]): DocumentIndex {
  const refs: DocumentRef[] = [];
  const unidentified: Unidentified[] = [];
  const emptied: string[] = [];
  const unfollowed: string[] = [];
  const emptyRoots = new Set(roots.length === 0 ? [""] : roots);
  for (const file of files) {
    if (file.kind !== "file") unfollowed.push(file.path);
    if (file.kind !== "file" || !isSourceFile(file, roots)) continue;
    const indexed = indexFile(file);
    refs.push(...indexed.refs);
    unidentified.push(...indexed.unidentified);
    if (indexed.isEmpty) emptied.push(file.path);
    if (indexed.hasObjects)
      for (const it of emptyRoots) if (it === "" || isUnderRoots(file.path, [it])) emptyRoots.delete(it);
  }
  return { refs, unidentified, emptied, unfollowed, emptyRoots: [...emptyRoots] };
}

/** What one file adds to an index. */
interface FileIndex {
  readonly refs: readonly DocumentRef[];
  readonly unidentified: readonly Unidentified[];
  /** It was read and has no document. */
  readonly isEmpty: boolean;
  /** It has more than notes. */
  readonly hasObjects: boolean;
}

/** A file is indexed once: most files stay the same from commit to commit. */
const indexFile = remembered(({ path, blob, decoded }: SourceFile): FileIndex => {
  if (decoded === null)
    return {
      refs: [],
      unidentified: [{ path, text: `${path}, which was not read` }],
      isEmpty: false,
      hasObjects: false,
    };
  const { documents } = decoded;
  const refs = documents.flatMap((document, index): readonly DocumentRef[] => {
    if (document.kind !== "object") return [];
    const { id, content, line, column } = document;
    return [{ key: keyOfId(id), id, content, source: { path, document: index, line, column }, blob, document }];
  });
  return {
    refs,
    unidentified: documents.flatMap((it) =>
      it.kind === "unidentified"
        ? [{ path, text: `${it.said === null ? "" : `${it.said} in `}${path}:${it.line}` }]
        : [],
    ),
    isEmpty: documents.length === 0,
    hasObjects: documents.some((it) => it.kind !== "note"),
  };
});
