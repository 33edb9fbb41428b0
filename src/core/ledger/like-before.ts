import type { Intent } from "../model/intent.ts";
import { type Json, sameJson } from "../model/json.ts";

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
    holds: likeData(before.holds, after.holds),
    suspects: likeMap(before.suspects, after.suspects),
    unusable: likeSet(before.unusable, after.unusable),
    problems: likeData(before.problems, after.problems),
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
  before.length === after.length && after.every((it, at) => it === before[at]) ? before : after;

const likeData = <V>(before: readonly V[], after: readonly V[]): readonly V[] =>
  before.length === after.length && sameJson(before as unknown as Json, after as unknown as Json) ? before : after;
