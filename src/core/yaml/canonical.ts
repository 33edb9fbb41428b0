import type { Json, JsonList, JsonObject } from "../model/json.ts";

/**
 * The one canonical text of a JSON value: block YAML, keys in the order of the object, lists indented as kubectl does.
 *
 * A string is written bare only if no YAML reader, of any version, can read it as anything else; every other one is a
 * JSON string on one line. `readCanonical` is the exact inverse. Numbers that are not finite become null, as in JSON.
 */
export const emitYaml = (value: Json): string => emitDocuments([value]);

/** Several values as one stream of documents. None is the empty text. */
export function emitDocuments(values: Iterable<Json>): string {
  const parts: string[] = [];
  for (const value of values) {
    if (parts.length > 0) parts.push("---\n");
    if (!hasParts(value)) pushLeaf(parts, value);
    else if (Array.isArray(value)) pushList(parts, value as JsonList, 0);
    else pushMap(parts, value as JsonObject, 0);
  }
  // One string of its own: a sum of strings would be kept as a tree, five times its size.
  return parts.join("");
}

/** One line of text for a value without parts: a scalar, an empty list, an empty object. */
export function leafText(value: Json): string {
  if (typeof value === "string") return isPlain(value, 0, value.length) ? value : quote(value);
  if (typeof value === "number") return numberText(value);
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "[]" : "{}";
  return String(value);
}

/** The text of a key, without its colon. */
export const keyText = (key: string): string => (isPlainKey(key, 0, key.length) ? key : quote(key));

/** YAML allows 1,024 characters for a key before a colon; a longer key is marked with `?`. */
export const longestKey = 1000;

/** A string as JSON writes it, without the characters that YAML readers refuse or take for the end of a line. */
export const quote = (text: string): string =>
  isSimple(text, 0, text.length) ? `"${text}"` : JSON.stringify(text).replace(unprintable, escaped);

/** Whether `text` from `from` to `to` needs no escapes in a JSON string: printable ASCII. */
export function isSimple(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code < space || code > tilde || code === doubleQuote || code === backslash) return false;
  }
  return true;
}

/** Whether `text` from `from` to `to` may be written bare as a value. */
export function isPlain(text: string, from: number, to: number): boolean {
  if (from === to || (roleOf(text.charCodeAt(from)) & opens) === 0) return false;
  for (let at = from + 1; at < to; at++) {
    const role = roleOf(text.charCodeAt(at));
    if ((role & continues) !== 0) continue;
    // A colon before a space or the end would make a key; a space at the end would be lost.
    if (role !== between || at + 1 === to || text.charCodeAt(at + 1) === space) return false;
  }
  return !isAmbiguous(text, from, to);
}

/** Whether `text` from `from` to `to` may be written bare as a key: like a value, without colon and space. */
export function isPlainKey(text: string, from: number, to: number): boolean {
  if (from === to || (roleOf(text.charCodeAt(from)) & opens) === 0) return false;
  for (let at = from + 1; at < to; at++) if ((roleOf(text.charCodeAt(at)) & continues) === 0) return false;
  return !isAmbiguous(text, from, to);
}

const hasParts = (value: Json): value is JsonList | JsonObject => {
  if (typeof value !== "object" || value === null) return false;
  for (const _ in value) return true;
  return false;
};

// A text is collected in parts, each of which ends its line. Before a map or a list, the indent is already there.

function pushMap(parts: string[], value: JsonObject, depth: number): void {
  const prefixes = prefixesAt(depth);
  let isFirst = true;
  for (const key in value) {
    if (!isFirst) parts.push(padOf(depth));
    isFirst = false;
    parts.push(prefixes.get(key) ?? prefixOf(prefixes, key, depth));
    pushMember(parts, value[key] as Json, depth);
  }
}

/** What follows a key's colon, up to the end of the value's last line. */
function pushMember(parts: string[], value: Json, depth: number): void {
  if (!hasParts(value)) {
    parts.push(" ");
    pushLeaf(parts, value);
  } else if (Array.isArray(value)) {
    parts.push("\n", padOf(depth));
    pushList(parts, value as JsonList, depth);
  } else {
    parts.push("\n", padOf(depth + 1));
    pushMap(parts, value as JsonObject, depth + 1);
  }
}

function pushList(parts: string[], value: JsonList, depth: number): void {
  let isFirst = true;
  for (const item of value) {
    if (!isFirst) parts.push(padOf(depth));
    isFirst = false;
    parts.push("- ");
    if (!hasParts(item)) pushLeaf(parts, item);
    else if (Array.isArray(item)) pushList(parts, item as JsonList, depth + 1);
    else pushMap(parts, item as JsonObject, depth + 1);
  }
}

function pushLeaf(parts: string[], value: Json): void {
  if (typeof value !== "string") parts.push(leafText(value), "\n");
  else if (isPlain(value, 0, value.length)) parts.push(value, "\n");
  else if (isSimple(value, 0, value.length)) parts.push('"', value, '"\n');
  else parts.push(quote(value), "\n");
}

/** Keys with their colons, for each depth: there are few of them, and every object has them. */
const prefixes: Map<string, string>[] = [];

/** Labels and the like have keys of their own, which do not all have to be kept. */
const prefixesKept = 1000;

function prefixesAt(depth: number): Map<string, string> {
  const known = prefixes[depth];
  if (known !== undefined) return known;
  const made = new Map<string, string>();
  if (depth < pads.length) prefixes[depth] = made;
  return made;
}

function prefixOf(known: Map<string, string>, key: string, depth: number): string {
  const name = keyText(key);
  const prefix = name.length > longestKey ? `? ${name}\n${padOf(depth)}:` : `${name}:`;
  if (known.size < prefixesKept) known.set(key, prefix);
  return prefix;
}

const pads = Array.from({ length: 32 }, (_, depth) => "  ".repeat(depth));
const padOf = (depth: number): string => pads[depth] ?? "  ".repeat(depth);

/**
 * A number so that it is read back as the same number: what is not an integer of up to 53 bits has a fraction or an
 * exponent, since longer integers are read as bigint.
 */
function numberText(value: number): string {
  if (Number.isSafeInteger(value)) return Object.is(value, -0) ? "-0.0" : String(value);
  if (!Number.isFinite(value)) return "null";
  const text = Number.isInteger(value) ? value.toExponential() : String(value);
  // YAML 1.1 knows an exponent only behind a fraction.
  return text.includes("e") && !text.includes(".") ? text.replace("e", ".0e") : text;
}

// What a character may do in a bare scalar, by its code: open it, continue it, or be between two others.
const opens = 1;
const continues = 2;
const between = 4;
const space = 32;
const doubleQuote = 34;
const backslash = 92;
const tilde = 126;
const roles = new Uint8Array(128);
for (const it of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/") roles[it.charCodeAt(0)] = opens | continues;
for (const it of "0123456789-.(),+=@;<>%'\"") roles[it.charCodeAt(0)] = continues;
for (const it of " :") roles[it.charCodeAt(0)] = between;
const roleOf = (code: number): number => (code < 128 ? (roles[code] as number) : 0);

/** Words that some YAML reader takes for a truth value, a number or nothing, whatever their case. */
const ambiguous = new Set(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"]);
const longestAmbiguous = 5;

const isAmbiguous = (text: string, from: number, to: number): boolean =>
  to - from <= longestAmbiguous && ambiguous.has(text.slice(from, to).toLowerCase());

const unprintable = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
const escaped = (it: string): string => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`;
