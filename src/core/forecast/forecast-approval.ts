import type { Ledger } from "../model/ledger.ts";
import type { Approval } from "../model/trust.ts";
import type { Gate, RunRecord, StageProgress } from "../model/update-run.ts";
import { type BlobId, type DurationMs, earliest, type Instant, later, type RunKey } from "../model/value.ts";
import type { Focus } from "./forecast-event.ts";

/** When somebody is supposed to approve. */
interface Approving {
  readonly focus: Focus;
  /** How long after the request; null: never. */
  readonly approveAfter: DurationMs | null;
}

/**
 * The ledger with the approvals that are given by `now`, on runs of the placement that is told of.
 *
 * Given as if they had been accepted: whether an answer counts is not what a forecast is asked.
 */
export function approved(ledger: Ledger, now: Instant, approving: Approving): Ledger {
  const runs = new Map<RunKey, RunRecord>();
  let isNews = false;
  for (const [key, run] of ledger.runs) {
    const next = isConcerned(run, approving) ? approvedRun(run, now, approving) : run;
    if (next !== run) isNews = true;
    runs.set(key, next);
  }
  return isNews ? { ...ledger, runs } : ledger;
}

/** When the next approval is given; null when none is asked for, or nobody gives any. Never before `now`. */
export function nextApproval({ runs }: Ledger, now: Instant, approving: Approving): Instant | null {
  const gates = [...runs.values()]
    .filter((it) => isConcerned(it, approving))
    .flatMap(({ stages }) => stages.flatMap(({ before, after }) => [before, after]));
  const next = earliest(...gates.map((it) => dueAt(it, approving)));
  return next === null ? null : (Math.max(next, now) as Instant);
}

const isConcerned = ({ spec, end }: RunRecord, { focus }: Approving): boolean =>
  spec.placement === focus.placement && end === null;

function approvedRun(run: RunRecord, now: Instant, approving: Approving): RunRecord {
  const stages = run.stages.map((it) => approvedStage(it, now, approving));
  return stages.some((it, at) => it !== run.stages[at]) ? { ...run, stages } : run;
}

function approvedStage(stage: StageProgress, now: Instant, approving: Approving): StageProgress {
  const [before, after] = [stage.before, stage.after].map((it) => approvedGate(it, now, approving)) as [
    Gate | null,
    Gate | null,
  ];
  return before === stage.before && after === stage.after ? stage : { ...stage, before, after };
}

function approvedGate(gate: Gate | null, now: Instant, approving: Approving): Gate | null {
  const due = dueAt(gate, approving);
  if (gate === null || due === null || due > now) return gate;
  return { ...gate, approval: forecastApproval(now) };
}

const forecastApproval = (at: Instant): Approval => ({
  at,
  by: [{ principal: "the forecast", path: "approvals/forecast.yaml", blob: "" as BlobId, commit: null, proofs: [] }],
});

const dueAt = (gate: Gate | null, { approveAfter }: Approving): Instant | null =>
  gate === null || gate.approval !== null || approveAfter === null ? null : later(gate.requestedAt, approveAfter);
