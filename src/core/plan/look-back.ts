import type { Intent } from "../model/intent.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { RunRecord } from "../model/run-record.ts";
import type { UpdateRun } from "../model/update-run.ts";
import { type Commit, compareText, type PlacementKey } from "../model/value.ts";
import { acceptsForge } from "../trust/evidence.ts";

/**
 * How far a decision looks back besides the commit that was accepted last: everything that the head has beyond one of
 * these, it has to know who changed it (`security.md` §2.4, 8), or who brought a trust file that is not in force yet, or an
 * approval that waits for a forge.
 * Ordered; empty where no trust file is in force, and where nothing is going to be asked for.
 */
export function lookBack(ledger: Ledger, intent: Intent): readonly Commit[] {
  const { trust, runs, placements } = ledger;
  if (trust === null) return [];
  const commits = new Set<Commit>();
  for (const run of askingRuns(ledger, intent)) {
    commits.add(rolledOut(run.spec.placement, ledger) ?? trust.first);
    const index = String(runs.get(run.key)?.plan?.resourceIndex ?? run.spec.resourceIndex);
    if (/^\d+$/.test(index)) commits.add(rolledOut(run.spec.placement, ledger, Number(index)) ?? trust.first);
    for (const it of placements.get(run.spec.placement)?.resourceSnapshots ?? [])
      if (String(it.index) === index) commits.add(it.commit);
  }
  for (const { change } of placements.values())
    if (change?.request === null) for (const it of change.since) commits.add(it);
  // A root may add his signature to a version that stands there for days.
  if (intent.trust !== null && intent.trust.trust?.digest !== trust.trust.digest) commits.add(trust.from);
  // A file may have come in an earlier pass, in which the forge could not be asked: nobody has judged it since.
  if (acceptsForge(trust.trust) && intent.approvals.some((it) => !ledger.answers.has(it.path))) commits.add(trust.from);
  return [...commits].sort(compareText);
}

/** Runs that are not over, and those that are about to begin. */
const askingRuns = ({ runs }: Ledger, intent: Intent): readonly Pick<UpdateRun, "key" | "spec">[] => [
  ...[...runs.values()].filter((it) => it.end === null),
  ...[...intent.runs.values()].filter((it) => !runs.has(it.key)),
];

/**
 * The source commit of what the last run that succeeded brought everywhere; null when no run did, or it is forgotten.
 * With `upTo`, of the newest index up to that one which any did: whoever goes back may go to what nobody ever approved.
 */
export function rolledOut(
  placement: PlacementKey,
  { runs, placements }: Pick<Ledger, "runs" | "placements">,
  upTo: number | null = null,
): Commit | null {
  const snapshots: PlacementRecord["resourceSnapshots"] = placements.get(placement)?.resourceSnapshots ?? [];
  const done = [...runs.values()]
    .filter((it) => it.spec.placement === placement && it.end?.kind === "succeeded" && isBrought(it))
    .sort((a, b) => b.since - a.since)
    .flatMap((it) => it.plan?.resourceIndex ?? []);
  const index = upTo === null ? done[0] : Math.max(...done.filter((it) => it <= upTo));
  return snapshots.find((it) => it.index === index)?.commit ?? null;
}

/** Whether a run did what was approved: one whose clusters newer runs took over ends well, and brought nothing. */
function isBrought({ stages }: RunRecord): boolean {
  const ends = stages.flatMap((it) => [...it.clusters.values()].map(({ end }) => end?.kind));
  return ends.includes("succeeded") && !ends.includes("superseded");
}
