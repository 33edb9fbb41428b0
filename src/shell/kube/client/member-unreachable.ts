import type { ContactCode, Observation } from "../../../core/model/observation.ts";
import { Fault } from "../../reconcile/fault.ts";
import type { ApiFailure } from "./api-request.ts";

/**
 * The member is lost for this pass: no connection, no valid credentials, or no Kubernetes. A refused request is a
 * response; this is thrown, because nothing planned for the member can go on.
 */
export class MemberUnreachable extends Error {
  override readonly name = "MemberUnreachable";
  readonly code: ContactCode;

  constructor(code: ContactCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
  }
}

/** Why a member was lost. Any error but our own classes means that a response could not be read. */
export function contactFailureOf(error: unknown): {
  readonly code: MemberUnreachable["code"];
  readonly message: string;
} {
  if (error instanceof MemberUnreachable) return { code: error.code, message: error.message.slice(0, 512) };
  if (error instanceof Fault) return { code: "NoConnection", message: error.message.slice(0, 512) };
  // The message may quote content, such as a Secret, so only the error's name is told.
  const name = error instanceof Error ? error.name : typeof error;
  return { code: "Unintelligible", message: `its response could not be read: ${name}` };
}

/** A member that refuses to show its identity or our inventory, as an observation. */
export function unreachableObservation({ status, message }: ApiFailure): Extract<Observation, { kind: "unreachable" }> {
  const code = status === 403 ? "Forbidden" : status >= 500 || status === 429 ? "Unreachable" : "Unintelligible";
  return { kind: "unreachable", code, message: message.slice(0, 512) };
}
