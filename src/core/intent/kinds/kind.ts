import type { PastContent } from "../../model/history.ts";
import type { Manifest, ObjectId, Scope, ScopeTable, Wrapping } from "../../model/manifest.ts";
import type { ApprovalFile } from "../../model/trust.ts";
import type { Digest } from "../../model/value.ts";
import type { FieldProblems } from "../../yaml/problems.ts";

/** What a document defines. */
export type DocumentContent =
  | Exclude<PastContent, { readonly kind: "manifest" | "unusable" }>
  | { readonly kind: "confirmation"; readonly digest: Digest }
  | { readonly kind: "approval"; readonly approval: Omit<ApprovalFile, "path" | "blob"> }
  | { readonly kind: "manifest"; readonly manifest: Manifest; readonly digest: Digest }
  | { readonly kind: "envelope"; readonly manifest: Manifest; readonly digest: Digest; readonly wraps: Wrapping }
  /** Recognised and ignored, which costs nobody anything. */
  | { readonly kind: "later" };

/** What documents of one kind define. */
export type ContentOf<Kind extends DocumentContent["kind"]> = Extract<DocumentContent, { readonly kind: Kind }>;

/** A name that a kind has in the API, and in which versions it may be written. */
export interface KindName {
  readonly group: string;
  readonly kind: string;
  readonly versions: readonly string[];
  readonly scope: Scope;
}

/**
 * A kind that is read: one file has all that is known about its documents. A kind without a rule says so, by {@link
 * everythingMayChange} or {@link selectsNothing}.
 */
export interface ReadKind<Document, Content extends DocumentContent> {
  /** Its name, then the name of its namespaced variant if that is read as well. */
  readonly names: readonly KindName[];
  /** JSON Schema: `Document` is made from it. */
  readonly schema: object;
  /** Where the only file is that it is read from, in words; null for every file. */
  readonly ownPlace: string | null;
  /** Checks a document that the schema has passed. */
  rules(document: Document): FieldProblems;
  /**
   * Checks what may be wrong without making the document unusable: its content tells what follows from that, and no
   * earlier version stays in force in its place. Without it there is no such thing.
   */
  partRules?(document: Document): FieldProblems;
  /** What it defines, with defaults. `scope`: of the name under which it was written. */
  content(document: Document, scope: Scope): Content;
  /** Checks an object against its accepted version: what an update may not change. */
  updateRules(before: Content, after: Content): FieldProblems;
  /** Checks what it selects, which depends on the definitions of the same commit. */
  selectionRules(content: Content, known: CommitKinds): FieldProblems;
}

/** The kinds of a commit. */
export interface CommitKinds {
  readonly scopes: ScopeTable;
  /** Whether it is a kind of KubeFleet's or ours. */
  readonly isKnownKind: (id: Pick<ObjectId, "group" | "kind">) => boolean;
}

export const everythingMayChange = (): FieldProblems => [];
export const selectsNothing = (): FieldProblems => [];
