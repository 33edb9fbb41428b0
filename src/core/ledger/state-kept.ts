import { type Json, sameJson } from "../model/json.ts";
import { compareText } from "../model/value.ts";

// What reads as it was keeps its identity (`===`): the ledger's promise, for values that come from files.

/** The value itself while a new one says the same. Plain data: records without maps in them. */
export const kept = <T>(before: T | undefined, after: T): T =>
  before !== undefined && sameJson(before as unknown as Json, after as unknown as Json) ? before : after;

/** The list with what stays, found by its place; the list itself when all of it stays. */
export function keptList<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  const list = after.map((it, at) => kept(before[at], it));
  return sameList(before, list) ? before : list;
}

/** Whether two lists hold the same, by identity. */
export const sameList = <T>(a: readonly T[], b: readonly T[]): boolean =>
  a.length === b.length && a.every((it, at) => it === b[at]);

/** The object with those members that stay; the object itself when all do. `settled` members are compared by identity. */
export function keptMembers<T extends object>(before: T, after: T, settled: readonly (keyof T)[]): T {
  const next = { ...after };
  for (const key of Object.keys(after) as (keyof T)[])
    if (!settled.includes(key)) next[key] = kept(before[key], after[key]);
  return (Object.keys(next) as (keyof T)[]).every((key) => next[key] === before[key]) ? before : next;
}

/** A map in the order of what was read, with those entries of the old one that stay; the old map itself when all do. */
export function keptEntries<K, V>(before: ReadonlyMap<K, V>, after: ReadonlyMap<K, V>): ReadonlyMap<K, V> {
  const next = [...after].map(([key, it]) => [key, kept(before.get(key), it)] as const);
  const old = [...before];
  const isSame = next.length === old.length && next.every(([key, it], at) => old[at]?.[0] === key && old[at][1] === it);
  return isSame ? before : new Map(next);
}

/** A map in the order of its keys, with those entries of the old one that stay; the old map itself when all do. */
export function replaced<K extends string, V>(
  before: ReadonlyMap<K, V>,
  entries: readonly (readonly [K, V])[],
): ReadonlyMap<K, V> {
  const next = entries.map(([key, it]) => [key, kept(before.get(key), it)] as const);
  const isSame = next.length === before.size && next.every(([key, it]) => before.get(key) === it);
  return isSame ? before : new Map([...next].sort(([a], [b]) => compareText(a, b)));
}

/** The map with some values replaced, null ones removed. What stays is `===`. */
export function amended<K extends string, V>(
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
