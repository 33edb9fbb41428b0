import type { ClusterActions, Plan, World } from "../model/plan.ts";
import type { ActionDefectCode, PlanDefect } from "../model/plan-defect.ts";
import { defect } from "./check-defect.ts";

/**
 * Lists where a plan writes to what is no member, did not answer, or is another cluster than the one that joined
 * (`plan/README.md#d-8`). Whoever is to be written there is to blame.
 */
export function* checkClusters(
  { actions, ledger }: Plan,
  { intent, observed }: World,
): Generator<PlanDefect<ActionDefectCode>> {
  const names = new Map<string, number>();
  for (const { clusterUid } of actions) names.set(clusterUid, (names.get(clusterUid) ?? 0) + 1);
  for (const work of actions) {
    const { cluster, clusterUid } = work;
    const seen = observed.get(cluster);
    if ((names.get(clusterUid) ?? 0) > 1)
      yield* writtenTo(work, "ClusterNotUnique", `writes to one cluster under two names, one of which is ${cluster}`);
    if (!intent.clusters.has(cluster))
      yield* writtenTo(work, "ClusterNotMember", `writes to ${cluster}, which is no member`);
    if (seen?.kind !== "reached")
      yield* writtenTo(work, "ClusterNotReached", `writes to ${cluster}, which did not answer`);
    else if (ledger.clusters.get(cluster)?.kubeSystemUid !== seen.clusterUid || seen.clusterUid !== clusterUid)
      yield* writtenTo(work, "ClusterUidMismatch", `writes to ${cluster}, which is not the cluster that joined`);
  }
}

/** What is wrong about a cluster, for every placement that is written there; for the cluster alone where none is. */
function* writtenTo(
  { cluster, placements }: ClusterActions,
  code: ActionDefectCode,
  message: string,
): Generator<PlanDefect<ActionDefectCode>> {
  if (placements.length === 0) yield defect(code, { kind: "cluster", cluster }, message);
  for (const { placement } of placements) yield defect(code, { kind: "binding", placement, cluster }, message);
}
