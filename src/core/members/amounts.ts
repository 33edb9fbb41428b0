import { isObject, type Json } from "../model/json.ts";
import { quantityOf } from "../model/quantity.ts";

/** Amounts of resources in billionths, by the resource's name. */
export type Amounts = ReadonlyMap<string, bigint>;

/** The resources of which a member's total, allocatable and available amounts are known. */
export const measured = ["cpu", "memory"] as const;

/** In billionths: no member has as much, and no more of what one makes up is computed with. */
export const largest = 10n ** 30n;

/** Amounts as a member writes them; what is no quantity, negative or beyond all measure is left out. */
export function amountsIn(written: Json): Amounts {
  const amounts = new Map<string, bigint>();
  for (const [name, text] of Object.entries(isObject(written) ? written : {})) {
    const amount = quantityOf(String(text));
    if (amount !== null && amount.nanos >= 0n && amount.nanos <= largest) amounts.set(name, amount.nanos);
  }
  return amounts;
}

/** Both together. */
export function withAmounts(sum: Amounts, more: Amounts): Amounts {
  const all = new Map(sum);
  for (const [name, amount] of more) all.set(name, (all.get(name) ?? 0n) + amount);
  return all;
}

const one = 1_000_000_000n;

/** An amount as a quantity, exactly: `12`, `12500m`. */
export function decimalText(amount: bigint): string {
  for (const [size, suffix] of [
    [one, ""],
    [1_000_000n, "m"],
    [1_000n, "u"],
  ] as const)
    if (amount % size === 0n) return `${amount / size}${suffix}`;
  return `${amount}n`;
}

const binarySuffixes = ["Ei", "Pi", "Ti", "Gi", "Mi", "Ki"];

/** An amount of bytes as a quantity, exactly, by the largest power of 1024 that it is a multiple of: `96Gi`. */
export function binaryText(amount: bigint): string {
  if (amount === 0n || amount % one !== 0n) return decimalText(amount);
  const bytes = amount / one;
  const at = binarySuffixes.findIndex((_, index) => bytes % 1024n ** BigInt(6 - index) === 0n);
  return at < 0 ? String(bytes) : `${bytes / 1024n ** BigInt(6 - at)}${binarySuffixes[at]}`;
}
