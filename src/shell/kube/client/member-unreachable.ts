import type { ContactCode, Observation } from "../../../core/model/observation.ts";
import { Fault } from "../../reconcile/fault.ts";
import type { ApiFailure } from "./client.ts";

/**
 * The member is gone for this pass: no connection, no valid credentials, no Kubernetes.
 *
 * What a member refuses is an answer; this is thrown, because nothing that was planned for the member can go on.
 */
export class MemberUnreachable extends Error {
  override readonly name = "MemberUnreachable";
  readonly code: ContactCode;

  constructor(code: ContactCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
  }
}

/** Why a member was lost. What is neither its own loss nor the kubeconfig's is the fault of an answer of its. */
export function contactFailureOf(error: unknown): {
  readonly code: MemberUnreachable["code"];
  readonly message: string;
} {
  if (error instanceof MemberUnreachable) return { code: error.code, message: error.message.slice(0, 512) };
  if (error instanceof Fault) return { code: "NoConnection", message: error.message.slice(0, 512) };
  // It may quote what it stumbled over, such as a Secret, so only its name is told.
  const name = error instanceof Error ? error.name : typeof error;
  return { code: "Unintelligible", message: `its response could not be read: ${name}` };
}

/** A member that refuses to say who it is, or what it remembers of us, as an observation. */
export function unreachableObservation({ status, message }: ApiFailure): Extract<Observation, { kind: "unreachable" }> {
  const code = status === 403 ? "Forbidden" : status >= 500 || status === 429 ? "Unreachable" : "Unintelligible";
  return { kind: "unreachable", code, message: message.slice(0, 512) };
}
