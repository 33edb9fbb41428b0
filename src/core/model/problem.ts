/** What is wrong in a file of the repository, where, and what to do. A value, never thrown. */
export interface Problem {
  /** Stable and unique, `FLTnnnn`; the list is `src/core/yaml/problem-codes.ts`. */
  readonly code: string;
  /** Errors cost what the document defines; warnings and notes cost nothing. */
  readonly severity: "error" | "warning" | "note";
  readonly path: string;
  /** From 1; 0 when the whole file is meant. */
  readonly line: number;
  readonly column: number;
  /** What is wrong: lower-case start, no full stop, no secret, at most 1 KiB. */
  readonly message: string;
  /** What to do about it, as an order. */
  readonly fix: string;
}
