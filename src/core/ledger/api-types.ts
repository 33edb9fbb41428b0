import type { ClusterDecision } from "../model/binding.ts";
import type { VersionedId } from "../model/manifest.ts";
import type { ApplyStrategy } from "../model/placement.ts";
import type { LabelRequirement, LabelSelector } from "../model/value.ts";
import {
  at,
  converted,
  type Field,
  group,
  listOf,
  type Members,
  nullable,
  object,
  optional,
  or,
} from "./codec/codec.ts";
import { boolean, choice, clusterName, decodedOnce, labels, number, string } from "./codec/scalars.ts";

// KubeFleet's and Kubernetes' types that several files have: `ledger/README.md#the-state-branch`.

/** The key of the topology score is historic. */
export const clusterDecision = object<ClusterDecision>({
  cluster: at(["clusterName"], clusterName),
  selected: boolean,
  score: at(
    ["clusterScore"],
    nullable(
      object<NonNullable<ClusterDecision["score"]>>({
        affinity: at(["affinityScore"], number),
        topology: at(["priorityScore"], number),
      }),
    ),
  ),
  reason: string,
});

const identifierMembers: Members<VersionedId> = {
  group: or("", string),
  version: string,
  kind: string,
  namespace: nullable(string),
  name: string,
};

/** An object's id as KubeFleet's ResourceIdentifier: the core group and no namespace are left out. */
export const resourceIdentifier: Field<VersionedId> = group(identifierMembers);

/** `namespace/name` as KubeFleet's NamespacedName. */
export const namespacedName = converted(
  object<{ readonly name: string; readonly namespace: string }>({ name: string, namespace: string }),
  (key: string) => {
    const slash = key.indexOf("/");
    return { name: key.slice(slash + 1), namespace: key.slice(0, slash) };
  },
  ({ namespace, name }) => `${namespace}/${name}`,
);

export const applyStrategy = decodedOnce(
  object<ApplyStrategy>({
    type: choice("ClientSideApply", "ServerSideApply", "ReportDiff"),
    comparisonOption: choice("PartialComparison", "FullComparison"),
    whenToApply: choice("Always", "IfNotDrifted"),
    whenToTakeOver: choice("Always", "IfNoDiff", "Never"),
    allowCoOwnership: boolean,
    forceConflicts: {
      put(into, force, { type }) {
        if (type === "ServerSideApply" || force) into["serverSideApplyConfig"] = { force };
      },
      take: at(["serverSideApplyConfig", "force"], boolean).take,
    },
  }),
);

const labelRequirement = object<LabelRequirement>({
  key: string,
  operator: choice("In", "NotIn", "Exists", "DoesNotExist"),
  values: optional(listOf(string)),
});

export const kubeLabelSelector = object<LabelSelector>({
  matchLabels: optional(labels),
  matchExpressions: optional(listOf(labelRequirement)),
});
