import type { CascadedDeletion, ObjectFate } from "../../model/deletion.ts";
import { remembered } from "../../model/identity.ts";
import { digestOf, type Json, type JsonObject } from "../../model/json.ts";
import type { ChangeRequest, Ledger, PlacementRecord } from "../../model/ledger.ts";
import { objectKey } from "../../model/manifest.ts";
import type { Request } from "../../model/trust.ts";
import type { RunPlan, RunRecord } from "../../model/update-run.ts";
import type { ClusterName, Digest } from "../../model/value.ts";
import { planRoot } from "../../rollout/run-plan.ts";
import { requestDigest } from "../../rollout/tasks/approval.ts";

/** The parts of a request besides its content: rules, authors of the change, nonce. */
type RequestTerms = Pick<Request, "nonce" | "rules" | "authors">;

/** A gate of a run, and all that the run will do. */
interface PlannedGate {
  readonly run: Pick<RunRecord, "uid" | "key">;
  readonly plan: RunPlan;
  readonly stage: string;
  readonly when: "before" | "after";
}

/**
 * The digest that the request of a gate has to have, by the plan as it stands here: also its root is made anew, so that
 * nothing else is approved than what is shown (`trust/README.md#t-21`).
 */
export const gateDigest = (fleet: string, { run, plan, stage, when }: PlannedGate, terms: RequestTerms): Digest => {
  const { nonce, rules, authors } = terms;
  return requestDigest({ fleet, run, stage, when, root: planRoot(plan), nonce, rules, authors });
};

/** What a placement would have its clusters carry. */
interface PlannedChange {
  readonly record: Pick<PlacementRecord, "uid" | "key">;
  readonly clusters: ReadonlyMap<ClusterName, Digest | null>;
  readonly leaves: ChangeRequest["leaves"];
  readonly others: ChangeRequest["others"];
}

/**
 * The digest of a request for a change of what is protected: over the clusters as they are known, what each would carry, and
 * what becomes of every object that it loses, and what of others goes along.
 */
export const changeDigest = (
  ledger: Pick<Ledger, "fleet" | "clusters">,
  { record, clusters, leaves, others }: PlannedChange,
  { nonce, rules, authors }: RequestTerms,
): Digest =>
  digestOf({
    fleet: ledger.fleet,
    uid: record.uid,
    placement: record.key,
    clusters: [...clusters].map(([cluster, content]) => ({
      cluster,
      uid: ledger.clusters.get(cluster)?.kubeSystemUid ?? null,
      content,
      // Clusters that lose nothing are asked about as they always were.
      ...leavesJson(leaves.get(cluster) ?? []),
    })),
    ...(others.length === 0 ? {} : { others: others.map(othersJson) }),
    nonce,
    rules,
    authors: { principals: authors.principals, unknown: authors.unknown },
  });

const othersJson = ({ cluster, id, objects }: CascadedDeletion): Json => [
  cluster,
  objectKey(id),
  objects.map((it) => [objectKey(it), it.uid]),
];

const leavesJson = (leaves: readonly ObjectFate[]): JsonObject =>
  leaves.length === 0 ? {} : { leaves: leavesDigest(leaves) };

const leavesDigest = remembered(
  (leaves: readonly ObjectFate[]): Digest =>
    digestOf(leaves.map((it) => [it.fate, objectKey(it.object), ...(it.fate === "handOver" ? [it.to] : [])])),
);
