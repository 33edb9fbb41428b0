import { type Document, isMap, isPair, isScalar, isSeq, type Node, type Pair, type YAMLMap } from "yaml";
import { isObject, type Json, sameJson } from "../../core/model/json.ts";
import { keyText, leafText } from "../../core/yaml/canonical.ts";
import { documentsIn } from "./found-document.ts";

/** Keys of mappings and places in lists that lead to a mapping. */
type YamlPath = readonly (string | number)[];

/** One change of a document, below a path that leads to a mapping. */
export type YamlEdit =
  /** A key that is not there yet is written behind `after`, or at the end. */
  | {
      readonly kind: "set";
      readonly under: YamlPath;
      readonly key: string;
      readonly value: Json;
      readonly after?: string;
    }
  /** Adds an item to the list at `key`, which is made where there is none. */
  | { readonly kind: "append"; readonly under: YamlPath; readonly key: string; readonly item: Json }
  /** Removes the items that it `selects`, and the list if it becomes empty. */
  | {
      readonly kind: "drop";
      readonly under: YamlPath;
      readonly key: string;
      readonly selects: (item: Json) => boolean;
    };

/**
 * A file with one document edited, and every other byte as somebody wrote it: comments, order, quotes, indentation.
 *
 * The change is cut into the text where it belongs. Where that does not give what was meant (a flow mapping, say), the
 * one document is written anew by the YAML library, which keeps comments and order, not layout. Null when neither does.
 */
export function editedText(text: string, document: number, edit: YamlEdit): string | null {
  const before = documentsIn(text);
  const chosen = before[document];
  if (chosen === undefined) return null;
  const wanted = before.map((it, at) => (at === document ? changed(it, edit) : it));
  const says = (candidate: string): boolean => {
    const after = documentsIn(candidate);
    return after.length === wanted.length && after.every((it, at) => sameJson(jsonOf(it), jsonOf(wanted[at] ?? it)));
  };
  const cut = cutIn(text, chosen, edit);
  if (cut !== null && says(cut)) return cut;
  const anew = rewritten(text, document, before, wanted);
  return says(anew) ? anew : null;
}

const jsonOf = (document: Document): Json => document.toJS() as Json;

/** The document as it is to be; the given one stays as it is. */
function changed(document: Document, { under, key, ...edit }: YamlEdit): Document {
  const copy = document.clone();
  const path = [...under, key];
  const list = copy.getIn(path);
  switch (edit.kind) {
    case "set":
      copy.setIn(path, copy.createNode(edit.value));
      break;
    case "append":
      if (isSeq(list)) copy.addIn(path, copy.createNode(edit.item));
      else copy.setIn(path, copy.createNode([edit.item]));
      break;
    case "drop":
      if (!isSeq(list)) break;
      list.items = list.items.filter((it) => !edit.selects((it as Node).toJS(copy) as Json));
      if (list.items.length === 0) copy.deleteIn(path);
  }
  return copy;
}

function rewritten(text: string, at: number, before: readonly Document[], after: readonly Document[]): string {
  // What stands before the first document belongs to it: the library gives it back with the rest.
  const start = at === 0 ? 0 : (before[at]?.range?.[0] ?? 0);
  const end = before[at]?.range?.[2] ?? text.length;
  const written = after[at]?.toString({ lineWidth: 0, flowCollectionPadding: false }) ?? "";
  return text.slice(0, start) + written + text.slice(end);
}

/** The text with the edit cut in; null where the layout is not the common one: a block mapping, block lists. */
function cutIn(text: string, document: Document, edit: YamlEdit): string | null {
  const parent = edit.under.length === 0 ? document.contents : document.getIn(edit.under, true);
  if (!isMap(parent) || parent.items.length === 0) return null;
  const pair = (parent as YAMLMap).items.find((it) => isScalar(it.key) && it.key.value === edit.key) ?? null;
  if (parent.flow === true) return pair === null ? null : cutInLine(text, pair, edit);
  switch (edit.kind) {
    case "set":
      return pair === null
        ? cutPair(text, parent, yamlLines({ [edit.key]: edit.value }), edit.after)
        : cutScalar(text, pair, edit.value);
    case "append":
      return pair === null
        ? cutPair(text, parent, yamlLines({ [edit.key]: [edit.item] }))
        : (cutItem(text, pair, yamlLines([edit.item])) ?? cutInLine(text, pair, edit));
    case "drop":
      return pair === null ? null : cutAway(text, pair, document, edit.selects);
  }
}

