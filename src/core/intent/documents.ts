import { fleetDocumentKey, type PastContent, type PastDocument } from "../model/history.ts";
import { type Json, member, memberAt, textOf } from "../model/json.ts";
import { type ObjectId, objectKey, type VersionedId } from "../model/manifest.ts";
import { maxTokens } from "../yaml/compose.ts";
import { readYaml } from "../yaml/kyaml.ts";
import { fileWideProblem, type LocatedDocument, locateDocument, type ParsedValue } from "../yaml/locate.ts";
import { error, type FieldProblem, isError, type LocatedProblem, note, warning } from "../yaml/problems.ts";
import { isLargeFilePointer, maxFileBytes, positionsIn, slicesOf, type TextSlice, textOfBytes } from "../yaml/text.ts";
import { identityOf, isIdentityEncrypted, isIdentityReadable, otherToolProblem, sopsProblem } from "./identity.ts";
import { readContent } from "./kinds/content.ts";
import type { DocumentContent } from "./kinds/kind.ts";

/** What a blob defines, whatever its path: callers keep it by blob id. */
export interface DecodedFile {
  /** In the order of the file, items of a `List` one by one, without empty ones: `SourcePosition.document` counts them. */
  readonly documents: readonly DecodedDocument[];
  /** About the file as a whole. */
  readonly problems: readonly LocatedProblem[];
  /** How many tokens the YAML library read, which is what costs time. */
  readonly tokens: number;
}

/** One document: an object, something that might be any object, or none. */
export type DecodedDocument = LocatedDocument &
  (
    | {
        readonly kind: "object";
        readonly id: VersionedId;
        /** Null when it cannot be used: its problems say why. */
        readonly content: DocumentContent | null;
      }
    /** It may be any object, so that nothing that is missing counts as deleted (`plan/README.md#d-2`). */
    | {
        readonly kind: "unidentified";
        /** What is known about it: a kind, and the beginning of its name. */
        readonly said: string | null;
      }
    /** Not an object. */
    | { readonly kind: "note" }
  );

export const maxDocuments = 1000;

/** Reads a blob: every document in it with what it defines and what is wrong with it. Never throws. */
export function decodeBlob(bytes: Uint8Array): DecodedFile {
  if (bytes.length > maxFileBytes) return unreadableFile(tooLarge);
  const read = textOfBytes(bytes);
  if (read.kind === "not-utf8") return unreadableFile(notUtf8(read.byte, read.wide));
  if (isLargeFilePointer(read.text)) return unreadableFile(largeFilePointer);
  const problems = read.hasMark ? [fileWideProblem(byteOrderMark)] : [];
  // There may be empty ones between documents.
  const slices = slicesOf(read.text, 2 * maxDocuments);
  const { documents, tokens } = decodeSlices(slices);
  if (documents.length <= maxDocuments && slices.length < 2 * maxDocuments) return { documents, problems, tokens };
  const { documents: rest } = unreadableFile(tooManyDocuments);
  return { documents: [...documents.slice(0, maxDocuments), ...rest], problems, tokens };
}

/** How many tokens of a file the YAML library may read; of its broken documents, {@link maxTokens} together. */
const maxFileTokens = 4 * maxTokens;

/** What the library takes to begin with a document, as tokens. */
const tokensToBegin = 10;

function decodeSlices(slices: readonly TextSlice[]): Omit<DecodedFile, "problems"> {
  const documents: DecodedDocument[] = [];
  let [spent, wasted] = [0, 0];
  for (const slice of slices) {
    const read = decodeSlice(slice, Math.max(0, Math.min(maxTokens - wasted, maxFileTokens - spent)));
    documents.push(...read.documents);
    spent += read.tokens;
    if (read.isOfNoUse || read.documents.some((it) => it.problems.some(isError))) wasted += read.tokens + tokensToBegin;
    if (documents.length > maxDocuments) break;
  }
  return { documents, tokens: spent };
}

interface DecodedSlice extends Omit<DecodedFile, "problems"> {
  /** The text has errors, which matter only in an object, or nothing in it. */
  readonly isOfNoUse: boolean;
}

function decodeSlice(slice: TextSlice, most: number): DecodedSlice {
  const positionOf = positionsIn(slice);
  const yaml = readYaml(slice, positionOf, most);
  const { tokens } = yaml;
  const whole: ParsedValue = { slice, positionOf, yaml, base: [] };
  const isBroken = yaml.textProblems.some(isError);
  const cost = { tokens, isOfNoUse: isBroken || yaml.begin === null };
  if (yaml.begin === null)
    return { ...cost, documents: isBroken ? [{ kind: "unidentified", said: null, ...locateDocument(whole, []) }] : [] };
  const items = itemsOf(yaml.value);
  if (items === null || (isBroken && !isIdentityReadable(yaml, [])))
    return { ...cost, documents: [decodeValue(whole, yaml.value)] };
  const few = items.slice(0, maxDocuments + 1);
  return { ...cost, documents: few.map((item, at) => decodeValue({ ...whole, base: ["items", at] }, item)) };
}

