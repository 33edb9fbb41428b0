import type { Json } from "../model/json.ts";

/** One line, or what is left of one after a dash. */
export interface PlainLine {
  /** The column of its first character that is not a space, from 0. */
  readonly indent: number;
  /** The offset of that character; the end for a blank line. */
  readonly start: number;
  readonly end: number;
}

/** The state of reading a text, as long as it is plain. */
export interface PlainReader {
  readonly text: string;
  /** The current line; null behind the last one and after giving up, which ends every loop. */
  line: PlainLine | null;
  /** The current offset in the text. */
  offset: number;
  /** How many values were read. */
  values: number;
  hasGivenUp: boolean;
  /** The offsets of all values, if they are wanted. */
  readonly positions: ValuePositions | null;
  /** By offset: unquoted scalars that people and kubectl may read differently. */
  readonly ambiguous: Map<number, string>;
  readonly duplicates: DuplicateKey[];
}

/** A key that its mapping has already. */
export interface DuplicateKey {
  readonly mapping: Json;
  readonly key: string;
  readonly offset: number;
}

/** For every mapping and list, its entries: the offsets of the key or the dash and of the value, and the value. */
export type ValuePositions = Map<Json, EntryPositions>;
type EntryPositions = Map<string | number, readonly [key: number, value: number, is: Json]>;

/** How many values one document may have here, missing ones included. */
const maxValues = 50_000;

/**
 * Starts reading a text, after the `---` that may open it; null for one with characters that need a warning (`text.ts`),
 * carriage returns or rare white space.
 */
export function plainReader(text: string, positions: ValuePositions | null): PlainReader | null {
  if (odd.test(text)) return null;
  const findings = { positions, ambiguous: new Map<number, string>(), duplicates: [] };
  const reader = { text, line: lineAt(text, 0), offset: 0, values: 0, hasGivenUp: false, ...findings };
  if (opening.test(text)) toNextLine(reader);
  return reader;
}

/** U+FE00 to U+FE0F choose how an emoji looks. */
const odd = /[^\t\n -~\u00a1-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\ufe0f]/;
const opening = /^--- *(?: #.*)?(?:\n|$)/;

/** The line that begins at an offset; null at the end of the text. */
function lineAt(text: string, begin: number): PlainLine | null {
  if (begin >= text.length) return null;
  const newline = text.indexOf("\n", begin);
  const start = skipSpaces(text, begin);
  return { indent: start - begin, start, end: newline < 0 ? text.length : newline };
}

const lineAfter = ({ text }: PlainReader, { end }: PlainLine): PlainLine | null => lineAt(text, end + 1);

/** Moves to the next line. */
export function toNextLine(reader: PlainReader): void {
  reader.line = reader.line && lineAfter(reader, reader.line);
}

/** Moves to the next line with content, starting at the current one; null at the end. */
export function currentLine(reader: PlainReader): PlainLine | null {
  while (reader.line !== null && isBlankOrComment(reader.text, reader.line.start, reader.line.end)) toNextLine(reader);
  return reader.line;
}

export const isBlank = ({ start, end }: PlainLine): boolean => start === end;

/** Whether there is at most a comment between two offsets of a line. */
export const isBlankOrComment = (text: string, start: number, end: number): boolean =>
  start === end || text[start] === "#";

/** Counts a value; there is a limit. */
export function countValue(reader: PlainReader): void {
  reader.values += 1;
  if (reader.values > maxValues) giveUp(reader);
}

/** The map for the positions of a mapping or a list, if they are wanted. */
export function positionsOf({ positions }: PlainReader, of: Json): EntryPositions | undefined {
  if (positions === null) return undefined;
  const entries: EntryPositions = new Map();
  positions.set(of, entries);
  return entries;
}

/** Where an entry of a mapping is: its key, and its value. */
interface PlainEntry {
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

/** Adds an entry to a mapping, or only to its positions where those are wanted, unless it has one of that key. */
export function addEntry(
  reader: PlainReader,
  mapping: Record<string, Json>,
  { key, from, to }: PlainEntry,
  value: Json,
): void {
  const positions = reader.positions?.get(mapping);
  if (positions === undefined ? Object.hasOwn(mapping, key) : positions.has(key))
    reader.duplicates.push({ mapping, key, offset: from });
  else if (positions === undefined) mapping[key] = value;
  else positions.set(key, [from, to, value]);
}

/** Adds an item to a list, and to its positions where those are wanted. */
export function addItem(
  items: Json[],
  positions: EntryPositions | undefined,
  item: readonly [dash: number, value: number, is: Json],
): void {
  positions?.set(items.length, item);
  items.push(item[2]);
}

/** Leaves the whole text to the YAML library. */
export function giveUp(reader: PlainReader): null {
  reader.hasGivenUp = true;
  reader.line = null;
  return null;
}

/** The offset of the next character that is not a space. */
export function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === 0x20) at += 1;
  return at;
}

