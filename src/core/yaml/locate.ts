import { isObject, type Json, type JsonList, memberAt } from "../model/json.ts";
import { readYaml, type YamlDocument } from "./kyaml.ts";
import {
  compareLocated,
  type FieldProblem,
  isError,
  type JsonPath,
  type LocatedProblem,
  maxProblems,
  note,
  problemMessage,
  type TextProblem,
} from "./problems.ts";
import { type PositionOf, positionsIn, type TextSlice } from "./text.ts";

/** Where a document stands in its file, and what is wrong with it there. */
export interface LocatedDocument {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly column: number;
  /** At most {@link maxProblems}, ordered by place. */
  readonly findings: readonly LocatedProblem[];
  /** Enough to find later in which line a value stands: the document's text, and the way to its root in there. */
  readonly place: { readonly slice: TextSlice; readonly base: JsonPath };
}

/** A value and the document it was read from. */
export interface ParsedValue {
  readonly slice: TextSlice;
  readonly ruler: PositionOf;
  readonly yaml: YamlDocument;
  /** The way to the value from the document's root: empty, or `items`, n in a `List`. */
  readonly base: JsonPath;
}

/** Puts a document in its place: where it begins, and its flaws and remarks by line and column. */
export function locateDocument(
  { slice, ruler, yaml, base }: ParsedValue,
  remarks: readonly FieldProblem[],
): LocatedDocument {
  const { flaws, value } = yaml;
  // A broken text may hide that it is a Secret.
  const secret = isSecret(value, base) || flaws.some((it) => it.at === null);
  const said = [
    ...withoutEchoes(flaws.filter((it) => isOf(it, base))).map((it) => ({
      ...it,
      at: (it.at ?? []).slice(base.length),
    })),
    ...first(remarks).map((it) => ({ ...it, offset: yaml.offsetOf([...base, ...it.at], it.on) })),
  ];
  const { kept, surplus: cut } = capped(said);
  const surplus = cut + remarks.length - first(remarks).length;
  const findings = kept.map((it) => findingOf(it, secret, ruler(it.offset)));
  const last = findings.at(-1) ?? { line: 0, column: 0 };
  const more = surplus === 0 ? [] : [findingOf(unlisted(surplus), false, last)];
  return {
    ...ruler(yaml.offsetOf(base, "value")),
    findings: [...findings.sort(compareLocated), ...more],
    place: { slice, base },
  };
}

/** What a remark about a document is in its file. Reads the document's text again: for the few that come late. */
export function locateProblem({ place: { slice, base } }: LocatedDocument, remark: FieldProblem): LocatedProblem {
  const ruler = positionsIn(slice);
  const yaml = readYaml(slice, ruler);
  const offset = yaml.offsetOf([...base, ...remark.at], remark.on);
  return findingOf(remark, isSecret(yaml.value, base), ruler(offset));
}

/** A remark about a whole file, or about something that has no lines. */
export const fileWideProblem = (remark: FieldProblem): LocatedProblem =>
  findingOf(remark, false, { line: 0, column: 0 });

type Said = Pick<FieldProblem, "code" | "severity" | "message" | "got" | "fix" | "at">;

function findingOf(
  said: Said,
  secret: boolean,
  position: { readonly line: number; readonly column: number },
): LocatedProblem {
  const { code, severity, fix } = said;
  const { line, column } = position;
  return { code, severity, line, column, message: problemMessage(said, secret), fix };
}

/** More are not looked up: whoever made so many slips repairs the first ones first. */
const maxPlaced = 500;

const first = (remarks: readonly FieldProblem[]): readonly FieldProblem[] =>
  remarks.length <= maxPlaced
    ? remarks
    : [...remarks.filter(isError), ...remarks.filter((it) => !isError(it))].slice(0, maxPlaced);

/**
 * One anchor is used many times, one template opens many lines: the first place is enough to say so. Two sides of a
 * merge say most things twice.
 */
function withoutEchoes(flaws: readonly TextProblem[]): readonly TextProblem[] {
  const conflict = flaws.find((it) => it.code === "FLT1025");
  if (conflict !== undefined) return [conflict];
  const first = new Map<string, TextProblem>();
  for (const flaw of flaws) if (flaw.offset < (first.get(flaw.code)?.offset ?? Infinity)) first.set(flaw.code, flaw);
  return flaws.filter((it) => !echoing.has(it.code) || first.get(it.code) === it);
}

const echoing: ReadonlySet<string> = new Set(["FLT1006", "FLT1019"]);

/** A flaw of a list item belongs to that item; one outside of all items to the first. */
function isOf({ at }: TextProblem, base: JsonPath): boolean {
  if (base.length === 0) return true;
  if (at !== null && at[0] === "items" && at.length > 1) return at[1] === base[1];
  return base[1] === 0;
}

/** The first problems of a document, errors before the rest, by place. */
function capped<T extends Said & { readonly offset: number }>(said: readonly T[]) {
  const ordered = [...said].sort((a, b) => a.offset - b.offset);
  const kept = [...ordered.filter(isError), ...ordered.filter((it) => !isError(it))].slice(0, maxProblems);
  return { kept: kept.sort((a, b) => a.offset - b.offset), surplus: said.length - kept.length };
}

const unlisted = (count: number): FieldProblem =>
  note("FLT1024", [], `further problems of this document that are not listed: ${count}`, "repair these first");

function isSecret(value: Json, base: JsonPath): boolean {
  let here: Json = value;
  for (const step of base) {
    if (typeof step === "number") here = Array.isArray(here) ? ((here as JsonList)[step] ?? null) : null;
    else here = memberAt(here, step);
  }
  return isObject(here) && here["kind"] === "Secret";
}
