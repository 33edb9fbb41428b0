import type { Ledger } from "../../model/ledger.ts";
import type { Digest } from "../../model/value.ts";
import type { Asked, AskedFor } from "./answers.ts";
import { gateAsks } from "./ask.ts";

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
