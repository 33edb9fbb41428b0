import { emptyLedger, type Ledger, type PlacementRecord } from "../model/ledger.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import type { RunRecord } from "../model/update-run.ts";
import { type BlobId, compareText } from "../model/value.ts";
import { keepByKey, keepIdentity, sameItems, withEntries } from "./identity.ts";
import { ledgerPath, overridePath, placementOfFolder, runOfFolder } from "./layout.ts";
import { trustRead } from "./ledger-file.ts";
import { newReading, type PlacementParts, type Reading, type RunParts, readStateFile } from "./record-reading.ts";

/** A ledger as read from its files, or what keeps them from being read: which file, which document, what. */
type LedgerRead =
  | { readonly kind: "read"; readonly ledger: Ledger }
  | { readonly kind: "unreadable"; readonly message: string };

/** Reads a ledger file by file, so that nobody has to hold all texts at once. */
interface LedgerReader {
  /** Takes in one file, in any order; null says that there is none any more. Output and unknown files are passed over. */
  read(path: string, text: string | null): void;
  result(): LedgerRead;
}

/**
 * Reads the files that changed on top of `before`; null: the files are all there are. What reads as it was keeps its
 * identity at every level, so that somebody else's commit costs what it changed.
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
 * The ledger in `files`, path → text, in any order: the inverse of `stateEdits`. Output and unknown files are passed
 * over; one that is missing or cannot be read makes the whole unreadable.
 */
export function readLedger(files: Iterable<readonly [string, string]>): LedgerRead {
  const reader = ledgerReader(null);
  for (const [path, content] of files) reader.read(path, content);
  return reader.result();
}

function resultOf(reading: Reading, before: Ledger | null): LedgerRead {
  const base = before ?? emptyLedger;
  const head = reading.head === undefined ? before : reading.head;
  const fail = (message: string): null => {
    reading.wrong ??= message;
    return null;
  };
  if (head === null) fail(`${ledgerPath} is missing`);
  const placements = [...reading.placements].map(([folder, parts]) => {
    const key = placementOfFolder(folder);
    return [key, placementRead(parts, base.placements.get(key) ?? null, (wrong) => fail(`${folder}${wrong}`))] as const;
  });
  const runs = [...reading.runs].map(([folder, parts]) => {
    const key = runOfFolder(folder);
    return [key, runRead(parts, base.runs.get(key) ?? null, (wrong) => fail(`${folder}${wrong}`))] as const;
  });
  const trustHead = reading.head === undefined ? undefined : (reading.head?.trust ?? null);
  const trust = trustRead({ head: trustHead, text: reading.trustText }, base.trust, fail);
  if (reading.wrong !== null || head === null) return { kind: "unreadable", message: reading.wrong ?? "" };
  const ledger: Ledger = {
    fleet: head.fleet,
    epoch: head.epoch,
    sequence: head.sequence,
    sourceCommit: head.sourceCommit,
    holds: keepIdentity(base.holds, head.holds),
    deletions: keepIdentity(base.deletions, head.deletions),
    quarantines: keepIdentity(base.quarantines, head.quarantines),
    clusters: withEntries(base.clusters, filesOf(reading.clusters, base.clusters)),
    formerNames: byKey(base.formerNames, reading.formerNames, (it) => it.uid),
    placements: withEntries(base.placements, placements),
    runs: withEntries(base.runs, runs),
    evictions: withEntries(base.evictions, filesOf(reading.evictions, base.evictions)),
    hasTrust: head.hasTrust,
    trust,
    answers: byKey(base.answers, reading.answers?.answers, (it) => it.file.path),
    takenAway: takenAwayOf(base.takenAway, reading.answers?.takenAway),
    overrides: overridesOf(base.overrides, reading.overrides),
  };
  return { kind: "read", ledger };
}

/** The same set, unless what was read is another. */
const takenAwayOf = (before: Ledger["takenAway"], read: readonly BlobId[] = [...before]): Ledger["takenAway"] =>
  read.length === before.size && read.every((it) => before.has(it)) ? before : new Set(read);

