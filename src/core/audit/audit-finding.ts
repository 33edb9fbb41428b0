import type { PlacementKey, RunKey } from "../model/value.ts";
import type { ApprovalRequest } from "../plan/approval/approval-request.ts";

export type AuditCheck =
  | "chain"
  | "signatures"
  | "trust"
  | "approvals"
  | "plans"
  | "accepted"
  | "scheduling"
  | "rendered";

export type AuditSubject =
  | { readonly kind: "ledger" | "answers" | "trust" }
  | { readonly kind: "run" | "plan"; readonly key: RunKey }
  | { readonly kind: "placement"; readonly key: PlacementKey }
  | { readonly kind: "file"; readonly path: string };

/** Something in a commit of the state branch that does not follow from its inputs. */
export interface AuditFinding {
  readonly check: AuditCheck;
  readonly subject: AuditSubject;
  /** What the commit does: a verb first. */
  readonly what: string;
}

/** Names a request as the second opinion does: `the gate before stage canary of run web-2`. */
export const whatOf = (ask: ApprovalRequest): string =>
  ask.kind === "gate"
    ? `the gate ${ask.when} stage ${ask.stage.name} of run ${ask.run.key}`
    : `the change of ${ask.record.key}`;
