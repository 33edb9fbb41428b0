import type { Json } from "../model/json.ts";
import type { TextProblem } from "./problems.ts";
import { ambiguity } from "./scalar.ts";

/** A problem of a text before it is known where it is. */
export type ProblemText = Pick<TextProblem, "code" | "message" | "fix"> &
  Partial<Pick<TextProblem, "severity" | "got">>;

/** How many problems of a document are gathered. */
export const maxTextProblems = 500;

/** An error. */
export const refused = (code: TextProblem["code"], message: string, fix: string): ProblemText => ({
  code,
  message,
  fix,
});

const ambiguous = (code: TextProblem["code"], message: string, fix: string): ProblemText => ({
  ...refused(code, message, `${fix}, or quote it if it is meant as a string`),
  severity: "warning",
});

const ambiguousBoolean = ambiguous("FLT1011", "ambiguous boolean", "write true or false");
const ambiguousNumber = ambiguous("FLT1012", "ambiguous number", "write it as a plain decimal");

/** The warning for an unquoted scalar that people and kubectl may read differently; null for any other. */
export function ambiguityProblem(text: string, value: Json): ProblemText | null {
  const kind = ambiguity(text, value);
  if (kind === null) return null;
  const got = `${text}, which kubectl reads as ${String(value)}`;
  return { ...(kind === "boolean" ? ambiguousBoolean : ambiguousNumber), got };
}

/** For a key that its mapping has already, at a line. */
export const duplicateKey = (firstLine: number): ProblemText =>
  refused(
    "FLT1005",
    `duplicate key, first at line ${firstLine}`,
    "remove one of the two; kubectl would silently use the last",
  );
