import type { Binding } from "../model/binding.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import { selectedClusters } from "./selected-clusters.ts";

/** Whether update runs alone move a placement: then no content is the newest for all of its clusters. */
export const isExternal = ({ spec }: PlacementRecord): boolean => spec.strategy.type === "External";

/**
 * `observedResourceIndex` of one cluster's row: the newest for RollingUpdate, whatever the cluster has; for External
 * the one that its target names, empty where there is none or its snapshot is gone
 * (`status/README.md#the-row-of-a-cluster`).
 */
export function rowIndex(binding: Binding | null, record: PlacementRecord): string {
  if (!isExternal(record)) return latestIndex(record);
  const index = binding?.target?.resourceIndex;
  return record.resourceSnapshots.some((it) => it.index === index) ? String(index) : "";
}

/**
 * `status.observedResourceIndex`: the latest index; for External the one that all selected clusters agree on, empty
 * while they do not (`status/README.md#external-placements`).
 */
export function observedResourceIndex(record: PlacementRecord): string {
  if (!isExternal(record)) return latestIndex(record);
  const indexes = new Set(selectedClusters(record).map((it) => rowIndex(it.binding, record)));
  const [index = ""] = indexes;
  return indexes.size === 1 ? index : "";
}

const latestIndex = ({ resourceSnapshots }: PlacementRecord): string => String(resourceSnapshots.at(-1)?.index ?? "");
