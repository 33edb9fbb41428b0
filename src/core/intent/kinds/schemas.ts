import type { SchemaDocuments } from "#schemas/index";
import approval from "../../../../schemas/approval.json" with { type: "json" };
import override from "../../../../schemas/cluster-resource-override.json" with { type: "json" };
import placement from "../../../../schemas/cluster-resource-placement.json" with { type: "json" };
import budget from "../../../../schemas/cluster-resource-placement-disruption-budget.json" with { type: "json" };
import eviction from "../../../../schemas/cluster-resource-placement-eviction.json" with { type: "json" };
import run from "../../../../schemas/cluster-staged-update-run.json" with { type: "json" };
import strategy from "../../../../schemas/cluster-staged-update-strategy.json" with { type: "json" };
import confirmation from "../../../../schemas/deletion-confirmation.json" with { type: "json" };
import fleet from "../../../../schemas/fleet.json" with { type: "json" };
import cluster from "../../../../schemas/member-cluster.json" with { type: "json" };
import trust from "../../../../schemas/trust.json" with { type: "json" };

/** Kinds with a schema: those that are read. A namespaced variant has the schema of its cluster-scoped one. */
export type SchemaName = keyof SchemaDocuments;

/** The schemas by kind: what editors complete from, what documentation is made of, and what files are checked with. */
export const schemas: Readonly<Record<SchemaName, object>> = {
  MemberCluster: cluster,
  ClusterResourcePlacement: placement,
  ClusterResourceOverride: override,
  ClusterStagedUpdateRun: run,
  ClusterStagedUpdateStrategy: strategy,
  ClusterResourcePlacementEviction: eviction,
  ClusterResourcePlacementDisruptionBudget: budget,
  Fleet: fleet,
  DeletionConfirmation: confirmation,
  Approval: approval,
  Trust: trust,
};

/** How validators are made of the schemas, at run time as well as ahead of it. Without ajv's words: ours are shown. */
export const ajvOptions = { allErrors: true, strict: true, allowUnionTypes: true, messages: false } as const;
