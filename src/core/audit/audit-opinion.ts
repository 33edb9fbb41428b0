import type {
  ApprovalDefectCode,
  DefectSubject,
  PlanDefect,
  ProtectionDefectCode,
  RunDefectCode,
  TrustFileDefectCode,
} from "../model/plan-defect.ts";
import type { AuditCheck, AuditFinding, AuditSubject } from "./audit-finding.ts";

/** What the second opinion can say of a record alone, without what members said. */
export type AuditedDefectCode = TrustFileDefectCode | ApprovalDefectCode | ProtectionDefectCode | RunDefectCode;

/** A defect that the second opinion finds in a commit of the state branch, as a finding of the audit. */
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

/** The file of the record that says it: a binding stands with its placement, a stage with its run. */
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
