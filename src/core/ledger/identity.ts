import type { Intent } from "../model/intent.ts";
import { isObject, type JsonObject } from "../model/json.ts";
import { compareText } from "../model/value.ts";

// What reads as it was keeps its identity (`===`): the ledger's promise, for values that come from files.

/**
 * The value itself while a new one says the same; otherwise the new one, with all that stays of the old one at every level:
 * entries of maps by key, members by name, items of lists by place.
 */
export function kept<T>(before: T | undefined, after: T): T {
  if (before === undefined || same(before, after)) return before ?? after;
  if (after instanceof Map && before instanceof Map)
    return new Map([...after].map(([key, it]) => [key, kept(before.get(key), it)])) as T;
  if (Array.isArray(after) && Array.isArray(before)) return after.map((it, index) => kept(before[index], it)) as T;
  if (!isObject(after) || !isObject(before)) return after;
  const next: Record<string, unknown> = {};
  for (const key of Object.keys(after)) next[key] = kept(before[key], after[key]);
  return next as T;
}

/** Whether two values say the same; maps in the same order. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && sameItems(a, b, same);
  if (a instanceof Map) return b instanceof Map && a.size === b.size && sameItems([...a], [...b], same);
  if (!isObject(a) || !isObject(b) || b instanceof Map) return false;
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
export const keptByKey = <K extends string, V>(
  before: ReadonlyMap<K, V>,
  values: readonly V[],
  keyOf: (value: V) => K,
): ReadonlyMap<K, V> =>
  kept(before, new Map(values.map((it) => [keyOf(it), it] as const).sort(([a], [b]) => compareText(a, b))));

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
  sameItems(before, after) ? before : after;
