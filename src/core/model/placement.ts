import type { Condition } from "./condition.ts";
import { remembered } from "./identity.ts";
import type { Scope, SourcePosition } from "./manifest.ts";
import {
  type ClusterName,
  compareText,
  type DurationMs,
  type LabelSelector,
  type Labels,
  type PlacementKey,
  scopedKey,
  selectsIfAny,
} from "./value.ts";

/**
 * A ClusterResourcePlacement or ResourcePlacement, after defaults (`intent/README.md#placements`, `#defaults`): `scope`
 * tells them apart, and `namespace` is null exactly when it is Cluster.
 */
export interface Placement {
  readonly key: PlacementKey;
  readonly scope: Scope;
  readonly namespace: string | null;
  readonly name: string;
  readonly labels: Labels;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PlacementSpec;
  readonly source: SourcePosition;
}

/** The key of a placement; a null namespace means a ClusterResourcePlacement. */
export const placementKey = (namespace: string | null, name: string): PlacementKey =>
  scopedKey(namespace, name) as PlacementKey;

/**
 * The namespaces that placements live in, in their order: of no others does NamespaceAffinity ask. Where there are none,
 * nobody asks a member for its namespaces, and none are recorded (`members/README.md#namespaces`).
 */
export const placedNamespaces = remembered(
  (placements: ReadonlyMap<PlacementKey, Pick<Placement, "namespace">>): ReadonlySet<string> => {
    const all = [...placements.values()].flatMap((it) => (it.namespace === null ? [] : [it.namespace]));
    return all.length === 0 ? none : new Set(all.sort(compareText));
  },
);

const none: ReadonlySet<string> = new Set();

/** What a placement asks for: what, where, when and how. */
export interface PlacementSpec {
  readonly resourceSelectors: readonly ResourceSelector[];
  readonly policy: PlacementPolicy;
  readonly strategy: RolloutStrategy;
  readonly revisionHistoryLimit: number;
  /** The status stands in the selected namespace as well. Absent: where the placement is alone. For good, as it is. */
  readonly statusReportingScope?: "NamespaceAccessible" | undefined;
}

/** Whether a selector is about Namespaces, which bring what is in them. */
export const isNamespaceKind = ({ group = "", kind }: { readonly group?: string; readonly kind: string }): boolean =>
  group === "" && kind === "Namespace";

/** The namespace in which a placement's status stands as well (`status/README.md#status-for-others`); null: in none. */
export function statusNamespace({ namespace, spec }: Pick<Placement, "namespace" | "spec">): string | null {
  if (namespace !== null || spec.statusReportingScope === undefined) return null;
  return spec.resourceSelectors.find(isNamespaceKind)?.name ?? null;
}

/** Objects of one kind: by name or by labels, all of them where both are null (`render/README.md#selection`). */
export interface ResourceSelector {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string | null;
  readonly labelSelector: LabelSelector | null;
  readonly selectionScope: "NamespaceOnly" | "NamespaceWithResources" | "NamespaceWithResourceSelectors";
}

/** Where: one kind per `placementType`, with the fields that kind takes (`intent/README.md#placements`). */
export type PlacementPolicy =
  | { readonly kind: "PickAll"; readonly required: readonly ClusterTerm[]; readonly tolerations: readonly Toleration[] }
  | {
      readonly kind: "PickN";
      readonly numberOfClusters: number;
      readonly required: readonly ClusterTerm[];
      readonly preferred: readonly PreferredTerm[];
      readonly spread: readonly SpreadConstraint[];
      readonly tolerations: readonly Toleration[];
    }
  | { readonly kind: "PickFixed"; readonly clusterNames: readonly ClusterName[] };

/** Whether its labels let a cluster be picked: properties, taints and how many, the scheduler looks at. */
export function mayPick(policy: PlacementPolicy, { name, labels }: { name: ClusterName; labels: Labels }): boolean {
  if (policy.kind === "PickFixed") return policy.clusterNames.includes(name);
  const terms = policy.required;
  return terms.length === 0 || terms.some(({ labelSelector }) => selectsIfAny(labelSelector, labels));
}

/** Alternatives are ORed; inside of one, everything has to hold. One that says nothing matches every cluster. */
export interface ClusterTerm {
  readonly labelSelector: LabelSelector | null;
  /** All of them have to hold. */
  readonly properties: readonly PropertyRequirement[];
}

