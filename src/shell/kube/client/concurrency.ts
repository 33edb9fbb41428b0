import type { Network } from "./transport.ts";

/** Limits how many tasks run at once, and adapts: halved when the other side is overloaded, regained one by one. */
export interface Limiter {
  /** A task that counts as several; one that is wider than the limiter runs alone. */
  run<T>(task: () => Promise<T>, weight?: number): Promise<T>;
  /** The other side is overloaded: half as many from here on, at least one. */
  narrow(): void;
  /** A response without overload. */
  widen(): void;
  readonly width: number;
}

/** Lets at most `widest` run at once; the others wait in order. */
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
    narrow() {
      width = Math.max(1, Math.floor(width / 2));
      streak = 0;
    },
    widen() {
      if (width === widest) return;
      streak += 1;
      // One step wider after as many good responses as fit at once: back at full width within a few hundred responses.
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

/** Requests that one member is sent at once (see `openClient`), and sockets that are kept for them. */
export const socketsPerMember = 16;

export interface SlotPool {
  readonly limiter: Limiter;
  readonly network: Network;
}

/** A member that is slow gives its slot to the next one (`reconcile/README.md#i-17`). */
const slotMs = 1_000;

/** Runs a task, which never rejects, in a slot; the slot is freed early when the task takes long. */
export function inSlot<T>({ limiter, network }: SlotPool, task: () => Promise<T>): Promise<T> {
  return new Promise((resolve) => {
    void limiter.run(async () => {
      const over = new AbortController();
      const going = task().then((result) => {
        over.abort();
        resolve(result);
      });
      await Promise.race([going, network.pause(slotMs, over.signal).catch(() => {})]);
    });
  });
}

/** Runs a task in a slot; null where none was free within this time: then it is not begun. */
export function inSlotWithin<T>(slots: Limiter, ms: number, task: () => Promise<T>): Promise<T | null> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      resolve(null);
    }, ms);
    void slots.run(async () => {
      clearTimeout(timer);
      if (!isLate) await task().then(resolve, reject);
    });
  });
}

/** Does the work for every item, as many at once as a member is sent requests; what waits has not begun. */
export async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(socketsPerMember, items.length) }, worker));
}
