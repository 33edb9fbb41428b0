import { isObject, type Json, type JsonObject, memberAt, textOf } from "../../../core/model/json.ts";
import { apiVersionOf } from "../../../core/model/manifest.ts";
import type { ServedKind } from "../api/kinds.ts";
import { conflict, forbidden, notFound, type ObjectReference, statusError } from "../api/status.ts";
import type { Cluster } from "../storage/cluster.ts";
import { objectName, objectUid } from "../storage/store.ts";

/** Which object a request is about. */
export interface RequestTarget {
  readonly kind: ServedKind;
  readonly namespace: string | null;
  readonly name: string;
  readonly subresource: string | null;
}

/** How refusals name a target. */
export const referenceTo = ({ kind, name }: RequestTarget): ObjectReference => ({
  group: kind.group,
  resource: kind.plural,
  kind: kind.kind,
  name,
});

/** The body as an object of the target's kind and place, or a refusal that says what does not fit. */
export function decodeBody(body: Json, { kind, namespace, name }: RequestTarget): JsonObject {
  if (!isObject(body)) throw statusError("BadRequest", "the body of the request is not an object");
  const apiVersion = apiVersionOf(kind);
  const given = { apiVersion: body["apiVersion"] ?? apiVersion, kind: body["kind"] ?? kind.kind };
  if (given.apiVersion !== apiVersion || given.kind !== kind.kind) {
    throw statusError(
      "BadRequest",
      `${String(given.kind)} in version "${String(given.apiVersion)}" cannot be handled as a ${kind.kind} in version "${apiVersion}"`,
    );
  }
  const metadata = isObject(body["metadata"]) ? body["metadata"] : {};
  const inside = textOf(metadata["namespace"]) ?? "";
  if (kind.scope === "Namespaced" && inside !== "" && inside !== namespace) {
    throw statusError(
      "BadRequest",
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  }
  const called = textOf(metadata["name"]) ?? "";
  if (name !== "" && called !== "" && called !== name) {
    throw statusError("BadRequest", `the name of the object (${called}) does not match the name on the URL (${name})`);
  }
  const { namespace: _, ...rest } = metadata;
  const place = namespace === null ? {} : { namespace };
  return { ...body, ...given, metadata: { ...rest, name: called === "" ? name : called, ...place } };
}

/** The object with a name made from its generateName, where it has no name. */
export function withGeneratedName(cluster: Cluster, object: JsonObject): JsonObject {
  const prefix = textOf(memberAt(object, "metadata", "generateName")) ?? "";
  if (objectName(object) !== "" || prefix === "") return object;
  const suffix = cluster.serial().toString(36).padStart(5, "0").slice(-5);
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), name: prefix + suffix } };
}

/** Refuses a creation in a namespace that does not exist or is being deleted. */
export function requireNamespace(cluster: Cluster, target: RequestTarget): void {
  if (target.namespace === null) return;
  const kind = cluster.kinds.find("", "v1", "namespaces") as ServedKind;
  const namespace = cluster.store.get(kind, null, target.namespace);
  if (namespace === null)
    throw notFound({ group: "", resource: "namespaces", kind: "Namespace", name: target.namespace });
  if (memberAt(namespace, "metadata", "deletionTimestamp") === null) return;
  const because = `unable to create new content in namespace ${target.namespace} because it is being terminated`;
  const message = `namespace ${target.namespace} is being terminated`;
  throw forbidden(referenceTo(target), because, [
    { reason: "NamespaceTerminating", message, field: "metadata.namespace" },
  ]);
}

/** A uid in the body is a condition. */
export function requireSameUid(body: JsonObject, live: JsonObject | null, target: RequestTarget): void {
  const uid = textOf(memberAt(body, "metadata", "uid")) ?? "";
  const found = live === null ? "" : objectUid(live);
  if (uid === "" || uid === found) return;
  const stands = live === null ? "no existing object was found" : `and the existing object has uid ${found}`;
  throw conflict(referenceTo(target), `uid mismatch: the provided object specified uid ${uid}, and ${stands}`);
}

/** Optimistic locking: a version in the body is a condition, where something stands already. */
export function requireSameVersion(body: JsonObject, live: JsonObject | null, target: RequestTarget): void {
  const version = textOf(memberAt(body, "metadata", "resourceVersion")) ?? "";
  if (live === null || version === "" || version === memberAt(live, "metadata", "resourceVersion")) return;
  throw conflict(
    referenceTo(target),
    "the object has been modified; please apply your changes to the latest version and try again",
  );
}
