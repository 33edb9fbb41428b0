import type { Json } from "../model/json.ts";
import { isPlain, isPlainKey, isSimple, leafText, longestKey, quote } from "./canonical.ts";
import { isEscaped } from "./text.ts";

/**
 * The values of a text that `emitDocuments` wrote, or null when the text deviates from it in any way: what is read
 * here, written again, gives the same bytes.
 *
 * Strings are copies, equal ones the same copy: what is kept of a file never keeps the file.
 */
export function readCanonical(text: string, repeats: InternPool = newInternPool()): readonly Json[] | null {
  if (text === "") return [];
  const cursor: Cursor = { text, at: 0, repeats };
  const documents: Json[] = [];
  for (;;) {
    const value = readItem(cursor, 0);
    if (value === undefined) return null;
    documents.push(value);
    if (cursor.at === text.length) return documents;
    if (!text.startsWith("---\n", cursor.at)) return null;
    cursor.at += 4;
  }
}

/**
 * Strings and parts that texts read one after the other have in common. Equal ones become the same value, and are read
 * once.
 */
export interface InternPool {
  strings: Map<string, string>;
  /** By text, for each depth. */
  parts: readonly Map<string, Json>[];
}

export const newInternPool = (): InternPool => ({ strings: new Map(), parts: [new Map(), new Map()] });

interface Cursor {
  readonly text: string;
  at: number;
  readonly repeats: InternPool;
}

// Below, undefined means that the text is not canonical. Every reader starts at the first character of what it reads
// and ends at the first character of the next line.

function readMap(cursor: Cursor, indent: number): Json | undefined {
  if (indent > deepest) return undefined;
  const { text } = cursor;
  const object: Record<string, Json> = {};
  for (;;) {
    const key = readKey(cursor, indent);
    if (key === undefined || Object.hasOwn(object, key)) return undefined;
    const value = indent <= 2 && repeatedKeys.has(key) ? readRepeated(cursor, indent) : readMember(cursor, indent);
    if (value === undefined) return undefined;
    put(object, key, value);
    // An object has its number-like keys first: a text that has them elsewhere was not written from one.
    if (isDigit(key.charCodeAt(0)) && Object.keys(object).at(-1) !== key) return undefined;
    const spaces = spacesAt(text, cursor.at);
    if (spaces > indent) return undefined;
    if (spaces < indent || cursor.at === text.length || text.charCodeAt(cursor.at + spaces) === dash) return object;
    cursor.at += spaces;
  }
}

/** The value of a key: a leaf on the same line, a list at the same indent, or a map one step deeper. */
function readMember(cursor: Cursor, indent: number): Json | undefined {
  const { text } = cursor;
  const next = text.charCodeAt(cursor.at++);
  if (next === space) return readLeaf(cursor);
  if (next !== newline) return undefined;
  const spaces = spacesAt(text, cursor.at);
  cursor.at += spaces;
  if (spaces === indent && startsItem(text, cursor.at)) return readList(cursor, indent);
  return spaces === indent + 2 ? readMap(cursor, indent + 2) : undefined;
}

/** Keys whose values are the same in a thousand objects: they are looked up by their text before they are read. */
const repeatedKeys: ReadonlySet<string> = new Set(["status", "annotations", "labels", "applyStrategy", "conditions"]);

/** So many parts or strings are kept to be found again; then it begins anew. */
const repeatsKept = 20_000;

function readRepeated(cursor: Cursor, indent: number): Json | undefined {
  const { text, at } = cursor;
  const known = cursor.repeats.parts[indent / 2];
  const end = endOfPart(text, at, indent);
  if (known === undefined || end === null) return readMember(cursor, indent);
  const part = text.slice(at, end);
  const found = known.get(part);
  if (found !== undefined) {
    cursor.at = end;
    return found;
  }
  const value = readMember(cursor, indent);
  if (value === undefined || cursor.at !== end) return value;
  if (known.size >= repeatsKept) known.clear();
  known.set(copyOf(part), value);
  return value;
}

/** Where the lines below a key at `indent` end: deeper ones, or a list at the same indent; null for a leaf. */
function endOfPart(text: string, from: number, indent: number): number | null {
  if (text.charCodeAt(from) !== newline) return null;
  for (let line = from + 1; ; ) {
    const first = line + indent;
    const code = text.charCodeAt(first);
    const isItem = code === dash && text.charCodeAt(first + 1) === space;
    if ((code !== space && !isItem) || spacesAt(text, line) < indent) return line;
    line = text.indexOf("\n", first) + 1;
    if (line === 0) return null;
  }
}

function readList(cursor: Cursor, indent: number): Json | undefined {
  if (indent > deepest) return undefined;
  const { text } = cursor;
  const list: Json[] = [];
  for (;;) {
    cursor.at += 2;
    const item = readItem(cursor, indent + 2);
    if (item === undefined) return undefined;
    list.push(item);
    const spaces = spacesAt(text, cursor.at);
    if (spaces > indent) return undefined;
    if (spaces < indent || !startsItem(text, cursor.at + spaces)) return list;
    cursor.at += spaces;
  }
}

function readItem(cursor: Cursor, indent: number): Json | undefined {
  if (startsItem(cursor.text, cursor.at)) return readList(cursor, indent);
  return startsKey(cursor.text, cursor.at) ? readMap(cursor, indent) : readLeaf(cursor);
}

const startsItem = (text: string, at: number): boolean =>
  text.charCodeAt(at) === dash && text.charCodeAt(at + 1) === space;

