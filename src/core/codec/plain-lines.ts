/** One line, or what is left of one after a dash. */
export interface Line {
  /** The column of its first character that is no space, from 0. */
  readonly indent: number;
  /** Where that character stands in the text; the end for a blank line. */
  readonly start: number;
  readonly end: number;
}

/** A text that is being read: how far the reading has come, and whether it is still all plain. */
export interface Reading {
  readonly text: string;
  /** All lines; none once the reading was declined, which ends every loop over them. */
  lines: Line[];
  /** The line that is read. */
  at: number;
  /** Where in that line. */
  offset: number;
  /** How many values were read. */
  values: number;
  isDeclined: boolean;
}

/**
 * Begins to read a text, after the `---` that may open it; null when it holds characters that are not for this reader.
 *
 * Those are the ones that somebody should hear about (`text.ts`), carriage returns and rare kinds of white space.
 */
export function readingOf(text: string): Reading | null {
  if (odd.test(text)) return null;
  const lines = linesOf(text);
  return { text, lines, at: opening.test(text) ? 1 : 0, offset: 0, values: 0, isDeclined: false };
}

const odd = /[^\t\n -~\u00a1-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\ufdff]/;
const opening = /^--- *(?: #.*)?(?:\n|$)/;

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (let begin = 0; begin < text.length; ) {
    const newline = text.indexOf("\n", begin);
    const end = newline < 0 ? text.length : newline;
    const start = afterSpaces(text, begin);
    lines.push({ indent: start - begin, start, end });
    begin = end + 1;
  }
  return lines;
}

/** The next line that says something, from where the reading is; null at the end. */
export function current(reading: Reading): Line | null {
  for (; reading.at < reading.lines.length; reading.at += 1) {
    const line = reading.lines[reading.at];
    if (line !== undefined && !isSilent(reading.text, line.start, line.end)) return line;
  }
  return null;
}

/** Whether nothing but a comment stands between two places of a line. */
export const isSilent = (text: string, start: number, end: number): boolean => start === end || text[start] === "#";

/** Leaves the whole text to somebody who knows all of YAML. Gives null, so that a reader can return it. */
export function decline(reading: Reading): null {
  reading.isDeclined = true;
  reading.lines = [];
  return null;
}

/** Where the next character stands that is no space. */
export function afterSpaces(text: string, from: number): number {
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
