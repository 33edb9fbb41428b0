import type { Ledger, PlacementRecord } from "../../core/model/ledger.ts";
import type { ClusterName } from "../../core/model/value.ts";

/** Placements that a cluster is drained of, and those that an eviction cannot take away. */
export interface DrainPlan {
  readonly evict: readonly string[];
  readonly stays: readonly { readonly placement: string; readonly because: string }[];
}

/** What is to be evicted from a cluster so that nothing is left there, in the order of the placements' keys. */
export function drainPlan({ placements }: Ledger, cluster: ClusterName): DrainPlan {
  const there = [...placements.values()].filter((it) => isThere(it, cluster));
  const judged = there.map((it) => ({ placement: it.key as string, because: whyNotEvicted(it) }));
  return {
    evict: judged.filter((it) => it.because === null).map((it) => it.placement),
    stays: judged.flatMap(({ placement, because }) => (because === null ? [] : [{ placement, because }])),
  };
}

/** Whether the placement is on the cluster or is to be, and is not on its way off already. */
export function isThere({ bindings, deleting }: PlacementRecord, cluster: ClusterName): boolean {
  const binding = bindings.get(cluster);
  return deleting === null && binding !== undefined && binding.removal === null && binding.state !== "Unscheduled";
}

/** Why an eviction of this placement would be refused for good; null when it would not (V-CRPE-03, `spec/api.md` §3). */
export function whyNotEvicted({ scope, spec, deleting }: PlacementRecord): string | null {
  if (deleting !== null) return "it is being removed everywhere";
  if (scope === "Namespaced") return "only a ClusterResourcePlacement can be evicted; edit its policy instead";
  return spec.policy.kind === "PickFixed" ? "it names its clusters (PickFixed); edit its clusterNames instead" : null;
}
