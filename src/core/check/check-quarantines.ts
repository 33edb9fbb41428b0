import type { PlacementRecord } from "../model/ledger.ts";
import type { Plan, World } from "../model/plan.ts";
import type { LedgerDefectCode, PlanDefect } from "../model/plan-defect.ts";
import { defect, placementActionsIn } from "./check-defect.ts";

/**
 * Lists placements in quarantine of which a plan changes anything but their conditions, and quarantines that nothing speaks
 * for (`plan/README.md#d-10`).
 */
export function* checkQuarantines({ ledger, actions }: Plan, world: World): Generator<PlanDefect<LedgerDefectCode>> {
  if (ledger.quarantines.size === 0) return;
  for (const [key, quarantine] of ledger.quarantines) {
    const subject = { kind: "placement", placement: key } as const;
    const isKept = world.ledger.quarantines.get(key) === quarantine && quarantine.commit === ledger.sourceCommit;
    if (!world.unsound.has(key) && !isKept)
      yield defect(
        "QuarantineUnfounded",
        subject,
        `keeps ${key} as recorded although no plan of it failed under this commit`,
      );
    if (!isAsRecorded(ledger.placements.get(key), world.ledger.placements.get(key)))
      yield defect("QuarantineBroken", subject, `changes ${key}, which is in quarantine`);
    for (const [run, { spec }] of ledger.runs)
      if (spec.placement === key && ledger.runs.get(run) !== world.ledger.runs.get(run))
        yield defect("QuarantineBroken", subject, `takes run ${run} further, whose placement ${key} is in quarantine`);
  }
  for (const [cluster, { placement }] of placementActionsIn(actions))
    if (ledger.quarantines.has(placement))
      yield defect(
        "QuarantineBroken",
        { kind: "binding", placement, cluster },
        `acts on ${placement} on ${cluster}, which is in quarantine`,
      );
}

const isAsRecorded = (is: PlacementRecord | undefined, was: PlacementRecord | undefined): boolean =>
  is === was ||
  (is !== undefined &&
    was !== undefined &&
    (Object.keys(was) as (keyof PlacementRecord)[]).every((it) => it === "conditions" || is[it] === was[it]));
