import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { Plan, World } from "../model/plan.ts";
import type { DefectSubject } from "../model/plan-defect.ts";
import type { Approval, ProtectedTarget, Request, Trust } from "../model/trust.ts";
import type { PlannedStage, RunRecord } from "../model/update-run.ts";
import {
  coversObject,
  type NameLedgers,
  type Requirement,
  stageRequirements,
  targetRequirement,
  targetsOn,
} from "./check-approvers.ts";

/** An approval that a plan newly accepts. */
export interface Approved {
  readonly what: string;
  readonly subject: DefectSubject;
  readonly request: Request;
  readonly approval: Approval;
  /** The request that was open in its place when the pass began. */
  readonly was: Request | null;
  readonly rules: (trust: Trust, plan: Plan, world: World) => Rules;
}

/** The requirements that an approval has to meet. */
export interface Rules {
  /** Every one of these applies. */
  readonly certain: readonly Requirement[];
  /** Which of these apply is not known here; where none is certain, at least one does. */
  readonly possible: readonly Requirement[];
}

/** All approvals that a plan newly accepts. */
export function* newlyApproved(ledger: Ledger, old: Ledger): Generator<Approved> {
  for (const [key, run] of ledger.runs) {
    const known = old.runs.get(key);
    if (run === known) continue;
    const before = known?.uid === run.uid && known.end === null ? known : null;
    for (const [at, stage] of run.stages.entries())
      for (const when of ["before", "after"] as const) {
        const request = stage[when].Approval;
        const was = before?.stages[at]?.[when].Approval ?? null;
        const isOld = request?.approval === known?.stages[at]?.[when].Approval?.approval && known?.uid === run.uid;
        const planned = run.plan?.stages[at];
        if (request?.approval == null || isOld || planned === undefined) continue;
        const rules: Approved["rules"] = (...input) => gateRules({ run, planned, when }, ...input);
        const { approval } = request;
        yield {
          what: `the gate ${when} stage ${planned.name} of run ${key}`,
          subject: { kind: "stage", run: key, stage: planned.name },
          request,
          approval,
          was,
          rules,
        };
      }
  }
  for (const [key, record] of ledger.placements) {
    const request = record.change?.request ?? null;
    const known = old.placements.get(key);
    if (record === known || request === null || request.approval === null) continue;
    const was = known?.uid === record.uid ? (known.change?.request ?? null) : null;
    if (was?.approval === request.approval) continue;
    const rules: Approved["rules"] = (trust, plan, world) => changeRules(record, trust, [plan.ledger, world.ledger]);
    yield {
      what: `the change of ${key}`,
      subject: { kind: "placement", placement: key },
      request,
      approval: request.approval,
      was,
      rules,
    };
  }
}

interface GateAt {
  readonly run: RunRecord;
  readonly planned: PlannedStage;
  readonly when: "before" | "after";
}

/**
 * The requirements of a stage. Overrides may drop objects, so the protected targets that it reaches are not always
 * certain.
 */
function gateRules({ run, planned, when }: GateAt, trust: Trust, { ledger }: Plan, world: World): Rules {
  const { placement } = run.spec;
  const requirements = stageRequirements(trust, placement, planned.name);
  if (when === "after") return { certain: requirements, possible: [] };
  const [record, old] = [ledger, world.ledger].map((it) => it.placements.get(placement));
  const brought = record?.resourceSnapshots.find((it) => it.index === run.plan?.resourceIndex)?.resources ?? [];
  const reached = new Set<ProtectedTarget>();
  const near = new Set<ProtectedTarget>();
  for (const { cluster, clusterOverrides, resourceOverrides } of planned.clusters) {
    const isBound = record?.bindings.has(cluster) === true && old?.bindings.has(cluster) === true;
    const isPlain = clusterOverrides.length + resourceOverrides.length === 0;
    for (const target of targetsOn(trust, cluster, [ledger, world.ledger])) {
      near.add(target);
      if (isBound && isPlain && brought.some((it) => coversObject(target, it.id))) reached.add(target);
    }
  }
  return {
    certain: [...requirements, ...[...reached].map(targetRequirement)],
    possible: [...near].map(targetRequirement),
  };
}

/** Which of its clusters still change is not known here: each is checked when it moves. */
function changeRules({ change }: PlacementRecord, trust: Trust, ledgers: NameLedgers): Rules {
  const near = [...(change?.clusters.keys() ?? [])].flatMap((it) => targetsOn(trust, it, ledgers));
  return { certain: [], possible: [...new Set(near)].map(targetRequirement) };
}
