import type { Instant } from "../../../src/core/model/value.ts";
import type { Clock } from "../../../src/shell/reconcile/ports.ts";

/** A clock that stands still until a test moves it. */
export interface HandClock extends Clock {
  /** Moves on, and lets whoever slept until then go on. */
  advance(ms: number): Promise<void>;
  /** Sets the clock back. Who sleeps wakes after as long as they meant to sleep, as timers do. */
  setBack(ms: number): void;
  /** How many sleep. */
  sleepers(): number;
}

export function handClock(now = Date.parse("2026-11-21T12:00:00Z") as Instant): HandClock {
  const sleeping = new Set<{ until: Instant; readonly wake: () => void }>();
  let time = now;
  return {
    now: () => time,
    sleepUntil: (until, signal) =>
      new Promise((resolve) => {
        if (signal.aborted || until <= time) return resolve();
        const sleeper = { until, wake: resolve };
        sleeping.add(sleeper);
        const leave = (): void => {
          if (sleeping.delete(sleeper)) resolve();
        };
        signal.addEventListener("abort", leave, { once: true });
      }),
    async advance(ms) {
      time = (time + ms) as Instant;
      for (const it of [...sleeping].filter(({ until }) => until <= time)) {
        sleeping.delete(it);
        it.wake();
      }
      await settled();
    },
    setBack(ms) {
      time = (time - ms) as Instant;
      for (const it of sleeping) it.until = (it.until - ms) as Instant;
    },
    sleepers: () => sleeping.size,
  };
}

/** Everything that can go on without time or the outside has gone on. */
export const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
