import {
  isObject,
  type Json,
  type JsonList,
  type JsonObject,
  listAt,
  memberAt,
  sameJson,
} from "../../../core/model/json.ts";
import { apiVersionOf, kindKey } from "../../../core/model/manifest.ts";
import { customKindsOf } from "../api/custom-resources.ts";
import type { ServedKind } from "../api/kinds.ts";
import { withManagedFields } from "../apply/field-owners.ts";
import { updateOwners } from "../apply/server-side-apply.ts";
import { bootstrapNamespace } from "../registry/bootstrap.ts";
import {
  collectGarbage,
  deleteUnconditionally,
  dependentsOf,
  emptyNamespace,
  isTerminating,
  presentOwners,
  propagateDeletion,
  removeFinalizers,
} from "../registry/deletion.ts";
import { type Cluster, withStatus } from "../storage/cluster.ts";
import { objectName, objectNamespace, objectUid, type StoreChange } from "../storage/store.ts";
import {
  isFinished,
  isWorkload,
  simulatedOutcomeOf,
  type WorkloadProgress,
  workloadStatus,
} from "./workload-status.ts";

/** What controllers do about a write: a little later, by what is then, so that frozen ones can do it when let go. */
export function runControllers(cluster: Cluster, change: StoreChange): void {
  const kind = cluster.kinds.ofTable(change.table);
  if (kind === null) return;
  if (change.type === "DELETED") afterDeletion(cluster, kind, change.object);
  else reconcileObject(cluster, kind, change.object, change.before);
}

function reconcileObject(cluster: Cluster, kind: ServedKind, object: JsonObject, before: JsonObject | null): void {
  if (memberAt(object, "metadata", "deletionTimestamp") !== null) {
    continueDeletion(cluster, kind, object);
    return;
  }
  if (memberAt(object, "metadata", "ownerReferences") !== null)
    cluster.after(0, () => collectGarbage(cluster, kind, object));
  if (isWorkload(kind)) reconcileWorkload(cluster, kind, object, before);
  else controllers.get(kindKey(kind))?.(cluster, kind, object);
}

function continueDeletion(cluster: Cluster, kind: ServedKind, object: JsonObject): void {
  if (kindKey(kind) === "/Namespace") {
    cluster.after(cluster.availableAfterMs, () => emptyNamespace(cluster, objectName(object)));
    return;
  }
  const held = listAt(object, "metadata", "finalizers");
  if (held.includes("foregroundDeletion") || held.includes("orphan")) {
    cluster.after(0, () => propagateDeletion(cluster, kind, object));
  }
  const protection = held.filter((it) => it === "kubernetes.io/pvc-protection" || it === "kubernetes.io/pv-protection");
  if (protection.length > 0)
    later(cluster, kind, object, (live) => removeFinalizers(cluster, kind, live, protection.map(String)));
  if (kindKey(kind) === definitionKey && held.includes(instances))
    later(cluster, kind, object, (live) => deleteInstances(cluster, kind, live));
}

function afterDeletion(cluster: Cluster, kind: ServedKind, object: JsonObject): void {
  const uid = objectUid(object);
  for (const it of dependentsOf(cluster, uid)) cluster.after(0, () => collectGarbage(cluster, it.kind, it.object, uid));
  const namespace = objectNamespace(object);
  if (namespace !== null && isTerminating(cluster, namespace))
    cluster.after(0, () => emptyNamespace(cluster, namespace));
  for (const it of presentOwners(cluster, object))
    cluster.after(0, () => propagateDeletion(cluster, it.kind, it.object));
  if (kindKey(kind) === definitionKey) cluster.kinds.define(objectName(object), []);
}

/** Does something with an object later, if it is still the same one. */
function later(
  cluster: Cluster,
  kind: ServedKind,
  object: JsonObject,
  act: (live: JsonObject) => void,
  delayMs = 0,
): void {
  cluster.after(delayMs, () => {
    const live = cluster.store.get(kind, objectNamespace(object), objectName(object));
    if (live !== null && objectUid(live) === objectUid(object)) act(live);
  });
}

