// The notation of `rollout/README.md#cases-of-the-rolling-update`, so that a worked case is one line here as well.
import type { CountOrPercent } from "../../../src/core/model/placement.ts";
import { type ClusterName, type Instant, later, seconds } from "../../../src/core/model/value.ts";
import type { RolloutBinding } from "../../../src/core/rollout/budget.ts";
import type { Readiness } from "../../../src/core/rollout/readiness.ts";
import type { RolloutDecision } from "../../../src/core/rollout/rolling-update.ts";

export const now = Date.UTC(2026, 10, 21, 12) as Instant;

export const secondsFromNow = (count: number): Instant => later(now, seconds(count));

/**
 * `a:S b:Bor c:Bnp d:Uxr`: state; Bound ones are `o`ld or `n`ew, and so is a Scheduled one that has no version to move
 * to; `x` while being removed; then `r`eady, in `p`rogress, the same and not heard of `y`et or not `a`sked this time,
 * `f`ailed, `?` out of reach, or `t25`: untrackable, counting as available in 25 seconds.
 */
export const bindings = (text: string): readonly RolloutBinding[] => text.split(" ").map(binding);

const states = { S: "Scheduled", B: "Bound", U: "Unscheduled" } as const;

function binding(text: string): RolloutBinding {
  const [, cluster = "", state = "", version = "", removing = "", readiness = ""] =
    /^([a-z0-9]+):([SBU])([on]?)(x?)(r|p|y|a|f|\?|t\d+|)$/.exec(text) ?? [];
  return {
    cluster: cluster as ClusterName,
    state: states[state as keyof typeof states],
    removing: removing === "x",
    upToDate: version === "n",
    readiness: readinessOf(readiness),
  };
}

export function readinessOf(text: string): Readiness {
  if (text.startsWith("t")) return { kind: "untrackable", countsFrom: secondsFromNow(Number(text.slice(1))) };
  switch (text) {
    case "r":
      return { kind: "available" };
    case "p":
      return { kind: "progressing", failsAt: secondsFromNow(600), isHeard: true };
    case "y":
      return { kind: "progressing", failsAt: secondsFromNow(600), isHeard: false };
    case "f":
      return { kind: "failed", because: "explicit" };
    case "?":
      return { kind: "unknown" };
    default:
      return { kind: "progressing", failsAt: null, isHeard: false };
  }
}

export const bound = (text: string): CountOrPercent =>
  text.endsWith("%") ? { percent: Number(text.slice(0, -1)) } : { count: Number(text) };

/** `-a ^b +c | held d | pending e`: removed, updated, bound; what waits. */
export function told({ bind, update, remove, heldBack, pendingRemovals }: RolloutDecision): string {
  const moves = [...remove.map((it) => `-${it}`), ...update.map((it) => `^${it}`), ...bind.map((it) => `+${it}`)];
  const held = heldBack.flatMap((it) => it.clusters);
  return [
    moves.length === 0 ? "nothing" : moves.join(" "),
    ...(held.length === 0 ? [] : [`held ${held.join(",")}`]),
    ...(pendingRemovals === null ? [] : [`pending ${pendingRemovals.clusters.join(",")}`]),
  ].join(" | ");
}
