import type { Binding, BindingFacts, ClusterDecision, ContestedObject, ObjectFailure } from "../model/binding.ts";
import type { Condition } from "../model/condition.ts";
import { remembered } from "../model/identity.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { PlacementRecord, ResourceSnapshot } from "../model/ledger.ts";
import {
  documentIdOf,
  documentKeyOf,
  type EnvelopeRef,
  type ObjectId,
  type ObjectKey,
  objectKey,
  type VersionedId,
} from "../model/manifest.ts";
import { exactInstantText, type Instant } from "../model/value.ts";
import { rowConditions } from "./expected-conditions.ts";
import {
  currentScheduling,
  isExternal,
  missingClusters,
  observedResourceIndex,
  pendingRemovals,
  rowIndex,
  type SelectedCluster,
  selectedClusters,
} from "./selected-clusters.ts";

// KubeFleet's limits: decisions per policy snapshot, entries per list.
const rowLimit = 1000;
const listLimit = 100;

/**
 * `status.placementStatuses`: a row per selected cluster in the order of decisions, then a nameless row per cluster
 * that could not be found (`status/README.md#the-row-of-a-cluster`; `#c-37`), then one per cluster that is no longer
 * picked and still carries the placement until its removal is admitted (`#b-25`).
 *
 * `observedResourceIndex` is KubeFleet's: under RollingUpdate the newest index. The index that the cluster is to carry
 * is shown beside it (`#c-39`), as is the total wherever a list is cut (`#c-17`). All times come from the record:
 * rendering the same record again gives the same rows.
 */
export function perClusterRows(record: PlacementRecord): readonly Json[] {
  const scheduling = currentScheduling(record);
  if (scheduling === null || scheduling.condition.status === "Unknown") return [];
  const since = scheduling.condition.lastTransitionTime;
  const rows = selectedClusters(record).map((it) => clusterRow(it, record, since));
  const missing = missingClusters(record).map((it) => missingRow(it, record, since));
  const pending = pendingRemovals(record).map((it) => pendingRow(it, record, since));
  return [...rows, ...missing, ...pending].slice(0, rowLimit);
}

/**
 * `status.selectedResources`: what was selected of the snapshot of the observed index, in the order of selection; an
 * envelope as itself and not by its contents (`render/README.md#envelopes`).
 */
export function selectedResources(record: PlacementRecord): readonly Json[] {
  const index = observedResourceIndex(record);
  const snapshot = record.resourceSnapshots.find((it) => String(it.index) === index);
  const selected = new Map((snapshot?.resources ?? []).map((it) => [documentKeyOf(it), documentIdOf(it)]));
  return [...selected.values()].map(resourceIdentifier);
}

function clusterRow(selected: SelectedCluster, record: PlacementRecord, since: Instant): Json {
  const { cluster, reason, binding } = selected;
  const walked = rowConditions(selected, record, since);
  const scheduled = scheduledJson({ status: "True", reason: "Scheduled", message: reason }, record, since);
  return {
    clusterName: cluster,
    observedResourceIndex: rowIndex(binding, record),
    ...(binding === null ? {} : targetPart(binding, record, walked)),
    ...(binding === null ? {} : factsPart(binding, record, walked)),
    conditions: [scheduled, ...walked.map(conditionJson)],
  };
}

/** The target of the cluster with its overrides, which KubeFleet names once the rollout has started. */
function targetPart({ target }: Binding, record: PlacementRecord, walked: readonly Condition[]): JsonObject {
  if (target === null) return {};
  const snapshot = record.resourceSnapshots.find((it) => it.index === target.resourceIndex);
  const started = walked[0]?.status === "True";
  return {
    targetResourceIndex: String(target.resourceIndex),
    ...(snapshot === undefined ? {} : { targetCommit: snapshot.commit }),
    ...(started ? list("applicableClusterResourceOverrides", target.clusterOverrides) : {}),
    ...(started ? list("applicableResourceOverrides", target.resourceOverrides.map(namespacedName)) : {}),
  };
}

