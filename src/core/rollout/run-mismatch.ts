import { type Json, sameJson } from "../model/json.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { RunFailure, RunPlan, RunRecord } from "../model/update-run.ts";
import { wanted } from "./run-plan.ts";

/** Why a run cannot go on, and what to do. */
export interface Mismatch {
  readonly code: RunFailure;
  readonly message: string;
}

/**
 * Tells whether the placement still is what the run was planned for; null when it is (`rollout/README.md#b-22`,
 * `#what-ends-a-run`).
 *
 * Only what would make the approved plan another one counts: the policy, its count, the apply strategy, and that the
 * placement is there and External. New content, edited overrides and strategies, joins, leaves, relabels and
 * Scheduled=False do not. A policy that came back to what it was is the same one, whatever its snapshot's index.
 */
export function mismatchOf({ spec }: RunRecord, plan: RunPlan, placement: PlacementRecord | null): Mismatch | null {
  const name = spec.placement;
  if (placement === null || placement.deleting !== null)
    return { code: "PlacementNotFound", message: `placement ${name} is gone, or being removed; ${leftAsIs}` };
  if (placement.spec.strategy.type !== "External") {
    const message = `placement ${name} is no longer External; ${leftAsIs}`;
    return { code: "NotExternal", message: `${message}; set it back, then ${anew}` };
  }
  const policy = placement.policySnapshots.at(-1);
  if (policy === undefined || policy.hash !== plan.policyHash)
    return { code: "PolicyChanged", message: `the policy of placement ${name} changed; ${leftAsIs}; ${anew}` };
  const count = wanted(policy);
  if (count !== null && count !== plan.clusterCount) {
    const message = `placement ${name} asks for ${count} clusters, the plan was made for ${plan.clusterCount}`;
    return { code: "CountChanged", message: `${message}; ${leftAsIs}; ${anew}` };
  }
  if (!sameJson(placement.spec.strategy.applyStrategy as unknown as Json, plan.applyStrategy as unknown as Json)) {
    const message = `the apply strategy of placement ${name} changed; ${leftAsIs}; ${anew}`;
    return { code: "ApplyStrategyChanged", message };
  }
  return null;
}

const leftAsIs = "clusters keep what they have";
const anew = "create a new run to go on (flotilla run create)";
