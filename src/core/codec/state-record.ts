import type { Json } from "../model/json.ts";
import type { Binding, ClusterRecord, PlacementRecord, PolicySnapshot, ResourceSnapshot } from "../model/ledger.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import { compareText } from "../model/value.ts";
import { readState } from "./canonical-read.ts";
import { clusterPath, ledgerPath, overridePath, placementFolder, stateFileOf } from "./layout.ts";
import { bindingOf } from "./state-bindings.ts";
import { clusterOf } from "./state-cluster.ts";
import type { Findings } from "./state-fields.ts";
import { type LedgerHead, ledgerHeadOf } from "./state-ledger.ts";
import { overrideSnapshotOf } from "./state-overrides.ts";
import { type PlacementHead, placementHeadOf, withoutRows } from "./state-placement.ts";
import { policySnapshotOf } from "./state-policy-snapshots.ts";
import { resourceSnapshotOf } from "./state-resource-snapshots.ts";

/** What has been read of a state branch so far, and the first thing that is wrong with it. */
export interface Reading {
  wrong: string | null;
  head: LedgerHead | null;
  readonly clusters: ClusterRecord[];
  readonly overrides: OverrideSnapshot[];
  /** By folder. */
  readonly placements: Map<string, PlacementParts>;
}

/** The files of one placement's folder. */
export interface PlacementParts {
  head: PlacementHead | null;
  readonly bindings: Binding[];
  readonly policySnapshots: PolicySnapshot[];
  readonly resourceSnapshots: ResourceSnapshot[];
}

export const newReading = (): Reading => ({
  wrong: null,
  head: null,
  clusters: [],
  overrides: [],
  placements: new Map(),
});

/** Adds one file to what has been read, or says what is wrong with it. */
export function readStateFile(reading: Reading, path: string, text: string): void {
  const file = stateFileOf(path);
  switch (file.kind) {
    case "other":
      return;
    case "ledger":
      reading.head = onlyOne(reading, path, text, ledgerHeadOf, () => ledgerPath);
      return;
    case "cluster":
      push(
        reading.clusters,
        onlyOne(reading, path, text, clusterOf, (it) => clusterPath(it.name)),
      );
      return;
    case "override": {
      const snapshots = all(reading, path, text, overrideSnapshotOf);
      if (snapshots.some((it) => overridePath(it) !== path)) misplaced(reading, path);
      reading.overrides.push(...snapshots);
      return;
    }
    case "placement":
      partsIn(reading, file.folder).head = onlyOne(
        reading,
        path,
        withoutRows(text),
        placementHeadOf,
        (it) => `${placementFolder(it.key)}placement.yaml`,
      );
      return;
    case "bindings":
      partsIn(reading, file.folder).bindings.push(...all(reading, path, text, bindingOf));
      return;
    case "policySnapshots":
      partsIn(reading, file.folder).policySnapshots.push(...all(reading, path, text, policySnapshotOf));
      return;
    case "resourceSnapshot":
      partsIn(reading, file.folder).resourceSnapshots.push(...all(reading, path, text, resourceSnapshotOf));
  }
}

/** One placement put together, in the order that the ledger promises. */
export const recordOf = (head: PlacementHead, parts: PlacementParts): PlacementRecord => ({
  ...head,
  policySnapshots: parts.policySnapshots.sort((a, b) => a.index - b.index),
  resourceSnapshots: parts.resourceSnapshots.sort((a, b) => a.index - b.index),
  bindings: keyed(parts.bindings, (it) => it.cluster),
});

/** A map in the order of its keys. */
export function keyed<K extends string, V>(values: readonly V[], keyOf: (value: V) => K): ReadonlyMap<K, V> {
  const entries = values.map((it): [K, V] => [keyOf(it), it]);
  return new Map(entries.sort(([a], [b]) => compareText(a, b)));
}

function all<T>(
  reading: Reading,
  path: string,
  text: string,
  decode: (findings: Findings, it: Json) => T,
): readonly T[] {
  const read = readState(text);
  if ("error" in read) {
    reading.wrong ??= `${path}: ${read.error}`;
    return [];
  }
  const findings: Findings = { first: null, moments: new Map() };
  return read.documents.map((document, at) => {
    const value = decode(findings, document);
    const where = read.documents.length > 1 ? `${path}: document ${at + 1}` : path;
    if (findings.first !== null) reading.wrong ??= `${where}: ${findings.first}`;
    return value;
  });
}

/** The one value of a file, which must stand where its name puts it. */
function onlyOne<T>(
  reading: Reading,
  path: string,
  text: string,
  decode: (findings: Findings, it: Json) => T,
  pathOf: (value: T) => string,
): T | null {
  const values = all(reading, path, text, decode);
  const [first = null] = values;
  if (reading.wrong === null && values.length !== 1)
    reading.wrong = `${path}: holds ${values.length} documents, not one`;
  if (reading.wrong === null && first !== null && pathOf(first) !== path) misplaced(reading, path);
  return first;
}

function misplaced(reading: Reading, path: string): void {
  reading.wrong ??= `${path}: holds what belongs in another file`;
}

function push<T>(list: T[], value: T | null): void {
  if (value !== null) list.push(value);
}

function partsIn({ placements }: Reading, folder: string): PlacementParts {
  const known = placements.get(folder);
  if (known !== undefined) return known;
  const parts: PlacementParts = { head: null, bindings: [], policySnapshots: [], resourceSnapshots: [] };
  placements.set(folder, parts);
  return parts;
}
