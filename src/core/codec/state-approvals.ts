import type { Json } from "../model/json.ts";
import { kubeFleet } from "../model/names.ts";
import type { Approval, Gate, RunRecord } from "../model/run-record.ts";
import { emitYaml } from "./canonical.ts";
import { approvalRequestName } from "./layout.ts";
import { conditionJson } from "./state-condition.ts";
import { given } from "./state-fields.ts";
import { headingJson, kindIn, ownKey, placementApiVersion } from "./state-names.ts";

/** One gate of a run that was reached: the request that people answer. */
export interface ApprovalRequest {
  readonly run: RunRecord;
  readonly stage: string;
  readonly when: "before" | "after";
  readonly gate: Gate;
}

/** The requests of a run in the order of its stages, answered ones too: all that stands in `approvals/` of it. */
export const approvalRequests = (run: RunRecord): readonly ApprovalRequest[] =>
  (run.plan?.stages ?? []).flatMap(({ name: stage }, at) =>
    (["before", "after"] as const).flatMap((when) => {
      const gate = run.stages[at]?.[when] ?? null;
      return gate === null ? [] : [{ run, stage, when, gate }];
    }),
  );

/**
 * The text of `approvals/<name>.yaml`: KubeFleet's approval request with its status (`spec/rollout.md` §2.9).
 *
 * Output, never read back: nobody approves by writing a condition here. An answer names the digest in the annotation.
 */
export const approvalRequestText = ({ run, stage, when, gate }: ApprovalRequest): string =>
  emitYaml({
    ...headingJson({
      apiVersion: placementApiVersion,
      kind: kindIn(run.namespace, "ApprovalRequest"),
      name: approvalRequestName(run.name, when, stage),
      namespace: run.namespace,
      generation: 1,
      labels: {
        [`${kubeFleet}/targetUpdatingStage`]: stage,
        [`${kubeFleet}/targetUpdateRun`]: run.name,
        [`${kubeFleet}/taskType`]: `${when}Stage`,
        [`${kubeFleet}/isLatestUpdateRunApproval`]: "true",
      },
      annotations: { [ownKey("request-digest")]: gate.digest },
    }),
    spec: { parentStageRollout: run.name, targetStage: stage },
    status: given({ conditions: gate.approval === null ? null : conditionsJson(run, gate.approval) }),
  });

/** KubeFleet's two steps are one here: an answer counts, for good, or it does not (U7). */
function conditionsJson({ namespace }: RunRecord, { principal, path, blob, at }: Approval): readonly Json[] {
  const yes = (type: string, reason: string, message: string): Json =>
    conditionJson({ type, status: "True", reason, message, observedGeneration: 1, lastTransitionTime: at });
  return [
    yes("Approved", kindIn(namespace, "ApprovalRequestApproved"), `approved by ${principal}`),
    yes("ApprovalAccepted", "ApprovalRequestApprovalAccepted", `accepted from ${path} (blob ${blob})`),
  ];
}
