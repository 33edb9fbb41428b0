import { remembered } from "../model/identity.ts";
import { type Json, sameJson } from "../model/json.ts";
import type { Override, OverrideSnapshot, OverrideSpec } from "../model/override.ts";
import { compareText } from "../model/value.ts";

/** How many snapshots of an override are kept, as in KubeFleet (`render/README.md#override-snapshots`). */
export const overrideHistory = 10;

/** The name of an override's snapshot in bindings: `name` when cluster-scoped, `namespace/name` otherwise. */
export const overrideSnapshotKey = ({ namespace, name }: OverrideSnapshot): string =>
  namespace === null ? name : `${namespace}/${name}`;

/**
 * The snapshots of all overrides once the repository holds `overrides`, ordered by namespace, name, index.
 *
 * A spec that differs from the newest snapshot makes a new one; indices only grow, even when an older spec comes back.
 * Snapshots of a deleted override, and those beyond the last ten, stay while `inUse` names them (against
 * `render/README.md#o-26`, where the trimmed one was still needed). Gives back `before` itself when nothing changes.
 * `#override-snapshots`.
 */
export function nextOverrideSnapshots(
  before: readonly OverrideSnapshot[],
  overrides: readonly Override[],
  inUse: ReadonlySet<string>,
): readonly OverrideSnapshot[] {
  const chains = chainsOf(before);
  const live = new Map(overrides.map((it) => [chainKey(it.namespace, it.name), it]));
  for (const [key, override] of live) chains.set(key, grown(chains.get(key) ?? [], override));
  const next = [...chains]
    .flatMap(([key, chain]) => {
      const first = live.has(key) ? chain.length - overrideHistory : chain.length;
      return chain.filter((it, at) => at >= first || inUse.has(overrideSnapshotKey(it)));
    })
    .sort(bySnapshot);
  return next.length === before.length && next.every((it, at) => it === before[at]) ? before : next;
}

/** The newest snapshot of every existing override; the same list (`===`) while its items are, to be indexed once. */
export function latestOf(
  snapshots: readonly OverrideSnapshot[],
  overrides: readonly Override[],
): readonly OverrideSnapshot[] {
  const last = lastOf(snapshots);
  const next = newestOf(snapshots, overrides);
  const isSame = next.length === last.list.length && next.every((it, at) => it === last.list[at]);
  if (!isSame) last.list = next;
  return last.list;
}

const lastOf = remembered((_: readonly OverrideSnapshot[]): { list: readonly OverrideSnapshot[] } => ({ list: [] }));

function newestOf(snapshots: readonly OverrideSnapshot[], overrides: readonly Override[]): readonly OverrideSnapshot[] {
  const live = new Set(overrides.map((it) => chainKey(it.namespace, it.name)));
  const newest = new Map<string, OverrideSnapshot>();
  for (const snapshot of snapshots) {
    const key = chainKey(snapshot.namespace, snapshot.override);
    // Ascending by index, so the last one of an override stays.
    if (live.has(key)) newest.set(key, snapshot);
  }
  return [...newest.values()];
}

function chainsOf(snapshots: readonly OverrideSnapshot[]): Map<string, readonly OverrideSnapshot[]> {
  const chains = new Map<string, OverrideSnapshot[]>();
  for (const snapshot of snapshots) {
    const key = chainKey(snapshot.namespace, snapshot.override);
    const chain = chains.get(key);
    if (chain === undefined) chains.set(key, [snapshot]);
    else chain.push(snapshot);
  }
  return chains;
}

function grown(chain: readonly OverrideSnapshot[], { namespace, name, spec }: Override): readonly OverrideSnapshot[] {
  const newest = chain.at(-1);
  if (newest !== undefined && sameSpec(newest.spec, spec)) return chain;
  const index = newest === undefined ? 0 : newest.index + 1;
  return [...chain, { name: `${name}-${index}`, namespace, override: name, index, spec }];
}

// Specs are plain data; their types merely lack the index signature that Json asks for.
const sameSpec = (a: OverrideSpec, b: OverrideSpec): boolean => sameJson(a as unknown as Json, b as unknown as Json);

const chainKey = (namespace: string | null, override: string): string => `${namespace ?? ""}/${override}`;

const bySnapshot = (a: OverrideSnapshot, b: OverrideSnapshot): number =>
  compareText(a.namespace ?? "", b.namespace ?? "") || compareText(a.override, b.override) || a.index - b.index;
