import type { Reason } from "../../core/model/plan.ts";
import { type DurationMs, earliest, type Instant, later, seconds } from "../../core/model/value.ts";
import { weightOf } from "../../core/plan/explain.ts";
import type { Memory } from "./memory.ts";
import { hasMoved, type PassResult, pass } from "./pass.ts";
import type { Ports } from "./ports.ts";
import type { Settings } from "./settings.ts";

/** A pass that went through: it decided, or saw that there is nothing to decide. */
export type Passed = Extract<PassResult, { kind: "passed" }>;

/** How a run ended. */
export type Settled =
  | {
      readonly kind: "settled";
      readonly last: Passed;
      readonly passes: number;
      readonly commits: number;
      /** Something that was worth waiting for did not come in time. */
      readonly ranOut: boolean;
    }
  | { readonly kind: "unsound"; readonly faults: readonly string[] }
  /** After so many passes there was still something to do: we go in circles, or somebody works against us. */
  | { readonly kind: "restless"; readonly last: Passed | null; readonly passes: number }
  /** There was still something to do when the signal came. */
  | { readonly kind: "stopped"; readonly last: Passed | null; readonly passes: number };

/** How a run goes, and whom it tells. */
export interface SettleOptions {
  readonly settings: Settings;
  /** How long to sleep through timers and health; null: not at all. */
  readonly wait: DurationMs | null;
  readonly signal: AbortSignal;
  readonly report: (result: PassResult) => void;
}

/** Passes of one run that may follow each other without a pause: a rollout may take its clusters one by one. */
const mostPasses = (clusters: number): number => 50 + 2 * clusters;

/** How often a run that waits looks at what is in flight. */
const glance = seconds(1);

/** The shortest sleep: a moment that has come and changed nothing is no reason to spin. */
export const blink = seconds(0.1);

/**
 * Repeats passes until one neither commits nor acts, then commits the news that is left (`DESIGN.md` §4).
 *
 * What failed is tried at once in the first pass and not again before its time: a run must end.
 */
export async function settle(ports: Ports, memory: Memory, options: SettleOptions): Promise<Settled> {
  const { wait, signal, report } = options;
  const deadline = wait === null ? null : later(ports.clock.now(), wait);
  let settings = options.settings;
  let flush = false;
  let last: Passed | null = null;
  let commits = 0;
  let passes = 0;
  let most = mostPasses(0);
  for (let busy = 0; busy < most; ) {
    if (signal.aborted) return { kind: "stopped", last, passes };
    const result = await pass(ports, settings, memory, flush);
    passes++;
    report(result);
    if (result.kind === "unsound") return result;
    flush = false;
    busy++;
    if (result.kind === "superseded") continue;
    settings = { ...settings, patience: "retryAt" };
    last = result;
    most = mostPasses(result.intent.clusters.size);
    if (result.committed !== null) commits++;
    if (hasMoved(result)) continue;
    const next = wakeOf(result, ports.clock.now(), deadline);
    if (next !== null) {
      await ports.clock.sleepUntil(next, signal);
      busy = 0;
    } else if (result.deferred) flush = true;
    else return { kind: "settled", last, passes, commits, ranOut: isLate(result, deadline) };
  }
  return { kind: "restless", last, passes };
}

/** When a run that waits looks again; null when it need not or may not. */
function wakeOf({ plan }: Passed, now: Instant, deadline: Instant | null): Instant | null {
  if (deadline === null || now >= deadline || plan.refusal !== null) return null;
  const flying = isInFlight(plan.reasons) ? later(now, glance) : null;
  const next = earliest(plan.wakeAt, flying);
  if (next === null || next > deadline) return flying === null ? null : deadline;
  return Math.max(next, later(now, blink)) as Instant;
}

/** Whether the members are still moving towards what was decided. */
export const isInFlight = (reasons: readonly Reason[]): boolean =>
  reasons.some((it) => it.kind === "applying" || it.kind === "awaitingHealth" || (it.kind === "leaving" && !it.stuck));

const isLate = ({ plan }: Passed, deadline: Instant | null): boolean =>
  deadline !== null && plan.reasons.some((it) => weightOf(it) === "waiting" && !isForPeople(it));

/** No time brings what a person has to say. */
const isForPeople = (reason: Reason): boolean =>
  reason.kind === "confirmationNeeded" || (reason.kind === "run" && reason.wait.kind === "approval");
