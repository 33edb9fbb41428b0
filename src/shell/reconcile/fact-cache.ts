import type { SignatureFact } from "../../core/model/commit.ts";

/** What was found out about signatures, by whatever names what they stand on. */
export interface FactCache<F> {
  get(key: string): F | undefined;
  set(key: string, signature: SignatureFact, fact: F): void;
  /** From now on it is looked at with these certificates, and in this period of time. */
  turn(certificates: readonly string[], period: number): void;
}

/**
 * A cache of at most `limit` facts; the oldest are forgotten.
 *
 * What an SSH signature says, and that there is none, holds for good. Everything else depends on which certificates are
 * given and on the time, and is forgotten when either is another.
 */
export function newFactCache<F>(limit: number): FactCache<F> {
  const lasting = new Map<string, F>();
  const passing = new Map<string, F>();
  let known: readonly string[] = [];
  let last = Number.NaN;
  return {
    get: (key) => lasting.get(key) ?? passing.get(key),
    set(key, { kind }, fact) {
      if (lasting.size + passing.size >= limit) forgetOldest(passing.size > 0 ? passing : lasting);
      (kind === "ssh" || kind === "unsigned" ? lasting : passing).set(key, fact);
    },
    turn(certificates, period) {
      if (certificates !== known || period !== last) passing.clear();
      known = certificates;
      last = period;
    },
  };
}

function forgetOldest(facts: Map<string, unknown>): void {
  for (const key of facts.keys()) {
    facts.delete(key);
    return;
  }
}
