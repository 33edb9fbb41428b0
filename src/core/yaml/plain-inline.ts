import type { Json } from "../model/json.ts";
import {
  addEntry,
  addItem,
  countValue,
  currentLine,
  foldedLine,
  foldLines,
  giveUp,
  isBlank,
  isBlankOrComment,
  type PlainLine,
  type PlainReader,
  positionsOf,
  readBlockScalar,
  skipSpaces,
  textBefore,
  toNextLine,
} from "./plain-lines.ts";
import { ambiguity, plainScalar } from "./scalar.ts";
import { isEscaped } from "./text.ts";

/** The key at `start`, with the offset then behind its colon; null where there may be none. */
export function readKey(reader: PlainReader, start: number, pattern = keyed): string | null {
  const { text } = reader;
  pattern.lastIndex = start;
  if (!pattern.test(text)) return null;
  reader.offset = pattern.lastIndex;
  const colon = reader.offset - 1;
  if (colon - start > maxKey) return null;
  const isQuoted = text[start] === '"' || text[start] === "'";
  const key = isQuoted ? text.slice(start + 1, colon - 1) : unquoted(reader, text.slice(start, colon));
  return typeof key === "string" && key !== "__proto__" ? key : null;
}

const keyed = /(?:[./=+$(]{0,2}\w[\w./()*=+$-]*|"[^"\\\n\t]*"|'[^'\n\t]*'):(?= |\n|$)/y;

/** As in JSON, a quoted key needs no space behind its colon. */
const keyedInBraces = /(?:[./=+$(]{0,2}\w[\w./()*=+$-]*:(?= |\n)|"[^"\\\n\t]*":|'[^'\n\t]*':)/y;

/** Below the length at which a key is an error. */
const maxKey = 1000;

/** The value behind a key or a dash, at `start`, or the block scalar that begins there. */
export function readInline(reader: PlainReader, start: number, parentIndent: number): Json {
  const first = reader.text[start] ?? "";
  if (first === "|" || first === ">") return readBlockScalar(reader, start, parentIndent);
  if (!"\"'[{".includes(first)) return readUnquoted(reader, start, parentIndent);
  reader.offset = start;
  const value = readClosed(reader, { parentIndent, depth: 0 });
  if (reader.line === null) return null;
  const { end } = reader.line;
  const behind = skipSpaces(reader.text, reader.offset);
  toNextLine(reader);
  const isLast = behind === end || (behind > reader.offset && isBlankOrComment(reader.text, behind, end));
  return isLast ? value : giveUp(reader);
}

/** An unquoted scalar: up to a comment, or through the last line that is indented further than its parent. */
function readUnquoted(reader: PlainReader, start: number, parentIndent: number): Json {
  const { text, line } = reader;
  const rest = text.slice(start, line?.end ?? start);
  const comment = rest.indexOf(" #");
  toNextLine(reader);
  let last: PlainLine | null = null;
  for (let next = currentLine(reader); next !== null && next.indent > parentIndent; next = currentLine(reader)) {
    last = next;
    toNextLine(reader);
  }
  const words = last === null ? textBefore(rest, comment < 0 ? rest.length : comment) : text.slice(start, last.end);
  const isOdd = specialStart.test(words) || specialInside.test(words) || (last !== null && commentInside.test(words));
  if (isOdd) return giveUp(reader);
  return scalar(reader, start, last === null ? words : foldLines(textBefore(words, words.length)));
}

const specialStart = /^(?:[-:](?: |$)|[?,[\]{}#&*!|>'"%@`])/;
const specialInside = /: |:$|\t/m;
const commentInside = /[ \n]#/;

/** What encloses a scalar in quotes or a collection in brackets. */
interface Enclosing {
  /** How far the block collection around it is indented: lines that follow are indented further. */
  readonly parentIndent: number;
  /** How many brackets are open. */
  readonly depth: number;
}

/** A scalar in quotes or a collection in brackets, at the reader's offset; the offset is then behind it. */
function readClosed(reader: PlainReader, within: Enclosing): Json {
  const { text, offset } = reader;
  switch (text[offset]) {
    case '"':
      return readDoubleQuoted(reader, within);
    case "'":
      return readSingleQuoted(reader, within);
    case "[":
      return within.depth < mostBrackets(within) ? readBracketed(reader, within) : giveUp(reader);
    case "{":
      return within.depth < mostBrackets(within) ? readBraced(reader, within) : giveUp(reader);
    default:
      return readWords(reader);
  }
}

/** Together with nesting by indentation, less than what is an error. JSON has brackets only. */
const mostBrackets = ({ parentIndent }: Enclosing): number => (parentIndent < 0 ? 50 : 12);

function readDoubleQuoted(reader: PlainReader, { parentIndent }: Enclosing): Json {
  const { text, offset } = reader;
  let end = text.indexOf('"', offset + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  const body = quotedText(reader, end, parentIndent);
  if (body === null || escapedSpaceAtEnd.test(body)) return giveUp(reader);
  countValue(reader);
  // Most strings are what they look like, and there may be tens of thousands.
  if (!body.includes("\\") && !body.includes("\n")) return body;
  let [value, from] = ["", 0];
  for (const { 0: all, 1: code, 2: blank = "", index } of body.matchAll(foldsAndEscapes)) {
    const meant = code === undefined ? foldedLine(blank) : unescaped(code);
    // There may be half a million of them.
    if (meant === undefined) return giveUp(reader);
    value += body.slice(from, index) + meant;
    from = index + all.length;
  }
  return from === 0 ? body : value + body.slice(from);
}

const foldsAndEscapes = /\\(u[\da-fA-F]{4}|x[\da-fA-F]{2}|\n *\n?|[^\n])|(?<! ) *\n *((?:\n *)*)/g;
const escapedSpaceAtEnd = /\\ +\n/;

function unescaped(code: string): string | undefined {
  // An escaped line end stands for nothing, unless a blank line follows.
  if (/^\n *$/.test(code)) return "";
  return /^[ux]./.test(code) ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : escapes.get(code);
}

/** The text between two quotes, on one line or several; the offset is then behind it. */
function quotedText(reader: PlainReader, end: number, parentIndent: number): string | null {
  const { text, offset } = reader;
  const body = text.slice(offset + 1, end);
  if (end < 0 || body.includes("\t")) return giveUp(reader);
  reader.offset = end + 1;
  if (!body.includes("\n")) return body;
  return moveTo(reader, end, parentIndent) ? body : giveUp(reader);
}

/** Moves to the line of an offset; false where a line before it is not indented further than the parent. */
function moveTo(reader: PlainReader, offset: number, parentIndent: number): boolean {
  while (reader.line !== null && reader.line.end < offset) {
    toNextLine(reader);
    const { line } = reader;
    if (
      line !== null &&
      !isBlank(line) &&
      (line.indent <= parentIndent || isMarker.test(reader.text.slice(line.start, line.start + 3)))
    )
      return false;
  }
  return reader.line !== null;
}

const isMarker = /^(?:---|\.\.\.)/;

const escapes: ReadonlyMap<string, string> = new Map([
  ...['"', "\\", "/", " "].map((it) => [it, it] as const),
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

function readSingleQuoted(reader: PlainReader, { parentIndent }: Enclosing): Json {
  const { text, offset } = reader;
  let end = text.indexOf("'", offset + 1);
  while (end >= 0 && text[end + 1] === "'") end = text.indexOf("'", end + 2);
  const body = quotedText(reader, end, parentIndent);
  if (body === null) return null;
  countValue(reader);
  return foldLines(body).replaceAll("''", "'");
}

function readBracketed(reader: PlainReader, { parentIndent, depth }: Enclosing): Json {
  const items: Json[] = [];
  const within = { parentIndent, depth: depth + 1 };
  const positions = positionsOf(reader, items);
  countValue(reader);
  while (opensNext(reader, "]", { parentIndent, isFirst: items.length === 0 })) {
    const { offset } = reader;
    addItem(items, positions, [offset, offset, readClosed(reader, within)]);
  }
  return items;
}

function readBraced(reader: PlainReader, { parentIndent, depth }: Enclosing): Json {
  const object: Record<string, Json> = {};
  const within = { parentIndent, depth: depth + 1 };
  positionsOf(reader, object);
  countValue(reader);
  let isFirst = true;
  for (; opensNext(reader, "}", { parentIndent, isFirst }); isFirst = false) {
    const start = reader.offset;
    const key = readKey(reader, start, keyedInBraces);
    if (key === null) return giveUp(reader);
    skipGap(reader, parentIndent);
    const entry = { key, from: start, to: reader.offset };
    addEntry(reader, object, entry, readClosed(reader, within));
  }
  return object;
}

interface Opening {
  readonly parentIndent: number;
  readonly isFirst: boolean;
}

/** Moves to the next item, behind the opening bracket or a comma; false behind the closing bracket. */
function opensNext(reader: PlainReader, closing: string, { parentIndent, isFirst }: Opening): boolean {
  if (isFirst) reader.offset += 1;
  skipGap(reader, parentIndent);
  if (reader.hasGivenUp) return false;
  const { text } = reader;
  const isEnd = text[reader.offset] === closing;
  if (isEnd || (!isFirst && text[reader.offset] === ",")) reader.offset += 1;
  else if (!isFirst) giveUp(reader);
  if (!isEnd && !isFirst) skipGap(reader, parentIndent);
  return !isEnd && !reader.hasGivenUp;
}

/** Skips spaces and line ends, as long as lines are indented further than the parent. */
function skipGap(reader: PlainReader, parentIndent: number): void {
  const { text } = reader;
  let at = skipSpaces(text, reader.offset);
  if (text[at] === "\n") {
    while (text[at] === "\n") at = skipSpaces(text, at + 1);
    if (!moveTo(reader, at, parentIndent)) giveUp(reader);
  }
  reader.offset = at;
}

/** An unquoted scalar in brackets, of characters without a special meaning there. */
function readWords(reader: PlainReader): Json {
  const start = reader.offset;
  words.lastIndex = start;
  const text = words.exec(reader.text)?.[0];
  if (text === undefined) return giveUp(reader);
  reader.offset += text.length;
  return scalar(reader, start, text);
}

const words = /(?:[\w./+$()=~]|-+(?=\w))(?:[\w./+$()=~-]|:(?=[\w./])| +(?=[\w./+$()=~]))*/y;

function scalar(reader: PlainReader, start: number, text: string): Json {
  countValue(reader);
  const read = plainScalar(text);
  if (read.kind !== "value") return giveUp(reader);
  if (ambiguity(text, read.value) !== null) reader.ambiguous.set(start, text);
  return read.value;
}

/** The text of an unquoted key, unless other readers would read another one. */
function unquoted(reader: PlainReader, text: string): Json {
  const read = plainScalar(text);
  return read.kind === "value" && ambiguity(text, read.value) === null ? read.value : giveUp(reader);
}
