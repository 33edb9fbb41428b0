import { type Document, isMap, isScalar, parseAllDocuments } from "yaml";
import { type Json, memberAt, sameJson } from "../../core/model/json.ts";
import { isApprovalPath } from "../../core/model/trust.ts";
import { compareText, type Digest } from "../../core/model/value.ts";
import { isBounded } from "../../core/yaml/compose.ts";
import type { AuthoredFile } from "../../shell/reconcile/ports.ts";

/** A file's text, with its path from the top of the repository. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** Which object of ours: any version of its kind. */
export interface WantedDocument {
  readonly kind: string;
  /** Null for cluster-scoped kinds. */
  readonly namespace: string | null;
  readonly name: string;
}

/** Where an object is defined: a file, and which of its documents. */
export interface FoundDocument extends TextFile {
  readonly document: number;
}

/**
 * Every document that defines the object: kinds decide, not paths (`intent/README.md#which-document-is-in-force`). A
 * file that is no YAML defines nothing here; `validate` says what is wrong with it.
 */
export function documentsOf(files: readonly TextFile[], wanted: WantedDocument): readonly FoundDocument[] {
  return files
    .filter(({ text }) => text.includes(wanted.kind) && text.includes(wanted.name))
    .flatMap(({ path, text }) =>
      documentsIn(text).flatMap((it, document) => (isWanted(it, wanted) ? [{ path, text, document }] : [])),
    );
}

/** Every document of a file, one after another; none of a file that cannot be read. */
export const documentsFound = ({ path, text }: TextFile): readonly FoundDocument[] =>
  documentsIn(text).map((_, document) => ({ path, text, document }));

/** The names of all objects of a kind that files define, in one namespace where it has one: each once, in order. */
export function namesOfKind(files: readonly TextFile[], kind: string, namespace: string | null): readonly string[] {
  const names = files
    .filter(({ text }) => text.includes(kind))
    .flatMap(({ text }) => documentsIn(text))
    .filter((it) => isOfKind(it, kind, namespace))
    .map((it) => scalarAt(it, "metadata", "name"));
  return [...new Set(names)].filter((it) => it !== null).sort(compareText);
}

/** What a found document says at a path of keys; null where it says nothing. */
export const valueIn = ({ text, document }: FoundDocument, ...path: readonly string[]): Json =>
  memberAt(documentsIn(text)[document]?.toJS() as Json, ...path);

/** The folders that `fleet.yaml` says are read; none means all. */
export function rootsOf(files: readonly TextFile[]): readonly string[] {
  const fleet = files.find(({ path }) => /^fleet\.ya?ml$/.test(path));
  const roots = fleet === undefined ? null : documentsIn(fleet.text)[0]?.getIn(["spec", "roots"]);
  const { items = [] } = (roots ?? {}) as { readonly items?: readonly unknown[] };
  return items.flatMap((it) => (isScalar(it) && typeof it.value === "string" ? [it.value.replace(/\/+$/, "")] : []));
}

/** Only documents without an error: what is broken is nobody's to edit. */
export const documentsIn = (text: string): readonly Document[] => {
  if (!isBounded(text, maxTokens)) return [];
  const documents = parseAllDocuments(text, { uniqueKeys: false }) as readonly Document[];
  return documents.some((it) => it.errors.length > 0) ? [] : documents;
};

/** More than any document has that a command edits. */
const maxTokens = 200_000;

/** Groups that are no KubeFleet's or ours may have kinds of the same name. */
const groups = /^(?:[a-z]+\.kubernetes-fleet\.io|flotilla\.dev)\//;

const isWanted = (document: Document, { kind, namespace, name }: WantedDocument): boolean =>
  isOfKind(document, kind, namespace) && scalarAt(document, "metadata", "name") === name;

const isOfKind = (document: Document, kind: string, namespace: string | null): boolean =>
  isMap(document.contents) &&
  scalarAt(document, "kind") === kind &&
  (namespace === null || scalarAt(document, "metadata", "namespace") === namespace) &&
  groups.test(scalarAt(document, "apiVersion") ?? "");

function scalarAt(document: Document, ...path: readonly string[]): string | null {
  const node = document.getIn(path, true);
  return isScalar(node) ? (node.source ?? String(node.value)) : null;
}

/** What is left of a file: its text, or nothing at all. */
type Remainder = { readonly kind: "text"; readonly text: string } | { readonly kind: "nothing" };

/** A file without the documents at these places, every other byte kept; null when that cannot be cut out. */
export function withoutDocuments(text: string, removed: ReadonlySet<number>): Remainder | null {
  const documents = documentsIn(text);
  if (documents.length === 0) return null;
  const left = documents.filter((_, at) => !removed.has(at)).map((it) => it.toJS() as Json);
  if (left.every((it) => it === null)) return { kind: "nothing" };
  const pieces = piecesOf(text);
  // Comments alone before the first `---` belong to the first document.
  const first = pieces.length - documents.length;
  if (first < 0 || first > 1) return null;
  const kept = pieces.filter((_, at) => !removed.has(Math.max(0, at - first)));
  const cut = kept.join("").replace(text.startsWith("---") ? /^(?!)/ : /^---[^\S\n]*\n/, "");
  const after = documentsIn(cut).map((it) => it.toJS() as Json);
  const isSame = after.length === left.length && after.every((it, at) => sameJson(it, left[at] ?? null));
  return isSame ? { kind: "text", text: cut } : null;
}

/** The text from one `---` in the first column to the next: that ends a document even inside a block of text. */
const piecesOf = (text: string): readonly string[] => text.split(/^(?=---(?:\s|$))/m);

/** What becomes of files that lose documents. */
interface PrunedFiles {
  readonly files: readonly AuthoredFile[];
  /** Paths of files in which that could not be cut out. */
  readonly stuck: readonly string[];
}

/** Files without these documents; one that held nothing else goes. */
export function filesWithout(documents: readonly FoundDocument[]): PrunedFiles {
  const texts = new Map(documents.map((it) => [it.path, it.text]));
  const files: AuthoredFile[] = [];
  const stuck: string[] = [];
  for (const [path, before] of texts) {
    const removed = documents.filter((it) => it.path === path).map((it) => it.document);
    const left = withoutDocuments(before, new Set(removed));
    if (left === null) stuck.push(path);
    else files.push({ path, text: left.kind === "text" ? left.text : null, before });
  }
  return { files, stuck };
}

/** The files with which somebody withdrew approvals of a request. */
export const ownRevocations = (
  files: readonly TextFile[],
  { principal, digest }: { readonly principal: string; readonly digest: Digest },
): readonly FoundDocument[] =>
  files
    .filter(({ path }) => isApprovalPath(path))
    .flatMap(documentsFound)
    .filter(
      (it) =>
        valueIn(it, "spec", "decision") === "Revoke" &&
        valueIn(it, "spec", "principal") === principal &&
        valueIn(it, "spec", "requestDigest") === digest,
    );
