import { memberAt } from "../model/json.ts";
import type { ChangeRequest, PlacementRecord } from "../model/ledger.ts";
import { deleteAdoptedAnnotation, progressDeadlineAnnotation } from "../model/names.ts";
import {
  type ClusterTerm,
  type EvictionRecord,
  type PlacementPolicy,
  type PlacementSpec,
  type Preference,
  type PreferredTerm,
  type PropertyRequirement,
  type PropertySorter,
  placementKey,
  type ResourceSelector,
  type RollingUpdate,
  type RolloutStrategy,
  type SpreadConstraint,
  type Toleration,
} from "../model/placement.ts";
import { type ClusterName, type Digest, type DurationMs, seconds } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { applyStrategy, kubeLabelSelector } from "./api-types.ts";
import { cascadedDeletions } from "./cascaded-deletions.ts";
import {
  at,
  type Codec,
  converted,
  type Field,
  group,
  groupIfAt,
  listIfAny,
  listOf,
  mapOf,
  nullable,
  object,
  objectOf,
  optional,
  or,
  orNull,
  unionOf,
} from "./codec/codec.ts";
import { conditions, conditionsIfAny } from "./codec/conditions.ts";
import { wholeRequest } from "./codec/requests.ts";
import {
  choice,
  clusterName,
  commitHash,
  countOrPercentCodec,
  digest,
  duration,
  embedded,
  flagText,
  instant,
  integer,
  number,
  string,
} from "./codec/scalars.ts";
import {
  documentOf,
  inAnnotations,
  inMetadata,
  inOwnNamespace,
  inSpec,
  inStatus,
  ownKey,
  scopedName,
} from "./document.ts";
import { changedLeaves } from "./leaves.ts";

// A placement's spec as KubeFleet writes it, defaults filled in: `ledger/README.md#the-state-branch`.

const propertyRequirement = object<PropertyRequirement>({
  name: string,
  operator: choice("Gt", "Ge", "Lt", "Le", "Eq", "Ne"),
  value: at(
    ["values"],
    converted(
      listOf(string),
      (it) => [it],
      ([it = ""]) => it,
    ),
  ),
});

const clusterTerm = object<ClusterTerm>({
  labelSelector: nullable(kubeLabelSelector),
  properties: at(["propertySelector", "matchExpressions"], listIfAny(propertyRequirement)),
});

const preference = object<Preference>({
  labelSelector: nullable(kubeLabelSelector),
  sorter: at(
    ["propertySorter"],
    nullable(object<PropertySorter>({ name: string, order: at(["sortOrder"], choice("Ascending", "Descending")) })),
  ),
});

