import { type Json, type JsonList, type JsonObject, listAt, memberAt, textOf } from "../../../core/model/json.ts";
import { groupVersionOf } from "../../../core/model/manifest.ts";
import type { ServedKind } from "../api/kinds.ts";
import { conflict, successStatus } from "../api/status.ts";
import type { Cluster } from "../storage/cluster.ts";
import { objectName, objectNamespace, objectUid } from "../storage/store.ts";
import { read, storeOrDelete } from "./objects.ts";
import { type RequestTarget, referenceTo } from "./preconditions.ts";

/** Conditions of a deletion, and what becomes of dependents. */
export interface DeleteOptions {
  readonly uid: string | null;
  readonly resourceVersion: string | null;
  readonly propagation: "Background" | "Foreground" | "Orphan";
  readonly dryRun: boolean;
}

/** Deletes an object; with finalizers, or as a namespace with content, it stays, marked, until those are gone. */
export function deleteObject(cluster: Cluster, target: RequestTarget, options: DeleteOptions): JsonObject {
  const live = read(cluster, target);
  requirePreconditions(live, target, options);
  const held = heldBy(live, options.propagation);
  const waits = held.length > 0 || listAt(live, "spec", "finalizers").length > 0;
  if (!waits) {
    if (!options.dryRun) cluster.store.delete(target.kind, live);
    return successStatus(referenceTo(target), objectUid(live));
  }
  if (memberAt(live, "metadata", "deletionTimestamp") !== null) return live;
  const marked = markedForDeletion(cluster, live, target.kind, held);
  return options.dryRun ? marked : cluster.store.put(target.kind, marked);
}

