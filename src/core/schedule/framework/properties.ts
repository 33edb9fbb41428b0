import { remembered } from "../../model/identity.ts";
import { type Quantity, quantityOf } from "../../model/quantity.ts";
import type { Candidate } from "./cycle.ts";
import type { MemberFacts } from "./facts.ts";

/** A value that is no quantity counts as missing (`schedule/README.md#a-29`). */
export const propertyOf = ({ facts }: Candidate, name: string): Quantity | null => {
  const known = quantitiesOf(facts);
  const before = known.get(name);
  if (before !== undefined) return before;
  const property = facts.properties.get(name);
  const found = property === undefined ? null : quantityOf(property.value);
  known.set(name, found);
  return found;
};

const quantitiesOf = remembered((_: MemberFacts) => new Map<string, Quantity | null>());

/** Members that have the property, and a value that is no quantity. */
export function unreadableAt(candidates: readonly Candidate[], name: string): readonly Candidate[] {
  const known = unreadableIn(candidates);
  const before = known.get(name);
  if (before !== undefined) return before;
  const found = candidates.filter((it) => it.facts.properties.has(name) && propertyOf(it, name) === null);
  known.set(name, found);
  return found;
}

const unreadableIn = remembered((_: readonly Candidate[]) => new Map<string, readonly Candidate[]>());

/** The smallest and the largest value of a property over members, whatever their state (`schedule/README.md#a-28`). */
export interface PropertyRange {
  readonly min: Quantity;
  readonly max: Quantity;
}

/** The range of a property; null where no member has it. Of equal values, the first one that is read stands for all. */
export function rangeOf(candidates: readonly Candidate[], name: string): PropertyRange | null {
  const known = rangesOf(candidates);
  const before = known.get(name);
  if (before !== undefined) return before;
  let min: Quantity | null = null;
  let max: Quantity | null = null;
  for (const it of candidates) {
    const value = propertyOf(it, name);
    if (value === null) continue;
    if (min === null || value.nanos < min.nanos) min = value;
    if (max === null || value.nanos > max.nanos) max = value;
  }
  const range = min === null || max === null ? null : { min, max };
  known.set(name, range);
  return range;
}

const rangesOf = remembered((_: readonly Candidate[]) => new Map<string, PropertyRange | null>());

/** Whether a member has no part in the range of a property: it lacks it, or lies between its ends. */
export function isInside(candidate: Candidate, name: string, range: PropertyRange | null): boolean {
  const value = propertyOf(candidate, name);
  return value === null || (range !== null && range.min.nanos < value.nanos && value.nanos < range.max.nanos);
}

/** How a member writes this value of a property; empty where none has it. */
export const spellingOf = (candidates: readonly Candidate[], name: string, value: Quantity): string =>
  candidates.find((it) => propertyOf(it, name)?.nanos === value.nanos)?.facts.properties.get(name)?.value ?? "";
