import type { ClusterName, Commit, Digest, Instant, PlacementKey, RunKey } from "./value.ts";

/** Something that is wrong with a plan. Whoever sorts, counts or routes it goes by its code and its subject. */
export interface PlanDefect<Code extends PlanDefectCode = PlanDefectCode> {
  readonly code: Code;
  readonly subject: DefectSubject;
  /** What the plan does, for people: a verb first, no full stop. */
  readonly message: string;
}

/** What a defect is about, as closely as can be said. */
export type DefectSubject =
  | { readonly kind: "ledger" | "trustFile" }
  | { readonly kind: "approvalFile"; readonly path: string }
  | { readonly kind: "deletion"; readonly digest: Digest }
  | { readonly kind: "cluster"; readonly cluster: ClusterName }
  | { readonly kind: "placement"; readonly placement: PlacementKey }
  | { readonly kind: "binding"; readonly placement: PlacementKey; readonly cluster: ClusterName }
  | {
      readonly kind: "object";
      readonly placement: PlacementKey;
      readonly cluster: ClusterName;
      /** As inventories write it. */
      readonly object: string;
    }
  | { readonly kind: "run"; readonly run: RunKey }
  | { readonly kind: "stage"; readonly run: RunKey; readonly stage: string };

/** Which rule a plan breaks. Codes are stable; messages are not. */
export type PlanDefectCode =
  | ActionDefectCode
  | LedgerDefectCode
  | DeletionDefectCode
  | DisruptionDefectCode
  | RunDefectCode
  | TrustFileDefectCode
  | ApprovalDefectCode
  | RequestDefectCode
  | ProtectionDefectCode
  | NameDefectCode
  | ScheduleDefectCode;

/** What it does to members. */
export type ActionDefectCode =
  | "RefusalIgnored"
  | "ClusterNotUnique"
  | "ClusterNotMember"
  | "ClusterNotReached"
  | "ClusterUidMismatch"
  | "BindingNotFound"
  | "SequenceMismatch"
  | "BindingNotAdmitted"
  | "NamespaceReserved"
  | "GrantExceeded"
  | "ObjectNotInInventory"
  | "ObjectUidMismatch"
  | "ObjectRemovedAndApplied"
  | "ObjectRemovalUndecided"
  | "ObjectStillPresent"
  | "AbandonedObjectDeleted"
  | "RecoveryUndecided"
  | "RecoveryIncomplete"
  | "HandOverUndecided"
  | "BoundPlacementMissing";

/** What it writes into the ledger. */
export type LedgerDefectCode =
  | "LedgerSequenceWrong"
  | "TargetSequenceWrong"
  | "RemovalSequenceWrong"
  | "DecisionNotDeclared"
  | "BindingForgotten"
  | "EnvelopeIncomplete"
  | "EnvelopePlaced"
  | "ObjectSelectedTwice"
  | "QuarantineUnfounded"
  | "QuarantineBroken";

/** What it deletes, and what it takes for confirmed. */
export type DeletionDefectCode =
  | "AdoptedObjectDeleted"
  | "AdoptedObjectNotReleased"
  | "AdoptedObjectPolicyMismatch"
  | "ReleasedObjectDeleted"
  | "ObjectReleased"
  | "WantedObjectRemoved"
  | "ObjectDeletionUnconfirmed"
  | "DeletionPolicyChanged"
  | "PropagationPolicyChanged"
  | "PermittedClustersExceeded"
  | "PermittedObjectsExceeded"
  | "DeletedClustersExceeded"
  | "DeletedObjectsExceeded"
  | "DeletionBoundLoosened"
  | "HeldObjectRemoved"
  | "HeldDeletionGrew"
  | "HeldDeletionIncomplete"
  | "HeldDeletionOutdated"
  | "DeletionDigestDuplicate"
  | "DeletionDigestReused"
  | "DeletionDigestMismatch"
  | "ConfirmationNotFound"
  | "ConfirmationNotRecorded"
  | "ConfirmationNotJudged"
  | "ConfirmationJudgedAgain"
  | "ConfirmationForgotten"
  | "CascadeUnconfirmed";

/** How many clusters of a placement it makes unavailable. */
export type DisruptionDefectCode =
  | "MaxUnavailableExceeded"
  | "UnobservedClusterRemoved"
  | "DisruptionBudgetExceeded"
  | "DisruptionBudgetUnreadable";

/** Where it does not follow the plan of an update run. */
export type RunDefectCode =
  | "TargetWithoutRun"
  | "RemovalWithoutRun"
  | "RunPlanChanged"
  | "RunContinuedAfterEnd"
  | "RunApprovalForgotten"
  | "StageOutOfOrder"
  | "StageFinishBackdated"
  | "StageSkippedAfterStart"
  | "StageStartUnapproved"
  | "StageEndUnapproved"
  | "StageWaitCutShort"
  | "StageNotRunning"
  | "ClusterUpdateUnapproved"
  | "MaxConcurrencyExceeded"
  | "MaxFailuresExceeded";

/** Which trust file it puts in force. */
export type TrustFileDefectCode =
  | "TrustForgotten"
  | "TrustFileForgotten"
  | "TrustFileNotFound"
  | "TrustFileExpired"
  | "TrustFileRolledBack"
  | "TrustFileUnvouched"
  | "TrustFileNotSuccessor"
  | "TrustFileCommitMixed"
  | "TrustFileBelowThreshold";

/** What it takes for approved, and by whom. */
export type ApprovalDefectCode =
  | "AnswerForgotten"
  | "AnswerJudgedAgain"
  | "AnswerInvalid"
  | "AnswerWithdrawn"
  | "ApprovalNotRequested"
  | "ApprovalWithoutApprover"
  | "ApprovalWithoutTrustFile"
  | "ApprovalAfterTrustExpiry"
  | "ApprovalUnsigned"
  | "ApprovalRejected"
  | "ApprovalBelowMinimum"
  | "ApproverDuplicate"
  | "ApproverInvalid"
  | "ApproverMismatch"
  | "RequestChanged";

/** What it leaves out of what people are asked. */
export type RequestDefectCode = "AuthorOmitted";

/** What it changes of protected targets. */
export type ProtectionDefectCode = "ProtectedTargetUnapproved" | "ProtectedCascadeUnapproved";

/** How it loses sight of which clusters are protected. */
export type NameDefectCode = "FormerNameForgotten" | "UnidentifiedClusterTargeted";

/** Where it places something against its policy, or takes it away without cause. */
export type ScheduleDefectCode =
  | "PickNotMember"
  | "PickNotNamed"
  | "PickAffinityUnmet"
  | "PickNamespaceAbsent"
  | "PickTaintNotTolerated"
  | "PickOutOfContact"
  | "PickNumberExceeded"
  | "PickSkewExceeded"
  | "PickDropped";

/** What was found wrong with the plan of a placement. */
export type Violation = Pick<PlanDefect, "code" | "message">;

/**
 * A placement that stays as recorded, since its plan failed the check while that of all others passed
 * (`plan/README.md#d-10`).
 */
export interface Quarantine {
  readonly placement: PlacementKey;
  /** When a plan of it first failed, of those that failed without a break. */
  readonly since: Instant;
  /** The source commit under which it failed last: under another one it is planned again. */
  readonly commit: Commit;
  /** The rules by which it was planned: a release with others plans it again. */
  readonly decisionVersion: number;
  /** The first ones; at least one. */
  readonly violations: readonly Violation[];
}

/** Of one placement so many are recorded. */
export const maxViolations = 10;
