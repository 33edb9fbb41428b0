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

/** A plain document. */
interface PlainYaml {
  /** The offset of the root; null when there are only comments and white space. */
  readonly begin: number | null;
  readonly value: Json;
}

/** How deeply mappings and lists may be nested here: less than what is an error. */
const maxDepth = 50;

/**
 * Reads a plain document, as nearly every manifest is, in linear time; null for any other.
 *
 * Plain are mappings and lists by indentation or in brackets, scalars in every style, and comments between lines. Whatever
 * has a problem (a duplicate key, an ambiguous scalar, a tab) or may be misunderstood is not: a value from here has no
 * problems, and is the one that the library would give.
 */
export function readPlainYaml(text: string): PlainYaml | null {
  if (!text.includes("\r")) return readLines(text, null);
  const read = readLines(withoutReturns(text), null);
  return read && { ...read, begin: read.begin === null ? null : offsetBefore(text, read.begin) };
}

const withoutReturns = (text: string): string => text.replaceAll("\r\n", "\n");

/** The offset in a text of an offset in {@link withoutReturns} of it. */
function offsetBefore(text: string, offset: number): number {
  let returns = 0;
  for (let at = text.indexOf("\r\n"); at >= 0 && at - returns < offset; at = text.indexOf("\r\n", at + 2)) returns += 1;
  return offset + returns;
}

function readLines(text: string, positions: ValuePositions | null): PlainYaml | null {
  const reader = plainReader(text, positions);
  if (reader === null) return null;
  const first = currentLine(reader);
  const value = first === null ? null : readRoot(reader, first);
  // A line with an indentation unlike all others ends every loop below, and is left over here.
  const isLeftOver = currentLine(reader) !== null;
  return reader.hasGivenUp || isLeftOver ? null : { begin: first?.start ?? null, value };
}

function readRoot(reader: PlainReader, line: PlainLine): Json {
  const isClosed = "[{".includes(reader.text[line.start] ?? "");
  return isClosed ? readInline(reader, line.start, -1) : readBlock(reader, line, 0);
}

function readBlock(reader: PlainReader, line: PlainLine, depth: number): Json {
  if (depth === maxDepth) return giveUp(reader);
  countValue(reader);
  return isItem(reader.text, line) ? readList(reader, line.indent, depth) : readMap(reader, line.indent, depth);
}

function readList(reader: PlainReader, indent: number, depth: number): Json {
  const { text } = reader;
  const items: Json[] = [];
  const positions = positionsOf(reader, items);
  for (let line = currentLine(reader); line?.indent === indent && isItem(text, line); line = currentLine(reader)) {
    const start = skipSpaces(text, line.start + 1);
    // What follows the dash is a line of its own, further in.
    const rest = { indent: indent + start - line.start, start, end: line.end };
    reader.line = rest;
    const isOnLine = !isBlankOrComment(text, start, line.end);
    const isBlock = isOnLine && (isItem(text, rest) || readKey(reader, start) !== null);
    const block = isBlock ? rest : isOnLine ? null : blockBelow(reader, indent + 1);
    positions?.set(items.length, [line.start, block?.start ?? start]);
    if (block !== null) items.push(readBlock(reader, block, depth + 1));
    else items.push(isOnLine ? readInline(reader, start, indent) : missing(reader));
  }
  return items;
}

function readMap(reader: PlainReader, indent: number, depth: number): Json {
  const { text } = reader;
  const object: Record<string, Json> = {};
  const positions = positionsOf(reader, object);
  for (let line = currentLine(reader); line?.indent === indent; line = currentLine(reader)) {
    const key = readKey(reader, line.start);
    if (key === null || Object.hasOwn(object, key)) return giveUp(reader);
    const start = skipSpaces(text, reader.offset);
    const isOnLine = !isBlankOrComment(text, start, line.end);
    // Only a list may be indented like its key.
    const block = isOnLine ? null : blockBelow(reader, indent, "list");
    positions?.set(key, [line.start, block?.start ?? start]);
    if (block !== null) object[key] = readBlock(reader, block, depth + 1);
    else object[key] = isOnLine ? readInline(reader, start, indent) : missing(reader);
  }
  return object;
}

/** Moves to the block below a key or a dash; null where there is none. */
function blockBelow(reader: PlainReader, least: number, at: "list" | "any" = "any"): PlainLine | null {
  toNextLine(reader);
  const line = currentLine(reader);
  if (line === null || line.indent < least) return null;
  return at === "list" && line.indent === least && !isItem(reader.text, line) ? null : line;
}

function missing(reader: PlainReader): null {
  countValue(reader);
  return null;
}

const isItem = (text: string, { start, end }: PlainLine): boolean =>
  text[start] === "-" && (start + 1 === end || text[start + 1] === " ");

/**
 * The offset of the value at a path of a plain text, or of its key; the nearest thing around it when it is missing.
 *
 * The text is read again when first needed.
 */
export function offsetInPlain(text: string, { begin }: PlainYaml): (path: JsonPath, on: "key" | "value") => number {
  let positioned: { readonly positions: ValuePositions; readonly value: Json } | null = null;
  return (path, on) => {
    if (path.length === 0) return begin ?? 0;
    if (positioned === null) {
      const positions: ValuePositions = new Map();
      positioned = { positions, value: readLines(withoutReturns(text), positions)?.value ?? null };
    }
    const offset = positionedOffset(positioned, path, on);
    return offset === null ? (begin ?? 0) : offsetBefore(text, offset);
  };
}

function positionedOffset(
  { positions, value }: { readonly positions: ValuePositions; readonly value: Json },
  path: JsonPath,
  on: "key" | "value",
): number | null {
  let here: Json = value;
  let offset: number | null = null;
  for (const [depth, step] of path.entries()) {
    const mark = positions.get(here)?.get(step);
    if (mark === undefined) return offset;
    const isValue = Array.isArray(here) || (on === "value" && depth === path.length - 1);
    offset = isValue ? mark[1] : mark[0];
    here = (here as Readonly<Record<string | number, Json>>)[step] ?? null;
  }
  return offset;
}
