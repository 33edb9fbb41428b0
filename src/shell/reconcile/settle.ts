import type { PlanDefect } from "../../core/model/plan-defect.ts";
import type { Reason } from "../../core/model/reason.ts";
import { type DurationMs, earliest, type Instant, later, seconds } from "../../core/model/value.ts";
import { weightOf } from "../../core/report/reason-text.ts";
import type { TaskEnd } from "../../core/rollout/tasks/task-type.ts";
import { endOfWait } from "../../core/rollout/tasks/tasks.ts";
import type { Memory } from "./memory.ts";
import { firstPace, newsDue, paceAfter } from "./news.ts";
import { hasMoved, type Passed, type PassResult, pass } from "./pass.ts";
import type { Ports, Settings } from "./ports.ts";

export type Settled =
  | {
      readonly kind: "settled";
      readonly last: Passed;
      readonly passes: number;
      readonly commits: number;
      /** The wait ended before everything was ready. */
      readonly ranOut: boolean;
    }
  | { readonly kind: "unsound"; readonly faults: readonly PlanDefect[] }
  /** After so many passes there was still something to do: we loop, or somebody reverts our changes. */
  | { readonly kind: "restless"; readonly last: Passed | null; readonly passes: number }
  /** There was still something to do when the signal came. */
  | { readonly kind: "stopped"; readonly last: Passed | null; readonly passes: number };

interface SettleOptions {
  readonly settings: Settings;
  /** How long to sleep through timers and health; null: not at all. */
  readonly wait: DurationMs | null;
  readonly signal: AbortSignal;
  /** Ends a sleep when a member or the repository may have changed; without one, a run that waits polls every second. */
  readonly wakeSignal?: WakeSignal;
  readonly report: (result: PassResult) => void;
}

/** Passes of one run that may follow each other without a pause: a rollout may take its clusters one by one. */
const maxPasses = (clusters: number): number => 50 + 2 * clusters;

/** How often a run that waits observes members in progress. */
const memberPoll = seconds(1);

/** The shortest sleep: avoids spinning when a due moment changes nothing. */
export const minSleep = seconds(0.1);

/** Bounds of the rest between passes: wake signals are batched, and at most half of the time is spent on passes. */
const minRest = seconds(0.02);
const maxRest = seconds(5);

/** The next pass begins after a rest as long as this pass took, not counting waits. */
export const restAfter = ({ spent }: Passed): DurationMs =>
  Math.min(Math.max(spent.decide + spent.commit, minRest), maxRest) as DurationMs;

/**
 * Repeats passes until one neither commits nor acts (`src/README.md#one-pass`), then commits the news that is left; a
 * run that waits does both as the daemon does. What failed is tried at once in the first pass only.
 */
export async function runUntilSettled(ports: Ports, memory: Memory, options: SettleOptions): Promise<Settled> {
  const { wait, signal, wakeSignal, report } = options;
  const deadline = wait === null ? null : later(ports.clock.now(), wait);
  let settings = options.settings;
  let pace = firstPace(ports.clock.now());
  let flushAt: Instant | null = null;
  let latest = ports.clock.now();
  let isEnding = false;
  let last: Passed | null = null;
  let commits = 0;
  let passes = 0;
  let most = maxPasses(0);
  for (let busy = 0; busy < most; ) {
    if (signal.aborted) return { kind: "stopped", last, passes };
    const woken = wakeSignal?.next() ?? signal;
    const began = ports.clock.now();
    if (began < latest) [pace, flushAt] = [firstPace(began), null];
    latest = began;
    const isNewsDue: boolean = flushAt !== null && began >= flushAt;
    const result = await pass(ports, settings, memory, isEnding || isNewsDue);
    passes++;
    report(result);
    if (result.kind === "unsound") return result;
    isEnding = false;
    busy++;
    if (result.kind === "superseded") continue;
    settings = { ...settings, patience: "retryAt" };
    last = result;
    most = maxPasses(result.intent.clusters.size);
    if (result.committed !== null) commits++;
    const now = ports.clock.now();
    pace = paceAfter(pace, result, { began, now });
    flushAt = wait === null ? null : newsDue(pace, result.deferred);
    if (hasMoved(result)) continue;
    const next = wakeOf(result, { now, deadline, flushAt });
    if (next !== null) {
      await ports.clock.sleepUntil(later(now, restAfter(result)), signal);
      await ports.clock.sleepUntil(next, AbortSignal.any([signal, woken]));
      busy = 0;
    } else if (result.deferred !== null) isEnding = true;
    else return { kind: "settled", last, passes, commits, ranOut: isLate(result, deadline) };
  }
  return { kind: "restless", last, passes };
}

/** When a run that waits looks again; null when it need not or may not. */
function wakeOf(
  { plan }: Passed,
  {
    now,
    deadline,
    flushAt,
  }: { readonly now: Instant; readonly deadline: Instant | null; readonly flushAt: Instant | null },
): Instant | null {
  if (deadline === null || now >= deadline || plan.refusal !== null) return null;
  const flying = isInFlight(plan.reasons) ? later(now, memberPoll) : null;
  const next = earliest(plan.wakeAt, flying);
  if (next === null || next > deadline) return flying === null ? null : deadline;
  return Math.max(earliest(next, flushAt) ?? next, later(now, minSleep)) as Instant;
}

/** Whether a decision is still being carried out on members, or anything waits for what they say. */
export const isInFlight = (reasons: readonly Reason[]): boolean =>
  reasons.some(
    (it) =>
      it.kind === "applying" ||
      it.kind === "awaitingHealth" ||
      (it.kind === "leaving" && !it.stuck) ||
      taskWaitIn(it)?.isInFlight === true,
  );

const isLate = ({ plan }: Passed, deadline: Instant | null): boolean =>
  deadline !== null && plan.reasons.some((it) => weightOf(it) === "waiting" && canBeLate(it));

/** Whether the limit can run out for it: a person has all the time they want. */
const canBeLate = (reason: Reason): boolean =>
  reason.kind !== "confirmationNeeded" && taskWaitIn(reason)?.canBeLate !== false;

/** What a run of the program does about the wait of a stage. */
interface TaskWaiting {
  /** Members are asked until it ends. */
  readonly isInFlight: boolean;
  /** The limit runs out while it lasts. */
  readonly canBeLate: boolean;
}

const taskWaiting: Readonly<Record<TaskEnd, TaskWaiting>> = {
  people: { isInFlight: false, canBeLate: false },
  time: { isInFlight: false, canBeLate: true },
  members: { isInFlight: true, canBeLate: true },
};

const taskWaitIn = (reason: Reason): TaskWaiting | null =>
  reason.kind === "run" && reason.wait.kind === "task" ? taskWaiting[endOfWait(reason.wait)] : null;

/** Something may have changed; it does not say what. */
export interface WakeSignal {
  /** A signal that aborts at the next wake-up. Wake-ups between two calls are not lost. */
  next(): AbortSignal;
  readonly wake: () => void;
}

/** A new wake signal. Several wake-ups between two calls count as one. */
export function newWakeSignal(): WakeSignal {
  let woken = new AbortController();
  return {
    wake: () => woken.abort(),
    next: () => {
      if (woken.signal.aborted) woken = new AbortController();
      return woken.signal;
    },
  };
}