/** The part of a text before `end`, without the spaces at its end. */
export function textBefore(text: string, end: number): string {
  let at = end;
  while (text.charCodeAt(at - 1) === 0x20) at -= 1;
  return text.slice(0, at);
}

/** Folds the lines of a scalar: one line end becomes a space, n become n − 1. */
export const foldLines = (text: string): string =>
  text.includes("\n") ? text.replace(/(?<! ) *\n *((?:\n *)*)/g, (_, blank: string) => foldedLine(blank)) : text;

/** What a line end becomes, with the blank lines behind it. */
export const foldedLine = (blank: string): string => blank.replaceAll(" ", "") || " ";

/**
 * The block scalar whose header is at `start`, in a collection that is indented by `parentIndent`.
 *
 * Gives up where YAML has obscure rules: empty ones, lines of spaces within the text, further indented lines of a folded
 * one.
 */
export function readBlockScalar(reader: PlainReader, start: number, parentIndent: number): Json {
  header.lastIndex = start;
  const [, style, digit, chomping] = header.exec(reader.text) ?? [];
  toNextLine(reader);
  const found = indentOfNext(reader);
  const indent = digit === "" ? found : parentIndent + Number(digit);
  if (style === undefined || found < indent || indent <= parentIndent) return giveUp(reader);
  const rows = rowsOf(reader, indent);
  let end = rows.length;
  while (rows[end - 1] === "") end -= 1;
  const isOdd = rows.some((it) => (style === ">" ? /^[ \t]/.test(it) : /^ +$/.test(it)));
  if (isOdd || (chomping === "+" && !reader.text.endsWith("\n"))) return giveUp(reader);
  countValue(reader);
  const body = rows.slice(0, end).join("\n");
  const newlines = chomping === "-" ? 0 : chomping === "+" ? rows.length - end + 1 : 1;
  return (style === "|" ? body : folded(body)) + "\n".repeat(newlines);
}

const header = /([|>])([1-9]?)([+-]?) *(?: #.*)?(?=\n|$)/y;

/** The indentation of the next line that is not blank. */
function indentOfNext(reader: PlainReader): number {
  let line = reader.line;
  while (line !== null && isBlank(line)) line = lineAfter(reader, line);
  return line?.indent ?? 0;
}

/** The lines of a block scalar without their indentation. */
function rowsOf(reader: PlainReader, indent: number): readonly string[] {
  const rows: string[] = [];
  for (let line: PlainLine | null = reader.line; line !== null; line = reader.line) {
    if (line.indent < indent && !isBlank(line)) break;
    rows.push(reader.text.slice(line.start - line.indent + indent, line.end));
    toNextLine(reader);
  }
  return rows;
}

/** Folds line ends like {@link foldLines}, except for those in front. */
const folded = (body: string): string => body.replace(/(?<=[^\n])\n(\n*)/g, (_, more: string) => more || " ");