const requiredTerms = at<readonly ClusterTerm[]>(
  ["affinity", "clusterAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "clusterSelectorTerms"],
  listIfAny(clusterTerm),
);

const preferredTerms = at<readonly PreferredTerm[]>(
  ["affinity", "clusterAffinity", "preferredDuringSchedulingIgnoredDuringExecution"],
  listIfAny(object<PreferredTerm>({ weight: number, preference })),
);

const tolerations = listIfAny(
  object<Toleration>({
    key: or("", string),
    operator: choice("Equal", "Exists"),
    value: or("", string),
    effect: or("", choice("", "NoSchedule")),
  }),
);

const spread = at<readonly SpreadConstraint[]>(
  ["topologySpreadConstraints"],
  listIfAny(
    object<SpreadConstraint>({
      topologyKey: string,
      maxSkew: integer,
      whenUnsatisfiable: choice("DoNotSchedule", "ScheduleAnyway"),
    }),
  ),
);

export const placementPolicy = objectOf(
  unionOf<PlacementPolicy>("placementType", {
    PickAll: { required: requiredTerms, tolerations },
    PickN: { numberOfClusters: integer, required: requiredTerms, preferred: preferredTerms, spread, tolerations },
    PickFixed: { clusterNames: listIfAny(clusterName) },
  }),
);

const resourceSelector = object<ResourceSelector>({
  group: string,
  version: string,
  kind: string,
  name: nullable(string),
  labelSelector: nullable(kubeLabelSelector),
  selectionScope: choice("NamespaceWithResources", "NamespaceOnly", "NamespaceWithResourceSelectors"),
});

const wholeSeconds: Codec<DurationMs> = converted(
  number,
  (it) => it / 1000,
  (it) => (it * 1000) as DurationMs,
);

const rollingUpdate = object<RollingUpdate>({
  maxUnavailable: countOrPercentCodec,
  maxSurge: countOrPercentCodec,
  unavailablePeriod: at(["unavailablePeriodSeconds"], wholeSeconds),
});

/** What External placements carry in memory: KubeFleet's defaults, which decide nothing there. */
const unusedRollingUpdate: RollingUpdate = {
  maxUnavailable: { percent: 25 },
  maxSurge: { percent: 25 },
  unavailablePeriod: seconds(60),
};

const inStrategy = <T>(path: readonly string[], codec: Codec<T>): Field<T> => at(["spec", "strategy", ...path], codec);
const writtenRollingUpdate = inStrategy(["rollingUpdate"], rollingUpdate);

const rolloutStrategy = group<RolloutStrategy>({
  type: inStrategy(["type"], choice("RollingUpdate", "External")),
  rollingUpdate: {
    put(into, value, { type }) {
      if (type !== "External") writtenRollingUpdate.put(into, value, null);
    },
    take: (from, context) =>
      memberAt(from, "spec", "strategy", "type") === "External"
        ? unusedRollingUpdate
        : writtenRollingUpdate.take(from, context),
  },
  applyStrategy: inStrategy(["applyStrategy"], applyStrategy),
  propagationPolicy: inStrategy(["deleteStrategy", "propagationPolicy"], choice("Delete", "Abandon")),
  progressDeadline: inAnnotations(progressDeadlineAnnotation, duration),
  deleteAdopted: inAnnotations(deleteAdoptedAnnotation, flagText),
});

/** The members of a document's spec, and of its annotations. */
const placementSpec = group<PlacementSpec>({
  resourceSelectors: inSpec("resourceSelectors", listOf(resourceSelector)),
  policy: inSpec("policy", placementPolicy),
  strategy: rolloutStrategy,
  revisionHistoryLimit: inSpec("revisionHistoryLimit", integer),
  statusReportingScope: inSpec("statusReportingScope", optional(choice("NamespaceAccessible"))),
});

/** By cluster, the digest of what it would carry; null where the placement leaves it. */
export const changedClusters = mapOf<ClusterName, Digest | null>(orNull(digest));

/** A placement's change that waits for an approval: KubeFleet's placement has no field for it. */
const changeRequest = object<ChangeRequest>({
  clusters: changedClusters,
  leaves: changedLeaves,
  others: cascadedDeletions,
  since: listIfAny(commitHash),
  request: nullable(wholeRequest),
});

/** The part of a placement's record that stands in `placement.yaml`. */
export type PlacementHead = Omit<PlacementRecord, "policySnapshots" | "resourceSnapshots" | "bindings">;

const deletionCause = ownKey("deletion-cause");

/** `placement.yaml`: KubeFleet's placement with its status. */
export const placementCodec = documentOf<PlacementHead>(
  { kind: "ResourcePlacement", status: ["conditions"] },
  {
    ...scopedName(placementKey),
    uid: inMetadata("uid", string),
    generation: inMetadata("generation", integer),
    specDigest: inAnnotations(ownKey("spec-digest"), digest),
    spec: placementSpec,
    deleting: groupIfAt<NonNullable<PlacementRecord["deleting"]>>(["annotations", deletionCause], {
      since: inMetadata("deletionTimestamp", instant),
      cause: inAnnotations(deletionCause, commitHash),
    }),
    change: inAnnotations(ownKey("change"), nullable(embedded(changeRequest))),
    selectionError: inAnnotations(ownKey("selection-error"), nullable(string)),
    unrolled: inAnnotations(ownKey("unrolled"), nullable(digest)),
    conditions: inStatus("conditions", conditions),
  },
);

/** `evictions/<name>.yaml`: KubeFleet's eviction with its status. */
export const evictionCodec = documentOf<EvictionRecord>(
  { kind: "ResourcePlacementEviction", status: ["conditions"] },
  {
    name: string,
    uid: inMetadata("uid", string),
    placement: inOwnNamespace("placementName", placementKey),
    cluster: inSpec("clusterName", clusterName),
    found: inAnnotations(ownKey("eviction-found"), nullable(choice("leaving"))),
    conditions: inStatus("conditions", conditionsIfAny),
  },
);

/** The text of an eviction's file. Its spec is immutable: generation 1. */
export const evictionText = (it: EvictionRecord): string => emitYaml(evictionCodec.write(it, { generation: 1 }));
