import type { Json } from "../model/json.ts";
import { readInline, readKey } from "./plain-inline.ts";
import {
  countValue,
  currentLine,
  giveUp,
  isBlankOrComment,
  type PlainLine,
  type PlainReader,
  plainReader,
  positionsOf,
  skipSpaces,
  toNextLine,
  type ValuePositions,
} from "./plain-lines.ts";
import type { JsonPath } from "./problems.ts";

/** What a plain document says. */
interface PlainYaml {
  /** Where the root stands in the text; null when there is nothing but comments and white space. */
  readonly begin: number | null;
  readonly value: Json;
}

/** How deep mappings and lists may stand in each other here: less than where it would be an error. */
const maxDepth = 50;

/**
 * Reads a document of the plain kind that nearly every manifest is, in linear time; null for any other.
 *
 * Plain are mappings and lists by indentation or in brackets, scalars in every style, and comments between lines.
 * Whatever deserves a word (a duplicate key, an ambiguous scalar, a tab) and whatever is not surely understood is
 * declined: a value from here has no problem, and is the one that the library would give.
 */
export function readPlainYaml(text: string): PlainYaml | null {
  if (!text.includes("\r")) return readLines(text, null);
  const read = readLines(withoutReturns(text), null);
  return read && { ...read, begin: read.begin === null ? null : offsetBefore(text, read.begin) };
}

/** Line ends of Windows as everybody else's. */
const withoutReturns = (text: string): string => text.replaceAll("\r\n", "\n");

/** Where what stands at an offset of {@link withoutReturns} stands in the text itself. */
function offsetBefore(text: string, offset: number): number {
  let returns = 0;
  for (let at = text.indexOf("\r\n"); at >= 0 && at - returns < offset; at = text.indexOf("\r\n", at + 2)) returns += 1;
  return offset + returns;
}

function readLines(text: string, marks: ValuePositions | null): PlainYaml | null {
  const reading = plainReader(text, marks);
  if (reading === null) return null;
  const first = currentLine(reading);
  const value = first === null ? null : readRoot(reading, first);
  // A line that is indented like none around it ends every loop below, and is left over here.
  const isLeftOver = currentLine(reading) !== null;
  return reading.isDeclined || isLeftOver ? null : { begin: first?.start ?? null, value };
}

function readRoot(reading: PlainReader, line: PlainLine): Json {
  const isClosed = "[{".includes(reading.text[line.start] ?? "");
  return isClosed ? readInline(reading, line.start, -1) : readBlock(reading, line, 0);
}

function readBlock(reading: PlainReader, line: PlainLine, depth: number): Json {
  if (depth === maxDepth) return giveUp(reading);
  countValue(reading);
  return isItem(reading.text, line) ? readList(reading, line.indent, depth) : readMap(reading, line.indent, depth);
}

function readList(reading: PlainReader, indent: number, depth: number): Json {
  const { text } = reading;
  const items: Json[] = [];
  const marks = positionsOf(reading, items);
  for (let line = currentLine(reading); line?.indent === indent && isItem(text, line); line = currentLine(reading)) {
    const start = skipSpaces(text, line.start + 1);
    // What follows the dash is a line of its own, further in.
    const rest = { indent: indent + start - line.start, start, end: line.end };
    reading.line = rest;
    const isOnLine = !isBlankOrComment(text, start, line.end);
    const isBlock = isOnLine && (isItem(text, rest) || readKey(reading, start) !== null);
    const block = isBlock ? rest : isOnLine ? null : blockBelow(reading, indent + 1);
    marks?.set(items.length, [line.start, block?.start ?? start]);
    if (block !== null) items.push(readBlock(reading, block, depth + 1));
    else items.push(isOnLine ? readInline(reading, start, indent) : missing(reading));
  }
  return items;
}

function readMap(reading: PlainReader, indent: number, depth: number): Json {
  const { text } = reading;
  const object: Record<string, Json> = {};
  const marks = positionsOf(reading, object);
  for (let line = currentLine(reading); line?.indent === indent; line = currentLine(reading)) {
    const key = readKey(reading, line.start);
    if (key === null || Object.hasOwn(object, key)) return giveUp(reading);
    const start = skipSpaces(text, reading.offset);
    const isOnLine = !isBlankOrComment(text, start, line.end);
    // Only a list may stand as far left as its key.
    const block = isOnLine ? null : blockBelow(reading, indent, "list");
    marks?.set(key, [line.start, block?.start ?? start]);
    if (block !== null) object[key] = readBlock(reading, block, depth + 1);
    else object[key] = isOnLine ? readInline(reading, start, indent) : missing(reading);
  }
  return object;
}

/** Goes on to the block below a key or a dash with nothing beside it; null where there is none. */
function blockBelow(reading: PlainReader, least: number, at: "list" | "any" = "any"): PlainLine | null {
  toNextLine(reading);
  const line = currentLine(reading);
  if (line === null || line.indent < least) return null;
  return at === "list" && line.indent === least && !isItem(reading.text, line) ? null : line;
}

function missing(reading: PlainReader): null {
  countValue(reading);
  return null;
}

const isItem = (text: string, { start, end }: PlainLine): boolean =>
  text[start] === "-" && (start + 1 === end || text[start + 1] === " ");

/**
 * Says where in a plain text the value at a path stands, or its key; the nearest thing around it when it is not there.
 *
 * The text is read once more, when first asked: hardly anybody asks.
 */
export function offsetInPlain(text: string, { begin }: PlainYaml): (path: JsonPath, on: "key" | "value") => number {
  let marked: { readonly marks: ValuePositions; readonly value: Json } | null = null;
  return (path, on) => {
    if (path.length === 0) return begin ?? 0;
    if (marked === null) {
      const marks: ValuePositions = new Map();
      marked = { marks, value: readLines(withoutReturns(text), marks)?.value ?? null };
    }
    const offset = markedOffset(marked, path, on);
    return offset === null ? (begin ?? 0) : offsetBefore(text, offset);
  };
}

function markedOffset(
  { marks, value }: { readonly marks: ValuePositions; readonly value: Json },
  path: JsonPath,
  on: "key" | "value",
): number | null {
  let here: Json = value;
  let offset: number | null = null;
  for (const [depth, step] of path.entries()) {
    const mark = marks.get(here)?.get(step);
    if (mark === undefined) return offset;
    const isValue = Array.isArray(here) || (on === "value" && depth === path.length - 1);
    offset = isValue ? mark[1] : mark[0];
    here = (here as Readonly<Record<string | number, Json>>)[step] ?? null;
  }
  return offset;
}
