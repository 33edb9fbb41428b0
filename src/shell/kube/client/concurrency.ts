/** Lets so many tasks run at once, and adapts: halved when the other side asks for patience, regained one by one. */
export interface Limiter {
  /** A task that counts as several; one that is wider than the limiter runs alone. */
  run<T>(task: () => Promise<T>, weight?: number): Promise<T>;
  /** The other side is overloaded: half as many from here on, at least one. */
  slower(): void;
  /** An answer came without complaint. */
  faster(): void;
  readonly width: number;
}

/** Lets as many as `widest` run at once, at best; the others wait in the order in which they came. */
export function limiter(widest: number): Limiter {
  let width = widest;
  let running = 0;
  let streak = 0;
  const waiting: { readonly start: () => void; readonly weight: number }[] = [];

  const next = (): void => {
    for (let [first] = waiting; first !== undefined; [first] = waiting) {
      if (running > 0 && running + first.weight > width) return;
      running += first.weight;
      waiting.shift();
      first.start();
    }
  };
  return {
    async run(task, weight = 1) {
      await new Promise<void>((start) => {
        waiting.push({ start, weight });
        next();
      });
      try {
        return await task();
      } finally {
        running -= weight;
        next();
      }
    },
    slower() {
      width = Math.max(1, Math.floor(width / 2));
      streak = 0;
    },
    faster() {
      if (width === widest) return;
      streak += 1;
      // One step wider after as many calm answers as fit at once: back at full width within a few hundred answers.
      if (streak < width) return;
      width += 1;
      streak = 0;
      next();
    },
    get width() {
      return width;
    },
  };
}
