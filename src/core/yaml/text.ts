import { Buffer, isUtf8 } from "node:buffer";
import type { TextProblem } from "./problems.ts";

/** The largest file that is read. Kubernetes itself takes no object much larger (etcd: 1.5 MiB). */
export const maxFileBytes = 1024 * 1024;

type FileText =
  | { readonly kind: "text"; readonly text: string; readonly hasMark: boolean }
  | { readonly kind: "not-utf8"; readonly byte: number; readonly wide: boolean };

/** The text of a file, which must be UTF-8; a byte order mark is taken off. */
export function textOfBytes(bytes: Uint8Array): FileText {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const body = hasMark ? bytes.subarray(3) : bytes;
  if (isUtf8(body)) return { kind: "text", text: decodeUtf8(body), hasMark };
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return { kind: "not-utf8", byte: firstBadByte(body) + (hasMark ? 3 : 0), wide };
}

/** Whether Git LFS left a pointer in place of the content; it would pass for harmless YAML. */
export const isLargeFilePointer = (text: string): boolean =>
  text.startsWith("version https://git-lfs.github.com/spec/");

/** A document's own text, and the line of the file with which it begins (from 1). */
export interface TextSlice {
  readonly text: string;
  readonly line: number;
}

/**
 * Cuts a file at its `---` lines, as kubectl does before it parses anything, so that a broken document cannot swallow
 * the next one. Gives the first `most` slices.
 */
export function slicesOf(text: string, most = Infinity): readonly TextSlice[] {
  const slices: TextSlice[] = [];
  let start = 0;
  let line = 1;
  for (const match of text.matchAll(/^---[ \t]*(?:#.*)?\r?$/gm)) {
    const before = text.slice(start, match.index);
    slices.push({ text: before, line });
    line += linesIn(before);
    start = match.index;
    if (slices.length === most) return slices;
  }
  slices.push({ text: text.slice(start), line });
  return slices;
}

/** The line and column in the file (from 1) of an offset in a slice. */
export type PositionOf = (offset: number) => { readonly line: number; readonly column: number };

/** Finds the lines of a slice once, and only as far as it is asked. */
export function positionsIn({ text, line }: TextSlice): PositionOf {
  const starts = [0];
  let next = 0;
  return (offset) => {
    while (next <= offset) {
      const newline = text.indexOf("\n", next);
      next = newline < 0 ? Infinity : newline + 1;
      if (newline >= 0) starts.push(next);
    }
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: line + low, column: offset - (starts[low] ?? 0) + 1 };
  };
}

const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f]|\r(?!\n)|[\u0085\u2028\u2029]/;
const invisibles = /[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069]/;

/** Control characters, odd line ends, and invisible characters such as those that turn text around. */
export function characterProblems(text: string): readonly TextProblem[] {
  const textProblems: TextProblem[] = [];
  const bad = control.exec(text);
  if (bad !== null) textProblems.push(/[\r\u0085\u2028\u2029]/.test(bad[0]) ? oddLineEnd(bad) : controlCharacter(bad));
  const hidden = invisibles.exec(text);
  if (hidden !== null) textProblems.push(invisible(hidden));
  return textProblems;
}

const oddLineEnd = (match: RegExpExecArray): TextProblem => ({
  ...textProblem("FLT1016", match, `line end ${codePoint(match)} is a new line only for some readers`),
  fix: "use LF or CRLF, or write the character as an escape in double quotes",
});

const controlCharacter = (match: RegExpExecArray): TextProblem => ({
  ...textProblem("FLT1002", match, `control character ${codePoint(match)}`),
  fix: "remove it, or write it as an escape in double quotes",
});

const invisible = (match: RegExpExecArray): TextProblem => ({
  ...textProblem("FLT1003", match, `invisible character ${codePoint(match)} disguises the text`),
  severity: "warning",
  fix: "remove it, or write it as an escape in double quotes",
});

const textProblem = (code: TextProblem["code"], match: RegExpExecArray, message: string): Omit<TextProblem, "fix"> => ({
  code,
  severity: "error",
  offset: match.index,
  at: null,
  message,
  got: null,
});

const codePoint = (match: RegExpExecArray): string =>
  `U+${(match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/** How many line ends a text has. */
export function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

const decodeUtf8 = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** Where strict decoding stops: the first replacement character of a lenient decoding that is not one in the file. */
function firstBadByte(bytes: Uint8Array): number {
  const text = decodeUtf8(bytes);
  let byte = 0;
  for (let from = 0; ; ) {
    const at = text.indexOf("\ufffd", from);
    byte += Buffer.byteLength(text.slice(from, at < 0 ? text.length : at));
    if (at < 0 || bytes[byte] !== 0xef || bytes[byte + 1] !== 0xbf || bytes[byte + 2] !== 0xbd) return byte;
    byte += 3;
    from = at + 1;
  }
}

/** Whether the character at an offset is escaped: behind an odd number of backslashes. */
export function isEscaped(text: string, offset: number): boolean {
  let first = offset;
  while (text[first - 1] === "\\") first -= 1;
  return (offset - first) % 2 === 1;
}
