import type { Intent } from "../model/intent.ts";
import { isObject, type JsonObject } from "../model/json.ts";
import { compareText } from "../model/value.ts";

// What reads as it was keeps its identity (`===`): the ledger's promise, for values that come from files.

/**
 * The value itself while a new one says the same; otherwise the new one, with all that stays of the old one at every level:
 * entries of maps by key, members by name, items of lists by place.
 */
export function keepIdentity<T>(before: T | undefined, after: T): T {
  if (before === undefined || same(before, after)) return before ?? after;
  if (after instanceof Map && before instanceof Map)
    return new Map([...after].map(([key, it]) => [key, keepIdentity(before.get(key), it)])) as T;
  if (Array.isArray(after) && Array.isArray(before))
    return after.map((it, index) => keepIdentity(before[index], it)) as T;
  if (!isObject(after) || !isObject(before)) return after;
  // Members of whatever name, `__proto__` included.
  return Object.fromEntries(Object.keys(after).map((key) => [key, keepIdentity(before[key], after[key])])) as T;
}

/** Whether two values say the same; maps in the same order. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && sameItems(a, b, same);
  if (a instanceof Map) return b instanceof Map && a.size === b.size && sameItems([...a], [...b], same);
  if (!isObject(a) || !isObject(b) || b instanceof Map || a instanceof Set) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && same(a[key], (b as JsonObject)[key]))
  );
}

/** Whether two lists hold the same, by identity unless `isSame` says otherwise. */
export const sameItems = <T>(
  a: readonly T[],
  b: readonly T[],
  isSame: (a: T, b: T) => boolean = (one, other) => one === other,
): boolean => a.length === b.length && a.every((it, at) => isSame(it, b[at] as T));

/** What is read, by key, in the order of the keys: with those that stay, the old map itself when all do. */
export const keepByKey = <K extends string, V>(
  before: ReadonlyMap<K, V>,
  values: readonly V[],
  keyOf: (value: V) => K,
): ReadonlyMap<K, V> =>
  keepIdentity(before, new Map(values.map((it) => [keyOf(it), it] as const).sort(([a], [b]) => compareText(a, b))));

/** The map with some values replaced, null ones removed. What stays is `===`. */
export function withEntries<K extends string, V>(
  before: ReadonlyMap<K, V>,
  changes: readonly (readonly [K, V | null])[],
): ReadonlyMap<K, V> {
  const next = new Map(before);
  let isSame = true;
  for (const [key, it] of changes) {
    if (it === (before.get(key) ?? null)) continue;
    isSame = false;
    if (it === null) next.delete(key);
    else next.set(key, it);
  }
  return isSame ? before : new Map([...next].sort(([a], [b]) => compareText(a, b)));
}

/** The intent with every member of an earlier one that says the same; the earlier one itself when all do. */
export function reuseIntent(before: Intent | null, after: Intent): Intent {
  if (before === null) return after;
  const next: Record<string, unknown> = { ...after };
  for (const key of Object.keys(after) as (keyof Intent)[])
    if (isUnchanged(before[key], after[key])) next[key] = before[key];
  const keys = Object.keys(next) as (keyof Intent)[];
  return keys.every((key) => next[key] === before[key]) ? before : (next as unknown as Intent);
}

/** Entries of maps are what was read of one blob each: they are compared by identity. */
function isUnchanged(before: unknown, after: unknown): boolean {
  if (after instanceof Map && before instanceof Map) {
    for (const [key, it] of after) if (before.get(key) !== it) return false;
    return before.size === after.size;
  }
  if (after instanceof Set && before instanceof Set) {
    for (const it of after) if (!before.has(it)) return false;
    return before.size === after.size;
  }
  return same(before, after);
}
