import { disturbedPlacements } from "../apply/disturbed.ts";
import { backoffTimes } from "../apply/fight.ts";
import { remembered } from "../model/identity.ts";
import { isRetryPending } from "../model/inventory.ts";
import type { World } from "../model/plan.ts";
import { earliest, type Instant } from "../model/value.ts";
import type { Reached } from "./facts/members.ts";

/** When the first failed write may be tried again, or a fight over an object turns; null when none waits. */
export function nextRetry({ observed, now }: World): Instant | null {
  let next: Instant | null = null;
  for (const seen of observed.values()) if (seen.kind === "reached") next = earliest(next, retryOn(seen, now));
  return next;
}

/** The same of one member. */
export function retryOn(member: Reached, now: Instant): Instant | null {
  let next: Instant | null = null;
  for (const at of retriesIn(member)) if (isRetryPending(at, now)) next = earliest(next, at);
  return next;
}

const retriesIn = remembered((member: Reached): readonly Instant[] => {
  const moments = new Set<Instant>();
  for (const placement of disturbedPlacements(member))
    for (const { outcome, repairs } of member.inventory.placements.get(placement)?.entries.values() ?? []) {
      if (outcome.kind === "failed") moments.add(outcome.retryAt);
      if (repairs !== undefined) for (const it of backoffTimes(repairs)) moments.add(it);
    }
  return [...moments];
});
