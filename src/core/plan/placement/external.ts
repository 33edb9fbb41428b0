import { revised, sameList } from "../../model/identity.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import type { RunRecord } from "../../model/update-run.ts";
import { type Digest, earliest, type Instant, type PlacementKey } from "../../model/value.ts";
import { contentDigest } from "../../render/resource-snapshot.ts";
import type { Selection } from "../../render/select.ts";
import { readinessChangesAt } from "../../rollout/readiness.ts";
import type { PlanContext } from "../moves/context.ts";
import { unmoved } from "../moves/progress.ts";
import { readinessIn } from "../moves/readiness.ts";
import type { Selected } from "../runs/run-version.ts";
import { advanceRuns } from "../runs/runs.ts";
import { recordsOf } from "../runs/runs-of.ts";
import { finished, type PlacementResult, still } from "./result.ts";
import { callOffRemovals } from "./returns.ts";
import type { Scheduled } from "./schedule.ts";

/** No run moves anything, now or later, and no run came or went. */
const isAtRest = (key: PlacementKey, runs: readonly RunRecord[], { ledger }: PlanContext): boolean =>
  runs.every((it) => it.end !== null) && sameList(runs, recordsOf(ledger, key));

/** When what is said of some cluster turns by time alone. */
const turnOf = (record: PlacementRecord, context: PlanContext): Instant | null =>
  [...record.bindings.values()].reduce<Instant | null>(
    (at, it) => earliest(at, readinessChangesAt(readinessIn(context, record, it))),
    null,
  );

/** What is selected now, where nobody carries it and nothing brings it; see {@link PlacementRecord.unrolled}. */
function unrolledHash(
  { bindings, resourceSnapshots }: PlacementRecord,
  selection: Selection,
  runs: readonly RunRecord[],
): Digest | null {
  if (selection.kind !== "selected" || bindings.size === 0) return null;
  const carried = [...bindings.values()].flatMap(({ target }) => target?.resourceIndex ?? []);
  // A run that nobody has started brings nothing.
  const started = runs.filter(({ spec, end }) => end === null && spec.state !== "Initialize");
  const coming = started.flatMap(({ plan }) => plan?.resourceIndex ?? []);
  const indexes = new Set([...carried, ...coming]);
  const hash = contentDigest(selection.resources);
  return resourceSnapshots.some((it) => it.hash === hash && indexes.has(it.index)) ? null : hash;
}

/**
 * Decides one External placement: the scheduler says where it goes, and nothing moves but by its update runs
 * (`rollout/README.md#external` and `#staged-runs`). `scheduled` says where, under the spec as accepted now.
 */
export function placeExternal(
  before: PlacementRecord | null,
  { record: placed, ...scheduled }: Scheduled,
  selected: Selected,
  context: PlanContext,
): PlacementResult {
  const here = callOffRemovals(unmoved(placed), context);
  const moved = advanceRuns(placed.key, here, selected, context);
  const { runs, reasons } = moved;
  const progress = moved.progress ?? here;
  const { selection } = selected;
  const record = revised(progress.record, { unrolled: unrolledHash(progress.record, selection, runs) });
  const rollout = still({ ...progress, record });
  const touched = new Set(runs.flatMap(({ stages }) => stages.flatMap((it) => [...it.clusters.keys()])));
  // Whoever waited for a budget when the placement became External waits for a run now.
  const heldBack = new Set([...rollout.heldBack].filter((it) => !touched.has(it)));
  const result = finished(before, { ...rollout, heldBack, reasons }, runs, context);
  const turns = turnOf(record, context);
  const isStill = record === before && isAtRest(record.key, runs, context);
  const others = { reasons, wakeAt: turns };
  return {
    ...result,
    reasons: [...scheduled.reasons, ...result.reasons],
    wakeAt: earliest(scheduled.wakeAt, moved.wakeAt, turns, result.wakeAt),
    standstill: isStill ? { selection, isSettled: true, scheduled, others } : null,
  };
}