function requirePreconditions(live: JsonObject, target: RequestTarget, { uid, resourceVersion }: DeleteOptions): void {
  // Here a server names the kind where it usually names the resource.
  const subject = { ...referenceTo(target), resource: target.kind.kind };
  if (uid !== null && uid !== objectUid(live)) {
    throw conflict(
      subject,
      `the UID in the precondition (${uid}) does not match the UID in record (${objectUid(live)}). The object might have been deleted and then recreated`,
    );
  }
  const version = textOf(memberAt(live, "metadata", "resourceVersion")) ?? "";
  if (resourceVersion !== null && resourceVersion !== version) {
    throw conflict(
      subject,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${version}). The object might have been modified`,
    );
  }
}

const foreground = "foregroundDeletion";
const orphan = "orphan";

function heldBy(live: JsonObject, propagation: DeleteOptions["propagation"]): JsonList {
  const own = listAt(live, "metadata", "finalizers").filter((it) => it !== foreground && it !== orphan);
  if (propagation === "Foreground") return [...own, foreground];
  return propagation === "Orphan" ? [...own, orphan] : own;
}

function markedForDeletion(cluster: Cluster, live: JsonObject, kind: ServedKind, finalizers: JsonList): JsonObject {
  const metadata = live["metadata"] as JsonObject;
  const isNamespace = kind.group === "" && kind.kind === "Namespace";
  const generation = metadata["generation"];
  return {
    ...live,
    metadata: {
      ...metadata,
      deletionTimestamp: cluster.time(),
      ...(isNamespace ? {} : { deletionGracePeriodSeconds: 0 }),
      ...(typeof generation === "number" ? { generation: generation + 1 } : {}),
      ...(finalizers.length === 0 ? {} : { finalizers }),
    },
    ...(isNamespace ? { status: { ...((live["status"] ?? {}) as JsonObject), phase: "Terminating" } } : {}),
  };
}

/** Removes finalizers; an object that only waited for them goes. */
export function removeFinalizers(
  cluster: Cluster,
  kind: ServedKind,
  live: JsonObject,
  finalizers: readonly string[],
): void {
  const { finalizers: before, ...metadata } = live["metadata"] as JsonObject;
  const rest = listAt(before).filter((it) => !finalizers.includes(String(it)));
  const next = { ...live, metadata: { ...metadata, ...(rest.length === 0 ? {} : { finalizers: rest }) } };
  storeOrDelete(cluster, kind, next);
}

/** Whether a namespace is on its way out. */
export const isTerminating = (cluster: Cluster, namespace: string): boolean =>
  terminatingNamespace(cluster, namespace) !== null;

function terminatingNamespace(cluster: Cluster, name: string): JsonObject | null {
  const namespace = cluster.store.get(cluster.kinds.byKind("", "Namespace") as ServedKind, null, name);
  return namespace === null || memberAt(namespace, "metadata", "deletionTimestamp") === null ? null : namespace;
}

/** Empties a namespace that is going, and lets it go once nothing is left in it. Called again for whatever goes from it. */
export function emptyNamespace(cluster: Cluster, name: string): void {
  const namespace = terminatingNamespace(cluster, name);
  if (namespace === null) return;
  const contents = cluster.store.tables
    .map((table) => cluster.kinds.ofTable(table))
    .filter((it): it is ServedKind => it !== null && it.scope === "Namespaced")
    .flatMap((it) => cluster.store.list(it, name).map((object) => ({ kind: it, object })));
  for (const { kind: of, object } of contents) deleteUnconditionally(cluster, of, object);
  const left = contents.some(({ kind: of, object }) => cluster.store.get(of, name, objectName(object)) !== null);
  // What still holds it then is a finalizer of somebody's, and nobody's write is due.
  if (!left && listAt(namespace, "spec", "finalizers").length > 0) finalizeNamespace(cluster, namespace, []);
}

/** Sets a namespace's own finalizers; without any it goes, if it was going. */
export function finalizeNamespace(cluster: Cluster, namespace: JsonObject, finalizers: JsonList): JsonObject {
  const kind = cluster.kinds.byKind("", "Namespace") as ServedKind;
  const spec = finalizers.length === 0 ? {} : { finalizers };
  return storeOrDelete(cluster, kind, { ...namespace, spec });
}

/** Deletes without conditions, and without asking whether it is already going. */
export function deleteUnconditionally(cluster: Cluster, kind: ServedKind, object: JsonObject): void {
  const target: RequestTarget = {
    kind,
    namespace: objectNamespace(object),
    name: objectName(object),
    subresource: null,
  };
  if (cluster.store.get(kind, target.namespace, target.name) === null) return;
  deleteObject(cluster, target, { uid: null, resourceVersion: null, propagation: "Background", dryRun: false });
}

/**
 * An object goes when no owner is left; one deleted in the foreground takes it along, an orphaning one lets go. Where
 * another owner stays, it forgets those that do not. What names an owner that cannot be looked up stays as it is, as with
 * Kubernetes' own collector, unless that is known to be `gone`.
 */
export function collectGarbage(
  cluster: Cluster,
  kind: ServedKind,
  object: JsonObject,
  gone: string | null = null,
): void {
  const live = cluster.store.get(kind, objectNamespace(object), objectName(object));
  if (live === null || memberAt(live, "metadata", "ownerReferences") === null) return;
  const references = listAt(live, "metadata", "ownerReferences");
  const sought = references.filter((it) => gone === null || memberAt(it, "uid") !== gone);
  if (sought.some((it) => isBeyondLookUp(cluster, it, objectNamespace(live)))) return;
  const owners = presentOwners(cluster, live).filter(
    (it) => !listAt(it.object, "metadata", "finalizers").includes(foreground),
  );
  const staying = new Set(owners.map((it) => objectUid(it.object)));
  if (staying.size === 0) deleteUnconditionally(cluster, kind, live);
  else keepOwners(cluster, kind, live, (uid) => staying.has(uid));
}

interface Found {
  readonly kind: ServedKind;
  readonly object: JsonObject;
}

/** The owners of an object that are there: same place, same uid. */
export const presentOwners = (cluster: Cluster, object: JsonObject): readonly Found[] =>
  listAt(object, "metadata", "ownerReferences")
    .map((it) => ownerOf(cluster, it, objectNamespace(object)))
    .filter((it) => it !== null);

/** Of a kind that is not served, or in a namespace where the object itself is in none. */
function isBeyondLookUp(cluster: Cluster, reference: Json, namespace: string | null): boolean {
  const kind = ownerKind(cluster, reference);
  return kind === null || (kind.scope === "Namespaced" && namespace === null);
}

function ownerKind(cluster: Cluster, reference: Json): ServedKind | null {
  const { group } = groupVersionOf(textOf(memberAt(reference, "apiVersion")) ?? "");
  return cluster.kinds.byKind(group, textOf(memberAt(reference, "kind")) ?? "");
}

function ownerOf(cluster: Cluster, reference: Json, namespace: string | null): Found | null {
  const text = (key: string): string => textOf(memberAt(reference, key)) ?? "";
  const kind = ownerKind(cluster, reference);
  if (kind === null) return null;
  const object = cluster.store.get(kind, kind.scope === "Cluster" ? null : namespace, text("name"));
  return object !== null && objectUid(object) === text("uid") ? { kind, object } : null;
}

/** Finishes a deletion that asked for its dependents to go first, or to be let go. */
export function propagateDeletion(cluster: Cluster, kind: ServedKind, object: JsonObject): void {
  const live = cluster.store.get(kind, objectNamespace(object), objectName(object));
  if (live === null || memberAt(live, "metadata", "deletionTimestamp") === null) return;
  const finalizers = listAt(live, "metadata", "finalizers");
  const dependents = dependentsOf(cluster, objectUid(live));
  if (finalizers.includes(orphan)) {
    for (const it of dependents) keepOwners(cluster, it.kind, it.object, (uid) => uid !== objectUid(live));
    removeFinalizers(cluster, kind, live, [orphan]);
  } else if (finalizers.includes(foreground)) {
    for (const it of dependents) collectGarbage(cluster, it.kind, it.object);
    const left = dependentsOf(cluster, objectUid(live)).filter((it) => isBlocking(it.object, objectUid(live)));
    if (left.length === 0) removeFinalizers(cluster, kind, live, [foreground]);
  }
}

/** Everything that names this uid among its owners. */
export function dependentsOf(cluster: Cluster, uid: string): readonly Found[] {
  return cluster.store
    .dependentsOf(uid)
    .map(({ table, object }) => ({ kind: cluster.kinds.ofTable(table), object }))
    .filter((it): it is Found => it.kind !== null);
}

/** Whether an owner that is deleted in the foreground waits for this dependent. */
const isBlocking = (dependent: JsonObject, owner: string): boolean =>
  listAt(dependent, "metadata", "ownerReferences").some(
    (it) => memberAt(it, "uid") === owner && memberAt(it, "blockOwnerDeletion") === true,
  );

function keepOwners(cluster: Cluster, kind: ServedKind, object: JsonObject, isKept: (uid: string) => boolean): void {
  const { ownerReferences: _, ...metadata } = object["metadata"] as JsonObject;
  const before = listAt(object, "metadata", "ownerReferences");
  const rest = before.filter((it) => isKept(textOf(memberAt(it, "uid")) ?? ""));
  if (rest.length === before.length) return;
  cluster.store.put(kind, {
    ...object,
    metadata: { ...metadata, ...(rest.length === 0 ? {} : { ownerReferences: rest }) },
  });
}
