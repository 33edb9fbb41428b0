import type { Json } from "../model/json.ts";
import { readBlockScalar } from "./plain-block.ts";
import { afterSpaces, decline, isSilent, type Reading, textBefore } from "./plain-lines.ts";
import { ambiguity, plainScalar } from "./scalar.ts";

/** The key that stands at `start`, or null where none does that is surely one; the offset is then behind its colon. */
export function readKey(reading: Reading, start: number): string | null {
  const { text } = reading;
  keyed.lastIndex = start;
  if (!keyed.test(text)) return null;
  reading.offset = keyed.lastIndex;
  const colon = reading.offset - 1;
  if (colon - start > maxKey) return null;
  const isQuoted = text[start] === '"' || text[start] === "'";
  const key = isQuoted ? text.slice(start + 1, colon - 1) : unquoted(reading, text.slice(start, colon));
  return typeof key === "string" && key !== "__proto__" ? key : null;
}

const keyed = /(?:[./]?\w[\w./-]*|"[^"\\\n\t]*"|'[^'\n\t]*'):(?= |\n|$)/y;

/** Fewer characters than where the length of a key would be an error. */
const maxKey = 1000;

/** The value beside a key or a dash, at `start`, or the block scalar that begins there; reading goes on below it. */
export function readInline(reading: Reading, start: number, around: number): Json {
  const end = reading.lines[reading.at]?.end ?? start;
  const first = reading.text[start] ?? "";
  if (first === "|" || first === ">") return readBlockScalar(reading, start, around);
  reading.at += 1;
  if (!"\"'[{".includes(first)) return readUnquoted(reading, start, end);
  reading.offset = start;
  const value = readClosed(reading, 0);
  const behind = afterSpaces(reading.text, reading.offset);
  const isLast = behind === end || (behind > reading.offset && isSilent(reading.text, behind, end));
  return isLast ? value : decline(reading);
}

/** An unquoted scalar: up to the end of its line, or to a comment. */
function readUnquoted(reading: Reading, start: number, end: number): Json {
  const rest = reading.text.slice(start, end);
  const comment = rest.indexOf(" #");
  const text = textBefore(rest, comment < 0 ? rest.length : comment);
  return opensOtherwise.test(text) || breaksOff.test(text) ? decline(reading) : scalar(reading, text);
}

const opensOtherwise = /^(?:[-:](?: |$)|[?,[\]{}#&*!|>'"%@`])/;
const breaksOff = /: |:$|\t/;

/** A scalar in quotes or a collection in brackets, at the reading's offset, which is then behind it. */
function readClosed(reading: Reading, depth: number): Json {
  const { text, offset } = reading;
  switch (text[offset]) {
    case '"':
      return readDoubleQuoted(reading);
    case "'":
      return readSingleQuoted(reading);
    case "[":
      return depth < maxBrackets ? readBracketed(reading, depth) : decline(reading);
    case "{":
      return depth < maxBrackets ? readBraced(reading, depth) : decline(reading);
    default:
      return readWords(reading);
  }
}

const maxBrackets = 10;

function readDoubleQuoted(reading: Reading): Json {
  const { text, offset } = reading;
  let end = text.indexOf('"', offset + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  const body = text.slice(offset + 1, end);
  if (end < 0 || /[\n\t]/.test(body)) return decline(reading);
  reading.offset = end + 1;
  reading.values += 1;
  return body.replace(/\\(.)/g, (_, it: string) => escapes.get(it) ?? `${decline(reading)}`);
}

const escapes: ReadonlyMap<string, string> = new Map([
  ...['"', "\\", "/"].map((it) => [it, it] as const),
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

function isEscaped(text: string, quote: number): boolean {
  let first = quote;
  while (text[first - 1] === "\\") first -= 1;
  return (quote - first) % 2 === 1;
}

function readSingleQuoted(reading: Reading): Json {
  const { text, offset } = reading;
  let end = text.indexOf("'", offset + 1);
  while (end >= 0 && text[end + 1] === "'") end = text.indexOf("'", end + 2);
  const body = text.slice(offset + 1, end);
  if (end < 0 || /[\n\t]/.test(body)) return decline(reading);
  reading.offset = end + 1;
  reading.values += 1;
  return body.replaceAll("''", "'");
}

function readBracketed(reading: Reading, depth: number): Json {
  const items: Json[] = [];
  reading.values += 1;
  while (opensNext(reading, "]", items.length === 0)) items.push(readClosed(reading, depth + 1));
  return items;
}

function readBraced(reading: Reading, depth: number): Json {
  const object: Record<string, Json> = {};
  reading.values += 1;
  let isFirst = true;
  for (; opensNext(reading, "}", isFirst); isFirst = false) {
    const key = readKey(reading, reading.offset);
    if (key === null || Object.hasOwn(object, key)) return decline(reading);
    reading.offset = afterSpaces(reading.text, reading.offset);
    object[key] = readClosed(reading, depth + 1);
  }
  return object;
}

/** Goes on behind the bracket that opens or the comma that parts, to what follows; false behind the one that closes. */
function opensNext(reading: Reading, closing: string, isFirst: boolean): boolean {
  if (reading.isDeclined) return false;
  const { text } = reading;
  const at = afterSpaces(text, isFirst ? reading.offset + 1 : reading.offset);
  const isEnd = text[at] === closing;
  if (!isEnd && !isFirst && text[at] !== ",") decline(reading);
  reading.offset = isEnd ? at + 1 : isFirst ? at : afterSpaces(text, at + 1);
  return !isEnd && !reading.isDeclined;
}

/** An unquoted scalar in brackets: words of characters that mean nothing there. */
function readWords(reading: Reading): Json {
  words.lastIndex = reading.offset;
  const text = words.exec(reading.text)?.[0];
  if (text === undefined) return decline(reading);
  reading.offset += text.length;
  return scalar(reading, text);
}

const words = /(?:[\w./+$()=~]|-(?=\w))(?:[\w./+$()=~-]|:(?=[\w./])| +(?=[\w./+$()=~]))*/y;

function scalar(reading: Reading, text: string): Json {
  reading.values += 1;
  return unquoted(reading, text);
}

/** What kubectl takes an unquoted text for, if nobody else would take it for something else. */
function unquoted(reading: Reading, text: string): Json {
  const read = plainScalar(text);
  return read.kind === "value" && ambiguity(text, read.value) === null ? read.value : decline(reading);
}
