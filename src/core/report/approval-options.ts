import type { Denial } from "../model/trust.ts";
import { type Ask, askState } from "../plan/approval/ask.ts";
import { possibleProofs } from "../trust/quorum.ts";
import { type AnswerToRule, objectionOf } from "../trust/rules.ts";
import { answerCommand, askText } from "./approval-files.ts";
import { type Outlook, rulesOn, verdictOn } from "./approval-status.ts";

/** What somebody may do about a request that is open. */
export type Offer =
  | { readonly kind: "approve" }
  /** They did already; they may take it back. */
  | { readonly kind: "given" }
  /** They may only reject it. */
  | { readonly kind: "reject"; readonly because: string }
  | { readonly kind: "nothing"; readonly because: string };

const nothing = (because: string): Offer => ({ kind: "nothing", because });

/**
 * What somebody may do about a request, by the trust file in force: the rules, four eyes, the keys that they have, and
 * what was answered so far. An approval is offered only where something still lacks it.
 */
export function offerTo(name: string, ask: Ask, outlook: Outlook): Offer {
  const { trust, now } = outlook;
  const person = trust.principals.get(name);
  if (person === undefined) return nothing(`trust/root.yaml lists no ${name}`);
  if (!person.isHuman) return nothing(`${name} is a machine`);
  const verdict = verdictOn(ask, outlook);
  if (verdict.kind === "approved") return nothing("enough people have approved it");
  if (verdict.kind === "rejected") return nothing(`${verdict.by} rejected it`);
  // By the clock, or without a rule.
  if (verdict.missing.length === 0) return nothing(verdict.because);
  const { authors, requestedAt } = ask.request;
  const judgement = { kind: "counts", principal: name, proofs: possibleProofs(person, trust), at: now } as const;
  const voice = (decision: AnswerToRule["decision"]): AnswerToRule => ({ decision, judgement, authors, requestedAt });
  const rules = rulesOn(ask, outlook);
  const objections = rules.map((it) => objectionOf(it, voice("Approve")));
  const lacking = verdict.missing.filter((it) => objectionOf(it.rule, voice("Approve")) === null);
  if (lacking.some((it) => it.mayApprove.includes(name))) return { kind: "approve" };
  if (lacking.some((it) => it.have.includes(name))) return { kind: "given" };
  const because = objections.includes(null)
    ? `what is missing is not ${name}'s to give: ${verdict.because}`
    : tellingOf(objections);
  const mayReject = rules.some((it) => objectionOf(it, voice("Reject")) === null);
  return mayReject ? { kind: "reject", because } : nothing(because);
}

/** The one that is about more than not being asked, where there is one. */
const tellingOf = (objections: readonly (Denial | null)[]): string =>
  (objections.find((it) => it !== null && it.code !== "FLT1214") ?? objections[0])?.because ?? "";

/** By name, whose approval is still missing and would count. Everybody once, in the order of their names. */
export const mayStillApprove = (ask: Ask, outlook: Outlook): readonly string[] =>
  [...outlook.trust.principals.keys()].sort().filter((it) => offerTo(it, ask, outlook).kind === "approve");

/** Whom a request is shown to. */
export interface Reader {
  /** Null where nobody set up who may approve. */
  readonly outlook: Outlook | null;
  /** A principal of the trust file; null where nobody knows who it is. */
  readonly principal: string | null;
}

/** Whether the one who looks could approve it, as far as anybody knows. */
export const mayApprove = (ask: Ask, { outlook, principal }: Reader): boolean =>
  outlook === null || (principal !== null && offerTo(principal, ask, outlook).kind === "approve");

/** What the one who looks may do about a request, or who may; nothing where there is nothing left to answer. */
export function offerLines(ask: Ask, reader: Reader): readonly string[] {
  if (askState(ask) !== "open") return [];
  const { outlook, principal } = reader;
  const whole = `to ${askText(ask)}: ${answerCommand(ask)}`;
  if (outlook === null) return [whole];
  const others = mayStillApprove(ask, outlook);
  if (principal === null)
    return others.length === 0
      ? [`nobody may ${askText(ask)} as things stand`]
      : [`${others.join(", ")} may ${askText(ask)}: ${answerCommand(ask)}`];
  const offer = offerTo(principal, ask, outlook);
  const may = others.length === 0 ? "nobody may" : `${others.join(", ")} may`;
  switch (offer.kind) {
    case "approve":
      return [whole];
    case "given":
      return [`${principal} has approved it; to take that back: ${answerCommand(ask)} --revoke`];
    case "reject":
      return [
        `${principal} may not ${askText(ask)} (${offer.because}); ${may}`,
        `to reject it: ${answerCommand(ask, "reject")} --comment TEXT`,
      ];
    case "nothing":
      return [`there is nothing for ${principal} to answer (${offer.because}); ${may} ${askText(ask)}`];
  }
}
