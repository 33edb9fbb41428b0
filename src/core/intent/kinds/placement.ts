import type { Scope } from "../../model/manifest.ts";
import { deleteAdoptedAnnotation, progressDeadlineAnnotation } from "../../model/names.ts";
import {
  type ApplyStrategy,
  type ClusterTerm,
  type CountOrPercent,
  type Placement,
  type PlacementPolicy,
  placementKey,
  type ResourceSelector,
  type RollingUpdate,
  type Toleration,
} from "../../model/placement.ts";
import { type ClusterName, minutes, seconds } from "../../model/value.ts";
import { durationOf } from "./duration.ts";
import type {
  WrittenApplyStrategy,
  WrittenPlacement,
  WrittenPolicy,
  WrittenSelector,
  WrittenStrategy,
  WrittenTerm,
  WrittenToleration,
} from "./written.ts";

/**
 * How long a cluster may take before it counts as failed, unless the placement says otherwise
 * (`rollout/README.md#b-1`).
 */
const defaultProgressDeadline = minutes(10);

/** A placement after defaults (`intent/README.md#defaults`), which has passed its schema and its rules. */
export function placementOf({ metadata, spec }: WrittenPlacement, scope: Scope): Omit<Placement, "source"> {
  const namespace = scope === "Cluster" ? null : (metadata.namespace ?? null);
  const annotations = metadata.annotations ?? {};
  const strategy = spec.strategy ?? {};
  return {
    key: placementKey(namespace, metadata.name),
    scope,
    namespace,
    name: metadata.name,
    labels: metadata.labels ?? {},
    annotations,
    spec: {
      resourceSelectors: spec.resourceSelectors.map(selectorOf),
      policy: policyOf(spec.policy ?? {}),
      strategy: {
        type: strategy.type ?? "RollingUpdate",
        rollingUpdate: rollingUpdateOf(strategy.rollingUpdate ?? {}),
        applyStrategy: applyStrategyOf(strategy.applyStrategy ?? {}),
        propagationPolicy: strategy.deleteStrategy?.propagationPolicy ?? "Delete",
        progressDeadline: durationOf(annotations[progressDeadlineAnnotation] ?? "") ?? defaultProgressDeadline,
        deleteAdopted: annotations[deleteAdoptedAnnotation] === "true",
      },
      revisionHistoryLimit: spec.revisionHistoryLimit ?? 10,
    },
  };
}

/**
 * `3` or `"25%"` as a value; null for anything else (`intent/README.md#v-pl-63` … `#v-pl-65`, `yaml/README.md#b-72`).
 */
export function countOrPercent(written: number | string): CountOrPercent | null {
  if (typeof written === "number") return Number.isInteger(written) && written >= 0 ? { count: written } : null;
  const match = /^(100|[0-9]{1,2})%$/.exec(written);
  return match === null ? null : { percent: Number(match[1]) };
}

function selectorOf(written: WrittenSelector): ResourceSelector {
  const { group = "", version, kind, name = "", selectionScope = "NamespaceWithResources" } = written;
  const labelSelector = written.labelSelector ?? null;
  return { group, version, kind, name: name === "" ? null : name, labelSelector, selectionScope };
}

function policyOf(written: WrittenPolicy): PlacementPolicy {
  const { placementType = "PickAll", clusterNames = [], numberOfClusters = 0, affinity, tolerations = [] } = written;
  const required =
    affinity?.clusterAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.clusterSelectorTerms ?? [];
  const preferred = affinity?.clusterAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const wanted = { required: required.map(termOf), tolerations: tolerations.map(tolerationOf) };
  switch (placementType) {
    case "PickAll":
      return { kind: "PickAll", ...wanted };
    case "PickN": {
      const terms = preferred.map(({ weight, preference }) => ({ weight, preference: termOf(preference) }));
      return { kind: "PickN", numberOfClusters, ...wanted, preferred: terms };
    }
    case "PickFixed":
      return { kind: "PickFixed", clusterNames: clusterNames as readonly ClusterName[] };
  }
}

const termOf = ({ labelSelector }: WrittenTerm): ClusterTerm => ({ labelSelector: labelSelector ?? null });

function tolerationOf({ key, operator, value, effect }: WrittenToleration): Toleration {
  return { key: key ?? "", operator: operator ?? "Equal", value: value ?? "", effect: effect ?? "" };
}

function rollingUpdateOf(written: NonNullable<WrittenStrategy["rollingUpdate"]>): RollingUpdate {
  const { maxUnavailable = "25%", maxSurge = "25%", unavailablePeriodSeconds = 60 } = written;
  const quarter: CountOrPercent = { percent: 25 };
  return {
    maxUnavailable: countOrPercent(maxUnavailable) ?? quarter,
    maxSurge: countOrPercent(maxSurge) ?? quarter,
    unavailablePeriod: seconds(unavailablePeriodSeconds),
  };
}

function applyStrategyOf(written: WrittenApplyStrategy): ApplyStrategy {
  return {
    type: written.type ?? "ClientSideApply",
    comparisonOption: written.comparisonOption ?? "PartialComparison",
    whenToApply: written.whenToApply ?? "Always",
    whenToTakeOver: written.whenToTakeOver ?? "Always",
    allowCoOwnership: written.allowCoOwnership ?? false,
    forceConflicts: written.serverSideApplyConfig?.force ?? false,
  };
}
