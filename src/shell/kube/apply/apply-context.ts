import type { Failure } from "../../../core/apply/failure.ts";
import type { ClusterActions } from "../../../core/model/plan.ts";
import type { Instant } from "../../../core/model/value.ts";
import { Fault } from "../../reconcile/fault.ts";
import type { ApiFailure, Client } from "../client/client.ts";
import type { Discovery } from "../client/discovery.ts";
import { contactFailureOf, MemberUnreachable } from "../client/member-unreachable.ts";

/** What everything that happens on one member during one action has in common. */
export interface ApplyContext {
  readonly client: Client;
  readonly discovery: Discovery;
  readonly actions: ClusterActions;
  readonly now: Instant;
  /** The member's resourceVersion before anything was written: what has a later one was changed. */
  readonly asOf: string;
  readonly contact: MemberContact;
  /** For what is noted when all is done: it still has time when the other's has run out. */
  readonly recorder: Client;
}

/**
 * Watches whether a member is still there. One request that ends in nothing is that object's trouble; three in a row, or
 * credentials that are not accepted, are the member's, and nothing more is tried. What nobody expected ends nothing else:
 * a defect that one object brings out is that object's trouble too, and what was done for the others is still recorded.
 */
interface MemberContact {
  /** The result of a task; `otherwise` when it ended in nothing; null once the member is given up. */
  attempt<T>(task: () => Promise<T>, otherwise: (message: string) => T): Promise<T | null>;
  /** Why the member is given up; null while it is there. */
  readonly loss: string | null;
}

/** A member that is there, as far as anybody knows. */
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
        // It may quote what it stumbled over, such as a Secret, so only its name is told.
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

/** The outside failed us: the member, or what leads to it. */
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

/**
 * A refusal in the member's words. Not for Secrets: validation quotes the values it refuses, so of those only the reason
 * and the fields are told.
 */
export function failureMessage({ status, reason, message, causes }: ApiFailure, kind: string): string {
  if (kind !== "Secret") return message;
  const fields = causes.map((it) => it.field).filter((it) => it !== "");
  const said = reason === "" ? `HTTP ${status}` : reason;
  return fields.length === 0
    ? `the member refused it: ${said}`
    : `the member refused it: ${said} (${fields.join(", ")})`;
}
