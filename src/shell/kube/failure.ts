import { type FailureCode, longestPause, type Outcome } from "../../core/model/inventory.ts";
import { type DurationMs, type Instant, later, seconds } from "../../core/model/value.ts";
import type { Refused } from "./client.ts";

/** Why one object was not written. */
export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
}

/**
 * The outcome of one more failed attempt. Tried again after 5, 10, 20 … seconds, at most 15 minutes;
 * a message is cut at 512 characters, because it is kept in the member and in the state branch.
 */
export function failedOutcome({ code, message }: Failure, before: Outcome | null, now: Instant): Outcome {
  const attempts = (before?.kind === "failed" ? before.attempts : 0) + 1;
  const retryAt = later(now, pauseAfter(attempts));
  return { kind: "failed", code, message: message.slice(0, 512), attempts, retryAt };
}

const pauseAfter = (attempts: number): DurationMs =>
  Math.min(seconds(5) * 2 ** Math.min(attempts - 1, 30), longestPause) as DurationMs;

/** What the member said to a write of an object, as a failure of that object. */
export function refusedWrite(refusal: Refused, kind: string): Failure {
  const message = refusalText(refusal, kind);
  if (refusal.status !== 404) return { code: "ManifestApplyFailed", message };
  // Status names what was not found: the namespace, or, on a path that the member does not serve, nothing in particular.
  return refusal.about === "namespaces" && kind !== "Namespace"
    ? { code: "NamespaceMissing", message }
    : { code: "KindUnknown", message };
}

/**
 * A refusal in the member's words. Not for Secrets: validation quotes the values it refuses, so of those only the reason
 * and the fields are told.
 */
export function refusalText({ status, reason, message, causes }: Refused, kind: string): string {
  if (kind !== "Secret") return message;
  const fields = causes.map((it) => it.field).filter((it) => it !== "");
  const said = reason === "" ? `HTTP ${status}` : reason;
  return fields.length === 0
    ? `the member refused it: ${said}`
    : `the member refused it: ${said} (${fields.join(", ")})`;
}
