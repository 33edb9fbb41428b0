import { type Json, sameJson } from "../model/json.ts";
import type { ChangeRequest, Ledger } from "../model/ledger.ts";
import type { World } from "../model/plan.ts";
import type {
  ApprovalDefectCode,
  DefectSubject,
  PlanDefect,
  ProtectionDefectCode,
  RunDefectCode,
  TrustFileDefectCode,
} from "../model/plan-defect.ts";
import type { TaskRecords } from "../model/stage-task.ts";
import type { Request } from "../model/trust.ts";
import type { StageProgress } from "../model/update-run.ts";
import type { AuditCheck, AuditFinding, AuditSubject } from "./audit-finding.ts";

/** The defects that can be found in the record alone, without what members said. */
export type AuditedDefectCode = TrustFileDefectCode | ApprovalDefectCode | ProtectionDefectCode | RunDefectCode;

/** A defect in a commit of the state branch, as a finding of the audit. */
export const findingOf = ({ code, subject, message }: PlanDefect<AuditedDefectCode>): AuditFinding => ({
  check: checkOf[code],
  subject: auditSubjectOf(subject),
  what: message,
});

const checkOf: Readonly<Record<AuditedDefectCode, AuditCheck>> = {
  TrustForgotten: "trust",
  TrustFileForgotten: "trust",
  TrustFileNotFound: "trust",
  TrustFileExpired: "trust",
  TrustFileRolledBack: "trust",
  TrustFileUnvouched: "trust",
  TrustFileNotSuccessor: "trust",
  TrustFileCommitMixed: "trust",
  TrustFileBelowThreshold: "trust",
  AnswerForgotten: "approvals",
  AnswerJudgedAgain: "approvals",
  AnswerInvalid: "approvals",
  AnswerWithdrawn: "approvals",
  ApprovalNotRequested: "approvals",
  ApprovalWithoutApprover: "approvals",
  ApprovalWithoutTrustFile: "approvals",
  ApprovalAfterTrustExpiry: "approvals",
  ApprovalUnsigned: "approvals",
  ApprovalRejected: "approvals",
  ApprovalBelowMinimum: "approvals",
  ApproverDuplicate: "approvals",
  ApproverInvalid: "approvals",
  ApproverMismatch: "approvals",
  RequestChanged: "approvals",
  ProtectedTargetUnapproved: "approvals",
  ProtectedCascadeUnapproved: "approvals",
  TargetWithoutRun: "plans",
  RemovalWithoutRun: "plans",
  RunPlanChanged: "plans",
  RunContinuedAfterEnd: "plans",
  RunApprovalForgotten: "plans",
  StageOutOfOrder: "plans",
  StageFinishBackdated: "plans",
  StageSkippedAfterStart: "plans",
  StageStartUnapproved: "plans",
  StageEndUnapproved: "plans",
  StageWaitCutShort: "plans",
  StageNotRunning: "plans",
  ClusterUpdateUnapproved: "plans",
  MaxConcurrencyExceeded: "plans",
  MaxFailuresExceeded: "plans",
};

/** The subject by file of the record: a binding is part of its placement, a stage of its run. */
function auditSubjectOf(subject: DefectSubject): AuditSubject {
  switch (subject.kind) {
    case "trustFile":
      return { kind: "trust" };
    case "approvalFile":
      return { kind: "answers" };
    case "run":
    case "stage":
      return { kind: "run", key: subject.run };
    case "placement":
    case "binding":
    case "object":
      return { kind: "placement", key: subject.placement };
    case "ledger":
    case "deletion":
    case "cluster":
      return { kind: "ledger" };
  }
}

/** A ledger read from files, with the world's identities (`===`) where it says the same: checks go by identity. */
export function aligned(after: Ledger, world: World): Ledger {
  const [trust, answers] = [trustIn(after, world), answersIn(after, world)];
  return { ...after, trust, answers, runs: runsIn(after, world), placements: placementsIn(after, world) };
}

function trustIn({ trust: record }: Ledger, { intent, ledger }: World): Ledger["trust"] {
  const { trust: file } = intent;
  if (record === null || record === ledger.trust) return record;
  if (file?.trust == null || file.text !== record.text) return record;
  return { ...record, trust: file.trust };
}

function answersIn({ answers }: Ledger, { intent, ledger }: World): Ledger["answers"] {
  if (answers === ledger.answers) return answers;
  const files = new Map(intent.approvals.map((it) => [it.path, it]));
  return new Map(
    [...answers].map(([path, it]) => {
      const file = files.get(path);
      const isSame = file !== undefined && it !== ledger.answers.get(path) && same(file, it.file);
      return [path, isSame ? { ...it, file } : it];
    }),
  );
}

function runsIn({ runs }: Ledger, { ledger }: World): Ledger["runs"] {
  return new Map(
    [...runs].map(([key, run]) => {
      const before = ledger.runs.get(key);
      if (before === undefined || before === run) return [key, run];
      return [key, { ...run, stages: run.stages.map((it, at) => stageIn(it, before.stages[at])) }];
    }),
  );
}

function placementsIn({ placements }: Ledger, { ledger }: World): Ledger["placements"] {
  return new Map(
    [...placements].map(([key, record]) => {
      const before = ledger.placements.get(key);
      if (record === before || record.change === null || before?.change == null) return [key, record];
      return [key, { ...record, change: changeIn(record.change, before.change) }];
    }),
  );
}

function changeIn(change: ChangeRequest, before: ChangeRequest): ChangeRequest {
  if (change === before) return change;
  const isSame = same([...change.clusters], [...before.clusters]);
  const clusters = isSame ? before.clusters : change.clusters;
  const leaves = same([...change.leaves], [...before.leaves]) ? before.leaves : change.leaves;
  return { ...change, clusters, leaves, request: requestIn(change.request, before.request) };
}

function stageIn(stage: StageProgress, before: StageProgress | undefined): StageProgress {
  if (before === undefined || before === stage) return stage;
  return { ...stage, before: tasksIn(stage.before, before.before), after: tasksIn(stage.after, before.after) };
}

const tasksIn = (records: TaskRecords, before: TaskRecords): TaskRecords => ({
  Approval: requestIn(records.Approval, before.Approval),
  TimedWait: records.TimedWait,
});

const requestIn = (request: Request | null, before: Request | null): Request | null =>
  request === null || before === null || request === before || !same(request.authors, before.authors)
    ? request
    : { ...request, authors: before.authors };

const same = (a: object, b: object): boolean => sameJson(a as Json, b as Json);
