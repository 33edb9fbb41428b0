import type { Intent } from "../model/intent.ts";
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

/** The intent with every part of an earlier one that says the same; the earlier one itself when all of them do. */
export function likeBefore(before: Intent | null, after: Intent): Intent {
  if (before === null) return after;
  const next: Intent = {
    ...after,
    clusters: likeMap(before.clusters, after.clusters),
    placements: likeMap(before.placements, after.placements),
    overrides: likeList(before.overrides, after.overrides),
    runs: likeMap(before.runs, after.runs),
    strategies: likeMap(before.strategies, after.strategies),
    evictions: likeMap(before.evictions, after.evictions),
    budgets: likeMap(before.budgets, after.budgets),
    approvals: likeList(before.approvals, after.approvals),
    trust: likeTrust(before.trust, after.trust),
    objects: likeMap(before.objects, after.objects),
    scopes: likeMap(before.scopes, after.scopes),
    confirmations: likeSet(before.confirmations, after.confirmations),
    holds: kept(before.holds, after.holds),
    suspects: likeMap(before.suspects, after.suspects),
    unusable: likeSet(before.unusable, after.unusable),
    problems: kept(before.problems, after.problems),
    files: likeMap(before.files, after.files),
  };
  return (Object.keys(next) as (keyof Intent)[]).every((key) => next[key] === before[key]) ? before : next;
}

/** What a text says follows from it. */
const likeTrust = (before: Intent["trust"], after: Intent["trust"]): Intent["trust"] =>
  before?.blob === after?.blob && before?.text === after?.text ? before : after;

/** Maps of ours iterate in the order of their keys, so equal entries are equal maps. */
function likeMap<K, V>(before: ReadonlyMap<K, V>, after: ReadonlyMap<K, V>): ReadonlyMap<K, V> {
  if (before.size !== after.size) return after;
  for (const [key, value] of after) if (before.get(key) !== value) return after;
  return before;
}

function likeSet<V>(before: ReadonlySet<V>, after: ReadonlySet<V>): ReadonlySet<V> {
  if (before.size !== after.size) return after;
  for (const value of after) if (!before.has(value)) return after;
  return before;
}

const likeList = <V>(before: readonly V[], after: readonly V[]): readonly V[] =>
  sameList(before, after) ? before : after;
