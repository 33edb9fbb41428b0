import {
  type ObjectId,
  type ObjectKey,
  objectKey,
  objectText,
  type SourcePosition,
  type VersionedId,
} from "../model/manifest.ts";
import type { BlobId, Commit } from "../model/value.ts";
import { error, type FieldProblem, isError } from "../yaml/problems.ts";
import type { DecodedDocument } from "./documents.ts";
import type { DocumentContent } from "./kinds/content.ts";

/** What claims are settled by. */
export interface ResolveContext {
  readonly commit: Commit;
  /** What was in force until now. */
  readonly before: DocumentVersions;
  /** Why an object's absence is no deletion, in words: something that cannot be read might be it. Null where it is one. */
  readonly silence: (version: DocumentVersion) => string | null;
  /** What speaks against a version taking the place of the one before. */
  readonly check: (content: DocumentContent, before: DocumentVersion | null) => readonly FieldProblem[];
}

interface Resolved {
  readonly versions: Map<ObjectKey, DocumentVersion>;
  readonly complaints: readonly DocumentProblem[];
  /** Of those that are held without a document: why. */
  readonly suspects: ReadonlyMap<ObjectKey, string>;
}

/**
 * Decides for every object which document is in force: `plan/README.md#d-2`.
 *
 * One usable document is. An unusable one, two of them, or one that may not replace what was accepted leave what was in
 * force before; nothing if there was nothing. An object without a document is gone, unless nothing was heard of it.
 */
export function resolveDocuments(
  claims: readonly DocumentRef[],
  { commit, before, silence, check }: ResolveContext,
): Resolved {
  const versions = new Map<ObjectKey, DocumentVersion>();
  const complaints: DocumentProblem[] = [];
  const { byKey, rivals } = grouped(claims);
  for (const [key, claim] of byKey) {
    const previous = before.get(key) ?? null;
    const remarks = remarksOn(claim, rivals.get(key) ?? none, { check, previous });
    let content = claim.content;
    for (const it of remarks) {
      complaints.push(it);
      if (isError(it.remark)) content = null;
    }
    if (content?.kind === "later") continue;
    if (content !== null) versions.set(key, inForce(claim, content, commit));
    else if (previous !== null) versions.set(key, heldVersion(previous));
  }
  const suspects = new Map<ObjectKey, string>();
  for (const [key, previous] of before) {
    const suspect = byKey.has(key) ? null : silence(previous);
    if (suspect === null) continue;
    versions.set(key, heldVersion(previous));
    suspects.set(key, suspect);
  }
  return { versions, complaints, suspects };
}

const inForce = (
  { key, id, source, blob, document }: DocumentRef,
  content: DocumentVersion["content"],
  commit: Commit,
): DocumentVersion => ({
  key,
  id,
  content,
  source,
  blob,
  document,
  commit,
  isHeld: false,
});

/** The version before, kept in force against or without its document. */
export const heldVersion = (version: DocumentVersion): DocumentVersion =>
  version.isHeld ? version : { ...version, isHeld: true };

const none: readonly never[] = [];

/** The first claim of every object, and the others where there are more. */
function grouped(claims: readonly DocumentRef[]) {
  const byKey = new Map<ObjectKey, DocumentRef>();
  const rivals = new Map<ObjectKey, DocumentRef[]>();
  for (const claim of claims) {
    if (!byKey.has(claim.key)) {
      byKey.set(claim.key, claim);
      continue;
    }
    const others = rivals.get(claim.key);
    if (others === undefined) rivals.set(claim.key, [claim]);
    else others.push(claim);
  }
  return { byKey, rivals };
}

function remarksOn(
  claim: DocumentRef,
  rivals: readonly DocumentRef[],
  { check, previous }: Pick<ResolveContext, "check"> & { readonly previous: DocumentVersion | null },
): readonly DocumentProblem[] {
  if (rivals.length > 0) {
    const all = [claim, ...rivals];
    return all.map((it) => ({
      claim: it,
      remark: rivalry(
        it,
        all.filter((other) => other !== it),
      ),
    }));
  }
  const { content } = claim;
  if (content === null) return none;
  const remarks = check(content, previous);
  return remarks.length === 0 ? none : remarks.map((remark) => ({ claim, remark }));
}

function rivalry({ id }: DocumentRef, others: readonly DocumentRef[]): FieldProblem {
  const places = others.slice(0, 3).map((it) => positionText(it.source));
  const more = others.length > places.length ? ` and ${others.length - places.length} more` : "";
  const message = `${objectText(id)} is also defined at ${places.join(", ")}${more}; none of them counts`;
  return error("FLT1316", ["metadata", "name"], message, "keep one of them");
}

/** A document that says which object it is. */
export interface DocumentRef {
  /** Of `id`, made once: every step of reading looks it up. */
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
  /** In force although the commit that is read says something else, or nothing that can be read. */
  readonly isHeld: boolean;
}

export type DocumentVersions = ReadonlyMap<ObjectKey, DocumentVersion>;

/** Something that came out only when documents were compared with each other or with what was accepted. */
export interface DocumentProblem {
  readonly claim: Pick<DocumentRef, "source" | "document">;
  readonly remark: FieldProblem;
}

export const keyOfId = ({ group, kind, namespace, name }: ObjectId): ObjectKey =>
  objectKey({ group, kind, namespace, name });

/** `clusters/a.yaml:12` */
export const positionText = ({ path, line }: SourcePosition): string => `${path}:${line}`;