/** Failing objects, where a condition is False (`status/README.md#failed-drifted-diffed`), and adopted ones. */
function factsPart(
  { facts, target }: Binding,
  { resourceSnapshots }: PlacementRecord,
  walked: readonly Condition[],
): JsonObject {
  if (facts === null || facts.sequence !== target?.sequence) return {};
  const snapshot = resourceSnapshots.find((it) => it.index === target.resourceIndex);
  const wrapped = snapshot === undefined ? noEnvelopes : envelopesIn(snapshot);
  const last = walked.at(-1);
  const failing = last?.status === "False" && (last.type === "Applied" || last.type === "Available");
  const shown = failing ? facts.objectFailures.slice(0, listLimit) : [];
  const cut = failing && facts.objectFailureCount > shown.length;
  return {
    ...list(
      "failedPlacements",
      shown.map((it) => failedPlacement(it, wrapped.get(objectKey(it.id)), facts)),
    ),
    ...(cut ? { failedPlacementsTotal: facts.objectFailureCount } : {}),
    ...list("adoptedResources", facts.adopted.slice(0, listLimit).map(objectIdentifier)),
    ...(facts.adopted.length > listLimit ? { adoptedResourcesTotal: facts.adopted.length } : {}),
    ...list("contestedResources", (facts.contested ?? []).map(contestedResource)),
  };
}

/** Not a field of KubeFleet's: who changes the object back, and how often at least it was repaired. */
const contestedResource = ({ id, by, repairs, since }: ContestedObject): Json => ({
  ...objectIdentifier(id),
  ...(by === null ? {} : { manager: by }),
  repairs,
  since: exactInstantText(since),
});

function failedPlacement(
  { id, type, code, message }: ObjectFailure,
  envelope: EnvelopeRef | undefined,
  { since }: BindingFacts,
): Json {
  return {
    ...resourceIdentifier(id),
    ...(envelope === undefined ? {} : { envelope: envelopeIdentifier(envelope) }),
    condition: { type, status: "False", reason: code, message, lastTransitionTime: exactInstantText(since) },
  };
}

/** Which of a snapshot's objects were in an envelope; the rows of all clusters ask. */
const envelopesIn = remembered(
  ({ resources }: ResourceSnapshot): ReadonlyMap<ObjectKey, EnvelopeRef> =>
    new Map(resources.flatMap(({ id, envelope }) => (envelope === undefined ? [] : [[objectKey(id), envelope]]))),
);

const noEnvelopes: ReadonlyMap<ObjectKey, EnvelopeRef> = new Map();

const envelopeIdentifier = ({ type, namespace, name }: EnvelopeRef): JsonObject => ({
  name,
  ...(namespace === null ? {} : { namespace }),
  type,
});

function missingRow({ cluster, reason }: ClusterDecision, record: PlacementRecord, since: Instant): Json {
  // KubeFleet's row has no clusterName, so the name is in the message (`status/README.md#a-59`).
  const failed = { status: "False", reason: "ScheduleFailed", message: `${cluster}: ${reason}` } as const;
  return { conditions: [scheduledJson(failed, record, since)] };
}

/** KubeFleet has no such row, and hides that the cluster still carries the placement. */
function pendingRow(binding: Binding, record: PlacementRecord, since: Instant): Json {
  const waitsFor = isExternal(record) ? "an update run" : "the rollout's budget";
  const message = `no longer picked; its removal waits for ${waitsFor}`;
  return {
    clusterName: binding.cluster,
    observedResourceIndex: rowIndex(binding, record),
    ...targetPart(binding, record, []),
    conditions: [scheduledJson({ status: "False", reason: "PendingRemoval", message }, record, since)],
  };
}

const scheduledJson = (
  said: Pick<Condition, "status" | "reason" | "message">,
  { generation }: PlacementRecord,
  lastTransitionTime: Instant,
): JsonObject => conditionJson({ type: "Scheduled", ...said, observedGeneration: generation, lastTransitionTime });

const conditionJson = ({ lastTransitionTime, ...condition }: Condition): JsonObject => ({
  ...condition,
  lastTransitionTime: exactInstantText(lastTransitionTime),
});

const resourceIdentifier = ({ group, version, kind, name, namespace }: VersionedId): JsonObject => ({
  ...(group === "" ? {} : { group }),
  version,
  kind,
  name,
  ...(namespace === null ? {} : { namespace }),
});

const objectIdentifier = ({ group, kind, name, namespace }: ObjectId): JsonObject => ({
  ...(group === "" ? {} : { group }),
  kind,
  name,
  ...(namespace === null ? {} : { namespace }),
});

function namespacedName(key: string): JsonObject {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}

const list = (key: string, items: readonly Json[]): JsonObject => (items.length === 0 ? {} : { [key]: items });
