import type { Binding, ClusterDecision } from "../model/binding.ts";
import type { PlacementRecord, PolicySnapshot, SchedulingVerdict } from "../model/ledger.ts";
import type { ClusterName } from "../model/value.ts";

/** A cluster that the scheduler picked, and its binding under the current policy; null while there is none. */
export interface SelectedCluster {
  readonly cluster: ClusterName;
  readonly reason: string;
  readonly binding: Binding | null;
}

/** The scheduler's verdict on the present generation of the placement; null before that. */
export function currentScheduling({ policySnapshots, generation }: PlacementRecord): SchedulingVerdict | null {
  const verdict = policySnapshots.at(-1)?.verdict ?? null;
  return verdict !== null && verdict.observedGeneration >= generation ? verdict : null;
}

/** The clusters a placement is meant to be on, as decided; beyond 1000 decisions, bound clusters follow by name. */
export function selectedClusters(record: PlacementRecord): readonly SelectedCluster[] {
  const { bindings, policySnapshots } = record;
  const policy = policySnapshots.at(-1);
  const scheduling = currentScheduling(record);
  if (policy === undefined || scheduling === null || record.deleting !== null) return [];
  const selected: SelectedCluster[] = [];
  let unlisted = 0;
  for (const it of bindings.values()) if (isLive(it, policy)) unlisted += 1;
  for (const { cluster, reason, selected: isSelected } of scheduling.decisions) {
    if (!isSelected) continue;
    const binding = bindings.get(cluster);
    const isBound = binding !== undefined && isLive(binding, policy);
    if (isBound) unlisted -= 1;
    selected.push({ cluster, reason, binding: isBound ? binding : null });
  }
  if (unlisted === 0) return selected;
  const listed = new Set(selected.map((it) => it.cluster));
  for (const it of bindings.values())
    if (isLive(it, policy) && !listed.has(it.cluster))
      selected.push({ cluster: it.cluster, reason: it.decision.reason, binding: it });
  return selected;
}

/** As many unselected decisions as clusters are missing (`status/README.md#the-row-of-a-cluster`). */
export function missingClusters(record: PlacementRecord): readonly ClusterDecision[] {
  const missing = wantedClusters(record) - selectedClusters(record).length;
  const unselected = (currentScheduling(record)?.decisions ?? []).filter((it) => !it.selected);
  return record.deleting === null ? unselected.slice(0, Math.max(0, missing)) : [];
}

/** Clusters that are no longer picked and whose removal is not admitted yet, by name. */
export const pendingRemovals = ({ bindings }: PlacementRecord): readonly Binding[] =>
  [...bindings.values()].filter((it) => it.state === "Unscheduled" && it.removal === null);

/** How many clusters the policy asks for; with PickAll as many as are found. */
export function wantedClusters(record: PlacementRecord): number {
  const { policy } = record.spec;
  switch (policy.kind) {
    case "PickAll":
      return selectedClusters(record).length;
    case "PickN":
      return policy.numberOfClusters;
    case "PickFixed":
      return policy.clusterNames.length;
  }
}

const isLive = (binding: Binding, policy: PolicySnapshot): boolean =>
  binding.removal === null && binding.state !== "Unscheduled" && binding.policySnapshot === policy.index;

/** Whether only update runs move the placement: then there is no newest content for all of its clusters. */
export const isExternal = ({ spec }: PlacementRecord): boolean => spec.strategy.type === "External";

/**
 * `observedResourceIndex` of one cluster's row: the newest for RollingUpdate, whatever the cluster has; for External
 * that of its target, empty without one or when its snapshot is gone (`status/README.md#the-row-of-a-cluster`).
 */
export function rowIndex(binding: Binding | null, record: PlacementRecord): string {
  if (!isExternal(record)) return latestIndex(record);
  const index = binding?.target?.resourceIndex;
  return record.resourceSnapshots.some((it) => it.index === index) ? String(index) : "";
}

/** The latest index; for External what all clusters agree on, or empty (`status/README.md#external-placements`). */
export function observedResourceIndex(record: PlacementRecord): string {
  if (!isExternal(record)) return latestIndex(record);
  const indexes = new Set(selectedClusters(record).map((it) => rowIndex(it.binding, record)));
  const [index = ""] = indexes;
  return indexes.size === 1 ? index : "";
}

const latestIndex = ({ resourceSnapshots }: PlacementRecord): string => String(resourceSnapshots.at(-1)?.index ?? "");
