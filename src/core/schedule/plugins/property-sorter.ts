import type { PropertySorter } from "../../model/placement.ts";
import type { Quantity } from "../../model/quantity.ts";
import type { Candidate } from "../framework/cycle.ts";
import { type PropertyRange, propertyOf, rangeOf } from "../framework/properties.ts";

/** How a sorter divides (`schedule/README.md#a-31`). */
export interface SorterArithmetic {
  /** The part of a weight that a value gets, halves away from zero. */
  readonly share: (value: Quantity, range: PropertyRange, sorter: PropertySorter, weight: number) => number;
  /** Why it cannot say; null if it can. */
  readonly failure: ((value: Quantity, range: PropertyRange) => string | null) | null;
}

/**
 * The part of a weight that a cluster gets from a property sorter (`schedule/README.md#property-sorters`): 0 if it lacks
 * the property, and if all are equal.
 */
export function sorterShare(
  candidate: Candidate,
  sorter: PropertySorter,
  { weight, candidates, arithmetic }: SorterInput,
): number {
  const value = propertyOf(candidate, sorter.name);
  const range = value === null ? null : rangeOf(candidates, sorter.name);
  return value === null || range === null ? 0 : arithmetic.share(value, range, sorter, weight);
}

/** What a share is computed from, beside cluster and sorter. */
interface SorterInput {
  readonly weight: number;
  readonly candidates: readonly Candidate[];
  readonly arithmetic: SorterArithmetic;
}

/** As on whole numbers: spelling has no part in it. */
export const exactArithmetic: SorterArithmetic = {
  share(value, range, { order }, weight) {
    const whole = Math.abs(weight);
    const size = undoubtedShare(value, range, order, whole) ?? exactShare(value, range, order, whole);
    return weight < 0 && size !== 0 ? -size : size;
  },
  failure: null,
};

function exactShare({ nanos }: Quantity, { min, max }: PropertyRange, order: Order, weight: number): number {
  const whole = max.nanos - min.nanos;
  if (whole === 0n) return 0;
  const part = order === "Descending" ? nanos - min.nanos : max.nanos - nanos;
  return Number((2n * part * BigInt(weight) + whole) / (2n * whole));
}

/** Several times what the doubles of three quantities and the operations on them are off by, of the largest of them. */
const inexactness = 2 ** -46;

/** The share by doubles, which are much faster; null where the exact one may lie beyond a half that they come close to. */
function undoubtedShare(
  { approximate: value }: Quantity,
  { min: { approximate: min }, max: { approximate: max } }: PropertyRange,
  order: Order,
  weight: number,
): number | null {
  const whole = max - min;
  // The doubles of quantities end before quantities do.
  if (!(whole > 0 && whole < Number.POSITIVE_INFINITY)) return null;
  const doubt = (weight * inexactness * Math.max(Math.abs(min), Math.abs(max))) / whole;
  const raised = ((order === "Descending" ? value - min : max - value) / whole) * weight + 0.5;
  const isSure = Math.abs(raised - Math.round(raised)) > doubt;
  return isSure ? Math.floor(raised) : null;
}

type Order = PropertySorter["order"];

/** As KubeFleet's code computes: in doubles, in its order of operations. */
export const doubleArithmetic: SorterArithmetic = {
  share({ approximate }, { min, max }, { order }, weight) {
    const whole = max.approximate - min.approximate;
    if (whole === 0) return 0;
    const part = (approximate - min.approximate) / whole;
    const share = (order === "Descending" ? part : 1 - part) * weight;
    const size = Math.round(Math.abs(share));
    return share < 0 && size !== 0 ? -size : size;
  },
  failure({ approximate }, { min: { approximate: min }, max: { approximate: max } }) {
    if (!Number.isFinite(min) || !Number.isFinite(max)) return "the range of its values is not finite";
    if (min > max || approximate < min || approximate > max)
      return `as doubles, ${approximate} is not between ${min} and ${max}`;
    return null;
  },
};