/** Whether a key is here, rather than a leaf: no bare value has a colon before a space, no bare key a space. */
function startsKey(text: string, from: number): boolean {
  const first = text.charCodeAt(from);
  if (first === question) return true;
  let at = from;
  if (first === doubleQuote) at = endOfQuoted(text, from);
  else while (at < text.length && !endsKey(text.charCodeAt(at))) at++;
  if (text.charCodeAt(at) !== colon) return false;
  const next = text.charCodeAt(at + 1);
  return next === space || next === newline;
}

/** Reads a key and its colon. */
function readKey(cursor: Cursor, indent: number): string | undefined {
  const { text } = cursor;
  const first = text.charCodeAt(cursor.at);
  if (first === question) return readLongKey(cursor, indent);
  if (first === doubleQuote) {
    const start = cursor.at;
    const key = readQuoted(cursor);
    if (key === undefined || isPlainKey(key, 0, key.length) || cursor.at - start > longestKey) return undefined;
    return text.charCodeAt(cursor.at++) === colon ? key : undefined;
  }
  const end = text.indexOf(":", cursor.at);
  if (end < 0 || end - cursor.at > longestKey || !isPlainKey(text, cursor.at, end)) return undefined;
  const key = text.slice(cursor.at, end);
  cursor.at = end + 1;
  return key;
}

function readLongKey(cursor: Cursor, indent: number): string | undefined {
  const { text } = cursor;
  const start = cursor.at + 2;
  const end = text.indexOf("\n", start);
  if (end - start <= longestKey || text.charCodeAt(start - 1) !== space) return undefined;
  cursor.at = start;
  const key = text.charCodeAt(start) === doubleQuote ? readQuoted(cursor) : text.slice(start, end);
  if (key === undefined || text.slice(start, end) !== (isPlainKey(key, 0, key.length) ? key : quote(key)))
    return undefined;
  if (spacesAt(text, end + 1) !== indent || text.charCodeAt(end + 1 + indent) !== colon) return undefined;
  cursor.at = end + 2 + indent;
  return key;
}

/** Reads the rest of a line: a scalar, `[]` or `{}`. */
function readLeaf(cursor: Cursor): Json | undefined {
  const { text, at } = cursor;
  const first = text.charCodeAt(at);
  if (first === doubleQuote) return readQuotedLeaf(cursor);
  const end = text.indexOf("\n", at);
  if (end < 0) return undefined;
  cursor.at = end + 1;
  if (isPlain(text, at, end)) return kept(cursor, at, end);
  if (isDigit(first) || first === dash) return readNumber(text, at, end);
  return words.get(text.slice(at, end))?.();
}

const words = new Map<string, () => Json>([
  ["null", () => null],
  ["true", () => true],
  ["false", () => false],
  ["[]", () => []],
  ["{}", () => ({})],
]);

function readNumber(text: string, from: number, to: number): Json | undefined {
  if (to - from <= 9 && text.charCodeAt(from) !== zero) {
    let value = 0;
    let at = from;
    for (; at < to && isDigit(text.charCodeAt(at)); at++) value = value * 10 + text.charCodeAt(at) - zero;
    if (at === to) return value;
  }
  const digits = text.slice(from, to);
  if (/^-?[1-9]\d{15,}$/.test(digits)) return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
  const value = Number(digits);
  return leafText(value) === digits ? value : undefined;
}

function readQuotedLeaf(cursor: Cursor): string | undefined {
  const value = readQuoted(cursor);
  if (value === undefined || cursor.text.charCodeAt(cursor.at++) !== newline) return undefined;
  return isPlain(value, 0, value.length) ? undefined : value;
}

/** Reads a JSON string, up to behind its closing quote. */
function readQuoted(cursor: Cursor): string | undefined {
  const { text, at: start } = cursor;
  const end = endOfQuoted(text, start);
  if (end < 0) return undefined;
  cursor.at = end;
  if (isSimple(text, start + 1, end - 1)) return kept(cursor, start + 1, end - 1);
  const raw = text.slice(start, end);
  const value = unquoted(raw);
  return value !== undefined && quote(value) === raw ? value : undefined;
}

/** The position behind the quote that closes the one at `from`; −1 when the text ends before. */
function endOfQuoted(text: string, from: number): number {
  let end = from;
  do end = text.indexOf('"', end + 1);
  while (end > 0 && isEscaped(text, end));
  return end < 0 ? -1 : end + 1;
}

function unquoted(raw: string): string | undefined {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}

/** A part of the text that does not keep the whole text in memory. */
function kept(cursor: Cursor, from: number, to: number): string {
  const part = cursor.text.slice(from, to);
  if (to - from < shortestSlice) return part;
  const { strings } = cursor.repeats;
  const known = strings.get(part);
  if (known !== undefined) return known;
  const copy = copyOf(part);
  if (strings.size >= repeatsKept) strings.clear();
  strings.set(copy, copy);
  return copy;
}

const copyOf = (text: string): string => ` ${text}`.slice(1);

/** Flotilla writes nothing nested this deeply; reading it would exhaust the stack. */
const deepest = 1000;

/** From this length on, V8 slices by pointing into the text; shorter parts it copies. */
const shortestSlice = 13;

/** A member of whatever name, `__proto__` included. */
function put(object: Record<string, Json>, key: string, value: Json): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

function spacesAt(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === space) at++;
  return at - from;
}

const endsKey = (code: number): boolean => code === colon || code === space || code === newline;

const isDigit = (code: number): boolean => code >= zero && code <= zero + 9;

const newline = 10;

const space = 32;

const doubleQuote = 34;

const dash = 45;

const zero = 48;

const colon = 58;

const question = 63;
