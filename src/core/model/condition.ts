import type { Instant } from "./value.ts";

/** A Kubernetes condition. `lastTransitionTime` moves only when `status` does. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: Instant;
}

/** A condition without its transition time, which depends on the condition before. */
export type Verdict = Omit<Condition, "lastTransitionTime">;

/** The condition of that type, or null. */
export function conditionOf(conditions: readonly Condition[], type: string): Condition | null {
  for (const it of conditions) if (it.type === type) return it;
  return null;
}

/** The conditions for `verdicts`, each with the time its status last changed; `before` itself if nothing differs. */
export function settleConditions(
  before: readonly Condition[],
  verdicts: readonly Verdict[],
  now: Instant,
): readonly Condition[] {
  if (before.length === verdicts.length && verdicts.every((it, at) => says(before[at], it))) return before;
  const next = verdicts.map((verdict): Condition => {
    const old = conditionOf(before, verdict.type);
    const lastTransitionTime = old !== null && old.status === verdict.status ? old.lastTransitionTime : now;
    if (old !== null && sameCondition(old, { ...verdict, lastTransitionTime })) return old;
    return { ...verdict, lastTransitionTime };
  });
  return next.length === before.length && next.every((it, at) => it === before[at]) ? before : next;
}

const says = (condition: Condition | undefined, verdict: Verdict): boolean =>
  condition !== undefined &&
  condition.type === verdict.type &&
  condition.status === verdict.status &&
  condition.reason === verdict.reason &&
  condition.message === verdict.message &&
  condition.observedGeneration === verdict.observedGeneration;

const sameCondition = (a: Condition, b: Condition): boolean =>
  a.status === b.status &&
  a.reason === b.reason &&
  a.message === b.message &&
  a.observedGeneration === b.observedGeneration &&
  a.lastTransitionTime === b.lastTransitionTime;

// Status is committed to Git for every cluster; `explain` has the whole text.
const limit = 512;

/** A message cut to the limit of a status (`status/README.md#bounds`), never within a character. */
export const boundedMessage = (text: string): string =>
  // The last of them may be half a character.
  text.length <= limit ? text : `${[...text.slice(0, limit)].slice(0, -1).join("")}…`;
