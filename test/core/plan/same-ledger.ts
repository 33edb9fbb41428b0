import type { Ledger } from "../../../src/core/model/ledger.ts";
import type { Plan } from "../../../src/core/model/plan.ts";

/** A value in full, maps and sets in their order: two texts are the same exactly when the values are. */
export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, it: unknown) => {
    if (it instanceof Map) return { map: [...it] };
    if (it instanceof Set) return { set: [...it] };
    return typeof it === "bigint" ? `${it}n` : (it as object);
  });

/** The first part in which two plans differ, with both texts; null when they say the same to the last byte. */
export function differenceOf(a: Plan, b: Plan): string | null {
  for (const part of Object.keys(b) as (keyof Plan)[]) {
    const [left, right] = [textOf(a[part]), textOf(b[part])];
    if (left !== right) return `${part}: ${excerpt(left, right)}`;
  }
  return null;
}

function excerpt(left: string, right: string): string {
  const at = [...left].findIndex((it, index) => it !== right[index]);
  const from = Math.max(0, at - 200);
  return `${left.slice(from, at + 200)}\nbut cold\n${right.slice(from, at + 200)}`;
}

/** Values that are kept as a whole: what stands in a new one may be new. */
const wholes = new Set(["spec", "decision", "target", "facts", "bounds", "conditions"]);

/** Paths of values that say what they said before and are not the same values (`===`). */
export const lostIdentities = (before: Ledger, after: Ledger): readonly string[] => [...lost(before, after, "ledger")];

function* lost(before: unknown, after: unknown, path: string): Generator<string> {
  if (before === after || !isComposite(before) || !isComposite(after) || uidOf(before) !== uidOf(after)) return;
  if (textOf(before) === textOf(after)) yield path;
  else if (before instanceof Map && after instanceof Map)
    for (const [key, it] of after) yield* lost(before.get(key), it, `${path}/${String(key).replaceAll("/", "-")}`);
  // The stages of a run stay where they are, and two of them may well say the same.
  else if (Array.isArray(after) && path.endsWith(".stages"))
    for (const [at, it] of after.entries()) yield* lost((before as readonly unknown[])[at], it, `${path}/${at}`);
  else if (Array.isArray(after)) yield* lostItems(before as readonly unknown[], after, path);
  else if (!wholes.has(/[^./]*$/.exec(path)?.[0] ?? ""))
    for (const [key, it] of Object.entries(after))
      yield* lost((before as Readonly<Record<string, unknown>>)[key], it, `${path}.${key}`);
}

function* lostItems(before: readonly unknown[], after: readonly unknown[], path: string): Generator<string> {
  for (const it of after)
    if (isComposite(it) && !before.includes(it) && before.some((was) => textOf(was) === textOf(it))) yield `${path}[]`;
}

/** Something of the same name that came anew is another one. */
const uidOf = (value: object): unknown => ("uid" in value ? value.uid : null);

const isComposite = (value: unknown): value is object => typeof value === "object" && value !== null;
