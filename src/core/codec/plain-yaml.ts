import type { Json } from "../model/json.ts";
import { readInline, readKey } from "./plain-inline.ts";
import { afterSpaces, current, decline, isSilent, type Line, type Reading, readingOf } from "./plain-lines.ts";

/** What a plain document says. */
export interface PlainYaml {
  /** Where the root stands in the text; null when there is nothing but comments and white space. */
  readonly begin: number | null;
  readonly value: Json;
}

/** How deep mappings and lists may stand in each other here: less than where it would be an error. */
const maxDepth = 50;
/** How many values one document may hold here, missing ones included. */
const maxValues = 50_000;

/**
 * Reads a document of the plain kind that nearly every manifest is, in linear time; null for any other.
 *
 * Plain are mappings and lists by indentation, keys and scalars that stand on one line, block scalars, comments, and
 * brackets that close on their line. Whatever deserves a word (a duplicate key, an ambiguous scalar, a tab) and whatever
 * is not surely understood is declined: a value from here has no flaw, and is the one that the library would give.
 */
export function readPlainYaml(text: string): PlainYaml | null {
  const reading = readingOf(text);
  if (reading === null) return null;
  const first = current(reading);
  const value = first === null ? null : readBlock(reading, first, 0);
  // A line that is indented like none around it ends every loop below, and is left over here.
  const isLeftOver = current(reading) !== null;
  return reading.isDeclined || isLeftOver || reading.values > maxValues ? null : { begin: first?.start ?? null, value };
}

function readBlock(reading: Reading, line: Line, depth: number): Json {
  if (depth === maxDepth) return decline(reading);
  reading.values += 1;
  return isItem(reading.text, line) ? readList(reading, line.indent, depth) : readMap(reading, line.indent, depth);
}

function readList(reading: Reading, indent: number, depth: number): Json {
  const { text } = reading;
  const items: Json[] = [];
  for (let line = current(reading); line?.indent === indent && isItem(text, line); line = current(reading)) {
    const start = afterSpaces(text, line.start + 1);
    // What follows the dash is a line of its own, further in.
    const rest = { indent: indent + start - line.start, start, end: line.end };
    reading.lines[reading.at] = rest;
    if (isSilent(text, start, line.end)) items.push(readBelow(reading, "dash", indent, depth));
    else if (isItem(text, rest) || readKey(reading, start) !== null) items.push(readBlock(reading, rest, depth + 1));
    else items.push(readInline(reading, start, indent));
  }
  return items;
}

function readMap(reading: Reading, indent: number, depth: number): Json {
  const { text } = reading;
  const object: Record<string, Json> = {};
  for (let line = current(reading); line?.indent === indent; line = current(reading)) {
    const key = readKey(reading, line.start);
    if (key === null || Object.hasOwn(object, key)) return decline(reading);
    const start = afterSpaces(text, reading.offset);
    if (isSilent(text, start, line.end)) object[key] = readBelow(reading, "key", indent, depth);
    else object[key] = readInline(reading, start, indent);
  }
  return object;
}

/** The value of a key or a dash with nothing beside it; only a list may stand as far left as its key. */
function readBelow(reading: Reading, of: "key" | "dash", indent: number, depth: number): Json {
  reading.at += 1;
  const line = current(reading);
  const least = of === "key" && line !== null && isItem(reading.text, line) ? indent : indent + 1;
  if (line !== null && line.indent >= least) return readBlock(reading, line, depth + 1);
  reading.values += 1;
  return null;
}

const isItem = (text: string, { start, end }: Line): boolean =>
  text[start] === "-" && (start + 1 === end || text[start + 1] === " ");
