import type { Json, JsonObject } from "../model/json.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import { kubeFleetPrefix } from "../model/names.ts";
import type { Approval, Approver, Authors, Request } from "../model/trust.ts";
import type { RunRecord } from "../model/update-run.ts";
import type { Labels } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { approvalRequestName, approvalRequestPath, changeRequestName } from "./layout.ts";
import { clustersJson } from "./state-change.ts";
import { conditionJson } from "./state-condition.ts";
import { given } from "./state-fields.ts";
import { leavesJson } from "./state-leaves.ts";
import { fleetKey, headingJson, kindIn, ownKey, placementApiVersion } from "./state-names.ts";

/** A request that people answer, and where it is shown to them. */
export interface ApprovalRequest {
  readonly path: string;
  /** All that its text is made from, by identity. */
  readonly from: readonly unknown[];
  readonly text: () => string;
}

/** The requests of a run in the order of its stages, answered ones too: all that stands in `approvals/` of it. */
export const runRequests = (run: RunRecord): readonly ApprovalRequest[] =>
  (run.plan?.stages ?? []).flatMap(({ name: stage }, at) =>
    (["before", "after"] as const).flatMap((when) => {
      const request = run.stages[at]?.[when] ?? null;
      if (request === null) return [];
      const name = approvalRequestName(run.name, when, stage);
      const labels = {
        [`${kubeFleetPrefix}/targetUpdatingStage`]: stage,
        [`${kubeFleetPrefix}/targetUpdateRun`]: run.name,
        [`${kubeFleetPrefix}/taskType`]: `${when}Stage`,
        [`${kubeFleetPrefix}/isLatestUpdateRunApproval`]: "true",
      };
      const spec = { parentStageRollout: run.name, targetStage: stage };
      const written = { namespace: run.namespace, name, labels, annotations: {}, spec, request };
      return [{ path: approvalRequestPath(run.namespace, name), from: [request], text: () => requestText(written) }];
    }),
  );

/**
 * The request for a placement's change of what is protected, as long as the change stands; none before it is asked for.
 *
 * KubeFleet's kind wants a rollout and a stage: here they are the placement, and `change`.
 */
export function changeRequests(record: PlacementRecord): readonly ApprovalRequest[] {
  const { change, namespace } = record;
  const request = change?.request ?? null;
  if (change === null || request === null) return [];
  const name = changeRequestName(record.name);
  const path = approvalRequestPath(namespace, name);
  const written = (): Written => ({
    namespace,
    name,
    labels: { [fleetKey.parent]: record.name },
    annotations: {
      [ownKey("clusters")]: JSON.stringify(clustersJson(change.clusters)),
      [ownKey("leaves")]: change.leaves.size === 0 ? null : JSON.stringify(leavesJson(change.leaves)),
    },
    spec: { parentStageRollout: record.name, targetStage: "change" },
    request,
  });
  return [{ path, from: [request, change.clusters, change.leaves], text: () => requestText(written()) }];
}

interface Written {
  readonly namespace: string | null;
  readonly name: string;
  readonly labels: Labels;
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly spec: JsonObject;
  readonly request: Request;
}

/**
 * The text of `approvals/<name>.yaml`: KubeFleet's approval request with its status (`trust/README.md#the-request`).
 *
 * Output, never read back: nobody approves by writing a condition here. An answer names the digest in the annotation.
 */
function requestText({ namespace, name, labels, annotations, spec, request }: Written): string {
  const { digest, nonce, rules, authors, approval } = request;
  return emitYaml({
    ...headingJson({
      apiVersion: placementApiVersion,
      kind: kindIn(namespace, "ApprovalRequest"),
      name,
      namespace,
      generation: 1,
      labels,
      annotations: {
        ...annotations,
        [ownKey("request-digest")]: digest,
        [ownKey("nonce")]: nonce,
        [ownKey("rules")]: rules,
        [ownKey("authors")]: authorsText(authors),
      },
    }),
    spec,
    status: given({ conditions: approval === null ? null : conditionsJson(namespace, approval) }),
  });
}

/** Who changed what is asked for: `ann, bob; 2 unsigned`. Null where nobody did. */
function authorsText({ principals, unknown }: Authors): string | null {
  const parts = [
    ...(principals.length === 0 ? [] : [principals.join(", ")]),
    ...(unknown > 0 ? [`${unknown} unsigned`] : []),
  ];
  return parts.length === 0 ? null : parts.join("; ");
}

/** KubeFleet's two steps are one here: answers count, for good, or they do not (`rollout/README.md#u7`). */
function conditionsJson(namespace: string | null, { by, at }: Approval): readonly Json[] {
  const yes = (type: string, reason: string, message: string): Json =>
    conditionJson({ type, status: "True", reason, message, observedGeneration: 1, lastTransitionTime: at });
  const files = by.map(({ path, blob }) => `${path} (blob ${blob})`);
  return [
    yes("Approved", kindIn(namespace, "ApprovalRequestApproved"), `approved by ${by.map(approverText).join(" and ")}`),
    yes("ApprovalAccepted", "ApprovalRequestApprovalAccepted", `accepted from ${files.join(" and ")}`),
  ];
}

/** Who, by which keys, and in which commit: `ann (SHA256:…, commit 1234567890ab)`. */
function approverText({ principal, proofs, commit }: Approver): string {
  const keys = new Set(proofs.map(({ key }) => key));
  const how = [
    ...(keys.size === 0 ? ["unsigned"] : keys),
    ...(commit === null ? [] : [`commit ${commit.slice(0, 12)}`]),
  ];
  return `${principal} (${how.join(", ")})`;
}
