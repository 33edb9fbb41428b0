import type { Json } from "../model/json.ts";

/** One line, or what is left of one after a dash. */
export interface PlainLine {
  /** The column of its first character that is no space, from 0. */
  readonly indent: number;
  /** Where that character stands in the text; the end for a blank line. */
  readonly start: number;
  readonly end: number;
}

/** A text that is being read: how far the reading has come, and whether it is still all plain. */
export interface PlainReader {
  readonly text: string;
  /** The line that is read; null behind the last, and once the reading was declined, which ends every loop. */
  line: PlainLine | null;
  /** Where in that line. */
  offset: number;
  /** How many values were read. */
  values: number;
  isDeclined: boolean;
  /** Where everything stands, for who asks for it; null for everybody else. */
  readonly marks: ValuePositions | null;
}

/** For every mapping and list where its entries stand: the key, or the item, and the value. */
export type ValuePositions = Map<Json, Map<string | number, readonly [key: number, value: number]>>;

/** How many values one document may hold here, missing ones included. */
const maxValues = 50_000;

/**
 * Begins to read a text, after the `---` that may open it; null when it holds characters that are not for this reader.
 *
 * Those are the ones that somebody should hear about (`text.ts`), carriage returns and rare kinds of white space.
 */
export function plainReader(text: string, marks: ValuePositions | null): PlainReader | null {
  if (odd.test(text)) return null;
  const reading = { text, line: lineAt(text, 0), offset: 0, values: 0, isDeclined: false, marks };
  if (opening.test(text)) toNextLine(reading);
  return reading;
}

const odd = /[^\t\n -~\u00a1-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\ufdff]/;
const opening = /^--- *(?: #.*)?(?:\n|$)/;

/** The line that begins at an offset; null at the end of the text. */
function lineAt(text: string, begin: number): PlainLine | null {
  if (begin >= text.length) return null;
  const newline = text.indexOf("\n", begin);
  const start = skipSpaces(text, begin);
  return { indent: start - begin, start, end: newline < 0 ? text.length : newline };
}

/** The line behind one. */
const lineAfter = ({ text }: PlainReader, { end }: PlainLine): PlainLine | null => lineAt(text, end + 1);

/** Goes on to the next line, whatever stands there. */
export function toNextLine(reading: PlainReader): void {
  reading.line = reading.line && lineAfter(reading, reading.line);
}

/** The next line that says something, from where the reading is; null at the end. */
export function currentLine(reading: PlainReader): PlainLine | null {
  while (reading.line !== null && isBlankOrComment(reading.text, reading.line.start, reading.line.end))
    toNextLine(reading);
  return reading.line;
}

/** Whether nothing stands on a line. */
export const isBlank = ({ start, end }: PlainLine): boolean => start === end;

/** Whether nothing but a comment stands between two places of a line. */
export const isBlankOrComment = (text: string, start: number, end: number): boolean =>
  start === end || text[start] === "#";

/** Counts one more value; there is a limit to how many are read. */
export function countValue(reading: PlainReader): void {
  reading.values += 1;
  if (reading.values > maxValues) giveUp(reading);
}

/** Where the entries of a mapping or a list are noted, for who asks. */
export function positionsOf(
  { marks }: PlainReader,
  of: Json,
): Map<string | number, readonly [number, number]> | undefined {
  if (marks === null) return undefined;
  const entries = new Map<string | number, readonly [number, number]>();
  marks.set(of, entries);
  return entries;
}

/** Leaves the whole text to somebody who knows all of YAML. Gives null, so that a reader can return it. */
export function giveUp(reading: PlainReader): null {
  reading.isDeclined = true;
  reading.line = null;
  return null;
}

/** Where the next character stands that is no space. */
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

/** Lines of a scalar as one text: a line end becomes a space, more of them one less. */
export const foldLines = (text: string): string =>
  text.replace(/ *\n *((?:\n *)*)/g, (_, more: string) => more.replaceAll(" ", "") || " ");

/**
 * The block scalar whose header stands at `start`, in a collection that is indented by `around`.
 *
 * Where it is empty, where lines of spaces reach into the text, and where lines of a folded one are indented further,
 * YAML has rules that hardly anybody knows: those are declined.
 */
export function readBlockScalar(reading: PlainReader, start: number, around: number): Json {
  header.lastIndex = start;
  const [, style, digit, chomping] = header.exec(reading.text) ?? [];
  toNextLine(reading);
  const found = indentOfNext(reading);
  const indent = digit === "" ? found : around + Number(digit);
  if (style === undefined || found < indent || indent <= around) return giveUp(reading);
  const rows = rowsOf(reading, indent);
  let end = rows.length;
  while (rows[end - 1] === "") end -= 1;
  const isOdd = rows.some((it) => (style === ">" ? /^[ \t]/.test(it) : /^ +$/.test(it)));
  if (isOdd || (chomping === "+" && !reading.text.endsWith("\n"))) return giveUp(reading);
  countValue(reading);
  const body = rows.slice(0, end).join("\n");
  const newlines = chomping === "-" ? 0 : chomping === "+" ? rows.length - end + 1 : 1;
  return (style === "|" ? body : folded(body)) + "\n".repeat(newlines);
}

const header = /([|>])([1-9]?)([+-]?) *(?: #.*)?(?=\n|$)/y;

/** How far the next line is indented that is not blank. */
function indentOfNext(reading: PlainReader): number {
  let line = reading.line;
  while (line !== null && isBlank(line)) line = lineAfter(reading, line);
  return line?.indent ?? 0;
}

/** The lines of a block scalar without their indentation; the reading is then behind them. */
function rowsOf(reading: PlainReader, indent: number): readonly string[] {
  const rows: string[] = [];
  for (let line: PlainLine | null = reading.line; line !== null; line = reading.line) {
    if (line.indent < indent && !isBlank(line)) break;
    rows.push(reading.text.slice(line.start - line.indent + indent, line.end));
    toNextLine(reading);
  }
  return rows;
}

/** One line end becomes a space, more of them one less; those in front stay. */
const folded = (body: string): string => body.replace(/(?<=[^\n])\n(\n*)/g, (_, more: string) => more || " ");
