import type { MemberCluster } from "../model/fleet.ts";
import type { Json } from "../model/json.ts";
import { emptyLedger, type Ledger, type PlacementRecord } from "../model/ledger.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import { statusNamespace } from "../model/placement.ts";
import { type ClusterName, compareText, type PlacementKey } from "../model/value.ts";
import { answersText } from "./answers.ts";
import { bindingsText } from "./bindings.ts";
import { clusterText, formerNamesText } from "./clusters.ts";
import {
  accessibleStatusPath,
  answersPath,
  bindingsPath,
  clusterPath,
  evictionPath,
  formerNamesPath,
  ledgerPath,
  overridePath,
  placementPath,
  policySnapshotsPath,
  runPath,
  runPlanPath,
  type StateEdit,
  snapshotPath,
  trustTextPath,
} from "./layout.ts";
import { formatVersionOf, ledgerText } from "./ledger-file.ts";
import { type ApprovalRequestOutput, changeRequests, runRequests } from "./output.ts";
import { overrideText } from "./overrides.ts";
import { accessibleStatusText, type DerivedStatus, placementText } from "./placement-status.ts";
import { evictionText } from "./placements.ts";
import { runPlanText } from "./run-plan.ts";
import { runText } from "./runs.ts";
import { policySnapshotsText, resourceSnapshotText, snapshotFiles } from "./snapshots.ts";

/** What the files show and the ledger does not hold. */
interface Shown {
  /** `status.placementStatuses` of a placement. */
  readonly rowsOf: (record: PlacementRecord) => readonly Json[];
  /** `status.observedResourceIndex` of a placement. */
  readonly indexOf: (record: PlacementRecord) => string;
  /** `status.selectedResources` of a placement. */
  readonly selectedOf: (record: PlacementRecord) => readonly Json[];
  /** Placements that the plan of this ledger had something to say about; null or absent: unknown, or too many to name. */
  readonly restless?: readonly PlacementKey[] | null;
  /** The members' files, whose labels and spec stand in `clusters/`. */
  readonly members?: ReadonlyMap<ClusterName, MemberCluster>;
}

/**
 * What to change on the state branch when `before` becomes `after`: the record (`ledger.yaml`, `answers.yaml`,
 * `former-names.yaml`, `trust/root.yaml`, `clusters/`, `placements/`, `overrides/`, `runs/`, `approvals/`,
 * `evictions/`, `namespaces/`), ordered by path, each path once.
 *
 * What is `===` is neither serialised nor compared, so that cost follows change (`ledger/README.md#the-state-branch`).
 * From the empty ledger on it gives the whole tree.
 */
export function stateEdits(before: Ledger, after: Ledger, shown: Shown): readonly StateEdit[] {
  const edits = [
    ...edit(singleFiles(before === emptyLedger ? null : before, shown), singleFiles(after, shown)),
    ...edit(clusterFiles(before, after, shown), clusterFiles(after, before, shown)),
    ...edit(placementFiles(before, after, shown), placementFiles(after, before, shown)),
    ...edit(runFiles(before, after), runFiles(after, before)),
    ...edit(evictionFiles(before, after), evictionFiles(after, before)),
    ...(before.overrides === after.overrides ? [] : edit(overrideFiles(before), overrideFiles(after))),
  ];
  return edits.sort((a, b) => compareText(a.path, b.path));
}

/** One file of the record. It is the same as another at its path if all that it is made from is. */
interface RecordFile {
  readonly path: string;
  readonly from: readonly unknown[];
  readonly edit: () => StateEdit;
}

function* edit(before: Iterable<RecordFile>, after: Iterable<RecordFile>): Generator<StateEdit> {
  const old = new Map<string, RecordFile>();
  for (const it of before) old.set(it.path, it);
  for (const it of after) {
    const was = old.get(it.path);
    old.delete(it.path);
    const same = was?.from.length === it.from.length && was.from.every((part, at) => part === it.from[at]);
    if (!same) yield it.edit();
  }
  for (const path of old.keys()) yield { kind: "remove", path };
}

/** Its text is made when it is asked for: all texts of a first commit together are hundreds of megabytes. */
const text = (path: string, from: readonly unknown[], write: () => string): RecordFile => ({
  path,
  from,
  edit: () => ({
    kind: "write",
    path,
    get text() {
      return write();
    },
  }),
});