/** Writes a status, and what else `next` has, as the controllers' own manager, unless it already says so. */
function writeStatus(cluster: Cluster, kind: ServedKind, next: JsonObject, status: JsonObject): void {
  const live = cluster.store.get(kind, objectNamespace(next), objectName(next)) ?? next;
  if (live === next && sameJson(live["status"], status)) return;
  const { object, owners } = updateOwners(live, withStatus(next, status), kind.shape, {
    manager: "kube-controller-manager",
    apiVersion: apiVersionOf(kind),
    subresource: "status",
    time: cluster.time(),
  });
  cluster.store.put(kind, withManagedFields(object, owners));
}

function reconcileWorkload(cluster: Cluster, kind: ServedKind, object: JsonObject, before: JsonObject | null): void {
  const generation = memberAt(object, "metadata", "generation");
  // Our own status writes come by here as well; only a generation that nobody took up starts something.
  if (isFinished(object) || (before !== null && memberAt(before, "metadata", "generation") === generation)) return;
  const delay = cluster.availableAfterMs;
  const rolls = before === null || !sameJson(templateOf(before), templateOf(object));
  // Each step begins the next one: timers that are late together may fire in any order.
  const reach = ([next, ...rest]: readonly (readonly [progress: WorkloadProgress, delayMs: number])[]): void => {
    if (next === undefined) return;
    const [progress, delayMs] = next;
    later(
      cluster,
      kind,
      object,
      (live) => {
        progressTo(cluster, kind, live, { generation, progress, rolls });
        reach(rest);
      },
      delayMs,
    );
  };
  const gradually = [
    ["observed", 0],
    ["half", delay / 2],
    ["done", delay / 2],
  ] as const;
  const failing = [["overdue", Math.max(0, deadlineMs(object) - delay)]] as const;
  reach([
    ...(delay > 0 ? gradually : [["done", 0] as const]),
    ...(simulatedOutcomeOf(object) === "crash" ? failing : []),
  ]);
}

const deadlineMs = (object: JsonObject): number =>
  Number(memberAt(object, "spec", "progressDeadlineSeconds") ?? 0) * 1000;

const templateOf = (object: JsonObject): Json => memberAt(object, "spec", "template");

interface Step {
  /** The generation that this is about; a newer one has steps of its own. */
  readonly generation: Json;
  readonly progress: WorkloadProgress;
  readonly rolls: boolean;
}

function progressTo(cluster: Cluster, kind: ServedKind, live: JsonObject, { generation, progress, rolls }: Step): void {
  if (memberAt(live, "metadata", "generation") !== generation) return;
  const nodeKind = cluster.kinds.byKind("", "Node") as ServedKind;
  const nodes = cluster.store.list(nodeKind, null).length;
  const isFirst = memberAt(live, "status", "observedGeneration") !== generation;
  const object = kind.kind === "Deployment" && rolls && isFirst ? revised(live) : live;
  writeStatus(cluster, kind, object, workloadStatus(object, kind, { progress, rolls, nodes, time: cluster.time() }));
}

const revisionKey = "deployment.kubernetes.io/revision";

/** The deployment controller counts templates in an annotation: a field that no manifest has. */
function revised(live: JsonObject): JsonObject {
  const metadata = live["metadata"] as JsonObject;
  const annotations = (metadata["annotations"] ?? {}) as JsonObject;
  const revision = String(Number(annotations[revisionKey] ?? 0) + 1);
  return { ...live, metadata: { ...metadata, annotations: { ...annotations, [revisionKey]: revision } } };
}

type Controller = (cluster: Cluster, kind: ServedKind, object: JsonObject) => void;

const definitionKey = "apiextensions.k8s.io/CustomResourceDefinition";
const instances = "customresourcecleanup.apiextensions.k8s.io";

