import { type DurationMs, type Instant, later, seconds } from "../../core/model/value.ts";
import type { News, Passed } from "./pass.ts";

/** When news is committed by a process that goes on: final news soon, routine news gathered for longer. */
export interface NewsPace {
  readonly finalAfter: Instant;
  readonly routineAfter: Instant;
  /** How long final news waits after the commit before it, if that took no time. */
  readonly finalInterval: DurationMs;
  readonly committedAt: Instant;
}

/** Routine news is committed at most this often, and no news takes more than a tenth of the time. */
const routineInterval = seconds(10);

/** Final news is on the state branch within a second of the pass that heard it. */
const shortestFinal = seconds(0.8);

/** A fleet that had no news for so long is told of the next one at once again. */
const calm = seconds(60);

/** The pace of a process that begins, or whose clock was set back: nothing was committed yet that another would follow. */
export const firstPace = (now: Instant): NewsPace => ({
  finalAfter: now,
  routineAfter: later(now, routineInterval),
  finalInterval: shortestFinal,
  committedAt: now,
});

/**
 * The pace after a pass. Something that comes up and fails again and again would be final news each time, and make a
 * commit each second: the interval doubles with every commit of nothing but news, up to that of routine news, and is
 * short again after a decision or a calm minute.
 */
export function paceAfter(
  pace: NewsPace,
  { committed, plan }: Passed,
  { began, now }: { readonly began: Instant; readonly now: Instant },
): NewsPace {
  if (committed === null) return pace;
  const isFresh = plan.decides || began - pace.committedAt >= calm;
  const finalInterval = isFresh ? shortestFinal : (Math.min(2 * pace.finalInterval, routineInterval) as DurationMs);
  const share = 10 * (now - began);
  return {
    finalAfter: later(now, Math.max(finalInterval, share) as DurationMs),
    routineAfter: later(now, Math.max(routineInterval, share) as DurationMs),
    finalInterval,
    committedAt: now,
  };
}

/** When the news that a pass left is due to be committed; null when it left none. */
export function newsDue(pace: NewsPace, news: News | null): Instant | null {
  if (news === null) return null;
  return news === "final" ? pace.finalAfter : pace.routineAfter;
}
