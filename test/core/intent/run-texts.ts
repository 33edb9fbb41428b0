// What KubeFleet's status has no field for.
const progress = {
  stages: [
    {
      finishedAt: "2026-11-21T12:02:00Z",
      after: {
        digest: "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd",
        nonce: "1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f",
        by: [
          {
            principal: "alice",
            path: "approvals/canary.yaml",
            blob: "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
            commit: "1234567890abcdef1234567890abcdef12345678",
            proofs: [{ evidence: "commit", key: "SHA256:abc" }],
          },
        ],
      },
      sequences: { a: 40, c: 41 },
      supersededBy: { c: "newer" },
    },
    {},
  ],
};

/** `run.yaml` of a run whose first stage is over: one cluster was updated, one skipped, one superseded. */
export const runYaml = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateRun
metadata:
  name: v7
  uid: "11111111"
  generation: 2
  annotations:
    flotilla.dev/plan-root: ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
    flotilla.dev/progress: ${JSON.stringify(JSON.stringify(progress))}
    flotilla.dev/since-sequence: "39"
spec:
  placementName: web
  stagedRolloutStrategyName: slow
  state: Run
status:
  policySnapshotIndexUsed: "2"
  policyObservedClusterCount: 4
  resourceSnapshotIndexUsed: "7"
  appliedStrategy:
    type: ClientSideApply
    comparisonOption: PartialComparison
    whenToApply: Always
    whenToTakeOver: Always
    allowCoOwnership: false
  stagedUpdateStrategySnapshot:
    stages:
    - name: canary
      labelSelector:
        matchLabels:
          stage: canary
      maxConcurrency: "50%"
      afterStageTasks:
      - type: TimedWait
        waitTime: "3600s"
      - type: Approval
    - name: prod
      labelSelector:
        matchLabels:
          stage: prod
      maxConcurrency: "50%"
  stagesStatus:
  - stageName: canary
    clusters:
    - clusterName: a
      conditions:
      - type: Started
        status: "True"
        reason: ClusterUpdatingStarted
        message: the cluster is to carry the version of the run
        observedGeneration: 2
        lastTransitionTime: "2026-11-21T12:00:00Z"
      - type: Succeeded
        status: "True"
        reason: ClusterUpdatingSucceeded
        message: the cluster carries the version of the run
        observedGeneration: 2
        lastTransitionTime: "2026-11-21T12:01:00Z"
    - clusterName: b
      conditions:
      - type: Succeeded
        status: "True"
        reason: ClusterUpdatingSkipped
        message: it left the fleet
        observedGeneration: 2
        lastTransitionTime: "2026-11-21T12:01:00Z"
    - clusterName: c
      conditions:
      - type: Started
        status: "True"
        reason: ClusterUpdatingStarted
        message: the cluster is to carry the version of the run
        observedGeneration: 2
        lastTransitionTime: "2026-11-21T12:01:00Z"
      - type: Succeeded
        status: "True"
        reason: ClusterUpdatingSuperseded
        message: a newer run has moved the cluster, or is moving it
        observedGeneration: 2
        lastTransitionTime: "2026-11-21T12:02:00Z"
    afterStageTaskStatus:
    - type: TimedWait
      conditions:
      - type: WaitTimeElapsed
        status: "True"
        reason: AfterStageTaskWaitTimeElapsed
        message: the wait is over
        observedGeneration: 2
        lastTransitionTime: "2026-11-21T13:02:00Z"
    - type: Approval
      approvalRequestName: v7-after-canary
      conditions:
      - type: ApprovalRequestCreated
        status: "True"
        reason: StageTaskApprovalRequestCreated
        message: the approval is asked for
        observedGeneration: 2
        lastTransitionTime: "2026-11-21T12:02:00Z"
      - type: ApprovalRequestApproved
        status: "True"
        reason: StageTaskApprovalRequestApproved
        message: the approval was given
        observedGeneration: 2
        lastTransitionTime: "2026-11-21T12:30:00Z"
    startTime: "2026-11-21T12:00:00Z"
    endTime: "2026-11-21T13:02:00Z"
  - stageName: prod
    clusters:
    - clusterName: d
  deletionStageStatus:
    stageName: kubernetes-fleet.io/deleteStage
    clusters:
    - clusterName: old
`;

/** `approvals/v7-after-canary.yaml` of the same run. */
export const requestYaml = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterApprovalRequest
metadata:
  name: v7-after-canary
  generation: 1
  labels:
    kubernetes-fleet.io/isLatestUpdateRunApproval: "true"
    kubernetes-fleet.io/targetUpdateRun: v7
    kubernetes-fleet.io/targetUpdatingStage: canary
    kubernetes-fleet.io/taskType: afterStage
  annotations:
    flotilla.dev/nonce: "1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f"
    flotilla.dev/request-digest: dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd
spec:
  parentStageRollout: v7
  targetStage: canary
status:
  conditions:
  - type: Approved
    status: "True"
    reason: ClusterApprovalRequestApproved
    message: approved by alice (SHA256:abc, commit 1234567890ab)
    observedGeneration: 1
    lastTransitionTime: "2026-11-21T12:30:00Z"
  - type: ApprovalAccepted
    status: "True"
    reason: ApprovalRequestApprovalAccepted
    message: accepted from approvals/canary.yaml (blob eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee)
    observedGeneration: 1
    lastTransitionTime: "2026-11-21T12:30:00Z"
`;
