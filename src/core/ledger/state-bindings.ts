import type { Binding, BindingFacts, Contest, Leaving, ObjectTrouble, Removal, Target } from "../model/binding.ts";
import { isObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import { type ObjectKey, objectIdOf, objectKey } from "../model/manifest.ts";
import {
  type ClusterName,
  type Commit,
  type Digest,
  exactInstantText,
  type Labels,
  type Sequence,
} from "../model/value.ts";
import { emitDocuments } from "../yaml/canonical.ts";
import { conditionJson, conditionsOf, decisionJson, decisionOf } from "./state-condition.ts";
import {
  choiceAt,
  countAt,
  embeddedAt,
  type Findings,
  filled,
  find,
  given,
  instantAt,
  objectsAt,
  partAt,
  sortedLabels,
  textAt,
  textOrNull,
  textsAt,
} from "./state-fields.ts";
import {
  embedded,
  fleetKey,
  headingJson,
  kindIn,
  type Opened,
  open,
  ownKey,
  placementApiVersion,
} from "./state-names.ts";
import { identifierJson, identifierOf } from "./state-resource-snapshots.ts";
import { applyStrategyJson, applyStrategyOf } from "./state-spec.ts";

const own = {
  targetDigest: ownKey("target-digest"),
  targetSequence: ownKey("target-sequence"),
  targetSince: ownKey("target-since"),
  targetLabels: ownKey("target-labels"),
  reportedSequence: ownKey("reported-sequence"),
  reportedSince: ownKey("reported-since"),
  reportedApplied: ownKey("reported-applied"),
  reportedPhase: ownKey("reported-phase"),
  troubleCount: ownKey("trouble-count"),
  adopted: ownKey("adopted"),
  contests: ownKey("contests"),
  leaving: ownKey("leaving"),
  removalSequence: ownKey("removal-sequence"),
  removalCause: ownKey("removal-cause"),
  removalPropagation: ownKey("removal-propagation"),
} as const;

/** The text of `bindings.yaml`: a ResourceBinding a document, by cluster. */
export const bindingsText = (record: PlacementRecord): string =>
  emitDocuments([...record.bindings.values()].map((it) => bindingJson(record, it)));

function bindingJson(record: PlacementRecord, binding: Binding): Json {
  const { target, facts } = binding;
  return {
    ...headingJson({
      apiVersion: placementApiVersion,
      kind: kindIn(record.namespace, "ResourceBinding"),
      name: binding.name,
      namespace: record.namespace,
      uid: binding.uid,
      generation: binding.generation,
      deletedAt: binding.removal?.since ?? null,
      labels: { [fleetKey.parent]: record.name },
      annotations: {
        [fleetKey.previousState]: binding.previousState,
        ...(target === null ? {} : targetAnnotations(target)),
        ...(facts === null ? {} : factsAnnotations(facts)),
        ...(binding.removal === null ? {} : removalAnnotations(binding.removal)),
        [own.leaving]: embedded(binding.leaving.map(leavingJson)),
      },
    }),
    spec: given({
      state: binding.state,
      targetCluster: binding.cluster,
      schedulingPolicySnapshotName: `${record.name}-${binding.policySnapshot}`,
      resourceSnapshotName: target === null ? "" : `${record.name}-${target.resourceIndex}-snapshot`,
      clusterDecision: decisionJson(binding.decision),
      clusterResourceOverrideSnapshots: filled(target?.clusterOverrides ?? []),
      resourceOverrideSnapshots: filled((target?.resourceOverrides ?? []).map(namespacedNameJson)),
      applyStrategy: target === null ? null : applyStrategyJson(target.applyStrategy),
    }),
    status: given({
      conditions: filled(binding.conditions.map(conditionJson)),
      failedPlacements: facts === null ? null : filled(facts.troubles.map((it) => troubleJson(it, facts))),
    }),
  };
}

export function bindingOf(findings: Findings, document: Json): Binding {
  const opened = open(findings, document, "ResourceBinding");
  const { name, metadata, annotations, spec, status } = opened;
  return {
    cluster: textAt(findings, spec, "targetCluster") as ClusterName,
    name,
    uid: textAt(findings, metadata, "uid"),
    generation: countAt(findings, metadata, "generation"),
    state: choiceAt(findings, spec, "state", ["Scheduled", "Bound", "Unscheduled"]),
    previousState: Object.hasOwn(annotations, fleetKey.previousState)
      ? choiceAt<"Scheduled" | "Bound">(findings, annotations, fleetKey.previousState, ["Scheduled", "Bound"])
      : null,
    policySnapshot: indexAt(findings, spec, "schedulingPolicySnapshotName", /-(\d+)$/),
    decision: decisionOf(findings, partAt(spec, "clusterDecision")),
    target: targetOf(findings, opened),
    removal: removalOf(findings, opened),
    leaving: embeddedList(findings, annotations, own.leaving).map((it) => leavingOf(findings, it)),
    facts: factsOf(findings, opened),
    conditions: conditionsOf(findings, status),
  };
}

const targetAnnotations = ({
  digest,
  sequence,
  startedAt,
  labels,
}: Target): Readonly<Record<string, string | null>> => {
  const sorted = sortedLabels(labels);
  return {
    [own.targetDigest]: digest,
    [own.targetSequence]: String(sequence),
    [own.targetSince]: exactInstantText(startedAt),
    [own.targetLabels]: sorted === null ? null : JSON.stringify(sorted),
  };
};

function targetOf(findings: Findings, { annotations, spec }: Opened): Target | null {
  if (spec["resourceSnapshotName"] === "") return null;
  const labels = embeddedAt(findings, annotations, own.targetLabels);
  return {
    resourceIndex: indexAt(findings, spec, "resourceSnapshotName", /-(\d+)-snapshot$/),
    clusterOverrides: textsAt(findings, spec, "clusterResourceOverrideSnapshots"),
    resourceOverrides: objectsAt(findings, spec, "resourceOverrideSnapshots").map(
      (it) => `${textAt(findings, it, "namespace")}/${textAt(findings, it, "name")}`,
    ),
    labels: isObject(labels) ? (labels as Labels) : {},
    applyStrategy: applyStrategyOf(findings, partAt(spec, "applyStrategy")),
    digest: textAt(findings, annotations, own.targetDigest) as Digest,
    sequence: countAt(findings, annotations, own.targetSequence) as Sequence,
    startedAt: instantAt(findings, annotations, own.targetSince),
  };
}

const removalAnnotations = ({ sequence, cause, propagation }: Removal): Readonly<Record<string, string>> => ({
  [own.removalSequence]: String(sequence),
  [own.removalCause]: cause,
  [own.removalPropagation]: propagation,
});

function removalOf(findings: Findings, { metadata, annotations }: Opened): Removal | null {
  if (!Object.hasOwn(annotations, own.removalCause)) return null;
  return {
    sequence: countAt(findings, annotations, own.removalSequence) as Sequence,
    since: instantAt(findings, metadata, "deletionTimestamp"),
    cause: textAt(findings, annotations, own.removalCause) as Commit,
    propagation: choiceAt(findings, annotations, own.removalPropagation, ["Delete", "Abandon"]),
  };
}

const factsAnnotations = (facts: BindingFacts): Readonly<Record<string, string | null>> => ({
  [own.reportedSequence]: String(facts.sequence),
  [own.reportedSince]: exactInstantText(facts.since),
  [own.reportedApplied]: facts.applied,
  [own.reportedPhase]: facts.phase,
  [own.troubleCount]: facts.troubleCount === facts.troubles.length ? null : String(facts.troubleCount),
  [own.adopted]: embedded(facts.adopted.map(objectKey)),
  [own.contests]: embedded((facts.contests ?? []).map(contestJson)),
});

function factsOf(findings: Findings, { annotations, status }: Opened): BindingFacts | null {
  if (!Object.hasOwn(annotations, own.reportedSequence)) return null;
  const troubles = objectsAt(findings, status, "failedPlacements").map((it) => troubleOf(findings, it));
  const adopted = embeddedList(findings, annotations, own.adopted);
  const contests = embeddedList(findings, annotations, own.contests).map((it) => contestOf(findings, it));
  return {
    sequence: countAt(findings, annotations, own.reportedSequence) as Sequence,
    applied: choiceAt(findings, annotations, own.reportedApplied, ["pending", "applied", "failed"]),
    phase: choiceAt(findings, annotations, own.reportedPhase, ["progressing", "available", "untrackable", "failed"]),
    since: instantAt(findings, annotations, own.reportedSince),
    troubles,
    troubleCount: Object.hasOwn(annotations, own.troubleCount)
      ? countAt(findings, annotations, own.troubleCount)
      : troubles.length,
    adopted: adopted.map((it) => objectIdOf(String(it) as ObjectKey)),
    ...(contests.length === 0 ? {} : { contests }),
  };
}

const contestJson = ({ id, by, repairs, since }: Contest): JsonObject => ({
  object: objectKey(id),
  ...(by === null ? {} : { by }),
  repairs,
  since: exactInstantText(since),
});

function contestOf(findings: Findings, item: Json): Contest {
  const object = isObject(item) ? item : {};
  return {
    id: objectIdOf(textAt(findings, object, "object") as ObjectKey),
    by: textOrNull(findings, object, "by"),
    repairs: countAt(findings, object, "repairs"),
    since: instantAt(findings, object, "since"),
  };
}

/** KubeFleet's FailedResourcePlacement: `ledger/README.md#the-state-branch`. */
const troubleJson = ({ id, type, code, message }: ObjectTrouble, { since }: BindingFacts): JsonObject => ({
  ...identifierJson(id),
  condition: { type, status: "False", reason: code, message, lastTransitionTime: exactInstantText(since) },
});

function troubleOf(findings: Findings, object: JsonObject): ObjectTrouble {
  const condition = partAt(object, "condition");
  return {
    id: identifierOf(findings, object),
    type: choiceAt(findings, condition, "type", ["Applied", "Available"]),
    code: textAt(findings, condition, "reason"),
    message: textAt(findings, condition, "message"),
  };
}

const leavingJson = ({ id, cause, released, evenAdopted }: Leaving): JsonObject => ({
  object: objectKey(id),
  cause,
  ...(released ? { released } : {}),
  ...(evenAdopted ? { evenAdopted } : {}),
});

const leavingOf = (findings: Findings, item: Json): Leaving => ({
  id: objectIdOf(textAt(findings, isObject(item) ? item : {}, "object") as ObjectKey),
  cause: textAt(findings, isObject(item) ? item : {}, "cause") as Commit,
  released: isObject(item) && item["released"] === true,
  evenAdopted: isObject(item) && item["evenAdopted"] === true,
});

/** KubeFleet's NamespacedName of a key `namespace/name`. */
export function namespacedNameJson(key: string): JsonObject {
  const slash = key.indexOf("/");
  return { name: key.slice(slash + 1), namespace: key.slice(0, slash) };
}

function embeddedList(findings: Findings, object: JsonObject, key: string): readonly Json[] {
  const value = embeddedAt(findings, object, key);
  if (value !== null && !Array.isArray(value)) find(findings, key, "is no list");
  return Array.isArray(value) ? value : [];
}

/** The index in the name of a snapshot. */
function indexAt(findings: Findings, object: JsonObject, key: string, pattern: RegExp): number {
  const [, digits] = pattern.exec(String(member(object, key))) ?? [];
  if (digits === undefined) find(findings, key, "names no snapshot");
  return Number(digits ?? 0);
}
