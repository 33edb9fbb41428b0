import type { Binding } from "../../model/binding.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import { type Readiness, readinessOf } from "../../rollout/readiness.ts";
import type { PlanContext } from "./context.ts";

/** How a binding is, as its member's silence, its deadlines and its facts have it. */
export function readinessIn({ world, fleetView }: PlanContext, record: PlacementRecord, binding: Binding): Readiness {
  const { strategy } = record.spec;
  const view = fleetView.get(binding.cluster);
  return readinessOf(binding, {
    contact: view?.contactFailure != null ? "unreachable" : view?.observation != null ? "reached" : "unasked",
    progressDeadline: strategy.progressDeadline,
    unavailablePeriod: strategy.rollingUpdate.unavailablePeriod,
    now: world.now,
  });
}
