import type { Json } from "../model/json.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import { kubeFleetPrefix } from "../model/names.ts";
import type { RenderedManifest } from "../model/plan.ts";
import { approvalRequestName } from "../model/stage-task.ts";
import type { Approval, Approver, Authors, Request } from "../model/trust.ts";
import type { RunRecord } from "../model/update-run.ts";
import { emitDocuments, emitYaml } from "../yaml/canonical.ts";
import { cascadedDeletions } from "./cascaded-deletions.ts";
import { trueCondition } from "./codec/conditions.ts";
import { embedded } from "./codec/scalars.ts";
import { documentOf, type Heading, kindIn, ownKey } from "./document.ts";
import { approvalRequestPath, changeRequestName } from "./layout.ts";
import { changedLeaves } from "./leaves.ts";
import { changedClusters } from "./placements.ts";

/** A request that people answer, and where it is shown to them. */
export interface ApprovalRequestOutput {
  readonly path: string;
  /** All that its text is made from, by identity. */
  readonly from: readonly unknown[];
  readonly text: () => string;
}

/** The requests of a run in the order of its stages, answered ones too: all that stands in `approvals/` of it. */
export const runRequests = (run: RunRecord): readonly ApprovalRequestOutput[] =>
  (run.plan?.stages ?? []).flatMap(({ name: stage }, at) =>
    (["before", "after"] as const).flatMap((when) => {
      const request = run.stages[at]?.[when].Approval ?? null;
      if (request === null) return [];
      const name = approvalRequestName(run.name, when, stage);
      const labels = {
        [`${kubeFleetPrefix}/targetUpdatingStage`]: stage,
        [`${kubeFleetPrefix}/targetUpdateRun`]: run.name,
        [`${kubeFleetPrefix}/taskType`]: `${when}Stage`,
        [`${kubeFleetPrefix}/isLatestUpdateRunApproval`]: "true",
      };
      const spec = { parentStageRollout: run.name, targetStage: stage };
      const written = { namespace: run.namespace, name, labels, spec, request };
      return [{ path: approvalRequestPath(run.namespace, name), from: [request], text: () => requestText(written) }];
    }),
  );

/** The request for a protected change while it stands: KubeFleet's rollout is the placement, its stage `change`. */
export function changeRequests(record: PlacementRecord): readonly ApprovalRequestOutput[] {
  const { change, namespace } = record;
  const request = change?.request ?? null;
  if (change === null || request === null) return [];
  const name = changeRequestName(record.name);
  const path = approvalRequestPath(namespace, name);
  const written = (): Written => ({
    namespace,
    name,
    owner: record.name,
    annotations: {
      [ownKey("clusters")]: JSON.stringify(changedClusters.write(change.clusters)),
      [ownKey("leaves")]: embedded(changedLeaves).write(change.leaves),
      ...(change.others.length === 0 ? {} : { [ownKey("others")]: embedded(cascadedDeletions).write(change.others) }),
    },
    spec: { parentStageRollout: record.name, targetStage: "change" },
    request,
  });
  return [{ path, from: [request, change.clusters, change.leaves, change.others], text: () => requestText(written()) }];
}

interface Written extends Heading {
  readonly request: Request;
}

/** KubeFleet's approval request: all of it stands in its heading and its status. */
const approvalRequestCodec = documentOf<object>({ kind: "ApprovalRequest" }, {});

/**
 * The text of `approvals/<name>.yaml` (`trust/README.md#the-request`). Never read back: nobody approves by writing a
 * condition here. An answer names the digest in the annotation.
 */
function requestText({ request, ...heading }: Written): string {
  const { digest, nonce, rules, authors, approval } = request;
  const annotations = {
    ...heading.annotations,
    [ownKey("request-digest")]: digest,
    [ownKey("nonce")]: nonce,
    [ownKey("rules")]: rules ?? undefined,
    [ownKey("authors")]: authorsText(authors),
  };
  const document = approvalRequestCodec.write({}, { ...heading, generation: 1, annotations });
  const status = approval === null ? {} : { conditions: conditionsJson(heading.namespace ?? null, approval) };
  return emitYaml({ ...document, status });
}

/** Who changed what is asked for: `ann, bob; 2 unsigned`. Undefined where nobody did. */
function authorsText({ principals, unknown }: Authors): string | undefined {
  const parts = [
    ...(principals.length === 0 ? [] : [principals.join(", ")]),
    ...(unknown > 0 ? [`${unknown} unsigned`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join("; ");
}

/** KubeFleet's two steps are one here: answers count, for good, or they do not (`rollout/README.md#u7`). */
function conditionsJson(namespace: string | null, { by, at }: Approval): readonly Json[] {
  const yes = (type: string, reason: string, message: string): Json =>
    trueCondition(type, { reason, message, at }, { generation: 1 });
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

// The same array stands for every cluster that gets the same content: its text is made once.
const texts = new WeakMap<readonly RenderedManifest[], string>();

/** What one cluster is to carry of one placement, as one file for people and `git diff`: written, never read back. */
export function renderedText(manifests: readonly RenderedManifest[]): string {
  const known = texts.get(manifests);
  if (known !== undefined) return known;
  const text = emitDocuments(manifests.map((it) => it.manifest));
  texts.set(manifests, text);
  return text;
}