/** Compares a property of a cluster with a quantity (`schedule/README.md#properties`). */
export interface PropertyRequirement {
  readonly name: string;
  readonly operator: "Gt" | "Ge" | "Lt" | "Le" | "Eq" | "Ne";
  /** A quantity as it is written. */
  readonly value: string;
}

/** A term that makes a cluster better or, with a negative weight, worse. */
export interface PreferredTerm {
  /** −100 … 100; 0 is skipped. */
  readonly weight: number;
  readonly preference: Preference;
}

/** Which clusters a preferred term is about, and which part of its weight they get: all of it without a sorter. */
export interface Preference {
  readonly labelSelector: LabelSelector | null;
  readonly sorter: PropertySorter | null;
}

/** Ranks clusters by a property (`schedule/README.md#property-sorters`). */
export interface PropertySorter {
  readonly name: string;
  /** Descending prefers large values. */
  readonly order: "Ascending" | "Descending";
}

/** How evenly clusters are picked over the values of one of their labels (`schedule/README.md#topologyspreadconstraints`). */
export interface SpreadConstraint {
  readonly topologyKey: string;
  /** At least 1. */
  readonly maxSkew: number;
  readonly whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway";
}

/** Covers taints (`schedule/README.md#tainttoleration`). `Exists` with an empty key covers all of them. */
export interface Toleration {
  readonly key: string;
  readonly operator: "Equal" | "Exists";
  readonly value: string;
  /** Empty tolerates every effect. */
  readonly effect: "" | "NoSchedule";
}

export interface RolloutStrategy {
  /** External: nothing moves but by update runs (`rollout/README.md#external`). For good: it is never changed back. */
  readonly type: "RollingUpdate" | "External";
  /** Means nothing for External. */
  readonly rollingUpdate: RollingUpdate;
  readonly applyStrategy: ApplyStrategy;
  /** What becomes of placed objects when the placement goes. */
  readonly propagationPolicy: "Delete" | "Abandon";
  /** From the annotation `flotilla.dev/progress-deadline`; default 10 minutes (`rollout/README.md#b-1`). */
  readonly progressDeadline: DurationMs;
  /** From the annotation `flotilla.dev/delete-adopted`; default false. */
  readonly deleteAdopted: boolean;
}

/** How many clusters may be down, and how many too many there may be, while a rollout moves. */
export interface RollingUpdate {
  readonly maxUnavailable: CountOrPercent;
  readonly maxSurge: CountOrPercent;
  /** How long an object of an untrackable kind must have been applied to count as available. */
  readonly unavailablePeriod: DurationMs;
}

/** `3` or `"25%"`. */
export type CountOrPercent = { readonly count: number } | { readonly percent: number };

/** How objects are written to a member (`apply/README.md#the-apply-strategy`). */
export interface ApplyStrategy {
  readonly type: "ClientSideApply" | "ServerSideApply" | "ReportDiff";
  readonly comparisonOption: "PartialComparison" | "FullComparison";
  readonly whenToApply: "Always" | "IfNotDrifted";
  readonly whenToTakeOver: "Always" | "IfNoDiff" | "Never";
  readonly allowCoOwnership: boolean;
  readonly forceConflicts: boolean;
}

/** A ClusterResourcePlacementEviction: take one placement off one cluster, once (`rollout/README.md#evictions`). */
export interface Eviction {
  readonly name: string;
  readonly placement: PlacementKey;
  readonly cluster: ClusterName;
  readonly source: SourcePosition;
}

/** How far evictions may go; one that names no bound is refused (`rollout/README.md#b-12`). */
export interface DisruptionBudget {
  /** The one placement that it protects: of the same name. */
  readonly placement: PlacementKey;
  readonly bound: "maxUnavailable" | "minAvailable";
  readonly limit: CountOrPercent;
  readonly source: SourcePosition;
}

/** What became of an eviction. Judged once: a record is terminal (`rollout/README.md#evictions`). */
export interface EvictionRecord {
  readonly name: string;
  readonly uid: string;
  readonly placement: PlacementKey;
  readonly cluster: ClusterName;
  /** It was carried out without taking anything: the placement was leaving the cluster already. Null: it was not so. */
  readonly found: "leaving" | null;
  /** Valid, and Executed where it was valid. */
  readonly conditions: readonly Condition[];
}
