import type { Problem } from "../model/intent.ts";
import { compareText } from "../model/value.ts";
import type { ProblemCode } from "./problem-codes.ts";

/** The way from a document's root to a value in it: keys and list indices. */
export type JsonPath = readonly (string | number)[];

/** Something wrong at a place in a value, before it is known in which line and file that stands. */
export interface Remark {
  readonly code: ProblemCode;
  readonly severity: Problem["severity"];
  readonly at: JsonPath;
  /** Whether the key at `at` is meant, or the value there. */
  readonly on: "key" | "value";
  /** Without the field's name, which is put in front. */
  readonly message: string;
  /** What stands there, shown unless the document is a Secret; null shows nothing. */
  readonly got: string | null;
  readonly fix: string;
}

/** A problem of a document, before it is known which file the document stands in. */
export type Finding = Omit<Problem, "path">;

type Words = readonly [code: ProblemCode, at: JsonPath, message: string, fix: string];

export const error = (...[code, at, message, fix]: Words): Remark => remark("error", code, at, [message, fix]);
export const warning = (...[code, at, message, fix]: Words): Remark => remark("warning", code, at, [message, fix]);
export const note = (...[code, at, message, fix]: Words): Remark => remark("note", code, at, [message, fix]);

function remark(
  severity: Problem["severity"],
  code: ProblemCode,
  at: JsonPath,
  [message, fix]: readonly [string, string],
): Remark {
  return { code, severity, at, on: "value", message, got: null, fix };
}

/** How many problems of one document are listed. */
export const maxFindings = 20;

export const isError = ({ severity }: { readonly severity: Problem["severity"] }): boolean => severity === "error";

/** A path as people write it: `spec.tolerations[0].key`. */
function pathText(path: JsonPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** A text at most `limit` characters long, on one line, with what was cut away marked. */
function excerpt(text: string, limit = 80): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}

/** The words of a remark: field, what is wrong, what stands there. At most 1 KiB. */
export function wordsOf({ at, message, got }: Pick<Remark, "at" | "message" | "got">, secret: boolean): string {
  const field = pathText(at);
  const shown = got === null ? "" : secret ? " (value not shown)" : ` (got ${excerpt(got)})`;
  return excerpt(`${field === "" ? "" : `${field}: `}${message}${shown}`, 1000);
}

/** Problems in the order in which they are listed: path, line, column, code, message. */
export const compareProblems = (a: Problem, b: Problem): number => compareText(a.path, b.path) || compareFindings(a, b);

export const compareFindings = (a: Finding, b: Finding): number =>
  a.line - b.line || a.column - b.column || compareText(a.code, b.code) || compareText(a.message, b.message);

/** One line for a terminal or a log: `placements/web.yaml:4:7: error FLT1302: what is wrong; what to do`. */
export function problemText({ path, line, column, severity, code, message, fix }: Problem): string {
  const place = line === 0 ? path : `${path}:${line}:${column}`;
  return `${place}: ${severity} ${code}: ${message}${fix === "" ? "" : `; ${fix}`}`;
}
