import type { SignatureFact, SignatureFailure } from "../../core/model/commit.ts";

/** A signature that nothing can be read from. */
export type Rejected = Extract<SignatureFact, { readonly kind: "rejected" }>;

/**
 * Ends the reading of a signature: every parser here throws it, and the doors of the room turn it into a fact. It never
 * leaves `shell/signature`.
 */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
  readonly code: SignatureFailure;

  constructor(code: SignatureFailure, message: string) {
    super(message);
    this.code = code;
  }
}

/** Whatever went wrong, as a fact. What was not foreseen is no proof either (`trust/README.md#step-13`). */
export function rejectionOf(error: unknown): Rejected {
  if (error instanceof SignatureError) return { kind: "rejected", code: error.code, message: error.message };
  return { kind: "rejected", code: "Malformed", message: "the signature cannot be read" };
}

/** What a reading gives, or why it gives nothing. */
export function orRejected<T>(read: () => T): T | Rejected {
  try {
    return read();
  } catch (error) {
    return rejectionOf(error);
  }
}
