import { sameList, sameMap } from "../model/identity.ts";
import type { Intent } from "../model/intent.ts";
import type { Ledger } from "../model/ledger.ts";
import { type ObjectKey, objectKey } from "../model/manifest.ts";
import type { Override } from "../model/override.ts";
import type { Reason } from "../model/reason.ts";
import { compareText, type PlacementKey } from "../model/value.ts";
import { overrideHistory } from "../render/override-snapshot.ts";
import { selectResources } from "../render/select.ts";

/** Of what many placements wait for, a list says less than none. */
const restlessKept = 500;

/**
 * The placements about which a plan had something to say, in the order of their keys; null when they are too many to be
 * named. About all others the same world would have nothing to say again, whoever asks.
 */
export function restless(reasons: readonly Reason[]): readonly PlacementKey[] | null {
  const keys = new Set<PlacementKey>();
  for (const reason of reasons) {
    if ("placement" in reason) keys.add(reason.placement);
    if ("placements" in reason) for (const it of reason.placements) keys.add(it);
    if ("keeper" in reason) keys.add(reason.keeper);
    if ("to" in reason) keys.add(reason.to);
  }
  return keys.size > restlessKept ? null : [...keys].sort(compareText);
}

/**
 * The placements for which `after` may ask for something else than `before`; null when that may be any of them: members,
 * settings, kinds and what is held concern them all, and so does an override that names no placement.
 *
 * May name too many, never too few: with the records of these alone, and of those that were {@link restless}, a plan
 * that asks no member says what it would say with all of them.
 */
export function affected(before: Intent, after: Intent): ReadonlySet<PlacementKey> | null {
  const keys = new Set<PlacementKey>();
  for (const reach of Object.values(reachOf)) {
    const reached = reach(before, after);
    if (reached === null) return null;
    for (const it of reached) keys.add(it);
  }
  return withSharers(keys, before, after);
}

/** The placements that a change in one part of the intent is about; null: it may be any of them. */
type Reach = (before: Intent, after: Intent) => Iterable<PlacementKey> | null;

const noPlacement: Reach = () => [];

/** Every part of the intent; first those that take no time. */
const reachOf: { readonly [Part in keyof Intent]: Reach } = {
  fleet: (before, after) => (before.fleet === after.fleet ? [] : null),
  clusters: (before, after) => (sameMap(before.clusters, after.clusters) ? [] : null),
  prices: (before, after) => (before.prices === after.prices ? [] : null),
  scopes: (before, after) => (sameMap(before.scopes, after.scopes) ? [] : null),
  holds: (before, after) => (before.holds.length + after.holds.length === 0 ? [] : null),
  unusable: (before, after) => (before.unusable.size + after.unusable.size === 0 ? [] : null),
  // What they keep out stands in the other parts; where placements may go concerns all of a tenant's.
  tenants: (before, after) => (sameList(before.tenants, after.tenants) ? [] : null),
  // Of what is held, which concerns them all.
  suspects: noPlacement,
  placements: (before, after) => differingEntries(before.placements, after.placements).map(([key]) => key),
  overrides: reachOfOverrides,
  runs: (before, after) => differingValues(before.runs, after.runs).map(({ spec }) => spec.placement),
  strategies: reachOfStrategies,
  evictions: (before, after) => differingValues(before.evictions, after.evictions).map((it) => it.placement),
  budgets: (before, after) => differingValues(before.budgets, after.budgets).map((it) => it.placement),
  objects: reachOfObjects,
  // Who asks looks for another trust file, for answers that were not judged yet, and for whom a deletion waits.
  hasTrust: noPlacement,
  trust: noPlacement,
  approvals: noPlacement,
  confirmations: noPlacement,
  // They ask for nothing.
  commit: noPlacement,
  problems: noPlacement,
  files: noPlacement,
};