/** The files that there is at most one of. The trust file stands word for word: anybody can verify it again. */
function* singleFiles(it: Ledger | null, { restless }: Shown): Generator<RecordFile> {
  if (it === null) return;
  const { fleet, epoch, sequence, sourceCommit, holds, deletions, quarantines, formerNames, hasTrust, trust } = it;
  const { answers, takenAway } = it;
  const head = [
    fleet,
    epoch,
    sequence,
    sourceCommit,
    holds,
    deletions,
    quarantines,
    hasTrust,
    trust,
    formatVersionOf(it),
  ];
  yield text(ledgerPath, head, () => ledgerText(it, restless ?? null));
  if (answers.size + takenAway.size > 0) yield text(answersPath, [answers, takenAway], () => answersText(it));
  if (formerNames.size > 0) yield text(formerNamesPath, [formerNames], () => formerNamesText(formerNames));
  if (trust !== null) yield text(trustTextPath, [trust.text], () => trust.text);
}

function* clusterFiles(ledger: Ledger, other: Ledger, { members }: Shown): Generator<RecordFile> {
  for (const it of changed(ledger.clusters, other.clusters))
    yield text(clusterPath(it.name), [it], () => clusterText(it, members?.get(it.name) ?? null));
}

function* placementFiles(ledger: Ledger, other: Ledger, shown: Shown): Generator<RecordFile> {
  for (const it of changed(ledger.placements, other.placements)) {
    const status = (): DerivedStatus => ({
      index: shown.indexOf(it),
      selected: shown.selectedOf(it),
      rows: shown.rowsOf(it),
    });
    yield text(placementPath(it.key), [it], () => placementText(it, status()));
    const namespace = it.conditions.length === 0 ? null : statusNamespace(it);
    if (namespace !== null)
      yield text(accessibleStatusPath(namespace, it.name), [it], () => accessibleStatusText(it, namespace, status()));
    if (it.bindings.size > 0) yield text(bindingsPath(it.key), [it.bindings], () => bindingsText(it));
    // The latest policy snapshot shows the placement's generation.
    if (it.policySnapshots.length > 0)
      yield text(policySnapshotsPath(it.key), [it.policySnapshots, it.generation], () => policySnapshotsText(it));
    yield* requestFiles(changeRequests(it));
    yield* snapshotRecord(it, other.placements.get(it.key) ?? null);
  }
}

/** Snapshots that only one of the records has. One that ceases to be the latest is written again; its blobs stay. */
function* snapshotRecord(record: PlacementRecord, other: PlacementRecord | null): Generator<RecordFile> {
  const latest = record.resourceSnapshots.at(-1);
  for (const it of record.resourceSnapshots) {
    const stays = other?.resourceSnapshots.includes(it) ?? false;
    if (stays && (it === latest) === (it === other?.resourceSnapshots.at(-1))) continue;
    yield text(snapshotPath(record.key, it.index), [it, it === latest], () => resourceSnapshotText(record, it));
    if (stays) continue;
    for (const [path, blob] of snapshotFiles(record.key, it))
      yield { path, from: [blob], edit: () => ({ kind: "link", path, blob }) };
  }
}

/** A plan is written once: it is the same from its run's first pass to the last. */
function* runFiles(ledger: Ledger, other: Ledger): Generator<RecordFile> {
  for (const it of changed(ledger.runs, other.runs)) {
    const { plan } = it;
    yield text(runPath(it.key), [it], () => runText(it));
    if (plan !== null) yield text(runPlanPath(it.key), [plan], () => runPlanText(it, plan));
    yield* requestFiles(runRequests(it));
  }
}

function* requestFiles(requests: readonly ApprovalRequestOutput[]): Generator<RecordFile> {
  for (const it of requests) yield text(it.path, it.from, it.text);
}

function* evictionFiles(ledger: Ledger, other: Ledger): Generator<RecordFile> {
  for (const it of changed(ledger.evictions, other.evictions))
    yield text(evictionPath(it.name), [it], () => evictionText(it));
}

function* overrideFiles({ overrides }: Ledger): Generator<RecordFile> {
  for (const chain of chainsOf(overrides)) {
    const [first] = chain;
    if (first !== undefined) yield text(overridePath(first), chain, () => overrideText(chain));
  }
}

/** Snapshots that stand together, by override: the ledger has them in that order. */
function chainsOf(overrides: readonly OverrideSnapshot[]): Iterable<readonly OverrideSnapshot[]> {
  const chains = new Map<string, OverrideSnapshot[]>();
  for (const it of overrides) {
    const path = overridePath(it);
    const chain = chains.get(path);
    if (chain === undefined) chains.set(path, [it]);
    else chain.push(it);
  }
  return chains.values();
}

/** The values that `other` has not, or has otherwise. */
function* changed<K, V>(map: ReadonlyMap<K, V>, other: ReadonlyMap<K, V>): Generator<V> {
  if (map !== other) for (const [key, it] of map) if (other.get(key) !== it) yield it;
}
