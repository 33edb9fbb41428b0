import type { Json } from "../model/json.ts";
import { advance, count, decline, isBlank, type Line, lineBehind, type Reading } from "./plain-lines.ts";

/**
 * The block scalar whose header stands at `start`, in a collection that is indented by `around`.
 *
 * Where it is empty, where lines of spaces reach into the text, and where lines of a folded one are indented further,
 * YAML has rules that hardly anybody knows: those are declined.
 */
export function readBlockScalar(reading: Reading, start: number, around: number): Json {
  header.lastIndex = start;
  const [, style, digit, chomping] = header.exec(reading.text) ?? [];
  advance(reading);
  const found = indentOfNext(reading);
  const indent = digit === "" ? found : around + Number(digit);
  if (style === undefined || found < indent || indent <= around) return decline(reading);
  const rows = rowsOf(reading, indent);
  let end = rows.length;
  while (rows[end - 1] === "") end -= 1;
  const isOdd = rows.some((it) => (style === ">" ? /^[ \t]/.test(it) : /^ +$/.test(it)));
  if (isOdd || (chomping === "+" && !reading.text.endsWith("\n"))) return decline(reading);
  count(reading);
  const body = rows.slice(0, end).join("\n");
  const newlines = chomping === "-" ? 0 : chomping === "+" ? rows.length - end + 1 : 1;
  return (style === "|" ? body : folded(body)) + "\n".repeat(newlines);
}

const header = /([|>])([1-9]?)([+-]?) *(?: #.*)?(?=\n|$)/y;

/** How far the next line is indented that is not blank. */
function indentOfNext(reading: Reading): number {
  let line = reading.line;
  while (line !== null && isBlank(line)) line = lineBehind(reading, line);
  return line?.indent ?? 0;
}

/** The lines of a block scalar without their indentation; the reading is then behind them. */
function rowsOf(reading: Reading, indent: number): readonly string[] {
  const rows: string[] = [];
  for (let line: Line | null = reading.line; line !== null; line = reading.line) {
    if (line.indent < indent && !isBlank(line)) break;
    rows.push(reading.text.slice(line.start - line.indent + indent, line.end));
    advance(reading);
  }
  return rows;
}

/** One line end becomes a space, more of them one less; those in front stay. */
const folded = (body: string): string => body.replace(/(?<=[^\n])\n(\n*)/g, (_, more: string) => more || " ");
