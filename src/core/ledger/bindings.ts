import type {
  Binding,
  BindingFacts,
  CarriedVersion,
  ContestedObject,
  HandOver,
  ObjectFailure,
  PendingRemoval,
  Removal,
  Target,
} from "../model/binding.ts";
import { isObject, type Json, type JsonObject } from "../model/json.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { PlacementKey } from "../model/value.ts";
import { emitDocuments } from "../yaml/canonical.ts";
import { applyStrategy, clusterDecision, namespacedName, resourceIdentifier } from "./api-types.ts";
import {
  at,
  type Codec,
  converted,
  type Draft,
  type Field,
  group,
  groupIf,
  groupIfAt,
  listIfAny,
  nullable,
  object,
  optional,
  reportProblem,
} from "./codec/codec.ts";
import { conditionsIfAny } from "./codec/conditions.ts";
import {
  choice,
  clusterName,
  commitHash,
  digest,
  embedded,
  flag,
  instant,
  integer,
  integerText,
  labelsIfAny,
  objectId,
  sequenceText,
  string,
  stringOf,
} from "./codec/scalars.ts";
import { documentOf, fleetKey, inAnnotations, inMetadata, inSpec, inStatus, ownKey } from "./document.ts";

const reportedSequence = ownKey("reported-sequence");
const removalCause = ownKey("removal-cause");

/** The index in the name of a snapshot, which begins with its placement's name. */
function snapshotIndex(key: string, suffix: string): Field<number> {
  const pattern = new RegExp(`-(\\d+)${suffix}$`);
  const index: Codec<number> = {
    write: () => undefined,
    read(json, _, context) {
      const digits = pattern.exec(String(json))?.[1];
      return digits === undefined ? reportProblem(context, key, "names no snapshot", 0) : Number(digits);
    },
  };
  return {
    put(into, value) {
      (into["spec"] as Draft)[key] = `${into["owner"]}-${value}${suffix}`;
    },
    take: inSpec(key, index).take,
  };
}

const targetMembers = group<Target>({
  resourceIndex: snapshotIndex("resourceSnapshotName", "-snapshot"),
  clusterOverrides: inSpec("clusterResourceOverrideSnapshots", listIfAny(string)),
  resourceOverrides: inSpec("resourceOverrideSnapshots", listIfAny(namespacedName)),
  labels: inAnnotations(ownKey("target-labels"), embedded(labelsIfAny)),
  applyStrategy: inSpec("applyStrategy", applyStrategy),
  digest: inAnnotations(ownKey("target-digest"), digest),
  sequence: inAnnotations(ownKey("target-sequence"), sequenceText),
  startedAt: inAnnotations(ownKey("target-since"), instant),
});

/** KubeFleet's FailedResourcePlacement: `ledger/README.md#the-state-branch`. */
const failedPlacement = object<ObjectFailure, ObjectFailure & Pick<BindingFacts, "since">>({
  id: resourceIdentifier,
  type: {
    put(into, type) {
      into["condition"] = { type, status: "False" };
    },
    take: at(["condition", "type"], choice("Applied", "Available")).take,
  },
  code: at(["condition", "reason"], string),
  message: {
    put(into, message, { since }) {
      Object.assign(into["condition"] as Draft, { message, lastTransitionTime: instant.write(since) });
    },
    take: at(["condition", "message"], string).take,
  },
});

const failedPlacements = listIfAny(failedPlacement);

const contest = object<ContestedObject>({
  id: at(["object"], objectId),
  by: nullable(string),
  repairs: integer,
  since: instant,
});

const failedCount = (from: JsonObject): number => {
  const failed = isObject(from["status"]) ? from["status"]["failedPlacements"] : null;
  return Array.isArray(failed) ? failed.length : 0;
};

const objectFailureCount = inAnnotations(ownKey("trouble-count"), nullable(integerText));

