import type { Problem } from "../model/intent.ts";
import type { ProblemCode } from "./problem-codes.ts";
import type { JsonPath } from "./remark.ts";

/** Something wrong in a text, at an offset. */
export interface Flaw {
  readonly code: ProblemCode;
  readonly severity: Problem["severity"];
  readonly offset: number;
  /** The value it concerns; null when the text itself is broken there, so that nothing after it can be trusted. */
  readonly at: JsonPath | null;
  readonly message: string;
  readonly got: string | null;
  readonly fix: string;
}