/** The items of a `List`, as `kubectl get -o yaml` writes one; null for everything else. */
function itemsOf(value: Json): readonly Json[] | null {
  const isList =
    textOf(member(value, "kind"))?.endsWith("List") === true && memberAt(value, "metadata", "name") === null;
  const items = member(value, "items");
  return isList && Array.isArray(items) ? items : null;
}

function decodeValue(origin: ParsedValue, value: Json): DecodedDocument {
  const { yaml, base } = origin;
  const isBroken = yaml.textProblems.some(
    (it) => isError(it) && (it.at === null || base.every((step, at) => it.at?.[at] === step)),
  );
  if (isBroken && !isIdentityReadable(yaml, base))
    return { kind: "unidentified", said: null, ...locateDocument(origin, []) };
  if (base.length > 0 && itemsOf(value) !== null)
    return { kind: "unidentified", said: null, ...locateDocument(origin, [nestedList]) };
  const otherTool = otherToolProblem(value);
  if (otherTool !== null) return { kind: "note", ...locateDocument(withoutTextProblems(origin), [otherTool]) };
  const sops = sopsProblem(value);
  if (sops !== null && isIdentityEncrypted(value))
    return { kind: "unidentified", said: "a document encrypted with SOPS", ...locateDocument(origin, [sops]) };
  const identity = identityOf(value);
  switch (identity.kind) {
    case "none":
      return { kind: "note", ...locateDocument(withoutTextProblems(origin), [notAnObject]) };
    case "unreadable":
      return { kind: "unidentified", said: identity.said, ...locateDocument(origin, [identity.problem]) };
    case "object": {
      if (isBroken) return { kind: "object", id: identity.id, content: null, ...locateDocument(origin, []) };
      if (sops !== null) return { kind: "object", id: identity.id, content: null, ...locateDocument(origin, [sops]) };
      const { id, content, problems } = readContent(identity.id, value);
      return { kind: "object", id, content, ...locateDocument(origin, problems) };
    }
  }
}

/** Text that is not an object may look any way. */
const withoutTextProblems = (origin: ParsedValue): ParsedValue => ({
  ...origin,
  yaml: { ...origin.yaml, textProblems: [] },
});

/** A file that cannot be read at all might hold anything. */
function unreadableFile(problem: FieldProblem): DecodedFile {
  const slice = { text: "", line: 1 };
  const place = { slice, base: [] };
  const document = {
    kind: "unidentified",
    said: null,
    line: 1,
    column: 1,
    problems: [fileWideProblem(problem)],
    place,
  } as const;
  return { documents: [document], problems: [], tokens: 0 };
}

const tooLarge = error("FLT1009", [], `the file is larger than ${maxFileBytes} bytes`, "split it");

const notUtf8 = (byte: number, wide: boolean): FieldProblem =>
  error("FLT1001", [], `not valid UTF-8 at byte ${byte}${wide ? "; it looks like UTF-16" : ""}`, "save it as UTF-8");

const largeFilePointer = error(
  "FLT1105",
  [],
  "this is a Git LFS pointer; its content is not in the repository",
  "commit the file itself",
);

const tooManyDocuments = error(
  "FLT1010",
  [],
  `more than ${maxDocuments} documents in one file; the rest is not read`,
  "split the file",
);

const byteOrderMark = warning("FLT1021", [], "the file begins with a byte order mark", "save it without one");

const nestedList = error("FLT1402", [], "a List inside a List is not read", "put the items into one List");

const notAnObject = note(
  "FLT1023",
  [],
  "neither apiVersion nor kind: not a Kubernetes object, ignored",
  "keep such files outside the roots, or in a folder whose name begins with a dot",
);

/** A file's documents that decisions rest on, without approvals and confirmations; null where one may be any object. */
export function pastDocuments({ documents }: DecodedFile): readonly PastDocument[] | null {
  if (documents.some((it) => it.kind === "unidentified")) return null;
  return documents.flatMap((it) => {
    if (it.kind !== "object") return [];
    const said: PastContent | null = it.content === null ? { kind: "unusable" } : saidBy(it.content, it.id);
    return said === null ? [] : [{ key: said.kind === "fleet" ? fleetDocumentKey : objectKey(it.id), said }];
  });
}

function saidBy(content: DocumentContent, id: ObjectId & { readonly version: string }): PastContent | null {
  switch (content.kind) {
    case "manifest":
    case "envelope":
      return { kind: "manifest", id, manifest: content.manifest, digest: content.digest };
    case "cluster":
    case "placement":
    case "override":
    case "run":
    case "strategy":
    case "eviction":
    case "budget":
    case "prices":
    case "fleet":
      return content;
    case "confirmation":
    case "approval":
    case "later":
      return null;
  }
}
