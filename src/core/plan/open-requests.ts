import type { Request, Trust } from "../model/trust.ts";
import type { Digest } from "../model/value.ts";
import type { OpenRequest } from "../trust/judge-approval.ts";
import type { RequestsByDigest } from "./approval/answers.ts";
import { changeRequestOf, gateRequestsOf, requestState, requestSubject } from "./approval/approval-request.ts";
import type { PlanContext } from "./moves/context.ts";
import { gateSubject } from "./runs/run-consent.ts";

/** What is open in a ledger, with all that an answer to it is judged by. */
export function openRequests(context: PlanContext, trust: Trust): RequestsByDigest {
  const { ledger } = context;
  const open = new Map<Digest, OpenRequest>();
  const add = ({ digest, requestedAt, authors }: Request, subject: Omit<OpenRequest, keyof Request>): void => {
    open.set(digest, { digest, requestedAt, authors, ...subject });
  };
  for (const run of ledger.runs.values()) {
    if (run.end !== null) continue;
    const record = ledger.placements.get(run.spec.placement) ?? null;
    for (const { stage, when, request } of gateRequestsOf(run))
      if (request.approval === null) add(request, gateSubject({ run, record, stage, when }, trust, context));
  }
  for (const record of ledger.placements.values()) {
    const ask = changeRequestOf(record);
    // Whatever is protected in the clusters that it names: the count takes what of it is reached.
    if (ask !== null && requestState(ask) === "open") add(ask.request, requestSubject(ask, ledger, trust));
  }
  return open;
}
