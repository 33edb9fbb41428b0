import type { ContactCode } from "../../../core/model/observation.ts";

/**
 * The member is gone for this pass: no connection, no valid credentials, no Kubernetes.
 *
 * What a member refuses is an answer; this is thrown, because nothing that was planned for the member can go on.
 */
export class Lost extends Error {
  override readonly name = "Lost";
  readonly code: ContactCode;

  constructor(code: ContactCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
  }
}
