/** Work for later, all of which can be called off. Timers do not keep a process alive. */
export class Schedule {
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
