import type { Limiter } from "./concurrency.ts";
import type { Network } from "./exchange.ts";

/** Where members wait for their turn. */
export interface Turns {
  readonly lanes: Limiter;
  readonly network: Network;
}

/** A member that answers late gives its lane to the next one (`reconcile/README.md#i-17`). */
const laneMs = 1_000;

/** Does a task that never rejects in a lane, which it leaves early when it takes long. */
export function inTurn<T>({ lanes, network }: Turns, task: () => Promise<T>): Promise<T> {
  return new Promise((resolve) => {
    void lanes.run(async () => {
      const over = new AbortController();
      const going = task().then((result) => {
        over.abort();
        resolve(result);
      });
      await Promise.race([going, network.pause(laneMs, over.signal).catch(() => {})]);
    });
  });
}
