import type { Denial } from "../model/trust.ts";
import { type ApprovalRequest, requestState } from "../plan/approval/approval-request.ts";
import { possibleProofs } from "../trust/quorum.ts";
import { type AnswerToRule, objectionOf } from "../trust/rules.ts";
import { approveCommand, requestEffect } from "./approval-files.ts";
import { type ApprovalContext, requestVerdict, rulesOn } from "./approval-status.ts";

/** What somebody may do about a request that is open. */
type AllowedAction =
  | { readonly kind: "approve" }
  /** They have approved it; they may withdraw that. */
  | { readonly kind: "given" }
  /** They may only reject it. */
  | { readonly kind: "reject"; readonly because: string }
  | { readonly kind: "nothing"; readonly because: string };

const nothing = (because: string): AllowedAction => ({ kind: "nothing", because });

/** What somebody may do about a request, by the trust file in force, their keys and what was answered so far. */
function allowedAction(name: string, ask: ApprovalRequest, context: ApprovalContext): AllowedAction {
  const { trust, now } = context;
  const person = trust.principals.get(name);
  if (person === undefined) return nothing(`trust/root.yaml does not list ${name}`);
  if (!person.isHuman) return nothing(`${name} is a machine`);
  const verdict = requestVerdict(ask, context);
  if (verdict.kind === "approved") return nothing("enough people have approved it");
  if (verdict.kind === "rejected") return nothing(`${verdict.by} rejected it`);
  // By the clock, or without a rule.
  if (verdict.missing.length === 0) return nothing(verdict.because);
  const { authors, requestedAt } = ask.request;
  const judgement = { kind: "counts", principal: name, proofs: possibleProofs(person, trust), at: now } as const;
  const answer = (decision: AnswerToRule["decision"]): AnswerToRule => ({ decision, judgement, authors, requestedAt });
  const rules = rulesOn(ask, context);
  const objections = rules.map((it) => objectionOf(it, answer("Approve")));
  const lacking = verdict.missing.filter((it) => objectionOf(it.rule, answer("Approve")) === null);
  if (lacking.some((it) => it.mayApprove.includes(name))) return { kind: "approve" };
  if (lacking.some((it) => it.have.includes(name))) return { kind: "given" };
  const because = objections.includes(null)
    ? `${name} cannot give the missing approval: ${verdict.because}`
    : tellingOf(objections);
  const mayReject = rules.some((it) => objectionOf(it, answer("Reject")) === null);
  return mayReject ? { kind: "reject", because } : nothing(because);
}

/** The most specific objection: preferably not that they are no approver. */
const tellingOf = (objections: readonly (Denial | null)[]): string =>
  (objections.find((it) => it !== null && it.code !== "FLT1214") ?? objections[0])?.because ?? "";

/** The names of those whose approval would still count, sorted. */
const remainingApprovers = (ask: ApprovalRequest, context: ApprovalContext): readonly string[] =>
  [...context.trust.principals.keys()].sort().filter((it) => allowedAction(it, ask, context).kind === "approve");

export interface Viewer {
  /** Null without a trust file. */
  readonly context: ApprovalContext | null;
  /** A principal of the trust file; null if unknown. */
  readonly principal: string | null;
}

export const mayApprove = (ask: ApprovalRequest, { context, principal }: Viewer): boolean =>
  context === null || (principal !== null && allowedAction(principal, ask, context).kind === "approve");

/** What the viewer may do about a request, or who else may; empty when it is not open. */
export function actionLines(ask: ApprovalRequest, reader: Viewer): readonly string[] {
  if (requestState(ask) !== "open") return [];
  const { context, principal } = reader;
  const whole = `to ${requestEffect(ask)}: ${approveCommand(ask)}`;
  if (context === null) return [whole];
  const others = remainingApprovers(ask, context);
  if (principal === null)
    return others.length === 0
      ? [`nobody may ${requestEffect(ask)} at present`]
      : [`${others.join(", ")} may ${requestEffect(ask)}: ${approveCommand(ask)}`];
  const offer = allowedAction(principal, ask, context);
  const may = others.length === 0 ? "nobody may" : `${others.join(", ")} may`;
  switch (offer.kind) {
    case "approve":
      return [whole];
    case "given":
      return [`${principal} has approved it; to withdraw that: ${approveCommand(ask)} --revoke`];
    case "reject":
      return [
        `${principal} may not ${requestEffect(ask)} (${offer.because}); ${may}`,
        `to reject it: ${approveCommand(ask, "reject")} --comment TEXT`,
      ];
    case "nothing":
      return [`${principal} has nothing to decide (${offer.because}); ${may} ${requestEffect(ask)}`];
  }
}
