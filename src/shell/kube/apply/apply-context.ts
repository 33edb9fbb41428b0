import type { Failure } from "../../../core/apply/failure.ts";
import type { ClusterActions } from "../../../core/model/plan.ts";
import type { Instant } from "../../../core/model/value.ts";
import { Fault } from "../../reconcile/fault.ts";
import type { ApiFailure } from "../client/api-request.ts";
import type { Client } from "../client/client.ts";
import type { Discovery } from "../client/discovery.ts";
import { contactFailureOf, MemberUnreachable } from "../client/member-unreachable.ts";

/** What all steps of one action on one member share. */
export interface ApplyContext {
  readonly client: Client;
  readonly discovery: Discovery;
  readonly actions: ClusterActions;
  readonly now: Instant;
  /** The member's resourceVersion before anything was written: an object with a later one was changed. */
  readonly asOf: string;
  readonly contact: MemberContact;
  /** For recording the result: its deadline is later than the client's. */
  readonly recorder: Client;
}

/**
 * Tracks whether a member is still reachable. One request without a response fails its object; after three in a row, or
 * rejected credentials, the member is given up and nothing more is tried. An unexpected error fails its object alone, and
 * what was done for the others is still recorded.
 */
interface MemberContact {
  /** The result of a task; `otherwise` when it had none; null once the member is given up. */
  attempt<T>(task: () => Promise<T>, otherwise: (message: string) => T): Promise<T | null>;
  /** Why the member is given up; null while it is there. */
  readonly loss: string | null;
}

/** Starts with a reachable member. */
export function trackContact(): MemberContact {
  let inARow = 0;
  let loss: string | null = null;
  return {
    async attempt(task, otherwise) {
      if (loss !== null) return null;
      try {
        const result = await task();
        inARow = 0;
        return result;
      } catch (error) {
        // The message may quote content, such as a Secret, so only the error's name is told.
        if (!isLoss(error)) return otherwise(`internal error in Flotilla: ${nameOf(error)}`);
        inARow += 1;
        const { code, message } = contactFailureOf(error);
        if (inARow < 3 && code !== "Unauthorized") return otherwise(message);
        loss ??= message;
        return null;
      }
    },
    get loss() {
      return loss;
    },
  };
}

/** Whether the member or the way to it failed, as opposed to a defect of ours. */
const isLoss = (error: unknown): boolean => error instanceof MemberUnreachable || error instanceof Fault;

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

/** What the member said to a write of an object, as a failure of that object. */
export function writeFailure(refusal: ApiFailure, kind: string): Failure {
  const message = failureMessage(refusal, kind);
  if (refusal.status !== 404) return { code: "ManifestApplyFailed", message };
  // Status names what was not found: the namespace, or, on a path that the member does not serve, nothing in particular.
  return refusal.about === "namespaces" && kind !== "Namespace"
    ? { code: "NamespaceMissing", message }
    : { code: "KindUnknown", message };
}

/** A refusal in the member's words; for Secrets, whose values validation quotes, only the reason and the fields. */
export function failureMessage({ status, reason, message, causes }: ApiFailure, kind: string): string {
  if (kind !== "Secret") return message;
  const fields = causes.map((it) => it.field).filter((it) => it !== "");
  const said = reason === "" ? `HTTP ${status}` : reason;
  return fields.length === 0
    ? `the member refused it: ${said}`
    : `the member refused it: ${said} (${fields.join(", ")})`;
}
