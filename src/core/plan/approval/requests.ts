import type { Ledger } from "../../model/ledger.ts";
import type { Request, Trust } from "../../model/trust.ts";
import type { Digest } from "../../model/value.ts";
import type { OpenRequest } from "../../trust/judge-approval.ts";
import type { PlanContext } from "../context.ts";
import { gateSubject } from "../runs/run-consent.ts";
import type { Asked, AskedFor, RequestsByDigest } from "./answers.ts";
import { askState, askSubject, changeAsk, gateAsks } from "./ask.ts";

/** Everything that a ledger has asked people for, by the digest that answers name, and by where it is asked. */
export function askedIn({ runs, placements }: Pick<Ledger, "runs" | "placements">): Asked {
  const digests = new Map<Digest, AskedFor>();
  const places = new Map<string, string>();
  for (const run of runs.values())
    for (const { stage, when, request: gate } of gateAsks(run)) {
      const place = `run ${run.key}, ${when} stage ${stage.name}`;
      places.set(place, run.uid);
      const isOpen = gate.approval === null && run.end === null;
      digests.set(gate.digest, { place, uid: run.uid, isOpen, isDone: gate.approval !== null && run.end !== null });
    }
  for (const { key, uid, change } of placements.values()) {
    if (change === null) continue;
    const place = `the change of ${key}`;
    places.set(place, uid);
    const { request } = change;
    if (request === null) continue;
    const isOpen = request.approval === null;
    digests.set(request.digest, { place, uid, isOpen, isDone: !isOpen });
  }
  return { digests, places };
}

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
    for (const { stage, when, request } of gateAsks(run))
      if (request.approval === null) add(request, gateSubject({ run, record, stage, when }, trust, context));
  }
  for (const record of ledger.placements.values()) {
    const ask = changeAsk(record);
    // Whatever is protected in the clusters that it names: the count takes what of it is reached.
    if (ask !== null && askState(ask) === "open") add(ask.request, askSubject(ask, ledger, trust));
  }
  return open;
}
