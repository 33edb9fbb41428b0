/** We are wrong: a promise of our own code does not hold. Ends the pass, never the data; `main` exits 70. */
export class Defect extends Error {
  override readonly name = "Defect";
}

/** The only throw in the core. For what cannot be, not for what may be wrong outside. */
export function assert(holds: unknown, message: string): asserts holds {
  if (!holds) throw new Defect(message);
}

/** The value, which our own bookkeeping guarantees to exist. */
export function known<T>(value: T | null | undefined, message: string): T {
  assert(value !== null && value !== undefined, message);
  return value;
}
