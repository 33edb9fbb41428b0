import { remembered, rememberedPair } from "../model/identity.ts";
import type { Ledger } from "../model/ledger.ts";
import { resourcePrefix } from "../model/names.ts";
import type { PlacementPolicy } from "../model/placement.ts";
import { quantityOf } from "../model/quantity.ts";

/** The values that policies compare properties with, in billionths, by the property's name. */
export type ComparedValues = ReadonlyMap<string, readonly bigint[]>;

/** A value that changes by more than one part in so many is news. */
const parts = 20n;

/**
 * Whether a change of a property is worth a commit (`members/README.md#when-it-is-recorded`): of resources, more
 * than 5 % or across a value that some policy compares with; of anything else, any.
 *
 * `by: "values"` asks for the latter alone.
 */
export function isPastThreshold(
  name: string,
  was: string,
  is: string,
  compared: ComparedValues,
  by: "all" | "values" = "all",
): boolean {
  if (was === is) return false;
  const [before, after] = [quantityOf(was), quantityOf(is)];
  if (before === null || after === null) return true;
  const [a, b] = [before.nanos, after.nanos];
  if ((compared.get(name) ?? []).some((it) => side(a, it) !== side(b, it))) return true;
  if (by === "values" || a === b) return false;
  if (!name.startsWith(resourcePrefix)) return true;
  return magnitude(b - a) * parts > magnitude(a);
}

const side = (value: bigint, bound: bigint): number => (value < bound ? -1 : value > bound ? 1 : 0);

const magnitude = (it: bigint): bigint => (it < 0n ? -it : it);

/** What policies compare with: those that are asked for, and those in force. */
export const comparedValues = (asked: Policies, { placements }: Pick<Ledger, "placements">): ComparedValues =>
  mergedValues(valuesIn(asked), valuesIn(placements));

/** Whatever has policies, by any key. */
type Policies = ReadonlyMap<unknown, { readonly spec: { readonly policy: PlacementPolicy } }>;

const mergedValues = rememberedPair((one: ComparedValues, other: ComparedValues): ComparedValues => {
  const all = new Map(one);
  for (const [name, values] of other) all.set(name, [...(all.get(name) ?? []), ...values]);
  return all;
});

const valuesIn = remembered((placements: Policies): ComparedValues => {
  const all = new Map<string, Set<bigint>>();
  for (const { spec } of placements.values())
    for (const { name, value } of comparisonsIn(spec.policy)) {
      const bound = quantityOf(value);
      if (bound === null) continue;
      const known = all.get(name) ?? new Set<bigint>();
      all.set(name, known.add(bound.nanos));
    }
  return new Map([...all].map(([name, values]) => [name, [...values]]));
});

const comparisonsIn = (policy: PlacementPolicy) =>
  policy.kind === "PickFixed" ? [] : policy.required.flatMap((it) => it.properties);
