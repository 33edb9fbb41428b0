import type { Binding } from "../model/binding.ts";
import type { Json } from "../model/json.ts";
import type { ClusterRecord, FormerNames, PolicySnapshot, ResourceSnapshot } from "../model/ledger.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import type { EvictionRecord } from "../model/placement.ts";
import type { AnswerRecord } from "../model/trust.ts";
import type { RunPlan } from "../model/update-run.ts";
import type { BlobId, Instant } from "../model/value.ts";
import { type InternPool, newInternPool } from "../yaml/canonical-read.ts";
import { readYaml } from "../yaml/kyaml.ts";
import { readYamlStream } from "../yaml/read-stream.ts";
import { positionsIn, slicesOf } from "../yaml/text.ts";
import { answersFile } from "./answers.ts";
import { bindingCodec } from "./bindings.ts";
import { clusterCodec, formerNamesFile } from "./clusters.ts";
import type { ReadContext } from "./codec/codec.ts";
import { clusterPath, evictionPath, overridePath, placementPath, runPath, runPlanPath, stateFileOf } from "./layout.ts";
import { type LedgerHead, ledgerFile } from "./ledger-file.ts";
import { overrideSnapshotCodec } from "./overrides.ts";
import { withoutRows } from "./placement-status.ts";
import { evictionCodec, type PlacementHead, placementCodec } from "./placements.ts";
import { runPlanCodec } from "./run-plan.ts";
import { type RunHead, runCodec } from "./runs.ts";
import { policySnapshotCodec, resourceSnapshotCodec } from "./snapshots.ts";

/** What has been read of a state branch so far, and the first thing that is wrong with it. Null stands for a file that is gone. */
export interface Reading {
  wrong: string | null;
  /** Undefined while its file was not read, as the next three. */
  head?: LedgerHead | null;
  trustText?: string | null;
  answers?: { readonly answers: readonly AnswerRecord[]; readonly takenAway: readonly BlobId[] };
  formerNames?: readonly FormerNames[];
  /** By path, as the next two. */
  readonly clusters: Map<string, ClusterRecord | null>;
  readonly evictions: Map<string, EvictionRecord | null>;
  readonly overrides: Map<string, readonly OverrideSnapshot[]>;
  /** By folder, as the next. */
  readonly placements: Map<string, PlacementParts>;
  readonly runs: Map<string, RunParts>;
  readonly repeats: InternPool;
}

/** The files of one placement's folder; those that were not read are left out. */
export interface PlacementParts {
  head?: PlacementHead | null;
  bindings?: readonly Binding[];
  policySnapshots?: readonly PolicySnapshot[];
  /** By path. */
  readonly resourceSnapshots: Map<string, ResourceSnapshot | null>;
}

/** The files of one run's folder: those that were not read are left out, null are those that are gone. */
export interface RunParts {
  head?: RunHead | null;
  plan?: RunPlan | null;
}

export const newReading = (): Reading => ({
  wrong: null,
  clusters: new Map(),
  evictions: new Map(),
  overrides: new Map(),
  placements: new Map(),
  runs: new Map(),
  repeats: newInternPool(),
});

const noAnswers = { answers: [], takenAway: [] };

/** Adds one file to what has been read, or says what is wrong with it. A text that is null: the file is gone. */
export function readStateFile(reading: Reading, path: string, text: string | null): void {
  const file = stateFileOf(path);
  const one = { reading, path, text };
  switch (file.kind) {
    case "other":
      return;
    case "ledger":
      reading.head = onlyOne(one, (json, context) => ledgerFile.read(json, path, context));
      return;
    case "answers":
      reading.answers = onlyOne(one, (json, context) => answersFile.read(json, path, context)) ?? noAnswers;
      return;
    case "formerNames":
      reading.formerNames = onlyOne(one, (json, context) => formerNamesFile.read(json, path, context))?.clusters ?? [];
      return;
    case "trust":
      reading.trustText = text;
      return;
    case "cluster":
      reading.clusters.set(
        path,
        onlyOne(one, clusterCodec.read, (it) => clusterPath(it.name)),
      );
      return;
    case "eviction":
      reading.evictions.set(
        path,
        onlyOne(one, evictionCodec.read, (it) => evictionPath(it.name)),
      );
      return;
    case "override": {
      const snapshots = documentsIn(one, overrideSnapshotCodec.read);
      if (snapshots.some((it) => overridePath(it) !== path)) misplaced(one);
      reading.overrides.set(path, snapshots);
      return;
    }
    case "run":
      partsIn(reading.runs, file.folder, {}).head = onlyOne(one, runCodec.read, (it) => runPath(it.key));
      return;
    case "runPlan":
      partsIn(reading.runs, file.folder, {}).plan =
        onlyOne(one, runPlanCodec.read, (it) => runPlanPath(it.key))?.plan ?? null;
      return;
    default:
      readPlacementFile(partsIn(reading.placements, file.folder, { resourceSnapshots: new Map() }), file.kind, one);
  }
}

