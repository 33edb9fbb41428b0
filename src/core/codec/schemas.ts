import clusterResourceOverride from "../../../schemas/cluster-resource-override.json" with { type: "json" };
import clusterResourcePlacement from "../../../schemas/cluster-resource-placement.json" with { type: "json" };
import deletionConfirmation from "../../../schemas/deletion-confirmation.json" with { type: "json" };
import fleet from "../../../schemas/fleet.json" with { type: "json" };
import memberCluster from "../../../schemas/member-cluster.json" with { type: "json" };

/** Kinds that have a JSON Schema: those that Flotilla reads itself. */
export type KindName =
  | "MemberCluster"
  | "ClusterResourcePlacement"
  | "ClusterResourceOverride"
  | "Fleet"
  | "DeletionConfirmation";

/** The schemas by kind: what editors complete from, what documentation is made of, and what files are checked with. */
export const schemas: Readonly<Record<KindName, object>> = {
  MemberCluster: memberCluster,
  ClusterResourcePlacement: clusterResourcePlacement,
  ClusterResourceOverride: clusterResourceOverride,
  Fleet: fleet,
  DeletionConfirmation: deletionConfirmation,
};

/** How validators are made of the schemas, at run time as well as ahead of it. */
export const ajvOptions = { allErrors: true, strict: true, allowUnionTypes: true } as const;
