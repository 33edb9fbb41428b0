import type { Binding } from "../model/binding.ts";
import type { Json } from "../model/json.ts";
import type { ClusterRecord, FormerNames, PolicySnapshot, ResourceSnapshot } from "../model/ledger.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import type { EvictionRecord } from "../model/placement.ts";
import type { AnswerRecord } from "../model/trust.ts";
import { type InternPool, newInternPool } from "../yaml/canonical-read.ts";
import { readYamlStream } from "../yaml/read-stream.ts";
import {
  answersPath,
  clusterPath,
  evictionPath,
  formerNamesPath,
  ledgerPath,
  overridePath,
  placementFolder,
  runPath,
  runPlanPath,
  stateFileOf,
} from "./layout.ts";
import { answersOf } from "./state-answers.ts";
import { bindingOf } from "./state-bindings.ts";
import { clusterOf } from "./state-cluster.ts";
import { evictionOf } from "./state-eviction.ts";
import type { Findings } from "./state-fields.ts";
import { formerNamesOf } from "./state-former-names.ts";
import { type LedgerHead, ledgerHeadOf } from "./state-ledger.ts";
import { overrideSnapshotOf } from "./state-overrides.ts";
import { type PlacementHead, placementHeadOf, withoutRows } from "./state-placement.ts";
import { policySnapshotOf } from "./state-policy-snapshots.ts";
import { resourceSnapshotOf } from "./state-resource-snapshots.ts";
import { runOf } from "./state-run.ts";
import { runPlanOf } from "./state-run-plan.ts";
import type { RunParts } from "./state-run-reader.ts";

/** What has been read of a state branch so far, and the first thing that is wrong with it. Null stands for a file that is gone. */
export interface Reading {
  wrong: string | null;
  /** Undefined while `ledger.yaml` was not read. */
  head: LedgerHead | null | undefined;
  /** The trust file's text. Undefined while it was not read. */
  trustText: string | null | undefined;
  /** Undefined while `answers.yaml` was not read. */
  answers: readonly AnswerRecord[] | undefined;
  /** Undefined while `former-names.yaml` was not read. */
  formerNames: readonly FormerNames[] | undefined;
  /** By path. */
  readonly clusters: Map<string, ClusterRecord | null>;
  /** By path. */
  readonly evictions: Map<string, EvictionRecord | null>;
  /** By path. */
  readonly overrides: Map<string, readonly OverrideSnapshot[]>;
  /** By folder. */
  readonly placements: Map<string, PlacementParts>;
  /** By folder. */
  readonly runs: Map<string, RunParts>;
  readonly repeats: InternPool;
}

/** The files of one placement's folder; undefined for those that were not read. */
export interface PlacementParts {
  head: PlacementHead | null | undefined;
  bindings: readonly Binding[] | undefined;
  policySnapshots: readonly PolicySnapshot[] | undefined;
  /** By path. */
  readonly resourceSnapshots: Map<string, ResourceSnapshot | null>;
}

export const newReading = (): Reading => ({
  wrong: null,
  head: undefined,
  trustText: undefined,
  answers: undefined,
  formerNames: undefined,
  clusters: new Map(),
  evictions: new Map(),
  overrides: new Map(),
  placements: new Map(),
  runs: new Map(),
  repeats: newInternPool(),
});

/** Adds one file to what has been read, or says what is wrong with it. A text that is null: the file is gone. */
export function readStateFile(reading: Reading, path: string, text: string | null): void {
  const file = stateFileOf(path);
  const one = { reading, path, text };
  switch (file.kind) {
    case "other":
      return;
    case "ledger":
      reading.head = onlyOne(one, ledgerHeadOf, () => ledgerPath);
      return;
    case "answers":
      reading.answers = onlyOne(one, answersOf, () => answersPath) ?? [];
      return;
    case "formerNames":
      reading.formerNames = onlyOne(one, formerNamesOf, () => formerNamesPath) ?? [];
      return;
    case "trust":
      reading.trustText = text;
      return;
    case "cluster":
      reading.clusters.set(
        path,
        onlyOne(one, clusterOf, (it) => clusterPath(it.name)),
      );
      return;
    case "eviction":
      reading.evictions.set(
        path,
        onlyOne(one, evictionOf, (it) => evictionPath(it.name)),
      );
      return;
    case "run":
    case "runPlan":
      readRunPart(runIn(reading, file.folder), file.kind, one);
      return;
    case "override": {
      const snapshots = all(one, overrideSnapshotOf);
      if (snapshots.some((it) => overridePath(it) !== path)) misplaced(one);
      reading.overrides.set(path, snapshots);
      return;
    }
    case "placement":
    case "bindings":
    case "policySnapshots":
    case "resourceSnapshot":
      readPart(partsIn(reading, file.folder), file.kind, one);
  }
}

type PartKind = "placement" | "bindings" | "policySnapshots" | "resourceSnapshot";

function readPart(parts: PlacementParts, kind: PartKind, one: StateText): void {
  const { path, text } = one;
  switch (kind) {
    case "placement": {
      const head = { ...one, text: text === null ? null : withoutRows(text) };
      parts.head = onlyOne(head, placementHeadOf, (it) => `${placementFolder(it.key)}placement.yaml`);
      return;
    }
    case "bindings":
      parts.bindings = all(one, bindingOf);
      return;
    case "policySnapshots":
      parts.policySnapshots = all(one, policySnapshotOf);
      return;
    case "resourceSnapshot":
      parts.resourceSnapshots.set(
        path,
        onlyOne(one, resourceSnapshotOf, (it) => path.replace(/\d+(?=\/[^/]+$)/, String(it.index))),
      );
  }
}

function readRunPart(parts: RunParts, kind: "run" | "runPlan", one: StateText): void {
  if (kind === "run") parts.head = onlyOne(one, runOf, (it) => runPath(it.run.key));
  else parts.plan = onlyOne(one, runPlanOf, (it) => runPlanPath(it.key))?.plan ?? null;
}

/** One file that is being read. */
interface StateText {
  readonly reading: Reading;
  readonly path: string;
  readonly text: string | null;
}

type Decode<T> = (findings: Findings, it: Json) => T;

function all<T>({ reading, path, text }: StateText, decode: Decode<T>): readonly T[] {
  const read = text === null ? noDocuments : readYamlStream(text, reading.repeats);
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

const noDocuments = { documents: [] } as const;

/** The one value of a file, which must stand where its name puts it; null when the file is gone. */
function onlyOne<T>(one: StateText, decode: Decode<T>, pathOf: (value: T) => string): T | null {
  const { reading, path, text } = one;
  const values = all(one, decode);
  const [first = null] = values;
  if (text === null) return null;
  if (reading.wrong === null && values.length !== 1)
    reading.wrong = `${path}: holds ${values.length} documents, not one`;
  if (reading.wrong === null && first !== null && pathOf(first) !== path) misplaced(one);
  return first;
}

function misplaced({ reading, path }: StateText): void {
  reading.wrong ??= `${path}: holds what belongs in another file`;
}

function partsIn({ placements }: Reading, folder: string): PlacementParts {
  const known = placements.get(folder);
  if (known !== undefined) return known;
  const parts: PlacementParts = {
    head: undefined,
    bindings: undefined,
    policySnapshots: undefined,
    resourceSnapshots: new Map(),
  };
  placements.set(folder, parts);
  return parts;
}

function runIn({ runs }: Reading, folder: string): RunParts {
  const parts: RunParts = runs.get(folder) ?? { head: undefined, plan: undefined };
  runs.set(folder, parts);
  return parts;
}
