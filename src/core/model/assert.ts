/** A bug in Flotilla. Ends the pass without touching data; `main` exits with 70. */
export class Defect extends Error {
  override readonly name = "Defect";
}

/** The only throw in the core. For what cannot happen, not for faults outside. */
export function assert(holds: unknown, message: string): asserts holds {
  if (!holds) throw new Defect(message);
}

/** The value, which must exist by our own invariants. */
export function known<T>(value: T | null | undefined, message: string): T {
  assert(value !== null && value !== undefined, message);
  return value;
}
