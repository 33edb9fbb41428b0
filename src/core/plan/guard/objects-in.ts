import type { DeletionGroup } from "../../model/deletion.ts";
import { type ObjectKey, objectKey } from "../../model/manifest.ts";
import type { ClusterName, PlacementKey } from "../../model/value.ts";

/** Looks up objects of one placement on one cluster. */
export type ObjectLookup = (cluster: ClusterName, placement: PlacementKey, key: ObjectKey) => boolean;

/** Whether an object stands in one of `groups`. What waits may be large: it costs the clusters and the objects, not both. */
export function objectsIn(groups: Iterable<DeletionGroup>): ObjectLookup {
  const placements = new Map<PlacementKey, Map<ClusterName, ReadonlySet<ObjectKey>[]>>();
  for (const { placement, clusters, objects } of groups) {
    const keys = new Set(objects.map(objectKey));
    const lists = placements.get(placement) ?? new Map<ClusterName, ReadonlySet<ObjectKey>[]>();
    placements.set(placement, lists);
    for (const cluster of clusters) {
      const list = lists.get(cluster);
      if (list === undefined) lists.set(cluster, [keys]);
      else list.push(keys);
    }
  }
  return (cluster, placement, key) =>
    placements
      .get(placement)
      ?.get(cluster)
      ?.some((it) => it.has(key)) === true;
}
