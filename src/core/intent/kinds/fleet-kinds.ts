import type { Scope } from "../../model/manifest.ts";
import { clusterGroup, flotillaGroup, placementGroup } from "../../model/names.ts";
import type { SchemaName } from "./schemas.ts";

/** A kind of KubeFleet or Flotilla: in which versions it may be written, and whether it is read yet. */
export interface FleetKind {
  readonly group: string;
  readonly kind: string;
  readonly versions: readonly string[];
  readonly scope: Scope;
  /** The schema of a kind that is read; null for one that is recognised and ignored with a warning. */
  readonly schema: SchemaName | null;
}

const both = ["v1", "v1beta1"];
const all = ["v1", "v1alpha1", "v1beta1"];
const old = ["v1alpha1", "v1beta1"];

type Row = readonly [kind: string, scope: Scope, versions: readonly string[], schema: SchemaName | null];

const placementKinds: readonly Row[] = [
  ["ClusterResourcePlacement", "Cluster", both, "ClusterResourcePlacement"],
  ["ResourcePlacement", "Namespaced", both, null],
  ["ClusterResourcePlacementStatus", "Namespaced", both, null],
  ["ClusterResourceOverride", "Cluster", all, "ClusterResourceOverride"],
  ["ResourceOverride", "Namespaced", all, null],
  ["ClusterResourceEnvelope", "Cluster", ["v1beta1"], null],
  ["ResourceEnvelope", "Namespaced", ["v1beta1"], null],
  ["ClusterStagedUpdateStrategy", "Cluster", all, "ClusterStagedUpdateStrategy"],
  ["StagedUpdateStrategy", "Namespaced", both, "ClusterStagedUpdateStrategy"],
  ["ClusterStagedUpdateRun", "Cluster", all, "ClusterStagedUpdateRun"],
  ["StagedUpdateRun", "Namespaced", both, "ClusterStagedUpdateRun"],
  ["ClusterApprovalRequest", "Cluster", all, null],
  ["ApprovalRequest", "Namespaced", both, null],
  ["ClusterResourcePlacementEviction", "Cluster", old, "ClusterResourcePlacementEviction"],
  ["ClusterResourcePlacementDisruptionBudget", "Cluster", old, "ClusterResourcePlacementDisruptionBudget"],
  ["ClusterSchedulingPolicySnapshot", "Cluster", both, null],
  ["SchedulingPolicySnapshot", "Namespaced", ["v1beta1"], null],
  ["ClusterResourceSnapshot", "Cluster", both, null],
  ["ResourceSnapshot", "Namespaced", ["v1beta1"], null],
  ["ClusterResourceOverrideSnapshot", "Cluster", all, null],
  ["ResourceOverrideSnapshot", "Namespaced", all, null],
  ["ClusterResourceBinding", "Cluster", both, null],
  ["ResourceBinding", "Namespaced", ["v1beta1"], null],
  ["Work", "Namespaced", both, null],
  ["AppliedWork", "Cluster", both, null],
];

const clusterKinds: readonly Row[] = [
  ["MemberCluster", "Cluster", both, "MemberCluster"],
  ["InternalMemberCluster", "Namespaced", both, null],
];

const plannedKinds: readonly Row[] = [
  ["PlacementPolicy", "Namespaced", ["v1alpha1"], null],
  ["ClusterPlacementPolicy", "Cluster", ["v1alpha1"], null],
  ["PlacementBinding", "Namespaced", ["v1alpha1"], null],
  ["ClusterPlacementBinding", "Cluster", ["v1alpha1"], null],
  ["PlacementResourceSnapshot", "Namespaced", ["v1alpha1"], null],
  ["ClusterPlacementResourceSnapshot", "Cluster", ["v1alpha1"], null],
  ["ClusterRequest", "Cluster", ["v1alpha1"], null],
  ["Work", "Namespaced", ["v1alpha1"], null],
];

const ownKinds: readonly Row[] = [
  ["Fleet", "Cluster", ["v1alpha1"], "Fleet"],
  ["DeletionConfirmation", "Cluster", ["v1alpha1"], "DeletionConfirmation"],
  ["Approval", "Cluster", ["v1alpha1"], "Approval"],
  ["Trust", "Cluster", ["v1alpha1"], "Trust"],
];

const rows = (group: string, table: readonly Row[]): readonly FleetKind[] =>
  table.map(([kind, scope, versions, schema]) => ({ group, kind, scope, versions, schema }));

/** Every kind of the groups that are KubeFleet's or ours (`intent/README.md#kinds`). */
export const fleetKinds: readonly FleetKind[] = [
  ...rows(placementGroup, placementKinds),
  ...rows(clusterGroup, clusterKinds),
  ...rows("placement.kubefleet.dev", plannedKinds),
  ...rows(flotillaGroup, ownKinds),
];

/** Groups of which every kind is listed: one that is not is a mistake, never a custom resource. */
export const isFleetGroup = (group: string): boolean => fleetKinds.some((it) => it.group === group);

export const fleetKindOf = (group: string, kind: string): FleetKind | null =>
  fleetKinds.find((it) => it.group === group && it.kind === kind) ?? null;

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
