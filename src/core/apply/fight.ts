import type { Repairs } from "../model/inventory.ts";
import { type DurationMs, type Instant, later, minutes, seconds } from "../model/value.ts";

/** So many repairs within {@link window} are a fight, until one lasts that long (`apply/README.md#f-41`). */
const fightFrom = 3;
const window = minutes(10);

const firstPause = seconds(5);
const longestPause = minutes(5);

/** The repairs of an object, after one more. */
export function afterRepair(before: Repairs | undefined, now: Instant): Repairs {
  if (before === undefined || isOver(before, now)) return { count: 1, since: now, last: now };
  const isEarly = before.count < fightFrom && now >= later(before.since, window);
  // The first of two repairs is too old to count.
  if (isEarly) return { count: 2, since: before.last, last: now };
  return { count: before.count + 1, since: before.since, last: now };
}

/** The same after a write that was no repair. */
export const afterOtherWrite = (before: Repairs | undefined, now: Instant): Repairs | undefined =>
  before === undefined || isOver(before, now) ? undefined : before;

const isOver = ({ last }: Repairs, now: Instant): boolean => now >= later(last, window);

/** Whether somebody keeps changing the object back. */
export const isFight = (repairs: Repairs | undefined, now: Instant): repairs is Repairs =>
  repairs !== undefined && repairs.count >= fightFrom && !isOver(repairs, now);

/**
 * Whether the next repair has to wait: in a fight, for 5, 10, 20 … seconds after the last one, at most 5 minutes. Only
 * another version is applied at once. A clock that was set back delays nothing.
 */
export const isBackingOff = (repairs: Repairs | undefined, now: Instant): boolean =>
  isFight(repairs, now) && now >= repairs.last && now < nextRepair(repairs);

const nextRepair = ({ count, last }: Repairs): Instant =>
  later(last, Math.min(firstPause * 2 ** Math.min(count - fightFrom, 30), longestPause) as DurationMs);

/** When time alone changes something: the object may be repaired again, or the fight is over. */
export const backoffTimes = (repairs: Repairs): readonly Instant[] =>
  repairs.count < fightFrom ? [] : [nextRepair(repairs), later(repairs.last, window)];

/** When the fight is over if nothing more happens. */
export const fightEnd = ({ last }: Repairs): Instant => later(last, window);

/** The number of repairs, rounded down to 3, 6, 12, 24 …, so that it changes ever more rarely. */
export const roundedRepairs = (count: number): number =>
  fightFrom * 2 ** Math.floor(Math.log2(Math.max(count / fightFrom, 1)));
