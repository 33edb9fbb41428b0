import type { Binding, BindingFacts, Target } from "../model/binding.ts";
import { type DurationMs, type Instant, later } from "../model/value.ts";

/**
 * Whether a cluster is available with its target (`rollout/README.md#b-1`).
 *
 * Never latched: a cluster that recovers is available again in the next pass.
 */
export type Readiness =
  | { readonly kind: "available" }
  /** Applied, of kinds without a health check: it counts as available from `countsFrom` on. */
  | { readonly kind: "untrackable"; readonly countsFrom: Instant }
  /**
   * Applying, or not available yet: failed from `failsAt` on, null where no deadline runs. `isHeard`: its member reports
   * that the target is applied and not available; otherwise it has not reported and may be available.
   */
  | { readonly kind: "progressing"; readonly failsAt: Instant | null; readonly isHeard: boolean }
  | { readonly kind: "failed"; readonly because: "explicit" | "deadline" }
  /**
   * The member is unreachable: not ready, and still holding what it had (`rollout/README.md#d-15`).
   */
  | { readonly kind: "unknown" };

/** What readiness depends on besides the binding. */
export interface ReadinessContext {
  /** For a member that was not asked the record stands, and no deadline passes (`plan/README.md#a-pass`). */
  readonly contact: "reached" | "unreachable" | "unasked";
  readonly progressDeadline: DurationMs;
  readonly unavailablePeriod: DurationMs;
  readonly now: Instant;
}

/**
 * Judges a binding by the last facts about its present target; facts about another target do not count.
 *
 * Unreachable overrides everything recorded: a failed member may have recovered unseen, and an available one may not be
 * any more. Silence never becomes failure; it ends when the member answers.
 */
export function readinessOf({ target, facts }: Binding, context: ReadinessContext): Readiness {
  if (context.contact === "unreachable") return { kind: "unknown" };
  if (target === null) return { kind: "progressing", failsAt: null, isHeard: false };
  if (facts === null || facts.sequence !== target.sequence) return inProgress(target, null, context);
  if (facts.applied === "failed" || facts.phase === "failed") return { kind: "failed", because: "explicit" };
  if (facts.applied === "pending") return inProgress(target, facts, context);
  switch (facts.phase) {
    case "available":
      return available;
    case "untrackable": {
      const countsFrom = later(facts.since, context.unavailablePeriod);
      return context.now >= countsFrom ? available : { kind: "untrackable", countsFrom };
    }
    case "progressing":
      return inProgress(target, facts, context);
  }
}

const available: Readiness = { kind: "available" };

/**
 * The deadline runs from the start on that cluster (`rollout/README.md#b-1`). What starts progressing after that
 * deadline was available before, or had not reported: it gets the same time again, from then. Otherwise every restart
 * of a workload that has run for days would be a failure at once, and failed clusters get new versions without budget.
 */
function inProgress(
  { startedAt }: Target,
  facts: BindingFacts | null,
  { contact, progressDeadline, now }: ReadinessContext,
): Readiness {
  if (contact === "unasked") return { kind: "progressing", failsAt: null, isHeard: false };
  const first = later(startedAt, progressDeadline);
  const failsAt = facts !== null && facts.since >= first ? later(facts.since, progressDeadline) : first;
  if (now >= failsAt) return { kind: "failed", because: "deadline" };
  return { kind: "progressing", failsAt, isHeard: facts?.applied === "applied" };
}

/** When time alone changes this readiness; null when there is no such moment. */
export function readinessChangesAt(readiness: Readiness): Instant | null {
  switch (readiness.kind) {
    case "untrackable":
      return readiness.countsFrom;
    case "progressing":
      return readiness.failsAt;
    case "available":
    case "failed":
    case "unknown":
      return null;
  }
}
