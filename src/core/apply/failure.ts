import { type FailureCode, maxRetryDelay, type Outcome } from "../model/inventory.ts";
import type { ObjectId } from "../model/manifest.ts";
import { type DurationMs, type Instant, later, seconds } from "../model/value.ts";

export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
}

/** A failed attempt: retried after 5, 10, 20 … seconds, at most 15 minutes; messages are cut at 512 characters. */
export function failedOutcome({ code, message }: Failure, before: Outcome | null, now: Instant): Outcome {
  const attempts = (before?.kind === "failed" ? before.attempts : 0) + 1;
  const retryAt = later(now, pauseAfter(attempts));
  return { kind: "failed", code, message: message.slice(0, 512), attempts, retryAt };
}

const pauseAfter = (attempts: number): DurationMs =>
  Math.min(seconds(5) * 2 ** Math.min(attempts - 1, 30), maxRetryDelay) as DurationMs;

/**
 * Says that a member serves a kind in another scope than the repository takes it to have; null where they agree. What
 * is protected or approved is told by an object's namespace: written elsewhere, it could never be found again under its
 * name (`trust/README.md#t-42`).
 */
export function scopeMismatch(served: { readonly namespaced: boolean }, { kind, namespace }: ObjectId): Failure | null {
  if (served.namespaced === (namespace !== null)) return null;
  const [ours, theirs] = served.namespaced ? ["Cluster", "Namespaced"] : ["Namespaced", "Cluster"];
  const message =
    `${kind} is ${ours} in the repository and ${theirs} on this member, so it is not written here; ` +
    "correct the scope in the wrong CustomResourceDefinition, which means deleting it first";
  return { code: "ScopeDiffers", message };
}