type PlacementFileKind = "placement" | "bindings" | "policySnapshots" | "resourceSnapshot";

function readPlacementFile(parts: PlacementParts, kind: PlacementFileKind, one: StateText): void {
  const { path, text } = one;
  switch (kind) {
    case "placement": {
      const head = { ...one, text: text === null ? null : withoutRows(text) };
      parts.head = onlyOne(head, placementCodec.read, (it) => placementPath(it.key));
      return;
    }
    case "bindings":
      parts.bindings = documentsIn(one, bindingCodec.read);
      return;
    case "policySnapshots":
      parts.policySnapshots = documentsIn(one, policySnapshotCodec.read);
      return;
    case "resourceSnapshot":
      parts.resourceSnapshots.set(
        path,
        onlyOne(one, resourceSnapshotCodec.read, (it) => path.replace(/\d+(?=\/[^/]+$)/, String(it.index))),
      );
  }
}

function partsIn<P>(folders: Map<string, P>, folder: string, none: P): P {
  const parts = folders.get(folder) ?? none;
  folders.set(folder, parts);
  return parts;
}

interface StateText {
  readonly reading: Reading;
  readonly path: string;
  readonly text: string | null;
}

type ReadDocument<T> = (document: Json, context: ReadContext) => T;

/** The values of a file's documents; none when the file is gone. */
function documentsIn<T>({ reading, path, text }: StateText, readDocument: ReadDocument<T>): readonly T[] {
  if (text === null) return [];
  const read = readYamlStream(text, reading.repeats);
  if ("error" in read) {
    reading.wrong ??= `${path}: ${read.error}`;
    return [];
  }
  const instants = new Map<string, Instant>();
  return read.documents.map((document, index) => {
    const context: ReadContext = { problem: null, problemPath: [], path: null, instants };
    const value = readDocument(document, context);
    if (context.problem !== null)
      reading.wrong ??= `${path}:${placeOf(text, index, problemPath(document, readDocument))}: ${context.problem}`;
    return value;
  });
}

/** Where the first problem is: the document is read once more, and the way to it kept. */
function problemPath<T>(document: Json, readDocument: ReadDocument<T>): readonly (string | number)[] {
  const context: ReadContext = { problem: null, problemPath: [], path: [], instants: new Map() };
  readDocument(document, context);
  return context.problemPath;
}

/** Line and column of what stands at `path` in a document, or of where it would have to stand. */
function placeOf(text: string, document: number, path: readonly (string | number)[]): string {
  const slices = slicesOf(text);
  const slice = slices.filter((it) => it.text.trim() !== "")[document] ?? { text, line: 1 };
  const ruler = positionsIn(slice);
  const { line, column } = ruler(readYaml(slice, ruler).offsetOf(path, "key"));
  return `${line}:${column}`;
}

/** The one value of a file, which must stand where its name puts it; null when the file is gone. */
function onlyOne<T>(one: StateText, readDocument: ReadDocument<T>, pathOf?: (value: T) => string): T | null {
  const { reading, path, text } = one;
  if (text === null) return null;
  const values = documentsIn(one, readDocument);
  const [first = null] = values;
  if (values.length !== 1) reading.wrong ??= `${path}: has ${values.length} documents instead of one`;
  if (reading.wrong === null && first !== null && pathOf !== undefined && pathOf(first) !== path) misplaced(one);
  return first;
}

function misplaced({ reading, path }: StateText): void {
  reading.wrong ??= `${path}: contains what belongs in another file`;
}
