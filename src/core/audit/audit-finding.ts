import type { PlacementKey, RunKey } from "../model/value.ts";
import type { Ask } from "../plan/approval/ask.ts";

/** One kind of thing that an audit looks at. */
export type AuditCheck =
  | "chain"
  | "signatures"
  | "trust"
  | "approvals"
  | "plans"
  | "accepted"
  | "scheduling"
  | "rendered";

/** What a fault of the record is about. */
export type AuditSubject =
  | { readonly kind: "ledger" | "answers" | "trust" }
  | { readonly kind: "run" | "plan"; readonly key: RunKey }
  | { readonly kind: "placement"; readonly key: PlacementKey }
  | { readonly kind: "file"; readonly path: string };

/** Something that one commit of the state branch says, and that does not follow from what was there. */
export interface AuditFinding {
  readonly check: AuditCheck;
  readonly subject: AuditSubject;
  /** What the commit does: a verb first. */
  readonly what: string;
}

/** Names a request as the second opinion does: `the gate before stage canary of run web-2`. */
export const whatOf = (ask: Ask): string =>
  ask.kind === "gate"
    ? `the gate ${ask.when} stage ${ask.stage.name} of run ${ask.run.key}`
    : `the change of ${ask.record.key}`;
