import type { Ledger } from "../core/model/ledger.ts";
import type { EvictionRecord } from "../core/model/placement.ts";
import { type DurationMs, later, seconds } from "../core/model/value.ts";
import type { State } from "../shell/reconcile/memory.ts";
import type { Clock, Repository } from "../shell/reconcile/ports.ts";
import { readState } from "../shell/reconcile/state.ts";

/** Between two looks at the record. */
const pause = seconds(1);

/** Where verdicts are looked for, by which clock, and who is told of each. */
export interface VerdictWatch {
  readonly repository: Repository;
  readonly clock: Clock;
  /** At most so long. */
  readonly limit: DurationMs;
  readonly tell: (record: EvictionRecord) => void;
}

/** What is recorded when the waiting is over. */
export interface Awaited {
  readonly ledger: Ledger;
  /** Evictions that nobody judged in time, in the order in which they were given. */
  readonly missing: readonly string[];
}

/** Looks at the record until each of these evictions was judged, or the time is up. Tells of each verdict once. */
export async function awaitVerdicts(names: readonly string[], watch: VerdictWatch): Promise<Awaited> {
  const { repository, clock, limit, tell } = watch;
  const deadline = later(clock.now(), limit);
  let missing = names;
  let known: State | null = null;
  for (;;) {
    const { state: head } = await repository.heads();
    if (known === null || known.commit !== head) known = await readState(repository, head, known);
    const { ledger } = known;
    for (const name of missing) {
      const record = ledger.evictions.get(name);
      if (record !== undefined) tell(record);
    }
    missing = missing.filter((it) => !ledger.evictions.has(it));
    if (missing.length === 0 || clock.now() >= deadline) return { ledger, missing };
    await clock.sleepUntil(later(clock.now(), pause), new AbortController().signal);
  }
}
