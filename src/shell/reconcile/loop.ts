import { type DurationMs, earliest, type Instant, later, seconds } from "../../core/model/value.ts";
import { Fault } from "./fault.ts";
import { freshMemory } from "./memory.ts";
import { hasMoved, type PassResult, pass } from "./pass.ts";
import type { Heads, Ports } from "./ports.ts";
import type { Settings } from "./settings.ts";
import { blink, isInFlight } from "./settle.ts";

/** How the daemon runs, and whom it tells. */
export interface LoopOptions {
  readonly settings: Settings;
  /** How often the branches are looked at when nothing rings. */
  readonly poll: DurationMs;
  /** How often the members are looked at when nothing else is due. */
  readonly resync: DurationMs;
  readonly signal: AbortSignal;
  readonly doorbell: Doorbell;
  readonly report: (result: PassResult) => void;
  readonly reportFault: (fault: Fault, retryIn: DurationMs) => void;
}

/** Something may have changed; never says what. */
export interface Doorbell {
  /** A signal that aborts at the next ring. Rings between two calls are not lost. */
  next(): AbortSignal;
}

/** Looks at members this often while something moves there. */
const glance = seconds(0.5);

/** News that decides nothing is committed at most this often, and never more than a tenth of the time is spent on it. */
const newsInterval = seconds(10);

const firstRetry = seconds(1);
const lastRetry = seconds(60);

/**
 * Passes for ever, each when it is due: when the planner said so, when the repository changed, while members move, or
 * when the resync period is over. Faults of the outside are reported and tried again, ever more slowly.
 */
export async function loop(ports: Ports, options: LoopOptions): Promise<"stopped" | "unsound"> {
  const { settings, signal, report, reportFault } = options;
  const memory = freshMemory();
  let flushAfter = later(ports.clock.now(), newsInterval);
  let impatientAt = ports.clock.now();
  let retryIn = firstRetry;
  while (!signal.aborted) {
    const bell = options.doorbell.next();
    try {
      const began = ports.clock.now();
      // Once every resync period what failed or was refused is tried again at once.
      const isImpatient = began >= impatientAt;
      if (isImpatient) impatientAt = later(began, options.resync);
      const patience = isImpatient ? "none" : settings.patience;
      const result = await pass(ports, { ...settings, patience }, memory, began >= flushAfter);
      report(result);
      retryIn = firstRetry;
      if (result.kind === "unsound") return "unsound";
      if (result.kind === "superseded") continue;
      const now = ports.clock.now();
      if (result.committed !== null) flushAfter = later(now, Math.max(newsInterval, 10 * (now - began)) as DurationMs);
      if (hasMoved(result)) continue;
      const next = dueAfter(result, { now, flushAfter, resync: options.resync });
      await sleepUntilDue(ports, options, { due: next, bell, seen: memory.heads });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      reportFault(error, retryIn);
      await ports.clock.sleepUntil(later(ports.clock.now(), retryIn), AbortSignal.any([signal, bell]));
      retryIn = Math.min(2 * retryIn, lastRetry) as DurationMs;
    }
  }
  return "stopped";
}

function dueAfter(
  { plan, deferred }: Extract<PassResult, { kind: "passed" }>,
  { now, flushAfter, resync }: { readonly now: Instant; readonly flushAfter: Instant; readonly resync: DurationMs },
): Instant {
  const flying = isInFlight(plan.reasons) ? later(now, glance) : null;
  const news = deferred ? flushAfter : null;
  const due = earliest(plan.wakeAt, flying, news, later(now, resync)) ?? now;
  return Math.max(due, later(now, blink)) as Instant;
}

/** Sleeps until a pass is due, looking at the branches every poll period: a fetch is cheaper than a pass. */
async function sleepUntilDue(
  { clock, repository }: Ports,
  { signal, poll }: LoopOptions,
  { due, bell, seen }: { readonly due: Instant; readonly bell: AbortSignal; readonly seen: Heads | null },
): Promise<void> {
  const stop = AbortSignal.any([signal, bell]);
  while (!stop.aborted && clock.now() < due) {
    await clock.sleepUntil(earliest(due, later(clock.now(), poll)) ?? due, stop);
    if (stop.aborted || clock.now() >= due) return;
    const heads = await repository.heads();
    if (heads.source !== seen?.source || heads.state !== seen.state) return;
  }
}
