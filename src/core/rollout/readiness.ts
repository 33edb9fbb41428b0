import type { Binding, BindingFacts, Target } from "../model/binding.ts";
import { type DurationMs, type Instant, later } from "../model/value.ts";

/**
 * How one cluster is with what it is to carry (`rollout/README.md#b-1`).
 *
 * Nothing here is latched: a cluster that recovers is available again in the next pass.
 */
export type Readiness =
  | { readonly kind: "available" }
  /** Applied, and nobody can see whether it works: it counts as available from `countsFrom` on. */
  | { readonly kind: "untrackable"; readonly countsFrom: Instant }
  /**
   * Applying, or not available yet: failed from `failsAt` on. Null where no deadline runs. Heard: its member says now that
   * it carries the target and is not available; otherwise it may be, and nobody has heard of it yet.
   */
  | { readonly kind: "progressing"; readonly failsAt: Instant | null; readonly isHeard: boolean }
  | { readonly kind: "failed"; readonly because: "explicit" | "deadline" }
  /**
   * Nobody can tell: the member is out of reach. Not ready, and still holding what it had (`rollout/README.md#d-15`).
   */
  | { readonly kind: "unknown" };

/** What readiness depends on besides the binding. */
export interface ReadinessContext {
  /** A member that was not asked stands as recorded, and no deadline passes for it (`plan/README.md#a-pass`). */
  readonly contact: "reached" | "unreachable" | "unasked";
  readonly progressDeadline: DurationMs;
  readonly unavailablePeriod: DurationMs;
  readonly now: Instant;
}

/**
 * Judges a binding by what its member last said of the present target; what it said of another one counts as nothing.
 *
 * Unreachable beats everything recorded: a member that failed may have recovered unseen, and one that was well may not
 * be. Silence never turns into failure; it ends when the member answers.
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
 * The deadline runs from the start on that cluster (`rollout/README.md#b-1`). What comes to be in progress only after
 * that deadline was well before, or unheard: it has the same time again, from then. Otherwise every restart of a
 * workload that has run for days would be a failure at once, and a failed cluster gets new versions outside of any
 * budget.
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

/** The moment at which this readiness becomes another one by time alone; null when there is none. */
export function turnsAt(readiness: Readiness): Instant | null {
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
