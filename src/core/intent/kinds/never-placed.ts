import { clusterGroup, placementGroup } from "../../model/names.ts";

const groups: ReadonlySet<string> = new Set([clusterGroup, "events.k8s.io", "coordination.k8s.io", "metrics.k8s.io"]);

const kinds: ReadonlySet<string> = new Set([
  "/Pod",
  "/Node",
  ...["ServiceImport", "TrafficManagerProfile", "TrafficManagerBackend"].map(
    (it) => `networking.fleet.azure.com/${it}`,
  ),
]);

const envelopes: ReadonlySet<string> = new Set(["ClusterResourceEnvelope", "ResourceEnvelope"]);

/**
 * Kinds that no placement carries: they are a cluster's or the fleet's own (`render/README.md#what-is-never-placed`).
 */
export const isNeverPlaced = ({ group, kind }: { readonly group: string; readonly kind: string }): boolean =>
  groups.has(group) || kinds.has(`${group}/${kind}`) || (group === placementGroup && !envelopes.has(kind));
