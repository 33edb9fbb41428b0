import type { DurationMs } from "../../core/model/value.ts";

/** Two of them cannot tell which one is wrong. */
const fewestMembers = 3;

/**
 * Gives the median of at least three offsets of members' clocks; null for fewer, which prove nothing
 * (`rollout/README.md#i-06`).
 *
 * Of an even number, the one of the middle two that is nearer to zero, the smaller one when both are as near: our clock
 * is in doubt when more than half of the members say so, and members that contradict each other do not make up for each
 * other.
 */
export function medianOffset(offsets: readonly DurationMs[]): DurationMs | null {
  if (offsets.length < fewestMembers) return null;
  const ordered = [...offsets].sort((a, b) => a - b);
  const [low, high] = [ordered[(ordered.length - 1) >> 1], ordered[ordered.length >> 1]];
  if (low === undefined || high === undefined) return null;
  return Math.abs(high) < Math.abs(low) ? high : low;
}
