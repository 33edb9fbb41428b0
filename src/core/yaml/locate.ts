import { isObject, type Json, member } from "../model/json.ts";
import { readYaml, type YamlDocument } from "./kyaml.ts";
import {
  compareLocated,
  type FieldProblem,
  type FieldProblems,
  isError,
  type JsonPath,
  type LocatedProblem,
  maxProblems,
  note,
  problemMessage,
  type TextProblem,
  valueAt,
} from "./problems.ts";
import { type PositionOf, positionsIn, type TextSlice } from "./text.ts";

/** Where a document is in its file, and what is wrong with it there. */
export interface LocatedDocument {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly column: number;
  /** At most {@link maxProblems}, ordered by position. */
  readonly problems: readonly LocatedProblem[];
  /** To find the line of a value later: the text of the document, and the path to its root in there. */
  readonly place: { readonly slice: TextSlice; readonly base: JsonPath };
}

/** A value and the document it was read from. */
export interface ParsedValue {
  readonly slice: TextSlice;
  readonly positionOf: PositionOf;
  readonly yaml: YamlDocument;
  /** The path to the value from the document's root: empty, or `items`, n in a `List`. */
  readonly base: JsonPath;
}

/** Locates a document: where it begins, and its problems by line and column. */
export function locateDocument(
  { slice, positionOf, yaml, base }: ParsedValue,
  fieldProblems: FieldProblems,
): LocatedDocument {
  const { textProblems, value } = yaml;
  // A broken text may hide that it is a Secret.
  const secret = isSecret(value, base) || textProblems.some((it) => it.at === null);
  const found = [
    ...withoutEchoes(textProblems.filter((it) => isOf(it, base))).map((it) => ({
      ...it,
      at: (it.at ?? []).slice(base.length),
    })),
    ...first(fieldProblems).map((it) => ({ ...it, offset: yaml.offsetOf([...base, ...it.at], it.on) })),
  ];
  const { kept, surplus: cut } = capped(found);
  const surplus = cut + fieldProblems.length - first(fieldProblems).length;
  const problems = kept.map((it) => locatedProblem(it, secret, positionOf(it.offset)));
  const last = problems.at(-1) ?? { line: 0, column: 0 };
  const more = surplus === 0 ? [] : [locatedProblem(unlisted(surplus), false, last)];
  return {
    ...positionOf(yaml.offsetOf(base, "value")),
    problems: [...problems.sort(compareLocated), ...more],
    place: { slice, base },
  };
}

/** Locates one more problem of a document, by reading its text again. */
export function locateProblem({ place: { slice, base } }: LocatedDocument, problem: FieldProblem): LocatedProblem {
  const positionOf = positionsIn(slice);
  const yaml = readYaml(slice, positionOf);
  const offset = yaml.offsetOf([...base, ...problem.at], problem.on);
  return locatedProblem(problem, isSecret(yaml.value, base), positionOf(offset));
}

/** A problem of a whole file, without a line. */
export const fileWideProblem = (problem: FieldProblem): LocatedProblem =>
  locatedProblem(problem, false, { line: 0, column: 0 });

type Unlocated = Pick<FieldProblem, "code" | "severity" | "message" | "got" | "fix" | "at">;

function locatedProblem(
  problem: Unlocated,
  secret: boolean,
  { line, column }: { readonly line: number; readonly column: number },
): LocatedProblem {
  const { code, severity, fix } = problem;
  return { code, severity, line, column, message: problemMessage(problem, secret), fix };
}

/** How many problems of a document are located: people mend the first ones first. */
const maxLocated = 500;

const first = (problems: FieldProblems): FieldProblems =>
  problems.length <= maxLocated
    ? problems
    : [...problems.filter(isError), ...problems.filter((it) => !isError(it))].slice(0, maxLocated);

/** Of anchors and templates, the first one; of an unresolved merge, which has most things twice, the merge itself. */
function withoutEchoes(textProblems: readonly TextProblem[]): readonly TextProblem[] {
  const conflict = textProblems.find((it) => it.code === "FLT1025");
  if (conflict !== undefined) return [conflict];
  const first = new Map<string, TextProblem>();
  for (const it of textProblems) if (it.offset < (first.get(it.code)?.offset ?? Infinity)) first.set(it.code, it);
  return textProblems.filter((it) => !echoing.has(it.code) || first.get(it.code) === it);
}

const echoing: ReadonlySet<string> = new Set(["FLT1006", "FLT1019"]);

/** A problem of a list item belongs to that item; one outside of all items to the first. */
function isOf({ at }: TextProblem, base: JsonPath): boolean {
  if (base.length === 0) return true;
  if (at !== null && at[0] === "items" && at.length > 1) return at[1] === base[1];
  return base[1] === 0;
}

/** The first problems of a document by position, errors before the rest. */
function capped<T extends Unlocated & { readonly offset: number }>(found: readonly T[]) {
  const ordered = [...found].sort((a, b) => a.offset - b.offset);
  const kept = [...ordered.filter(isError), ...ordered.filter((it) => !isError(it))].slice(0, maxProblems);
  return { kept: kept.sort((a, b) => a.offset - b.offset), surplus: found.length - kept.length };
}

const unlisted = (count: number): FieldProblem =>
  note("FLT1024", [], `more problems of this document are not listed: ${count}`, "fix these first");

const isEnvelope = (kind: Json | undefined): boolean =>
  kind === "ResourceEnvelope" || kind === "ClusterResourceEnvelope";

function isSecret(value: Json, base: JsonPath): boolean {
  const document = valueAt(value, base) ?? null;
  if (!isObject(document)) return false;
  if (document["kind"] === "Secret") return true;
  // An envelope may wrap one.
  return (
    isEnvelope(document["kind"]) &&
    Object.values(member(document, "data") ?? {}).some((it) => member(it, "kind") === "Secret")
  );
}
