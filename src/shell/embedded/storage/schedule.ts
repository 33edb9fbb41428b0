/** Work for later, all of which can be called off. */
export interface Schedule {
  after(delayMs: number, work: () => void): void;
  /** Calls everything off, and whatever comes later. */
  close(): void;
}

/** A schedule by the time on the wall. Its timers do not keep a process alive. */
export class Timers implements Schedule {
  readonly #timers = new Set<NodeJS.Timeout>();
  #closed = false;

  after(delayMs: number, work: () => void): void {
    if (this.#closed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, delayMs);
    timer.unref();
    this.#timers.add(timer);
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