const facts = groupIfAt<BindingFacts>(["annotations", reportedSequence], {
  sequence: inAnnotations(reportedSequence, sequenceText),
  applied: inAnnotations(ownKey("reported-applied"), choice("pending", "applied", "failed")),
  phase: inAnnotations(ownKey("reported-phase"), choice("progressing", "available", "untrackable", "failed")),
  since: inAnnotations(ownKey("reported-since"), instant),
  objectFailures: {
    put(into, objectFailures, { since }) {
      const json = failedPlacements.write(objectFailures.map((it) => ({ ...it, since })));
      if (json !== undefined) (into["status"] as Draft)["failedPlacements"] = json;
    },
    take: at(["status", "failedPlacements"], failedPlacements as unknown as Codec<readonly ObjectFailure[]>).take,
  },
  objectFailureCount: {
    put: (into, count, { objectFailures }) =>
      objectFailureCount.put(into, count === objectFailures.length ? null : count, null),
    take: (from, context) => objectFailureCount.take(from, context) ?? failedCount(from),
  },
  adopted: inAnnotations(ownKey("adopted"), embedded(listIfAny(objectId))),
  contested: inAnnotations(
    ownKey("contests"),
    converted(
      embedded(listIfAny(contest)),
      (it: readonly ContestedObject[] | undefined) => it ?? [],
      (it) => (it.length === 0 ? undefined : it),
    ),
  ),
});

const handOver = object<HandOver>({
  to: stringOf<PlacementKey>(),
  by: nullable(
    object<CarriedVersion>({
      resourceIndex: integer,
      clusterOverrides: listIfAny(string),
      resourceOverrides: listIfAny(string),
      labels: labelsIfAny,
    }),
  ),
});

const leaving = object<PendingRemoval>({
  id: at(["object"], objectId),
  cause: commitHash,
  released: flag,
  evenAdopted: flag,
  handOver: optional(handOver),
});

/** A document of `bindings.yaml`: KubeFleet's ResourceBinding. */
export const bindingCodec = documentOf<Binding>(
  {
    kind: "ResourceBinding",
    spec: [
      "state",
      "targetCluster",
      "schedulingPolicySnapshotName",
      "resourceSnapshotName",
      "clusterDecision",
      "clusterResourceOverrideSnapshots",
      "resourceOverrideSnapshots",
      "applyStrategy",
    ],
    status: ["conditions", "failedPlacements"],
  },
  {
    cluster: inSpec("targetCluster", clusterName),
    name: string,
    uid: inMetadata("uid", string),
    generation: inMetadata("generation", integer),
    state: inSpec("state", choice("Scheduled", "Bound", "Unscheduled")),
    previousState: inAnnotations(fleetKey.previousState, nullable(choice("Scheduled", "Bound"))),
    policySnapshot: snapshotIndex("schedulingPolicySnapshotName", ""),
    decision: inSpec("clusterDecision", clusterDecision),
    target: {
      put(into, target) {
        if (target === null) (into["spec"] as Draft)["resourceSnapshotName"] = "";
        else targetMembers.put(into, target, null);
      },
      take: groupIf((from) => (from["spec"] as JsonObject)["resourceSnapshotName"] !== "", targetMembers).take,
    },
    removal: groupIfAt<Removal>(["annotations", removalCause], {
      sequence: inAnnotations(ownKey("removal-sequence"), sequenceText),
      since: inMetadata("deletionTimestamp", instant),
      cause: inAnnotations(removalCause, commitHash),
      propagation: inAnnotations(ownKey("removal-propagation"), choice("Delete", "Abandon")),
    }),
    leaving: inAnnotations(ownKey("leaving"), embedded(listIfAny(leaving))),
    facts,
    conditions: inStatus("conditions", conditionsIfAny),
  },
);

/** The text of `bindings.yaml`: a document for each binding, by cluster. */
export const bindingsText = ({ name: owner, namespace, bindings }: PlacementRecord): string =>
  emitDocuments([...bindings.values()].map((it): Json => bindingCodec.write(it, { namespace, owner })));
