import type { CountOrPercent } from "../../model/placement.ts";
import { error, type FieldProblem, type FieldProblems, type JsonPath } from "../../yaml/problems.ts";

/** `3` or `"25%"`, else null (`intent/README.md#v-pl-63` … `#v-pl-65`, `yaml/README.md#b-72`). */
export function countOrPercent(written: number | string): CountOrPercent | null {
  if (typeof written === "number") return Number.isInteger(written) && written >= 0 ? { count: written } : null;
  const match = /^(100|[0-9]{1,2})%$/.exec(written);
  return match === null ? null : { percent: Number(match[1]) };
}

/** Checks a field that is `3` or `"25%"`; an absent one passes. */
export function countOrPercentProblems(written: number | string | undefined, at: JsonPath): FieldProblems {
  if (written === undefined || countOrPercent(written) !== null) return [];
  const message = "must be a whole number from 0, or a percentage from 0% to 100%";
  return [error("FLT1303", at, message, "write 3 or 25%", JSON.stringify(written))];
}

/** A setting that does not work yet is refused: ignoring it silently would be dangerous. */
export const notSupportedYet = (path: JsonPath, what = "is"): FieldProblem =>
  error("FLT1901", path, `${what} not yet supported`, "leave it out until a later version supports it");

/** The indices of entries that repeat an earlier one. */
export function repeatedIndices<T>(entries: readonly T[], keyOf: (entry: T) => string): readonly number[] {
  const seen = new Set<string>();
  return entries.flatMap((entry, at) => {
    const key = keyOf(entry);
    if (seen.has(key)) return [at];
    seen.add(key);
    return [];
  });
}

/** An error for every entry that repeats an earlier one. */
export const repeatedProblems = <T>(
  entries: readonly T[],
  keyOf: (entry: T) => string,
  [at, message, fix = "remove one of the two"]: readonly [at: JsonPath, message: string, fix?: string],
): FieldProblems => repeatedIndices(entries, keyOf).map((i) => error("FLT1308", [...at, i], message, fix));

/** Fields of a spec that cannot change once a document was accepted: what they were, and what they are now. */
export const immutableProblems = (
  kind: string,
  fields: readonly (readonly [field: string, was: string, is: string])[],
): FieldProblems =>
  fields
    .filter(([, was, is]) => was !== is)
    .map(([field, was, is]) =>
      error("FLT1315", ["spec", field], `cannot change from ${was} to ${is}`, `write ${kind} with another name`),
    );
