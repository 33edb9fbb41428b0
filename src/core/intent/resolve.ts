import {
  type ObjectId,
  type ObjectKey,
  objectKey,
  objectText,
  type SourcePosition,
  type VersionedId,
} from "../model/manifest.ts";
import type { BlobId, Commit } from "../model/value.ts";
import { error, type FieldProblem, type FieldProblems, isError } from "../yaml/problems.ts";
import type { DecodedDocument } from "./documents.ts";
import type { DocumentContent } from "./kinds/kind.ts";

export interface ResolveContext {
  readonly commit: Commit;
  readonly before: DocumentVersions;
  /** Why an object without a document may still be there, in words; null where it was deleted. */
  readonly absenceDoubt: (version: DocumentVersion) => string | null;
  /** Why a version may not replace the one before it. */
  readonly check: (ref: DocumentRef, content: DocumentContent, before: DocumentVersion | null) => FieldProblems;
}

interface Resolved {
  readonly versions: Map<ObjectKey, DocumentVersion>;
  readonly documentProblems: readonly DocumentProblem[];
  /** Of those that are held without a document: why. */
  readonly suspects: ReadonlyMap<ObjectKey, string>;
}

/**
 * Decides for every object which document is in force: `plan/README.md#d-2`.
 *
 * One usable document is. An unusable one, two of them, or one that may not replace what was accepted leave what was in
 * force before, if anything was. An object without a document is gone, unless it may be somewhere that cannot be read.
 */
export function resolveDocuments(
  refs: readonly DocumentRef[],
  { commit, before, absenceDoubt, check }: ResolveContext,
): Resolved {
  const versions = new Map<ObjectKey, DocumentVersion>();
  const documentProblems: DocumentProblem[] = [];
  const { byKey, duplicates } = grouped(refs);
  for (const [key, ref] of byKey) {
    const previous = before.get(key) ?? null;
    const problems = problemsWith(ref, duplicates.get(key) ?? none, { check, previous });
    let content = ref.content;
    for (const it of problems) {
      documentProblems.push(it);
      if (isError(it.problem)) content = null;
    }
    if (content?.kind === "later") continue;
    if (content !== null) versions.set(key, versionOf(ref, content, commit));
    else if (previous !== null) versions.set(key, heldVersion(previous));
  }
  const suspects = new Map<ObjectKey, string>();
  for (const [key, previous] of before) {
    const suspect = byKey.has(key) ? null : absenceDoubt(previous);
    if (suspect === null) continue;
    versions.set(key, heldVersion(previous));
    suspects.set(key, suspect);
  }
  return { versions, documentProblems, suspects };
}

/** Written out: spreading a reference costs several times as much, and every commit makes one for every document. */
const versionOf = (
  { key, id, source, blob, document }: DocumentRef,
  content: DocumentContent,
  commit: Commit,
): DocumentVersion => ({ key, id, content, source, blob, document, commit, isHeld: false });

/** The version before, kept in force although its document changed or is missing. */
export const heldVersion = (version: DocumentVersion): DocumentVersion =>
  version.isHeld ? version : { ...version, isHeld: true };

const none: readonly never[] = [];

/** The first document of every object, and its duplicates. */
function grouped(refs: readonly DocumentRef[]) {
  const byKey = new Map<ObjectKey, DocumentRef>();
  const duplicates = new Map<ObjectKey, DocumentRef[]>();
  for (const ref of refs) {
    if (!byKey.has(ref.key)) {
      byKey.set(ref.key, ref);
      continue;
    }
    const others = duplicates.get(ref.key);
    if (others === undefined) duplicates.set(ref.key, [ref]);
    else others.push(ref);
  }
  return { byKey, duplicates };
}

function problemsWith(
  ref: DocumentRef,
  duplicates: readonly DocumentRef[],
  { check, previous }: Pick<ResolveContext, "check"> & { readonly previous: DocumentVersion | null },
): readonly DocumentProblem[] {
  if (duplicates.length > 0) {
    const all = [ref, ...duplicates];
    const others = (it: DocumentRef) => all.filter((other) => other !== it);
    return all.map((it) => ({ ref: it, problem: duplicateProblem(it, others(it)) }));
  }
  const { content } = ref;
  if (content === null) return none;
  const problems = check(ref, content, previous);
  return problems.length === 0 ? none : problems.map((problem) => ({ ref, problem }));
}

function duplicateProblem({ id }: DocumentRef, others: readonly DocumentRef[]): FieldProblem {
  const places = others.slice(0, 3).map((it) => positionText(it.source));
  const more = others.length > places.length ? ` and ${others.length - places.length} more` : "";
  const message = `${objectText(id)} is also defined at ${places.join(", ")}${more}; none of them is used`;
  return error("FLT1316", ["metadata", "name"], message, "keep one of them");
}

/** A document of a known object. */
export interface DocumentRef {
  /** Of `id`. */
  readonly key: ObjectKey;
  readonly id: VersionedId;
  /** Null when it cannot be used. */
  readonly content: DocumentContent | null;
  readonly source: SourcePosition;
  readonly blob: BlobId;
  readonly document: DecodedDocument;
}

/** What an object is, by the document that is in force for it. */
export interface DocumentVersion extends DocumentRef {
  readonly content: DocumentContent;
  /** The source commit in which the document was last accepted. */
  readonly commit: Commit;
  /** In force although its document in this commit is different, missing or unusable. */
  readonly isHeld: boolean;
}

export type DocumentVersions = ReadonlyMap<ObjectKey, DocumentVersion>;

/** A problem that shows only beside other documents, or beside what was accepted. */
export interface DocumentProblem {
  readonly ref: Pick<DocumentRef, "source" | "document">;
  readonly problem: FieldProblem;
}

export const keyOfId = ({ group, kind, namespace, name }: ObjectId): ObjectKey =>
  objectKey({ group, kind, namespace, name });

/** `clusters/a.yaml:12` */
export const positionText = ({ path, line }: SourcePosition): string => `${path}:${line}`;
