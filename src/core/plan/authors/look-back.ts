import type { Binding } from "../../model/binding.ts";
import type { History } from "../../model/history.ts";
import type { Intent } from "../../model/intent.ts";
import type { Ledger, PlacementRecord } from "../../model/ledger.ts";
import type { RunRecord, UpdateRun } from "../../model/update-run.ts";
import { type Commit, compareText } from "../../model/value.ts";
import { snapshotOf } from "../../render/resource-snapshot.ts";
import { acceptsForge } from "../../trust/rules.ts";
import { baselineOf, isMovedBy, rolledOutOn } from "./baseline.ts";
import { isOriginUnknown } from "./changers.ts";
import { type BindingSubject, type ClusterUpdate, plannedBy, planWithContent, wantedBy } from "./cluster-content.ts";
import { dormantInputs } from "./dormant-inputs.ts";

/**
 * How far a decision looks back besides the commit that was accepted last: everything that the head has beyond one of
 * these, it has to know who changed it (`trust/README.md#step-8`), or who brought a trust file that is not in force
 * yet, or an approval that waits for a forge. Ordered; empty where no trust file is in force, and where nothing is
 * going to be asked for.
 */
export function lookBack(ledger: Ledger, intent: Intent): readonly Commit[] {
  const { trust, placements } = ledger;
  if (trust === null) return [];
  const commits = new Set<Commit>();
  for (const run of pendingRuns(ledger, intent)) for (const it of beforeRun(run, ledger)) commits.add(it);
  for (const { change } of placements.values())
    if (change?.request === null) for (const it of change.since) commits.add(it);
  // A root may add their signature to a version that stands there for days.
  if (intent.trust !== null && intent.trust.trust?.digest !== trust.trust.digest) commits.add(trust.from);
  // A file may have come in an earlier pass, in which the forge could not be asked: nobody has judged it since.
  if (acceptsForge(trust.trust) && intent.approvals.some((it) => !ledger.answers.has(it.path))) commits.add(trust.from);
  return [...commits].sort(compareText);
}

type PendingRun = Pick<UpdateRun, "key" | "spec">;

/** Runs that are not over, and those that are about to begin. */
const pendingRuns = ({ runs }: Ledger, intent: Intent): readonly PendingRun[] => [
  ...[...runs.values()].filter((it) => it.end === null),
  ...[...intent.runs.values()].filter((it) => !runs.has(it.key)),
];

/** What the clusters carried before a run came with these, and so did what it goes back to. */
function* beforeRun({ key, spec }: PendingRun, ledger: Ledger): Generator<Commit> {
  const first = ledger.trust?.first ?? null;
  const record = ledger.placements.get(spec.placement);
  if (first === null) return;
  if (record === undefined) return yield first;
  const run = ledger.runs.get(key) ?? null;
  const upTo = indexOf(spec, run) ?? Number.POSITIVE_INFINITY;
  for (const it of record.resourceSnapshots) if (it.index === upTo) yield it.commit;
  for (const [cluster, binding] of record.bindings) {
    if ((binding.target?.resourceIndex ?? -1) > upTo || (run !== null && isMovedBy(run, binding)))
      yield rolledOutOn(cluster, record, { runs: ledger.runs, but: run, upTo })?.commit ?? first;
    yield earliestOf(binding, record) ?? first;
  }
  if (record.bindings.size === 0) yield first;
}

/** The version that a run brings, or asks for; null: whatever is newest. */
function indexOf({ resourceIndex }: PendingRun["spec"], run: RunRecord | null): number | null {
  const index = String(run?.plan?.resourceIndex ?? resourceIndex);
  return /^\d+$/.test(index) ? Number(index) : null;
}

/** The earliest commit that what a cluster carries may have come with; null where nobody can tell. */
function earliestOf({ target }: Binding, record: PlacementRecord): Commit | null {
  if (target === null) return null;
  const isOverridden = target.clusterOverrides.length + target.resourceOverrides.length > 0;
  if (!isOverridden) return snapshotOf(record, target.resourceIndex)?.commit ?? null;
  const [oldest] = record.resourceSnapshots;
  return oldest?.index === 0 ? oldest.commit : null;
}

/**
 * Whether a decision has to look back to where trust began: to something that it reads for the first time, and that stood
 * there before all that is known in `history`.
 */
export function lookBackToStart(ledger: Ledger, intent: Intent, history: History): Commit | null {
  const first = ledger.trust?.first ?? null;
  if (first === null || history.beyond.has(first)) return null;
  const updates = [...pendingUpdates(ledger, intent)];
  return updates.some(
    (it) => (it.carried === null && it.wanted !== null) || isOriginUnknown(dormantInputs(it), first, history),
  )
    ? first
    : null;
}

/** What may be asked about in this pass, as far as the record alone can tell; `carried` is what was decided last. */
function* pendingUpdates(ledger: Ledger, intent: Intent): Generator<ClusterUpdate> {
  const { overrides, runs } = ledger;
  for (const { key, spec } of pendingRuns(ledger, intent)) {
    const record = ledger.placements.get(spec.placement);
    const run = ledger.runs.get(key) ?? null;
    for (const cluster of intent.clusters.keys()) {
      if (record === undefined) continue;
      const binding = record.bindings.get(cluster) ?? { cluster, target: null };
      const subject = { record, binding, intent, overrides };
      const index = indexOf(spec, run);
      const wanted = run?.plan == null ? wantedBy(upTo(subject, index)) : plannedBy(run.plan, subject);
      const { decided: carried } = baselineOf(subject, index, run, runs);
      yield { subject, clusters: new Set([cluster]), carried, wanted, run };
    }
  }
  for (const record of ledger.placements.values()) {
    if (record.change?.request !== null) continue;
    for (const [cluster, content] of record.change.clusters) {
      const subject = { record, binding: record.bindings.get(cluster) ?? { cluster, target: null }, intent, overrides };
      const plan = content === null ? null : planWithContent(content, subject, runs);
      const wanted = content === null ? null : plan === null ? wantedBy(subject) : plannedBy(plan, subject);
      const { decided: carried } = baselineOf(subject, plan?.resourceIndex ?? null, null, runs);
      yield { subject, clusters: new Set([cluster]), carried, wanted, run: null };
    }
  }
}

/** As if the version of an index were the newest. */
function upTo(subject: BindingSubject, index: number | null): BindingSubject {
  if (index === null) return subject;
  const resourceSnapshots = subject.record.resourceSnapshots.filter((it) => it.index <= index);
  return { ...subject, record: { ...subject.record, resourceSnapshots } };
}
