import type { Doorbell } from "./loop.ts";

/** A doorbell with its button. However often it is rung between two looks, the next look answers once. */
export function newDoorbell(): Doorbell & { readonly ring: () => void } {
  let bell = new AbortController();
  return {
    ring: () => bell.abort(),
    next: () => {
      if (bell.signal.aborted) bell = new AbortController();
      return bell.signal;
    },
  };
}
