import { remembered, sameMap } from "../model/identity.ts";
import type { Intent } from "../model/intent.ts";
import type { Ledger } from "../model/ledger.ts";
import type { Reason } from "../model/reason.ts";
import type { RunRecord } from "../model/update-run.ts";
import { compareText, earliest, type Instant, type PlacementKey, type RunKey } from "../model/value.ts";
import { selectionRefused } from "../render/pick.ts";
import type { PlanContext } from "./moves/context.ts";
import { unmoved } from "./moves/progress.ts";
import type { PlacementResult } from "./placement/result.ts";
import { advanceRuns } from "./runs/runs.ts";

/** The update runs of all placements. */
export interface AllRuns {
  readonly runs: Ledger["runs"];
  readonly reasons: readonly Reason[];
  readonly wakeAt: Instant | null;
}

/**
 * Gathers the runs that were decided with their placements, and decides those whose placement is not External, is on its
 * way out, or is not there: they move nothing.
 */
export function allRuns(results: ReadonlyMap<PlacementKey, PlacementResult>, context: PlanContext): AllRuns {
  const { ledger, world } = context;
  const keys = new Set([...placementsWithRuns(world.intent.runs), ...placementsWithRuns(ledger.runs)]);
  const runs: RunRecord[] = [];
  const reasons: Reason[] = [];
  let wakeAt: Instant | null = null;
  for (const key of [...keys].sort(compareText)) {
    const it = results.get(key);
    if (it !== undefined && it.runs !== null) {
      runs.push(...it.runs);
      continue;
    }
    const record = it?.record ?? null;
    const progress = record === null || record.deleting !== null ? null : unmoved(record);
    const result = advanceRuns(key, progress, { selection: notExternal, snapshotsNow: () => [] }, context);
    runs.push(...result.runs);
    reasons.push(...result.reasons);
    wakeAt = earliest(wakeAt, result.wakeAt);
  }
  const after = new Map(runs.sort((a, b) => compareText(a.key, b.key)).map((it) => [it.key, it]));
  return { runs: sameMap(after, ledger.runs) ? ledger.runs : after, reasons, wakeAt };
}

/** A placement that is not External rolls out nothing by runs, whatever it selects. */
const notExternal = selectionRefused("the placement is not External");

const placementsWithRuns = remembered(
  (runs: Intent["runs"] | Ledger["runs"]): ReadonlySet<PlacementKey> =>
    new Set(
      [...(runs as ReadonlyMap<RunKey, { readonly spec: RunRecord["spec"] }>).values()].map((it) => it.spec.placement),
    ),
);