/** Says that something does not fit together: nothing is read then. */
type Fail = (wrong: string) => null;

/** What stands in files of its own, `<folder>/<name>.yaml`. */
const filesOf = <K extends string, V>(
  files: ReadonlyMap<string, V | null>,
  before: ReadonlyMap<K, V>,
): readonly (readonly [K, V | null])[] =>
  [...files].map(([path, it]) => {
    const name = path.slice(path.indexOf("/") + 1, -".yaml".length) as K;
    return [name, it === null ? null : keepIdentity(before.get(name), it)];
  });

/** One placement put together, in the order that the ledger promises; null when all of its files are gone. */
function placementRead(parts: PlacementParts, old: PlacementRecord | null, fail: Fail): PlacementRecord | null {
  const head = parts.head === undefined ? old : parts.head;
  const bindings = byKey(old?.bindings ?? noBindings, parts.bindings, (it) => it.cluster);
  const policySnapshots = keptSnapshots(old?.policySnapshots ?? [], parts.policySnapshots);
  const resourceSnapshots = resourceSnapshotsOf(parts, old);
  if (head !== null) return keepIdentity(old ?? undefined, { ...head, policySnapshots, resourceSnapshots, bindings });
  const isGone = bindings.size + policySnapshots.length + resourceSnapshots.length === 0;
  return isGone ? null : fail("placement.yaml is missing");
}

const noBindings: PlacementRecord["bindings"] = new Map();

/** What stands in a file as a list; all of it stays while the file was not read. */
const byKey = <K extends string, V>(
  before: ReadonlyMap<K, V>,
  read: readonly V[] | undefined,
  keyOf: (value: V) => K,
): ReadonlyMap<K, V> => (read === undefined ? before : keepByKey(before, read, keyOf));

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
  const list = after.map((it) => keepIdentity(known.get(it.index), it)).sort((a, b) => a.index - b.index);
  return sameItems(before, list) ? before : list;
}

function overridesOf(
  before: readonly OverrideSnapshot[],
  files: ReadonlyMap<string, readonly OverrideSnapshot[]>,
): readonly OverrideSnapshot[] {
  if (files.size === 0) return before;
  const others = before.filter((it) => !files.has(overridePath(it)));
  const known = new Map(before.map((it) => [`${it.namespace ?? ""}/${it.name}`, it]));
  const read = [...files.values()].flat().map((it) => keepIdentity(known.get(`${it.namespace ?? ""}/${it.name}`), it));
  const list = [...others, ...read].sort(bySnapshot);
  return sameItems(before, list) ? before : list;
}

const bySnapshot = (a: OverrideSnapshot, b: OverrideSnapshot): number =>
  compareText(a.namespace ?? "", b.namespace ?? "") || compareText(a.override, b.override) || a.index - b.index;

/**
 * A run put together from changed files and the run as it was; null when its files are gone. A plan that `run.yaml` was
 * not written for is wrong: what was approved is that one.
 */
function runRead(parts: RunParts, old: RunRecord | null, fail: Fail): RunRecord | null {
  const head = parts.head === undefined && old !== null ? { ...old, planRoot: old.plan?.root ?? null } : parts.head;
  const plan = parts.plan === undefined ? (old?.plan ?? null) : parts.plan;
  if (head === undefined || head === null) return plan === null ? null : fail("run.yaml is missing");
  const { planRoot, ...run } = head;
  if (planRoot !== null && plan === null) return fail("plan.yaml is missing");
  if (planRoot !== (plan?.root ?? null)) return fail("plan.yaml is not the plan that run.yaml was written for");
  const [recorded, planned] = [run.stages.length, plan?.stages.length ?? 0];
  if (recorded !== planned) return fail(`run.yaml has ${recorded} stages, and plan.yaml has ${planned}`);
  return keepIdentity(old ?? undefined, { ...run, plan });
}
