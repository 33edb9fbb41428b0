import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { Gate, PlannedStage, RunRecord } from "../model/run-record.ts";
import type { ProtectedTarget, Request, Trust } from "../model/trust.ts";
import type { Digest } from "../model/value.ts";
import type { OpenRequest } from "../trust/judge-approval.ts";
import { protects } from "../trust/protected.ts";
import type { Asked, AskedFor, RequestsByDigest } from "./answers.ts";
import type { PlanContext } from "./context.ts";
import { gateSubject } from "./run-consent.ts";

/** Everything that a ledger has asked people for, by the digest that answers name, and by where it is asked. */
export function askedIn({ runs, placements }: Pick<Ledger, "runs" | "placements">): Asked {
  const digests = new Map<Digest, AskedFor>();
  const places = new Map<string, string>();
  for (const run of runs.values())
    for (const { stage, when, gate } of gatesOf(run)) {
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

interface AskedGate {
  readonly stage: PlannedStage;
  readonly when: "before" | "after";
  readonly gate: Gate;
}

function* gatesOf(run: RunRecord): Generator<AskedGate> {
  for (const [at, stage] of (run.plan?.stages ?? []).entries())
    for (const when of ["before", "after"] as const) {
      const gate = run.stages[at]?.[when] ?? null;
      if (gate !== null) yield { stage, when, gate };
    }
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
    for (const { stage, when, gate } of gatesOf(run))
      if (gate.approval === null) add(gate, gateSubject({ run, record, stage, when }, trust, context));
  }
  for (const record of ledger.placements.values()) {
    const request = record.change?.request ?? null;
    if (request === null || request.approval !== null) continue;
    add(request, { placement: record.key, stage: null, targets: changeTargets(record, trust, context) });
  }
  return open;
}

/** Whatever is protected in the clusters that a request names: the count takes what of it is reached. */
function changeTargets({ change }: PlacementRecord, trust: Trust, { ledger }: PlanContext): readonly ProtectedTarget[] {
  const targets = new Set(
    [...(change?.clusters.keys() ?? [])].flatMap((name) => {
      const uid = ledger.clusters.get(name)?.kubeSystemUid ?? null;
      return protects(trust, { name, uid }, [null]);
    }),
  );
  return trust.protectedTargets.filter((it) => targets.has(it));
}
