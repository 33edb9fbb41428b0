import { type DurationMs, earliest, type Instant, later, seconds } from "../../core/model/value.ts";
import { withDeadline } from "./deadline-fleet.ts";
import { Fault } from "./fault.ts";
import { newMemory } from "./memory.ts";
import { firstPace, newsDue, paceAfter } from "./news.ts";
import { hasMoved, type Passed, type PassResult, pass } from "./pass.ts";
import type { Heads, Ports, Receipt, Settings } from "./ports.ts";
import { isInFlight, minSleep, restAfter, type WakeSignal } from "./settle.ts";

export interface LoopOptions {
  readonly settings: Settings;
  /** How often the branches are polled when no wake signal comes. */
  readonly poll: DurationMs;
  /** How often the members are observed when nothing else is due. */
  readonly resync: DurationMs;
  /** How often they are observed while a rollout is in progress; half a second by default. A fleet that watches needs less. */
  readonly memberPoll?: DurationMs;
  /** How long a pass waits for one member; unlimited by default. */
  readonly memberDeadline?: DurationMs;
  readonly signal: AbortSignal;
  readonly wakeSignal: WakeSignal;
  readonly report: (result: PassResult) => void;
  /** An action has ended after its pass. */
  readonly reportLate?: (receipt: Receipt) => void;
  readonly reportFault: (fault: Fault, retryIn: DurationMs) => void;
}

/** How often members are observed while something is in progress. */
const defaultMemberPoll = seconds(0.5);

/** How long a process waits at start for members that have not answered yet, while others keep answering. */
const firstMemberDeadline = seconds(30);

/** How long running actions may take to end when the daemon stops. */
const shutdownGrace = seconds(3);

const firstRetry = seconds(1);
const lastRetry = seconds(60);

/** After so many lost pushes in a row, the next pass waits a moment. */
const maxLostPushes = 5;

/**
 * Runs passes for ever, each when it is due: at the planner's time, when the repository or a member changed, while a rollout
 * is in progress, or when the resync period is over. Faults are reported and retried with back-off.
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
      // The clock was set back: moments from before would be due hours late.
      if (began < latest) [pace, flushAt, impatientAt] = [firstPace(began), null, began];
      latest = began;
      // Once every resync period, whatever failed or was refused is retried at once.
      const isImpatient = began >= impatientAt;
      const patience = isImpatient ? "none" : settings.patience;
      const result = await pass(ports, { ...settings, patience }, memory, flushAt !== null && began >= flushAt);
      report(result);
      retryIn = firstRetry;
      if (result.kind === "unsound") return "unsound";
      if (result.kind === "superseded") {
        // Losing a race is normal; losing every one means that the hub refuses with an unknown message.
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
      // Members send wake signals too, which must not speed up retries of the repository.
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

/** Sleeps until a pass is due, polling the branches meanwhile; also wakes up when the clock was set back. */
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
