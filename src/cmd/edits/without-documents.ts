import { type Json, sameJson } from "../../core/model/json.ts";
import { documentsIn } from "./found-document.ts";

/** What is left of a file: its text, or nothing at all. */
export type Remainder = { readonly kind: "text"; readonly text: string } | { readonly kind: "nothing" };

/**
 * A file without some of its documents, given by their places, and every other byte as somebody wrote it. Null when that
 * cannot be cut out: what is left would not say what it said.
 */
export function withoutDocuments(text: string, doomed: ReadonlySet<number>): Remainder | null {
  const documents = documentsIn(text);
  if (documents.length === 0) return null;
  const left = documents.filter((_, at) => !doomed.has(at)).map((it) => it.toJS() as Json);
  if (left.every((it) => it === null)) return { kind: "nothing" };
  const pieces = piecesOf(text);
  // Comments alone before the first `---` belong to the first document.
  const first = pieces.length - documents.length;
  if (first < 0 || first > 1) return null;
  const kept = pieces.filter((_, at) => !doomed.has(Math.max(0, at - first)));
  const cut = kept.join("").replace(text.startsWith("---") ? /^(?!)/ : /^---[^\S\n]*\n/, "");
  const after = documentsIn(cut).map((it) => it.toJS() as Json);
  const isSame = after.length === left.length && after.every((it, at) => sameJson(it, left[at] ?? null));
  return isSame ? { kind: "text", text: cut } : null;
}

/** The text from one `---` in the first column to the next: that ends a document even inside a block of text. */
const piecesOf = (text: string): readonly string[] => text.split(/^(?=---(?:\s|$))/m);
