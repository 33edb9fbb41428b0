import { type DurationMs, earliest, type Instant, later, seconds } from "../../core/model/value.ts";
import { withDeadline } from "./deadline-fleet.ts";
import { Fault } from "./fault.ts";
import { newMemory } from "./memory.ts";
import { firstPace, newsDue, paceAfter } from "./news.ts";
import { hasMoved, type PassResult, pass } from "./pass.ts";
import type { Heads, Ports, Receipt } from "./ports.ts";
import type { Settings } from "./settings.ts";
import { isInFlight, minSleep, type Passed, restAfter, type WakeSignal } from "./settle.ts";

/** How the daemon runs, and whom it tells. */
export interface LoopOptions {
  readonly settings: Settings;
  /** How often the branches are looked at when nothing rings. */
  readonly poll: DurationMs;
  /** How often the members are looked at when nothing else is due. */
  readonly resync: DurationMs;
  /** How often they are looked at while something moves there; half a second unless it is given. Who watches need not. */
  readonly memberPoll?: DurationMs;
  /** How long a pass waits for one member; as long as that takes unless it is given. */
  readonly memberDeadline?: DurationMs;
  readonly signal: AbortSignal;
  readonly wakeSignal: WakeSignal;
  readonly report: (result: PassResult) => void;
  /** An action has ended for which its pass did not wait. */
  readonly reportLate?: (receipt: Receipt) => void;
  readonly reportFault: (fault: Fault, retryIn: DurationMs) => void;
}

/** Looks at members this often while something moves there. */
const defaultMemberPoll = seconds(0.5);

/** A process that begins waits so long for members that it has not heard yet, while others of them go on answering. */
const firstMemberDeadline = seconds(30);

/** What goes on in members when the daemon is to end gets so long to come to an end. */
const shutdownGrace = seconds(3);

const firstRetry = seconds(1);
const lastRetry = seconds(60);

/** So many passes may lose their push one after another before the next one waits a moment. */
const maxLostPushes = 5;

/**
 * Passes for ever, each when it is due: when the planner said so, when the repository or a member changed, while members
 * move, or when the resync period is over. Faults of the outside are reported and tried again, ever more slowly.
 */
export async function loop(ports: Ports, options: LoopOptions): Promise<"stopped" | "unsound"> {
  const { memberDeadline, wakeSignal, reportLate = () => {} } = options;
  if (memberDeadline === undefined) return passes(ports, options, () => false);
  const fleet = withDeadline(ports.fleet, {
    clock: ports.clock,
    deadline: memberDeadline,
    firstDeadline: firstMemberDeadline,
    onLate: wakeSignal.wake,
    report: reportLate,
  });
  try {
    return await passes({ ...ports, fleet }, options, () => fleet.isActing());
  } finally {
    await fleet.rest(later(ports.clock.now(), shutdownGrace));
  }
}

async function passes(ports: Ports, options: LoopOptions, isActing: () => boolean): Promise<"stopped" | "unsound"> {
  const { settings, signal, report, reportFault } = options;
  const { clock } = ports;
  const memory = newMemory();
  let pace = firstPace(clock.now());
  let flushAt: Instant | null = null;
  let impatientAt = clock.now();
  let latest = clock.now();
  let retryIn = firstRetry;
  let lost = 0;
  while (!signal.aborted) {
    const woken = options.wakeSignal.next();
    try {
      const began = clock.now();
      // By a clock that was set back, what is due at its earlier moments would come hours late.
      if (began < latest) [pace, flushAt, impatientAt] = [firstPace(began), null, began];
      latest = began;
      // Once every resync period what failed or was refused is tried again at once.
      const isImpatient = began >= impatientAt;
      const patience = isImpatient ? "none" : settings.patience;
      const result = await pass(ports, { ...settings, patience }, memory, flushAt !== null && began >= flushAt);
      report(result);
      retryIn = firstRetry;
      if (result.kind === "unsound") return "unsound";
      if (result.kind === "superseded") {
        // Losing a race is ordinary; losing every one of them is a hub that says no in the wrong words.
        lost += 1;
        if (lost >= maxLostPushes) await clock.sleepUntil(later(clock.now(), firstRetry), signal);
        continue;
      }
      lost = 0;
      if (isImpatient) impatientAt = later(began, options.resync);
      const now = clock.now();
      pace = paceAfter(pace, result, { began, now });
      flushAt = newsDue(pace, result.deferred);
      if (hasMoved(result) && !isActing()) continue;
      await clock.sleepUntil(later(now, restAfter(result)), signal);
      if (hasMoved(result)) continue;
      const next = dueAfter(result, { now, flushAt, options });
      await sleepUntilDue(ports, options, { due: next, woken, seen: memory.heads });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      reportFault(error, retryIn);
      // Members ring too: whatever happens there is no reason to press the repository.
      await clock.sleepUntil(later(clock.now(), firstRetry), signal);
      const rest = later(clock.now(), (retryIn - firstRetry) as DurationMs);
      await clock.sleepUntil(rest, AbortSignal.any([signal, woken]));
      retryIn = Math.min(2 * retryIn, lastRetry) as DurationMs;
    }
  }
  return "stopped";
}

function dueAfter(
  { plan }: Passed,
  { now, flushAt, options }: { readonly now: Instant; readonly flushAt: Instant | null; readonly options: LoopOptions },
): Instant {
  const { resync, memberPoll = defaultMemberPoll } = options;
  const flying = isInFlight(plan.reasons) ? later(now, memberPoll) : null;
  const due = earliest(plan.wakeAt, flying, flushAt, later(now, resync)) ?? now;
  return Math.max(due, later(now, minSleep)) as Instant;
}

/**
 * Sleeps until a pass is due, looking at the branches every poll period: a fetch is cheaper than a pass. Wakes up as well
 * where the clock was set back, by which what is due would be hours away.
 */
async function sleepUntilDue(
  { clock, repository }: Ports,
  { signal, poll }: LoopOptions,
  { due, woken, seen }: { readonly due: Instant; readonly woken: AbortSignal; readonly seen: Heads | null },
): Promise<void> {
  const stop = AbortSignal.any([signal, woken]);
  while (!stop.aborted && clock.now() < due) {
    const asleep = clock.now();
    await clock.sleepUntil(earliest(due, later(asleep, poll)) ?? due, stop);
    if (stop.aborted || clock.now() >= due || clock.now() < asleep) return;
    const heads = await repository.heads();
    if (heads.source !== seen?.source || heads.state !== seen.state) return;
  }
}
