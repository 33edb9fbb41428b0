import type { MemberCluster } from "./cluster.ts";
import type { DisruptionBudget, Eviction } from "./eviction.ts";
import type { FleetSpec } from "./fleet.ts";
import { type Manifest, type ObjectId, type ObjectKey, objectKey, type VersionedId } from "./manifest.ts";
import { clusterGroup, flotillaGroup, placementGroup } from "./names.ts";
import type { Override } from "./override.ts";
import type { Placement } from "./placement.ts";
import type { Scope } from "./scope.ts";
import type { UpdateRun, UpdateStrategy } from "./update-run.ts";
import type { ClusterName, Digest } from "./value.ts";

/** One document of a file as some commit had it: which object, and what it said of it. */
export interface PastDocument {
  readonly key: ObjectKey;
  readonly said: Said;
}

/** What a document said. */
export type Said =
  | { readonly kind: "manifest"; readonly id: VersionedId; readonly manifest: Manifest; readonly digest: Digest }
  | { readonly kind: "cluster"; readonly cluster: Omit<MemberCluster, "source"> }
  | { readonly kind: "placement"; readonly placement: Omit<Placement, "source"> }
  | { readonly kind: "override"; readonly override: Omit<Override, "source"> }
  | { readonly kind: "run"; readonly run: Omit<UpdateRun, "source"> }
  | { readonly kind: "strategy"; readonly strategy: Omit<UpdateStrategy, "source"> }
  | { readonly kind: "eviction"; readonly eviction: Omit<Eviction, "source"> }
  | { readonly kind: "budget"; readonly budget: Omit<DisruptionBudget, "source"> }
  | { readonly kind: "fleet"; readonly fleet: FleetSpec }
  /** Which object is known, and not what it says of it: it could not be used. */
  | { readonly kind: "unusable" };

/** `fleet.yaml` stands in one place, whatever it is called inside. */
export const fleetDocument = objectKey({ group: flotillaGroup, kind: "Fleet", namespace: null, name: "" });

/** Where the documents of our own kinds are found among all others. */
export const clusterDocument = (name: ClusterName): ObjectKey =>
  objectKey({ group: clusterGroup, kind: "MemberCluster", namespace: null, name });

/** What a kind that comes in both scopes is called. */
const scoped = (kind: string, { scope, namespace, name }: Scoped): ObjectKey =>
  objectKey({ group: placementGroup, kind: scope === "Cluster" ? `Cluster${kind}` : kind, namespace, name });

type Scoped = Pick<ObjectId, "namespace" | "name"> & { readonly scope: Scope };

export const placementDocument = (it: Scoped): ObjectKey => scoped("ResourcePlacement", it);
export const overrideDocument = (it: Pick<ObjectId, "namespace" | "name">): ObjectKey =>
  scoped("ResourceOverride", { ...it, scope: it.namespace === null ? "Cluster" : "Namespaced" });
export const runDocument = (it: Scoped): ObjectKey => scoped("StagedUpdateRun", it);
export const strategyDocument = (it: Scoped): ObjectKey => scoped("StagedUpdateStrategy", it);