/** Controllers for kinds other than workloads. All are idempotent. */
const controllers: ReadonlyMap<string, Controller> = new Map<string, Controller>([
  [
    "/Namespace",
    (cluster, kind, object) => later(cluster, kind, object, () => bootstrapNamespace(cluster, objectName(object))),
  ],
  [
    "/PersistentVolumeClaim",
    (cluster, kind, object) =>
      later(cluster, kind, object, (live) => bindClaim(cluster, kind, live), cluster.availableAfterMs),
  ],
  [
    "/Service",
    (cluster, kind, object) => {
      if (memberAt(object, "spec", "type") !== "LoadBalancer") return;
      later(cluster, kind, object, (live) => assignLoadBalancer(cluster, kind, live), cluster.availableAfterMs);
    },
  ],
  [
    "policy/PodDisruptionBudget",
    (cluster, kind, object) => later(cluster, kind, object, (live) => updateDisruptionBudget(cluster, kind, live)),
  ],
  [
    definitionKey,
    (cluster, kind, object) => later(cluster, kind, object, (live) => establishDefinition(cluster, kind, live)),
  ],
]);

function bindClaim(cluster: Cluster, kind: ServedKind, live: JsonObject): void {
  if (memberAt(live, "status", "phase") === "Bound") return;
  const spec = (live["spec"] ?? {}) as JsonObject;
  const named = { ...live, spec: { ...spec, volumeName: spec["volumeName"] ?? `pvc-${objectUid(live)}` } };
  writeStatus(cluster, kind, named, {
    phase: "Bound",
    accessModes: spec["accessModes"] ?? [],
    capacity: memberAt(spec, "resources", "requests") ?? {},
  });
}

function assignLoadBalancer(cluster: Cluster, kind: ServedKind, live: JsonObject): void {
  if (memberAt(live, "status", "loadBalancer", "ingress") !== null) return;
  const host = String(memberAt(live, "spec", "clusterIP"))
    .split(".")
    .at(-1);
  // An address of TEST-NET-3 (RFC 5737): nobody is there.
  writeStatus(cluster, kind, live, { loadBalancer: { ingress: [{ ip: `203.0.113.${host}`, ipMode: "VIP" }] } });
}

/** No pods exist, so none may be disrupted; which is an answer, and observed. */
function updateDisruptionBudget(cluster: Cluster, kind: ServedKind, live: JsonObject): void {
  const generation = memberAt(live, "metadata", "generation");
  if (memberAt(live, "status", "observedGeneration") === generation) return;
  writeStatus(cluster, kind, live, {
    observedGeneration: generation,
    disruptionsAllowed: 0,
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    conditions: [
      {
        type: "DisruptionAllowed",
        status: "False",
        observedGeneration: generation,
        lastTransitionTime: cluster.time(),
        reason: "InsufficientPods",
        message: "",
      },
    ],
  });
}

/** Serves what a definition defines, and says so. */
function establishDefinition(cluster: Cluster, kind: ServedKind, live: JsonObject): void {
  cluster.kinds.define(objectName(live), customKindsOf(live));
  const stored = listAt(live, "spec", "versions").find((it) => memberAt(it, "storage") === true);
  if (listAt(live, "status", "conditions").length > 0) return;
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: "True",
    lastTransitionTime: cluster.time(),
    reason,
    message,
  });
  const names = memberAt(live, "spec", "names");
  writeStatus(cluster, kind, withCleanupFinalizer(live), {
    conditions: [
      condition("NamesAccepted", "NoConflicts", "no conflicts found"),
      condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    ],
    acceptedNames: isObject(names) ? names : {},
    storedVersions: [memberAt(stored, "name") ?? ""],
  });
}

/** A definition waits for its instances. */
function withCleanupFinalizer(live: JsonObject): JsonObject {
  const metadata = live["metadata"] as JsonObject;
  const finalizers = (metadata["finalizers"] ?? []) as JsonList;
  if (finalizers.includes(instances)) return live;
  return { ...live, metadata: { ...metadata, finalizers: [...finalizers, instances] } };
}

/** Deletes the instances of a definition that is going, and lets it go when none is left. */
function deleteInstances(cluster: Cluster, kind: ServedKind, live: JsonObject): void {
  const [defined] = customKindsOf(live);
  const objects = defined === undefined ? [] : cluster.store.list(defined, null);
  for (const it of objects) deleteUnconditionally(cluster, defined as ServedKind, it);
  if (defined === undefined || cluster.store.list(defined, null).length === 0)
    removeFinalizers(cluster, kind, live, [instances]);
  else
    later(
      cluster,
      kind,
      live,
      (again) => deleteInstances(cluster, kind, again),
      Math.max(10, cluster.availableAfterMs),
    );
}
