import { memberAt } from "../model/json.ts";
import { deleteAdoptedAnnotation, progressDeadlineAnnotation } from "../model/names.ts";
import type {
  ClusterTerm,
  PlacementPolicy,
  PlacementSpec,
  PreferredTerm,
  ResourceSelector,
  RollingUpdate,
  RolloutStrategy,
  Toleration,
} from "../model/placement.ts";
import { type ClusterName, type DurationMs, seconds } from "../model/value.ts";
import { applyStrategy, kubeLabelSelector } from "./api-types.ts";
import {
  at,
  type Codec,
  converted,
  type Field,
  group,
  listIfAny,
  listOf,
  nullable,
  object,
  objectOf,
  or,
  unionOf,
} from "./codec.ts";
import { inAnnotations, inSpec } from "./document.ts";
import { choice, countOrPercentCodec, duration, flagText, integer, number, string, stringOf } from "./scalars.ts";

// A placement's spec as KubeFleet writes it, defaults filled in: `ledger/README.md#the-state-branch`.

const clusterTerm = object<ClusterTerm>({ labelSelector: nullable(kubeLabelSelector) });

const requiredTerms = at<readonly ClusterTerm[]>(
  ["affinity", "clusterAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "clusterSelectorTerms"],
  listIfAny(clusterTerm),
);

const preferredTerms = at<readonly PreferredTerm[]>(
  ["affinity", "clusterAffinity", "preferredDuringSchedulingIgnoredDuringExecution"],
  listIfAny(object<PreferredTerm>({ weight: number, preference: clusterTerm })),
);

const tolerations = listIfAny(
  object<Toleration>({
    key: or("", string),
    operator: choice("Equal", "Exists"),
    value: or("", string),
    effect: or("", choice("", "NoSchedule")),
  }),
);

export const placementPolicy = objectOf(
  unionOf<PlacementPolicy>("placementType", {
    PickAll: { required: requiredTerms, tolerations },
    PickN: { numberOfClusters: integer, required: requiredTerms, preferred: preferredTerms, tolerations },
    PickFixed: { clusterNames: listIfAny(stringOf<ClusterName>()) },
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
export const placementSpec = group<PlacementSpec>({
  resourceSelectors: inSpec("resourceSelectors", listOf(resourceSelector)),
  policy: inSpec("policy", placementPolicy),
  strategy: rolloutStrategy,
  revisionHistoryLimit: inSpec("revisionHistoryLimit", integer),
});
