import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../../core/model/value.ts";
import type { Clock } from "../reconcile/ports.ts";

/** The machine's clock: where every `now` that decides or is recorded comes from. */
export const systemClock: Clock = {
  now: () => Date.now() as Instant,

  async sleepUntil(moment, signal) {
    // A timer cannot wait longer than 2^31 ms; whoever sleeps wakes up, looks, and sleeps again.
    const delay = Math.min(Math.max(0, moment - Date.now()), 2 ** 31 - 1);
    await sleep(delay, undefined, { signal }).catch(() => {});
  },
};

/**
 * 32 bytes from the system's source of randomness, in hexadecimal digits: where nonces come from
 * (`trust/README.md#t-04`).
 */
export const systemEntropy = (): string => randomBytes(32).toString("hex");