function reachOfOverrides(before: Intent, after: Intent): readonly PlacementKey[] | null {
  const keys = differing(before.overrides, after.overrides).map(({ spec }) => spec.placement);
  return keys.every((it) => it !== null) ? keys : null;
}

function reachOfStrategies(before: Intent, after: Intent): readonly PlacementKey[] {
  const strategies = new Set(differingValues(before.strategies, after.strategies).map((it) => it.key));
  if (strategies.size === 0) return [];
  return [...after.runs.values()].filter(({ spec }) => strategies.has(spec.strategy)).map(({ spec }) => spec.placement);
}

/** Those that differ themselves are known already. */
function reachOfObjects(before: Intent, after: Intent): readonly PlacementKey[] {
  if (before.objects === after.objects) return [];
  return [...after.placements]
    .filter(([key, it]) => before.placements.get(key) === it && !sameSelection(it, before, after))
    .map(([key]) => key);
}

/** With those that select what any of these select: what one of them drops, another one may want (`plan/README.md#d-9`). */
function withSharers(keys: ReadonlySet<PlacementKey>, before: Intent, after: Intent): ReadonlySet<PlacementKey> {
  if (keys.size === 0) return keys;
  const objectsOf = (key: PlacementKey): readonly ObjectKey[] =>
    [before, after].flatMap((intent) => {
      const placement = intent.placements.get(key);
      const selection = placement === undefined ? null : selectResources(placement, intent);
      return selection?.kind === "selected" ? selection.resources.map((it) => objectKey(it.id)) : [];
    });
  const objects = new Set([...keys].flatMap(objectsOf));
  const sharers = [...after.placements.keys()].filter((it) => objectsOf(it).some((object) => objects.has(object)));
  return new Set([...keys, ...sharers]);
}

function differingEntries<K, V>(before: ReadonlyMap<K, V>, after: ReadonlyMap<K, V>): readonly (readonly [K, V])[] {
  if (before === after) return [];
  const gone = [...before].filter(([key, it]) => after.get(key) !== it);
  return [...gone, ...[...after].filter(([key, it]) => before.get(key) !== it)];
}

const differingValues = <K, V>(before: ReadonlyMap<K, V>, after: ReadonlyMap<K, V>): readonly V[] =>
  differingEntries(before, after).map(([, it]) => it);

function differing(before: readonly Override[], after: readonly Override[]): readonly Override[] {
  const [was, is] = [new Set(before), new Set(after)];
  return [...before.filter((it) => !is.has(it)), ...after.filter((it) => !was.has(it))];
}

function sameSelection(placement: Parameters<typeof selectResources>[0], before: Intent, after: Intent): boolean {
  const [was, is] = [selectResources(placement, before), selectResources(placement, after)];
  if (was === is) return true;
  if (was.kind === "refused" || is.kind === "refused") return false;
  return sameList(was.resources, is.resources) && sameList(was.warnings, is.warnings);
}

/**
 * Whether a plan made with the records of some placements says what one with all of them would: the guard did not hold
 * back what would be little enough for members that carry more (what it lets pass, it lets pass then as well); every
 * member answers; and no override is remembered only for the sake of what targets may name.
 */
export function standsAlone(before: Ledger, after: Ledger, { overrides }: Pick<Intent, "overrides">): boolean {
  const known = new Set(before.deletions.held.map((it) => it.digest));
  if (after.deletions.held.some((it) => it.because === "bounds" && !known.has(it.digest))) return false;
  if ([...before.clusters.values()].some((it) => it.contactFailure !== null)) return false;
  const live = new Set(overrides.map((it) => `${it.namespace ?? ""}/${it.name}`));
  const history = new Map<string, number>();
  for (const { namespace, override } of before.overrides) {
    const key = `${namespace ?? ""}/${override}`;
    const count = (history.get(key) ?? 0) + 1;
    // One more may come, and what is beyond the limit is kept for its targets only.
    if (!live.has(key) || count >= overrideHistory) return false;
    history.set(key, count);
  }
  return true;
}
