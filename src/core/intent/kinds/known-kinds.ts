import type { SchemaDocuments } from "#schemas/index";
import type { Scope } from "../../model/manifest.ts";
import { clusterGroup, placementGroup } from "../../model/names.ts";
import { approvalKind } from "./approval.ts";
import { deletionConfirmationKind } from "./deletion-confirmation.ts";
import { disruptionBudgetKind } from "./disruption-budget.ts";
import { envelopeKind } from "./envelope.ts";
import { placementEvictionKind } from "./eviction.ts";
import { fleetKind } from "./fleet.ts";
import type { DocumentContent, KindName, ReadKind } from "./kind.ts";
import { memberClusterKind } from "./member-cluster.ts";
import { clusterOverrideKind, overrideKind } from "./override.ts";
import { placementKind } from "./placement.ts";
import { priceListKind } from "./price-list.ts";
import { trustKind } from "./trust.ts";
import { updateRunKind } from "./update-run.ts";
import { updateStrategyKind } from "./update-strategy.ts";

/** Kinds with a schema: those that are read. A namespaced variant that is written alike has the schema of the other. */
export type SchemaName = keyof SchemaDocuments;

/** The kinds that are read: every schema in `schemas/` wants one. */
export const readKinds: { readonly [Name in SchemaName]: ReadKind<SchemaDocuments[Name], DocumentContent> } = {
  MemberCluster: memberClusterKind,
  ClusterResourcePlacement: placementKind,
  ClusterResourceOverride: clusterOverrideKind,
  ResourceOverride: overrideKind,
  ClusterResourceEnvelope: envelopeKind,
  ClusterStagedUpdateStrategy: updateStrategyKind,
  ClusterStagedUpdateRun: updateRunKind,
  ClusterResourcePlacementEviction: placementEvictionKind,
  ClusterResourcePlacementDisruptionBudget: disruptionBudgetKind,
  PriceList: priceListKind,
  Fleet: fleetKind,
  DeletionConfirmation: deletionConfirmationKind,
  Approval: approvalKind,
  Trust: trustKind,
};

/** The same by name, in the order of the table. */
export const schemaNames = Object.keys(readKinds) as readonly SchemaName[];

/** The schemas by kind: what editors complete from, what documentation is made of, and what files are checked with. */
export const schemas = Object.fromEntries(schemaNames.map((it) => [it, readKinds[it].schema])) as Readonly<
  Record<SchemaName, object>
>;

/** How validators are made of the schemas, at run time as well as ahead of it. Without ajv's words: ours are shown. */
export const ajvOptions = { allErrors: true, strict: true, allowUnionTypes: true, messages: false } as const;

/** A name of a kind of KubeFleet or Flotilla, and whether it is read. */
export interface KnownKind extends KindName {
  /** The schema of a kind that is read; null for one that is recognised and not read. */
  readonly schema: SchemaName | null;
  /**
   * Controllers of a hub write it, people do not: such a document is ignored with a warning. Of any other kind that is
   * not read, a document is an error: what it asks for would never happen (`intent/README.md#unread-kinds`).
   */
  readonly isOfHub: boolean;
}

const both = ["v1", "v1beta1"];
const all = ["v1", "v1alpha1", "v1beta1"];

type UnreadKind = readonly [kind: string, scope: Scope, versions: readonly string[]];

const unreadPlacementKinds: readonly UnreadKind[] = [["Work", "Namespaced", both]];

const hubPlacementKinds: readonly UnreadKind[] = [
  ["ClusterResourcePlacementStatus", "Namespaced", both],
  ["ClusterApprovalRequest", "Cluster", all],
  ["ApprovalRequest", "Namespaced", both],
  ["ClusterSchedulingPolicySnapshot", "Cluster", both],
  ["SchedulingPolicySnapshot", "Namespaced", ["v1beta1"]],
  ["ClusterResourceSnapshot", "Cluster", both],
  ["ResourceSnapshot", "Namespaced", ["v1beta1"]],
  ["ClusterResourceOverrideSnapshot", "Cluster", all],
  ["ResourceOverrideSnapshot", "Namespaced", all],
  ["ClusterResourceBinding", "Cluster", both],
  ["ResourceBinding", "Namespaced", ["v1beta1"]],
  ["AppliedWork", "Cluster", both],
];

const hubClusterKinds: readonly UnreadKind[] = [["InternalMemberCluster", "Namespaced", both]];

const plannedGroup = "placement.kubefleet.dev";

const unreadPlannedKinds: readonly UnreadKind[] = [
  ["PlacementPolicy", "Namespaced", ["v1alpha1"]],
  ["ClusterPlacementPolicy", "Cluster", ["v1alpha1"]],
  ["ClusterRequest", "Cluster", ["v1alpha1"]],
  ["Work", "Namespaced", ["v1alpha1"]],
];

const hubPlannedKinds: readonly UnreadKind[] = [
  ["PlacementBinding", "Namespaced", ["v1alpha1"]],
  ["ClusterPlacementBinding", "Cluster", ["v1alpha1"]],
  ["PlacementResourceSnapshot", "Namespaced", ["v1alpha1"]],
  ["ClusterPlacementResourceSnapshot", "Cluster", ["v1alpha1"]],
];

const unread = (group: string, kinds: readonly UnreadKind[], isOfHub: boolean): readonly KnownKind[] =>
  kinds.map(([kind, scope, versions]) => ({ group, kind, scope, versions, schema: null, isOfHub }));

/** Every kind of the groups that are KubeFleet's or ours (`intent/README.md#kinds`). */
export const knownKinds: readonly KnownKind[] = [
  ...schemaNames.flatMap((schema) => readKinds[schema].names.map((it) => ({ ...it, schema, isOfHub: false }))),
  ...unread(placementGroup, unreadPlacementKinds, false),
  ...unread(placementGroup, hubPlacementKinds, true),
  ...unread(clusterGroup, hubClusterKinds, true),
  ...unread(plannedGroup, unreadPlannedKinds, false),
  ...unread(plannedGroup, hubPlannedKinds, true),
];

/** Groups of which every kind is listed: one that is not is a mistake, never a custom resource. */
export const isKnownGroup = (group: string): boolean => byGroup.has(group);

export const knownKindOf = (group: string, kind: string): KnownKind | null => byGroup.get(group)?.get(kind) ?? null;

const byGroup: ReadonlyMap<string, ReadonlyMap<string, KnownKind>> = new Map(
  [...new Set(knownKinds.map((it) => it.group))].map((group) => [
    group,
    new Map(knownKinds.filter((it) => it.group === group).map((it) => [it.kind, it])),
  ]),
);
