import type { SchemaDocuments } from "#schemas/index";
import approval from "../../../../schemas/approval.json" with { type: "json" };
import clusterResourceOverride from "../../../../schemas/cluster-resource-override.json" with { type: "json" };
import clusterResourcePlacement from "../../../../schemas/cluster-resource-placement.json" with { type: "json" };
import clusterResourcePlacementDisruptionBudget from "../../../../schemas/cluster-resource-placement-disruption-budget.json" with {
  type: "json",
};
import clusterResourcePlacementEviction from "../../../../schemas/cluster-resource-placement-eviction.json" with {
  type: "json",
};
import clusterStagedUpdateRun from "../../../../schemas/cluster-staged-update-run.json" with { type: "json" };
import clusterStagedUpdateStrategy from "../../../../schemas/cluster-staged-update-strategy.json" with { type: "json" };
import deletionConfirmation from "../../../../schemas/deletion-confirmation.json" with { type: "json" };
import fleet from "../../../../schemas/fleet.json" with { type: "json" };
import memberCluster from "../../../../schemas/member-cluster.json" with { type: "json" };
import trust from "../../../../schemas/trust.json" with { type: "json" };

/** Kinds with a schema: those that are read. A namespaced variant has the schema of its cluster-scoped one. */
export type SchemaName = keyof SchemaDocuments;

/** The schemas by kind: what editors complete from, what documentation is made of, and what files are checked with. */
export const schemas: Readonly<Record<SchemaName, object>> = {
  MemberCluster: memberCluster,
  ClusterResourcePlacement: clusterResourcePlacement,
  ClusterResourceOverride: clusterResourceOverride,
  ClusterStagedUpdateRun: clusterStagedUpdateRun,
  ClusterStagedUpdateStrategy: clusterStagedUpdateStrategy,
  ClusterResourcePlacementEviction: clusterResourcePlacementEviction,
  ClusterResourcePlacementDisruptionBudget: clusterResourcePlacementDisruptionBudget,
  Fleet: fleet,
  DeletionConfirmation: deletionConfirmation,
  Approval: approval,
  Trust: trust,
};

/** How validators are made of the schemas, at run time as well as ahead of it. Without ajv's words: ours are shown. */
export const ajvOptions = { allErrors: true, strict: true, allowUnionTypes: true, messages: false } as const;
