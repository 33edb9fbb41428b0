import type { Ledger } from "../model/ledger.ts";
import type { Reason } from "../model/plan.ts";
import type { PlanContext } from "./context.ts";

/**
 * Members whose inventory knows nothing of a placement that they carried by the record: somebody deleted it
 * (`apply/README.md#f-43`). Said in the pass that hears of it, or decides about the placement: only records that it
 * changed are looked at.
 */
export function lostInventories(ledger: Ledger, { world, voices }: PlanContext): readonly Reason[] {
  const reasons: Reason[] = [];
  for (const [placement, record] of ledger.placements) {
    const before = world.ledger.placements.get(placement);
    if (before === undefined || before === record) continue;
    for (const { cluster, facts } of before.bindings.values()) {
      const inventory = voices.get(cluster)?.inventory;
      if (facts?.applied !== "applied" || inventory === undefined || inventory.placements.has(placement)) continue;
      reasons.push({ kind: "inventoryLost", cluster, placement });
    }
  }
  return reasons;
}
