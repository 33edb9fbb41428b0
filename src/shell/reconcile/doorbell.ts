/** Something may have changed; never says what. */
export interface Doorbell {
  /** A signal that aborts at the next ring. Rings between two calls are not lost. */
  next(): AbortSignal;
  readonly ring: () => void;
}

/** A doorbell that nobody has rung. However often it is rung between two looks, the next look answers once. */
export function newDoorbell(): Doorbell {
  let bell = new AbortController();
  return {
    ring: () => bell.abort(),
    next: () => {
      if (bell.signal.aborted) bell = new AbortController();
      return bell.signal;
    },
  };
}