/** What stands between braces or brackets: one scalar for another, or one more at the end of a list. */
function cutInLine(text: string, pair: Pair, edit: YamlEdit): string | null {
  if (edit.kind === "set") return cutScalar(text, pair, edit.value);
  const { value } = pair;
  if (edit.kind !== "append" || !isSeq(value) || value.flow !== true || typeof edit.item === "object") return null;
  const end = rangeOf(value.items.at(-1))?.[1];
  return end === undefined ? null : `${text.slice(0, end)}, ${leafText(edit.item)}${text.slice(end)}`;
}

function cutScalar(text: string, { value }: Pair, to: Json): string | null {
  if (!isScalar(value) || value.range == null || typeof to === "object") return null;
  return text.slice(0, value.range[0]) + leafText(to) + text.slice(value.range[1]);
}

/** Behind the pair of the key `after`, or the last one, so that no comment changes what it stands over. */
function cutPair(text: string, { items }: YAMLMap, lines: readonly string[], after?: string): string | null {
  const last = items.find((it) => isScalar(it.key) && it.key.value === after) ?? items.at(-1);
  const [start] = rangeOf(last?.key) ?? [];
  const end = rangeOf(last?.value)?.[1] ?? rangeOf(last?.key)?.[1];
  if (start === undefined || end === undefined) return null;
  return insertedAfter(text, end, { lines, indent: indentAt(text, start) });
}

function cutItem(text: string, { value }: Pair, lines: readonly string[]): string | null {
  if (!isSeq(value) || value.flow === true) return null;
  const range = rangeOf(value.items.at(-1));
  const indent = range === null ? null : dashAt(text, range[0]);
  if (range === null || indent === null) return null;
  return insertedAfter(text, range[1], { lines, indent });
}

function cutAway(text: string, { key, value }: Pair, document: Document, selects: (item: Json) => boolean) {
  if (!isSeq(value) || value.flow === true) return null;
  const marked = value.items.map((it) => selects((it as Node).toJS(document) as Json));
  const goes = marked.every(Boolean) ? [{ from: key, to: value }] : [];
  const items = value.items.flatMap((it, at) => (marked[at] === true ? [{ from: it, to: it }] : []));
  let rest = text;
  for (const { from, to } of (goes.length > 0 ? goes : items).reverse()) {
    const [start] = rangeOf(from) ?? [];
    const [, end] = rangeOf(to) ?? [];
    if (start === undefined || end === undefined) return null;
    rest = rest.slice(0, rest.lastIndexOf("\n", start - 1) + 1) + rest.slice(lineEnd(rest, end) + 1);
  }
  return rest;
}

function insertedAfter(
  text: string,
  offset: number,
  { lines, indent }: { readonly lines: readonly string[]; readonly indent: string },
): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const at = lineEnd(text, offset);
  const end = text[at - 1] === "\r" ? at - 1 : at;
  return text.slice(0, end) + lines.map((it) => `${eol}${indent}${it}`).join("") + text.slice(end);
}

/** Where the line ends in which the content before `offset` ends: a comment behind it belongs to it. */
function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", text.slice(0, offset).trimEnd().length);
  return end < 0 ? text.length : end;
}

const lineStart = (text: string, offset: number): string => text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);

/** As many blanks as stand before the column: a mapping may begin behind a dash. */
const indentAt = (text: string, offset: number): string => " ".repeat(lineStart(text, offset).length);

/** The indentation of the dash before an item; null when something else stands there. */
const dashAt = (text: string, offset: number): string | null => /^( *)- +$/.exec(lineStart(text, offset))?.[1] ?? null;

const rangeOf = (node: unknown): readonly [number, number, number] | null =>
  isPair(node) ? null : ((node as Node | null | undefined)?.range ?? null);

/** A value as block YAML, line by line: as `emitYaml` writes it, but texts of several lines stand as `|` blocks. */
export function yamlLines(value: Json): readonly string[] {
  if (Array.isArray(value) && value.length > 0)
    return value.flatMap((it: Json) => yamlLines(it).map((line, at) => (at === 0 ? `- ${line}` : indented(line))));
  if (isObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, it]) => pairLines(keyText(key), it));
  // A block would lose blanks at its edges, and more than one line end behind it.
  if (typeof value === "string" && /\n/.test(value) && !/^\s|[ \t]\n|\s$|[^\n -~]/.test(value))
    return ["|-", ...value.split("\n")];
  return [leafText(value)];
}

function pairLines(key: string, value: Json): readonly string[] {
  const lines = yamlLines(value);
  const [first = "", ...rest] = lines;
  const isNested = typeof value === "object" && value !== null && !/^(?:\[\]|\{\})$/.test(first);
  return isNested ? [`${key}:`, ...lines.map(indented)] : [`${key}: ${first}`, ...rest.map(indented)];
}

const indented = (line: string): string => (line === "" ? "" : `  ${line}`);
