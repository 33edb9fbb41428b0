import { type Ask, askState } from "../../core/plan/approval/ask.ts";
import { mayStillApprove, offerTo } from "../../core/report/offer.ts";
import type { Outlook } from "../../core/report/outlook.ts";
import { answerCommand, askText } from "./approval-text.ts";

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
