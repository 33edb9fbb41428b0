import type { Json } from "../model/json.ts";
import {
  countValue,
  currentLine,
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

/** The key that stands at `start`, or null where none does that is surely one; the offset is then behind its colon. */
export function readKey(reading: PlainReader, start: number, pattern = keyed): string | null {
  const { text } = reading;
  pattern.lastIndex = start;
  if (!pattern.test(text)) return null;
  reading.offset = pattern.lastIndex;
  const colon = reading.offset - 1;
  if (colon - start > maxKey) return null;
  const isQuoted = text[start] === '"' || text[start] === "'";
  const key = isQuoted ? text.slice(start + 1, colon - 1) : unquoted(reading, text.slice(start, colon));
  return typeof key === "string" && key !== "__proto__" ? key : null;
}

const keyed = /(?:[./]?\w[\w./-]*|"[^"\\\n\t]*"|'[^'\n\t]*'):(?= |\n|$)/y;

/** Behind a key in quotes nothing has to part it from its value, as in JSON. */
const keyedInBraces = /(?:[./]?\w[\w./-]*:(?= |\n)|"[^"\\\n\t]*":|'[^'\n\t]*':)/y;

/** Fewer characters than where the length of a key would be an error. */
const maxKey = 1000;

/** The value beside a key or a dash, at `start`, or the block scalar that begins there; reading goes on below it. */
export function readInline(reading: PlainReader, start: number, around: number): Json {
  const first = reading.text[start] ?? "";
  if (first === "|" || first === ">") return readBlockScalar(reading, start, around);
  if (!"\"'[{".includes(first)) return readUnquoted(reading, start, around);
  reading.offset = start;
  const value = readClosed(reading, { around, depth: 0 });
  if (reading.line === null) return null;
  const { end } = reading.line;
  const behind = skipSpaces(reading.text, reading.offset);
  toNextLine(reading);
  const isLast = behind === end || (behind > reading.offset && isBlankOrComment(reading.text, behind, end));
  return isLast ? value : giveUp(reading);
}

/** An unquoted scalar: up to a comment, or to the end of the last line that is indented further than what is around. */
function readUnquoted(reading: PlainReader, start: number, around: number): Json {
  const { text, line } = reading;
  const rest = text.slice(start, line?.end ?? start);
  const comment = rest.indexOf(" #");
  toNextLine(reading);
  let last: PlainLine | null = null;
  for (let next = currentLine(reading); next !== null && next.indent > around; next = currentLine(reading)) {
    last = next;
    toNextLine(reading);
  }
  const words = last === null ? textBefore(rest, comment < 0 ? rest.length : comment) : text.slice(start, last.end);
  const isOdd = opensOtherwise.test(words) || breaksOff.test(words) || (last !== null && commented.test(words));
  return isOdd ? giveUp(reading) : scalar(reading, last === null ? words : foldLines(textBefore(words, words.length)));
}

const opensOtherwise = /^(?:[-:](?: |$)|[?,[\]{}#&*!|>'"%@`])/;
const breaksOff = /: |:$|\t/m;
const commented = /[ \n]#/;

/** What a scalar or a collection in quotes or brackets stands in. */
interface Surroundings {
  /** How far the collection around is indented: lines that follow are indented further. */
  readonly around: number;
  /** How many brackets are open. */
  readonly depth: number;
}

/** A scalar in quotes or a collection in brackets, at the reading's offset, which is then behind it. */
function readClosed(reading: PlainReader, within: Surroundings): Json {
  const { text, offset } = reading;
  switch (text[offset]) {
    case '"':
      return readDoubleQuoted(reading, within);
    case "'":
      return readSingleQuoted(reading, within);
    case "[":
      return within.depth < mostBrackets(within) ? readBracketed(reading, within) : giveUp(reading);
    case "{":
      return within.depth < mostBrackets(within) ? readBraced(reading, within) : giveUp(reading);
    default:
      return readWords(reading);
  }
}

/** Together with what is read by indentation, less than where it would be an error. JSON is brackets alone. */
const mostBrackets = ({ around }: Surroundings): number => (around < 0 ? 50 : 12);

function readDoubleQuoted(reading: PlainReader, { around }: Surroundings): Json {
  const { text, offset } = reading;
  let end = text.indexOf('"', offset + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  const body = textWithin(reading, end, around);
  if (body === null) return null;
  countValue(reading);
  return body.replace(
    /\\(u[\da-fA-F]{4}|x[\da-fA-F]{2}|[\s\S])/g,
    (_, it: string) => letterOf(it) ?? `${giveUp(reading)}`,
  );
}

function letterOf(code: string): string | undefined {
  return code.length > 1 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : escapes.get(code);
}

/** What stands between two quotes, on one line or on several; the reading goes on behind it. */
function textWithin(reading: PlainReader, end: number, around: number): string | null {
  const { text, offset } = reading;
  const body = text.slice(offset + 1, end);
  if (end < 0 || body.includes("\t")) return giveUp(reading);
  reading.offset = end + 1;
  if (!body.includes("\n")) return body;
  return goesOnTo(reading, end, around) ? foldLines(body) : giveUp(reading);
}

/** Goes on to the line of an offset; false where a line before it is not indented further than what is around. */
function goesOnTo(reading: PlainReader, offset: number, around: number): boolean {
  while (reading.line !== null && reading.line.end < offset) {
    toNextLine(reading);
    const { line } = reading;
    if (
      line !== null &&
      !isBlank(line) &&
      (line.indent <= around || isMarker.test(reading.text.slice(line.start, line.start + 3)))
    )
      return false;
  }
  return reading.line !== null;
}

const isMarker = /^(?:---|\.\.\.)/;

const escapes: ReadonlyMap<string, string> = new Map([
  ...['"', "\\", "/"].map((it) => [it, it] as const),
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

function readSingleQuoted(reading: PlainReader, { around }: Surroundings): Json {
  const { text, offset } = reading;
  let end = text.indexOf("'", offset + 1);
  while (end >= 0 && text[end + 1] === "'") end = text.indexOf("'", end + 2);
  const body = textWithin(reading, end, around);
  if (body === null) return null;
  countValue(reading);
  return body.replaceAll("''", "'");
}

function readBracketed(reading: PlainReader, { around, depth }: Surroundings): Json {
  const items: Json[] = [];
  const within = { around, depth: depth + 1 };
  const marks = positionsOf(reading, items);
  countValue(reading);
  while (opensNext(reading, "]", { around, isFirst: items.length === 0 })) {
    marks?.set(items.length, [reading.offset, reading.offset]);
    items.push(readClosed(reading, within));
  }
  return items;
}

function readBraced(reading: PlainReader, { around, depth }: Surroundings): Json {
  const object: Record<string, Json> = {};
  const within = { around, depth: depth + 1 };
  const marks = positionsOf(reading, object);
  countValue(reading);
  let isFirst = true;
  for (; opensNext(reading, "}", { around, isFirst }); isFirst = false) {
    const start = reading.offset;
    const key = readKey(reading, start, keyedInBraces);
    if (key === null || Object.hasOwn(object, key)) return giveUp(reading);
    overGap(reading, around);
    marks?.set(key, [start, reading.offset]);
    object[key] = readClosed(reading, within);
  }
  return object;
}

interface Opening {
  readonly around: number;
  readonly isFirst: boolean;
}

/** Goes on behind the bracket that opens or the comma that parts, to what follows; false behind the one that closes. */
function opensNext(reading: PlainReader, closing: string, { around, isFirst }: Opening): boolean {
  if (isFirst) reading.offset += 1;
  overGap(reading, around);
  if (reading.isDeclined) return false;
  const { text } = reading;
  const isEnd = text[reading.offset] === closing;
  if (isEnd || (!isFirst && text[reading.offset] === ",")) reading.offset += 1;
  else if (!isFirst) giveUp(reading);
  if (!isEnd && !isFirst) overGap(reading, around);
  return !isEnd && !reading.isDeclined;
}

/** Goes on over spaces and line ends to the next character, which stands on a line that belongs to what is around. */
function overGap(reading: PlainReader, around: number): void {
  const { text } = reading;
  let at = skipSpaces(text, reading.offset);
  if (text[at] === "\n") {
    while (text[at] === "\n") at = skipSpaces(text, at + 1);
    if (!goesOnTo(reading, at, around)) giveUp(reading);
  }
  reading.offset = at;
}

/** An unquoted scalar in brackets: words of characters that mean nothing there. */
function readWords(reading: PlainReader): Json {
  words.lastIndex = reading.offset;
  const text = words.exec(reading.text)?.[0];
  if (text === undefined) return giveUp(reading);
  reading.offset += text.length;
  return scalar(reading, text);
}

const words = /(?:[\w./+$()=~]|-+(?=\w))(?:[\w./+$()=~-]|:(?=[\w./])| +(?=[\w./+$()=~]))*/y;

function scalar(reading: PlainReader, text: string): Json {
  countValue(reading);
  return unquoted(reading, text);
}

/** What kubectl takes an unquoted text for, if nobody else would take it for something else. */
function unquoted(reading: PlainReader, text: string): Json {
  const read = plainScalar(text);
  return read.kind === "value" && ambiguity(text, read.value) === null ? read.value : giveUp(reading);
}
