import type { DelayedWork } from "../../../src/shell/embedded/storage/cluster.ts";

/** Half past eight in the morning: instants in transcripts are easy to read. */
const beginning = Date.UTC(2026, 10, 21, 8, 30);

/** Timers that may fire in one wait: clusters that go in circles are a defect of theirs. */
const mostAtOnce = 10_000;

interface Timer {
  readonly at: number;
  readonly serial: number;
  readonly work: () => void;
}

/**
 * Time that stands still until somebody moves it: milliseconds since the epoch, and what is to happen at which of them.
 */
export class VirtualTime {
  now = beginning;
  readonly #timers = new Set<Timer>();
  #serial = 0;

  /** Does work at a moment that is still to come. Gives a function that calls it off. */
  after(delayMs: number, work: () => void): () => void {
    const timer = { at: this.now + Math.max(0, delayMs), serial: this.#serial++, work };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Moves to the next moment at which something happens, and lets it happen. False when nothing is to come. */
  next(): boolean {
    const timer = this.#first();
    if (timer === null) return false;
    this.#timers.delete(timer);
    this.now = Math.max(this.now, timer.at);
    timer.work();
    return true;
  }

  /** Lets `ms` go by, with everything that comes due. */
  pass(ms: number): void {
    const end = this.now + ms;
    let count = 0;
    for (let first = this.#first(); first !== null && first.at <= end; first = this.#first()) {
      if (++count > mostAtOnce) throw new Error(`time does not go on: ${first.work.toString()}`);
      this.next();
    }
    this.now = end;
  }

  /** What a cluster's controllers do later. */
  schedule(): DelayedWork {
    const pending = new Set<() => void>();
    let isClosed = false;
    return {
      after: (delayMs, work) => {
        if (isClosed) return;
        const cancel = this.after(delayMs, () => {
          pending.delete(cancel);
          work();
        });
        pending.add(cancel);
      },
      close: () => {
        isClosed = true;
        for (const cancel of pending) cancel();
      },
    };
  }

  #first(): Timer | null {
    let first: Timer | null = null;
    for (const it of this.#timers)
      if (first === null || it.at < first.at || (it.at === first.at && it.serial < first.serial)) first = it;
    return first;
  }
}
