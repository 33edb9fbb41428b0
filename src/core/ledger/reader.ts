import { emptyLedger, type Ledger, type PlacementRecord } from "../model/ledger.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import type { RunRecord } from "../model/update-run.ts";
import { compareText, type PlacementKey, type RunKey } from "../model/value.ts";
import { amended, kept, keptByKey, sameItems } from "./identity.ts";
import { ledgerPath, overridePath, placementOfFolder, runOfFolder } from "./layout.ts";
import { trustReadOf } from "./ledger-file.ts";
import { newReading, type PlacementParts, type Reading, type RunParts, readStateFile } from "./record-reading.ts";
import type { RunHead } from "./runs.ts";

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

/**
 * The ledger that stands in `files`, path → text: the record of the state branch, in any order.
 *
 * The inverse of `stateEdits`. Output and unknown files are passed over. A file that cannot be read, or that is
 * missing beside others, makes the whole unreadable: nobody decides upon a record with holes.
 */
export function readLedger(files: Iterable<readonly [string, string]>): LedgerRead {
  const reader = ledgerReader(null);
  for (const [path, content] of files) reader.read(path, content);
  return reader.result();
}

function resultOf(reading: Reading, before: Ledger | null): LedgerRead {
  const base = before ?? emptyLedger;
  const head = reading.head === undefined ? before : reading.head;
  const trust = trustReadOf(
    reading.head === undefined ? undefined : (reading.head?.trust ?? null),
    reading.trustText,
    base.trust,
  );
  if (reading.wrong === null && head === null) reading.wrong = `${ledgerPath} is missing`;
  const placements = placementsOf(reading, base);
  const runs = runsOf(reading, base);
  if (trust.kind === "wrong") reading.wrong ??= trust.message;
  if (trust.kind === "wrong" || reading.wrong !== null || head === null)
    return { kind: "unreadable", message: reading.wrong ?? "" };
  const ledger: Ledger = {
    fleet: head.fleet,
    epoch: head.epoch,
    sequence: head.sequence,
    sourceCommit: head.sourceCommit,
    holds: kept(base.holds, head.holds),
    deletions: kept(base.deletions, head.deletions),
    clusters: amended(base.clusters, filesOf(reading.clusters, base.clusters)),
    formerNames: byKey(base.formerNames, reading.formerNames, (it) => it.uid),
    placements: amended(base.placements, placements),
    runs: amended(base.runs, runs),
    evictions: amended(base.evictions, filesOf(reading.evictions, base.evictions)),
    hasTrust: head.hasTrust,
    trust: trust.trust,
    answers: byKey(base.answers, reading.answers, (it) => it.file.path),
    overrides: overridesOf(base.overrides, reading.overrides),
  };
  return { kind: "read", ledger };
}

type Changes<K, V> = readonly (readonly [K, V | null])[];

/** What stands in files of its own, `<folder>/<name>.yaml`. */
const filesOf = <K extends string, V>(files: ReadonlyMap<string, V | null>, before: ReadonlyMap<K, V>): Changes<K, V> =>
  [...files].map(([path, it]) => {
    const name = path.slice(path.indexOf("/") + 1, -".yaml".length) as K;
    return [name, it === null ? null : kept(before.get(name), it)];
  });

function placementsOf(reading: Reading, base: Ledger): Changes<PlacementKey, PlacementRecord> {
  const changes: [PlacementKey, PlacementRecord | null][] = [];
  for (const [folder, parts] of reading.placements) {
    const key = placementOfFolder(folder);
    const record = recordOf(parts, base.placements.get(key) ?? null);
    if (record === "headless") reading.wrong ??= `${folder}placement.yaml is missing`;
    else changes.push([key, record]);
  }
  return changes;
}

function runsOf(reading: Reading, base: Ledger): Changes<RunKey, RunRecord> {
  const changes: [RunKey, RunRecord | null][] = [];
  for (const [folder, parts] of reading.runs) {
    const key = runOfFolder(folder);
    const read = runReadOf(parts, base.runs.get(key) ?? null);
    if (read.kind === "wrong") reading.wrong ??= `${folder}${read.file} ${read.message}`;
    else changes.push([key, read.run]);
  }
  return changes;
}

/** One placement put together, in the order that the ledger promises; null when all of its files are gone. */
function recordOf(parts: PlacementParts, old: PlacementRecord | null): PlacementRecord | null | "headless" {
  const head = parts.head === undefined ? old : parts.head;
  const bindings = byKey(old?.bindings ?? noBindings, parts.bindings, (it) => it.cluster);
  const policySnapshots = keptSnapshots(old?.policySnapshots ?? [], parts.policySnapshots);
  const resourceSnapshots = resourceSnapshotsOf(parts, old);
  if (head === null) return bindings.size + policySnapshots.length + resourceSnapshots.length > 0 ? "headless" : null;
  return kept(old ?? undefined, { ...head, policySnapshots, resourceSnapshots, bindings });
}

const noBindings: PlacementRecord["bindings"] = new Map();

/** What stands in a file as a list; all of it stays while the file was not read. */
const byKey = <K extends string, V>(
  before: ReadonlyMap<K, V>,
  read: readonly V[] | undefined,
  keyOf: (value: V) => K,
): ReadonlyMap<K, V> => (read === undefined ? before : keptByKey(before, read, keyOf));

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
  return sameItems(before, list) ? before : list;
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
  return sameItems(before, list) ? before : list;
}

const bySnapshot = (a: OverrideSnapshot, b: OverrideSnapshot): number =>
  compareText(a.namespace ?? "", b.namespace ?? "") || compareText(a.override, b.override) || a.index - b.index;

/** One run put together, null when its files are gone, or which file is wrong. */
type RunRead =
  | { readonly kind: "read"; readonly run: RunRecord | null }
  | { readonly kind: "wrong"; readonly file: string; readonly message: string };

/**
 * Puts a run together from the files that changed and the run as it was; what reads as it was keeps its identity.
 *
 * A plan that is not the one that `run.yaml` was written for is wrong: what was approved is that one.
 */
function runReadOf({ head, plan }: RunParts, old: RunRecord | null): RunRead {
  const next = head === undefined ? headOf(old) : head;
  const nextPlan = plan === undefined ? (old?.plan ?? null) : plan;
  if (next === null && nextPlan !== null) return wrong("run.yaml", "is missing");
  if (next === null) return { kind: "read", run: null };
  const { planRoot, ...run } = next;
  if (planRoot !== null && nextPlan === null) return wrong("plan.yaml", "is missing");
  if (planRoot !== (nextPlan?.root ?? null)) return wrong("plan.yaml", "is not the plan that run.yaml was written for");
  const [told, planned] = [run.stages.length, nextPlan?.stages.length ?? 0];
  if (told !== planned) return wrong("run.yaml", `tells of ${told} stages, and plan.yaml has ${planned}`);
  return { kind: "read", run: kept(old ?? undefined, { ...run, plan: nextPlan }) };
}

const wrong = (file: string, message: string): RunRead => ({ kind: "wrong", file, message });

const headOf = (old: RunRecord | null): RunHead | null =>
  old === null ? null : { ...old, planRoot: old.plan?.root ?? null };
