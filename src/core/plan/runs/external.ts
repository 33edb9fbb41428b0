import type { PlacementRecord } from "../../model/ledger.ts";
import type { Placement } from "../../model/placement.ts";
import { type Digest, earliest, type Instant, type PlacementKey } from "../../model/value.ts";
import { contentDigest } from "../../render/resource-snapshot.ts";
import type { Selection } from "../../render/select.ts";
import { turnsAt } from "../../rollout/readiness.ts";
import type { PlanContext } from "../context.ts";
import { finished, type Placed, still } from "../finish.ts";
import { doomedByRuns } from "../guard/run-dooms.ts";
import { hasBeenHeard } from "../hear.ts";
import { revised, sameList } from "../identity.ts";
import { remember } from "../recall.ts";
import { withCallOffs } from "../transition.ts";
import { readinessIn } from "../when.ts";
import { decideWhere } from "../where.ts";
import type { Selected } from "./run-version.ts";
import { type Course, decideRuns } from "./runs.ts";
import { recordsOf } from "./runs-of.ts";

/** No run moves anything, now or later, and no run came or went. */
const isAtRest = (key: PlacementKey, { runs }: Course, { ledger }: PlanContext): boolean =>
  runs.every((it) => it.end !== null) && sameList(runs, recordsOf(ledger, key));

/** When what is said of some cluster turns by time alone. */
const turnOf = (record: PlacementRecord, context: PlanContext): Instant | null =>
  [...record.bindings.values()].reduce<Instant | null>(
    (at, it) => earliest(at, turnsAt(readinessIn(context, record, it))),
    null,
  );

/** What is selected now, where nobody carries it and nothing brings it; see {@link PlacementRecord.unrolled}. */
function unrolledHash(
  { bindings, resourceSnapshots }: PlacementRecord,
  selection: Selection,
  runs: Course["runs"],
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

/** An External placement as this pass found it. */
export interface ExternalScene extends Selected {
  readonly placement: Placement;
  readonly before: PlacementRecord | null;
  /** Under the spec as accepted now. */
  readonly accepted: PlacementRecord;
}

/**
 * Decides one External placement: the scheduler says where it goes, and nothing moves but by its update runs
 * (`rollout/README.md#external` and `#staged-runs`).
 */
export function placeExternal(
  { placement, before, accepted, selection, snapshotsNow }: ExternalScene,
  context: PlanContext,
): Placed {
  const where = decideWhere(revised(accepted, { selectionError: null }), context);
  const here = withCallOffs(where.record, context);
  const course = decideRuns(accepted.key, { record: here, selection, snapshotsNow }, context);
  const moved = course.record ?? here;
  const record = revised(moved, { unrolled: unrolledHash(moved, selection, course.runs) });
  const rest = still(record, context);
  const touched = new Set(course.runs.flatMap(({ stages }) => stages.flatMap((it) => [...it.clusters.keys()])));
  const placed = finished(before, record, context, {
    ...rest,
    // Whoever waited for a budget when the placement became External waits for a run now.
    heldBack: new Set([...rest.heldBack].filter((it) => !touched.has(it))),
    runs: course.runs,
    rendered: course.rendered,
    dooms: course.dooms,
    reasons: course.reasons,
    doomed: (cluster) => {
      const binding = record.bindings.get(cluster);
      return binding === undefined ? [] : doomedByRuns(binding, course.runs, record, context);
    },
  });
  const turns = turnOf(record, context);
  if (record === before && placed.record !== null && isAtRest(record.key, course, context)) {
    const told = placed.reasons(context.isHeld);
    const when = { ...rest, wakeAt: turns, isSettled: true };
    remember(placed.record, { placement, selection, remarks: [], where, when, told }, context);
    hasBeenHeard(placed.record, context);
  }
  return {
    ...placed,
    runs: course.runs,
    reasons: (isHeld) => [...where.reasons, ...placed.reasons(isHeld)],
    wakeAt: earliest(where.wakeAt, course.wakeAt, turns, placed.wakeAt),
  };
}
