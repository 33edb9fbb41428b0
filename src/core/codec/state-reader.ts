import { type Json, sameJson } from "../model/json.ts";
import { type DeletionLedger, emptyLedger, type Ledger, type PlacementRecord } from "../model/ledger.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import { type ClusterName, compareText, type PlacementKey } from "../model/value.ts";
import { ledgerPath, overridePath, placementOfFolder } from "./layout.ts";
import { newReading, type PlacementParts, type Reading, readStateFile } from "./state-record.ts";

/** A ledger as read from its files, or what keeps them from being read: which file, which document, what. */
export type LedgerRead =
  | { readonly kind: "read"; readonly ledger: Ledger }
  | { readonly kind: "unreadable"; readonly message: string };

/** Reads a ledger file by file, so that nobody has to hold all texts at once. */
export interface LedgerReader {
  /** Takes in one file, in any order; null says that there is none any more. Output and unknown files are passed over. */
  read(path: string, text: string | null): void;
  result(): LedgerRead;
}

/**
 * Reads the files that changed on top of `before`; null: the files are all there are.
 *
 * What reads as it was keeps its identity at every level, as the ledger promises: somebody else's commit, or one of ours
 * whose answer got lost, costs what it changed.
 */
export function ledgerReader(before: Ledger | null): LedgerReader {
  const reading = newReading();
  return {
    read(path, text) {
      if (reading.wrong === null) readStateFile(reading, path, text);
    },
    result: () => resultOf(reading, before),
  };
}

function resultOf(reading: Reading, before: Ledger | null): LedgerRead {
  const base = before ?? emptyLedger;
  const head = reading.head === undefined ? before : reading.head;
  if (reading.wrong === null && head === null) reading.wrong = `${ledgerPath} is missing`;
  const placements: [PlacementKey, PlacementRecord | null][] = [];
  for (const [folder, parts] of reading.placements) {
    const key = placementOfFolder(folder);
    const record = recordOf(parts, base.placements.get(key) ?? null);
    if (record === "headless") reading.wrong ??= `${folder}placement.yaml is missing`;
    else placements.push([key, record]);
  }
  if (reading.wrong !== null || head === null) return { kind: "unreadable", message: reading.wrong ?? "" };
  const clusters = [...reading.clusters].map(([path, it]) => {
    const name = clusterOf(path);
    return [name, it === null ? null : kept(base.clusters.get(name), it)] as const;
  });
  const ledger: Ledger = {
    fleet: head.fleet,
    epoch: head.epoch,
    sequence: head.sequence,
    sourceCommit: head.sourceCommit,
    holds: keptList(base.holds, head.holds),
    deletions: keptDeletions(base.deletions, head.deletions),
    clusters: amended(base.clusters, clusters),
    placements: amended(base.placements, placements),
    overrides: overridesOf(base.overrides, reading.overrides),
  };
  return { kind: "read", ledger };
}

const clusterOf = (path: string): ClusterName => path.slice(path.indexOf("/") + 1, -".yaml".length) as ClusterName;

/** One placement put together, in the order that the ledger promises; null when all of its files are gone. */
function recordOf(parts: PlacementParts, old: PlacementRecord | null): PlacementRecord | null | "headless" {
  const head = parts.head === undefined ? old : parts.head;
  const bindings =
    parts.bindings === undefined
      ? (old?.bindings ?? emptyMap)
      : replaced(
          old?.bindings ?? emptyMap,
          parts.bindings.map((it) => [it.cluster, it]),
        );
  const policySnapshots = keptSnapshots(old?.policySnapshots ?? [], parts.policySnapshots);
  const resourceSnapshots = resourceSnapshotsOf(parts, old);
  if (head === null) return bindings.size + policySnapshots.length + resourceSnapshots.length > 0 ? "headless" : null;
  const record = { ...head, policySnapshots, resourceSnapshots, bindings };
  return old === null ? record : keptMembers(old, record, ["policySnapshots", "resourceSnapshots", "bindings"]);
}

