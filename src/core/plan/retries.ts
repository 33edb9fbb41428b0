import { backoffTimes } from "../apply/fight.ts";
import { type Inventory, isRetryPending } from "../model/inventory.ts";
import { remembered } from "../model/memo.ts";
import type { World } from "../model/plan.ts";
import { earliest, type Instant } from "../model/value.ts";

/** When the first failed write may be tried again, or a fight over an object turns; null when none waits. */
export function nextRetry({ observed, now }: World): Instant | null {
  let next: Instant | null = null;
  for (const seen of observed.values())
    if (seen.kind === "reached") next = earliest(next, retryOn(seen.inventory, now));
  return next;
}

/** The same of one member. */
export function retryOn(inventory: Inventory, now: Instant): Instant | null {
  let next: Instant | null = null;
  for (const at of retriesIn(inventory)) if (isRetryPending(at, now)) next = earliest(next, at);
  return next;
}

const retriesIn = remembered(({ placements }: Inventory): readonly Instant[] => {
  const moments = new Set<Instant>();
  for (const { entries } of placements.values())
    for (const { outcome, repairs } of entries.values()) {
      if (outcome.kind === "failed") moments.add(outcome.retryAt);
      if (repairs !== undefined) for (const it of backoffTimes(repairs)) moments.add(it);
    }
  return [...moments];
});
