import type { Json } from "../model/json.ts";
import { readInline, readKey } from "./plain-inline.ts";
import {
  addEntry,
  addItem,
  countValue,
  currentLine,
  type DuplicateKey,
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
  /** Whether a key is there twice, or people and kubectl may read a scalar differently. */
  readonly isDoubtful: boolean;
}

/** How deeply mappings and lists may be nested here: less than what is an error. */
const maxDepth = 50;

/**
 * Reads a plain document, as nearly every manifest is, in linear time; null for any other.
 *
 * Plain are mappings and lists by indentation or in brackets, scalars in every style, and comments between lines. Whatever
 * may be misunderstood otherwise (a tab, an anchor) is not: the value is the one that the library would give, and
 * `plain-problems.ts` says what is doubtful in it.
 */
export function readPlainYaml(text: string): PlainYaml | null {
  const read = readLines(withoutReturns(text), null);
  if (read === null) return null;
  const { begin, value, ambiguous, duplicates } = read;
  const isDoubtful = ambiguous.size > 0 || duplicates.length > 0;
  return { begin: begin === null ? null : offsetsBefore(text)(begin), value, isDoubtful };
}

/** Where everything in a plain document is, and what is doubtful; offsets are those of the text itself. */
export interface PlainPositions {
  /** The root, of which `positions` has the rest. */
  readonly value: Json;
  readonly positions: ValuePositions;
  readonly ambiguous: ReadonlyMap<number, string>;
  readonly duplicates: readonly DuplicateKey[];
  /** The offset in the text itself of one above. */
  readonly offsetOf: (offset: number) => number;
}

/** Reads a plain document once more, for {@link PlainPositions}. */
export function positionsInPlain(text: string): PlainPositions | null {
  const positions: ValuePositions = new Map();
  const read = readLines(withoutReturns(text), positions);
  return read && { ...read, positions, offsetOf: offsetsBefore(text) };
}

const withoutReturns = (text: string): string => (text.includes("\r") ? text.replaceAll("\r\n", "\n") : text);

/** From offsets in {@link withoutReturns} of a text to those in the text. */
function offsetsBefore(text: string): (offset: number) => number {
  const returns: number[] = [];
  for (let at = text.indexOf("\r\n"); at >= 0; at = text.indexOf("\r\n", at + 2)) returns.push(at - returns.length);
  return (offset) => {
    let [low, high] = [0, returns.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((returns[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return offset + low;
  };
}

function readLines(text: string, positions: ValuePositions | null) {
  const reader = plainReader(text, positions);
  if (reader === null) return null;
  const first = currentLine(reader);
  const value = first === null ? null : readRoot(reader, first);
  // A line with an indentation unlike all others ends every loop below, and is left over here.
  const isLeftOver = currentLine(reader) !== null;
  const { ambiguous, duplicates } = reader;
  return reader.hasGivenUp || isLeftOver ? null : { begin: first?.start ?? null, value, ambiguous, duplicates };
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
    const [from, to] = [line.start, block?.start ?? start];
    if (block !== null) addItem(items, positions, [from, to, readBlock(reader, block, depth + 1)]);
    else addItem(items, positions, [from, to, isOnLine ? readInline(reader, start, indent) : missing(reader)]);
  }
  return items;
}

function readMap(reader: PlainReader, indent: number, depth: number): Json {
  const { text } = reader;
  const object: Record<string, Json> = {};
  positionsOf(reader, object);
  for (let line = currentLine(reader); line?.indent === indent; line = currentLine(reader)) {
    const key = readKey(reader, line.start);
    if (key === null) return giveUp(reader);
    const start = skipSpaces(text, reader.offset);
    const isOnLine = !isBlankOrComment(text, start, line.end);
    // Only a list may be indented like its key.
    const block = isOnLine ? null : blockBelow(reader, indent, "list");
    const [from, to] = [line.start, block?.start ?? start];
    if (block !== null) addEntry(reader, object, { key, from, to }, readBlock(reader, block, depth + 1));
    else addEntry(reader, object, { key, from, to }, isOnLine ? readInline(reader, start, indent) : missing(reader));
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

/** The offset of the value at a path of a plain text, or of its key; the nearest thing around it when it is missing. */
export function offsetInPlain(positioned: PlainPositions, path: JsonPath, on: "key" | "value"): number | null {
  const offset = positionedOffset(positioned, path, on);
  return offset === null ? null : positioned.offsetOf(offset);
}

function positionedOffset({ positions, value }: PlainPositions, path: JsonPath, on: "key" | "value"): number | null {
  let here: Json = value;
  let offset: number | null = null;
  for (const [depth, step] of path.entries()) {
    const mark = positions.get(here)?.get(step);
    if (mark === undefined) return offset;
    const isValue = typeof step === "number" || (on === "value" && depth === path.length - 1);
    offset = isValue ? mark[1] : mark[0];
    here = mark[2];
  }
  return offset;
}