function resourceSnapshotsOf({ resourceSnapshots }: PlacementParts, old: PlacementRecord | null) {
  const before = old?.resourceSnapshots ?? [];
  if (resourceSnapshots.size === 0) return before;
  const after = new Map(before.map((it) => [it.index, it]));
  for (const [path, it] of resourceSnapshots)
    if (it === null) after.delete(Number(/(\d+)\/[^/]+$/.exec(path)?.[1]));
    else after.set(it.index, it);
  return keptSnapshots(before, [...after.values()]);
}

/** Snapshots in ascending order, those that stay as they were. */
function keptSnapshots<T extends { readonly index: number }>(
  before: readonly T[],
  after: readonly T[] | undefined,
): readonly T[] {
  if (after === undefined) return before;
  const known = new Map(before.map((it) => [it.index, it]));
  const list = after.map((it) => kept(known.get(it.index), it)).sort((a, b) => a.index - b.index);
  return sameList(before, list) ? before : list;
}

function overridesOf(
  before: readonly OverrideSnapshot[],
  files: ReadonlyMap<string, readonly OverrideSnapshot[]>,
): readonly OverrideSnapshot[] {
  if (files.size === 0) return before;
  const others = before.filter((it) => !files.has(overridePath(it)));
  const known = new Map(before.map((it) => [`${it.namespace ?? ""}/${it.name}`, it]));
  const read = [...files.values()].flat().map((it) => kept(known.get(`${it.namespace ?? ""}/${it.name}`), it));
  const list = [...others, ...read].sort(bySnapshot);
  return sameList(before, list) ? before : list;
}

const bySnapshot = (a: OverrideSnapshot, b: OverrideSnapshot): number =>
  compareText(a.namespace ?? "", b.namespace ?? "") || compareText(a.override, b.override) || a.index - b.index;

const emptyMap: ReadonlyMap<never, never> = new Map<never, never>();

/** The value itself while a new one says the same. Plain data: records without maps in them. */
const kept = <T>(before: T | undefined, after: T): T =>
  before !== undefined && sameJson(before as unknown as Json, after as unknown as Json) ? before : after;

/** The list with what stays, found by its place; the list itself when all of it stays. */
function keptList<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  const list = after.map((it, at) => kept(before[at], it));
  return sameList(before, list) ? before : list;
}

const sameList = <T>(a: readonly T[], b: readonly T[]): boolean =>
  a.length === b.length && a.every((it, at) => it === b[at]);

/** The object with those members that stay; the object itself when all do. `settled` members are compared by identity. */
function keptMembers<T extends object>(before: T, after: T, settled: readonly (keyof T)[]): T {
  const next = { ...after };
  for (const key of Object.keys(after) as (keyof T)[])
    if (!settled.includes(key)) next[key] = kept(before[key], after[key]);
  return (Object.keys(next) as (keyof T)[]).every((key) => next[key] === before[key]) ? before : next;
}

function keptDeletions(before: DeletionLedger, after: DeletionLedger): DeletionLedger {
  const permitted = replaced(before.permitted, [...after.permitted]);
  return keptMembers(before, { ...after, permitted, held: keptList(before.held, after.held) }, ["permitted", "held"]);
}

/** A map in the order of its keys, with those entries of the old one that stay; the old map itself when all do. */
function replaced<K extends string, V>(
  before: ReadonlyMap<K, V>,
  entries: readonly (readonly [K, V])[],
): ReadonlyMap<K, V> {
  const next = entries.map(([key, it]) => [key, kept(before.get(key), it)] as const);
  const isSame = next.length === before.size && next.every(([key, it]) => before.get(key) === it);
  return isSame ? before : new Map([...next].sort(([a], [b]) => compareText(a, b)));
}

/** The map with some values replaced, null ones removed. What stays is `===`. */
function amended<K extends string, V>(
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
