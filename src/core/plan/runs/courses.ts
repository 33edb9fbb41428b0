import type { Intent } from "../../model/intent.ts";
import type { Ledger } from "../../model/ledger.ts";
import { remembered } from "../../model/memo.ts";
import type { Reason } from "../../model/plan.ts";
import type { RunRecord } from "../../model/update-run.ts";
import { compareText, earliest, type Instant, type PlacementKey, type RunKey } from "../../model/value.ts";
import type { PlanContext } from "../context.ts";
import type { Placed } from "../finish.ts";
import { sameMap } from "../identity.ts";
import { decideRuns } from "./runs.ts";

/** Every update run, decided. */
export interface Courses {
  readonly runs: Ledger["runs"];
  readonly reasons: readonly Reason[];
  readonly wakeAt: Instant | null;
}

/**
 * Gathers the runs that were decided with their placements, and decides those whose placement is not External, is on its
 * way out, or is not there.
 */
export function coursesOf(placed: ReadonlyMap<PlacementKey, Placed>, context: PlanContext): Courses {
  const { ledger, world } = context;
  const keys = new Set([...placementsWithRuns(world.intent.runs), ...placementsWithRuns(ledger.runs)]);
  const runs: RunRecord[] = [];
  const reasons: Reason[] = [];
  let wakeAt: Instant | null = null;
  for (const key of [...keys].sort(compareText)) {
    const it = placed.get(key);
    if (it !== undefined && it.runs !== null) {
      runs.push(...it.runs);
      continue;
    }
    const record = it?.record ?? null;
    const course = decideRuns(
      key,
      { record: record?.deleting === null ? record : null, selection: nothing, snapshotsNow: () => [] },
      context,
    );
    runs.push(...course.runs);
    reasons.push(...course.reasons);
    wakeAt = earliest(wakeAt, course.wakeAt);
  }
  const after = new Map(runs.sort((a, b) => compareText(a.key, b.key)).map((it) => [it.key, it]));
  return { runs: sameMap(after, ledger.runs) ? ledger.runs : after, reasons, wakeAt };
}

/** A placement that is not External rolls out nothing by runs, whatever it selects. */
const nothing = { kind: "refused", message: "the placement is not External" } as const;

const placementsWithRuns = remembered(
  (runs: Intent["runs"] | Ledger["runs"]): ReadonlySet<PlacementKey> =>
    new Set(
      [...(runs as ReadonlyMap<RunKey, { readonly spec: RunRecord["spec"] }>).values()].map((it) => it.spec.placement),
    ),
);
