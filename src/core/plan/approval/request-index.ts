import type { Ledger } from "../../model/ledger.ts";
import type { Digest } from "../../model/value.ts";
import type { IndexedRequest, RequestIndex } from "./answers.ts";
import { gateRequestsOf } from "./approval-request.ts";

/** All requests in a ledger, by the digest that answers name, and by the gate or change. */
export function indexRequests({ runs, placements }: Pick<Ledger, "runs" | "placements">): RequestIndex {
  const digests = new Map<Digest, IndexedRequest>();
  const places = new Map<string, string>();
  for (const run of runs.values())
    for (const { stage, when, request: gate } of gateRequestsOf(run)) {
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
