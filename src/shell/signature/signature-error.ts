import type { SignatureFact, SignatureFailure } from "../../core/model/commit.ts";

/** A signature that cannot be read or does not verify. */
export type Rejected = Extract<SignatureFact, { readonly kind: "rejected" }>;

/** Ends the verification of a signature; `verifier.ts` turns it into a fact, so it never leaves `shell/signature`. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
  readonly code: SignatureFailure;

  constructor(code: SignatureFailure, message: string) {
    super(message);
    this.code = code;
  }
}

/** Any error as a fact: an unexpected one is no proof either (`trust/README.md#step-13`). */
export function rejectionOf(error: unknown): Rejected {
  if (error instanceof SignatureError) return { kind: "rejected", code: error.code, message: error.message };
  return { kind: "rejected", code: "Malformed", message: "the signature cannot be read" };
}

/** The result of a parser, or its rejection. */
export function orRejected<T>(read: () => T): T | Rejected {
  try {
    return read();
  } catch (error) {
    return rejectionOf(error);
  }
}
