import { isObject, type Json, type JsonObject, memberAt, sameJson, textOf } from "../../../core/model/json.ts";
import { apiVersionOf } from "../../../core/model/manifest.ts";
import { confined, confinedPatch, prepared, shaped, zeroOf } from "../admission/admission.ts";
import { validate } from "../admission/validate.ts";
import { fitToSchema } from "../api/custom-resources.ts";
import type { Kind } from "../api/kinds.ts";
import {
  alreadyExists,
  conflict,
  forbidden,
  invalid,
  notFound,
  Refusal,
  refusal,
  type Subject,
} from "../api/status.ts";
import { recalled, remember } from "../apply/creation-cache.ts";
import { bare, owned, ownersOf, sameOwners, type Writer } from "../apply/field-owners.ts";
import { mergePatch, operationsPatch, strategicPatch } from "../apply/patch.ts";
import { applyTo, type Managed, update } from "../apply/server-side-apply.ts";
import type { Cluster } from "../storage/cluster.ts";
import { nameOf, uidOf } from "../storage/store.ts";

/** Which object a request is about. */
export interface Target {
  readonly kind: Kind;
  readonly namespace: string | null;
  readonly name: string;
  readonly subresource: string | null;
}

/** What a writer says besides the object. */
export interface WriteOptions {
  readonly manager: string;
  readonly force: boolean;
  readonly dryRun: boolean;
  /** `fieldValidation=Strict`: unknown fields of custom resources are refused. */
  readonly strict: boolean;
}

/** The object after a write; 201 when it is new. */
export interface Outcome {
  readonly code: 200 | 201;
  readonly object: JsonObject;
}

/** The three patches that are older than apply: RFC 7386, RFC 6902, and Kubernetes' own. */
export type PatchType = "merge" | "operations" | "strategic";

/** How refusals name a target. */
export const subjectOf = ({ kind, name }: Target): Subject => ({
  group: kind.group,
  resource: kind.plural,
  kind: kind.kind,
  name,
});

/** The stored object, in the version that was asked for. */
export function read(cluster: Cluster, target: Target): JsonObject {
  const stored = cluster.store.get(target.kind, target.namespace, target.name);
  if (stored === null) throw notFound(subjectOf(target));
  return inVersion(stored, target.kind);
}

/** Versions of a kind differ in their name alone: contents are not converted. */
export function inVersion(object: JsonObject, kind: Kind): JsonObject {
  const apiVersion = apiVersionOf(kind);
  return object["apiVersion"] === apiVersion ? object : { ...object, apiVersion };
}

/** Creates an object. Its author owns every field of it, defaults included. */
export function create(cluster: Cluster, target: Target, body: Json, options: WriteOptions): Outcome {
  const making = { operation: "Update", body, ...target, name: "", strict: options.strict } as const;
  const known = recalled(making, writerOf(cluster, target, options));
  const decoded = known === null ? named(cluster, decode(body, { ...target, name: "" })) : known.object;
  const at = { ...target, name: nameOf(decoded) };
  mustAccept(cluster, at);
  if (at.name !== "" && cluster.store.get(at.kind, at.namespace, at.name) !== null) throw alreadyExists(subjectOf(at));
  if (known !== null) return add(cluster, at, known, options);
  const next = shaped(confined(decoded, null, at.kind, null), at.kind, options.strict);
  // Nobody who creates an object owns its status.
  const zero = next["status"] === undefined ? zeroOf(at.kind) : { ...zeroOf(at.kind), status: next["status"] };
  const made = update(zero, next, at.kind.shape, writerOf(cluster, at, options));
  const outcome = finish(cluster, at, null, made, options);
  remember(making, made);
  return outcome;
}

/** Replaces an object, or only its status. A resourceVersion in the body is a condition. */
export function replace(cluster: Cluster, target: Target, body: Json, options: WriteOptions): Outcome {
  const next = decode(body, target);
  const live = read(cluster, target);
  const version = textOf(memberAt(next, "metadata", "resourceVersion"));
  if (version === null && isUnconditional(target.kind)) {
    const message = "Invalid value: 0: must be specified for an update";
    throw invalid(subjectOf(target), [{ reason: "FieldValueInvalid", message, field: "metadata.resourceVersion" }]);
  }
  return rewrite(cluster, target, live, next, options);
}

/** Kinds that are never replaced without saying which version is meant. */
const isUnconditional = (kind: Kind): boolean =>
  kind.custom !== null || ["CustomResourceDefinition", "Lease"].includes(kind.kind);

/** Patches an object: {@link replace} with what the patch makes of it. */
export function patch(
  cluster: Cluster,
  target: Target,
  body: Json,
  options: WriteOptions & { readonly type: PatchType },
): Outcome {
  const live = read(cluster, target);
  const patched = patchedBy(options.type, live, body, target.kind);
  return rewrite(cluster, target, live, decode(patched, target), options);
}

function patchedBy(type: PatchType, live: JsonObject, body: Json, kind: Kind): Json {
  switch (type) {
    case "merge":
      return mergePatch(live, body);
    case "operations":
      return operationsPatch(live, body);
    case "strategic":
      return strategicPatch(live, body, kind.shape);
  }
}

function rewrite(cluster: Cluster, target: Target, live: JsonObject, next: JsonObject, options: WriteOptions): Outcome {
  mustBeMeant(next, live, target);
  mustBeCurrent(next, live, target);
  const fitted = shaped(confined(next, live, target.kind, target.subresource), target.kind, options.strict);
  const kept = carried(fitted, live, target);
  return finish(
    cluster,
    target,
    live,
    update(live, kept, target.kind.shape, writerOf(cluster, target, options)),
    options,
  );
}

/** An update that leaves out what a service was given does not give it back. */
function carried(next: JsonObject, live: JsonObject, { kind }: Target): JsonObject {
  if (kind.group !== "" || kind.kind !== "Service") return next;
  const spec = (next["spec"] ?? {}) as JsonObject;
  const before = (live["spec"] ?? {}) as JsonObject;
  const missing = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"].filter(
    (it) => spec[it] === undefined && before[it] !== undefined,
  );
  if (missing.length === 0 || spec["type"] === "ExternalName") return next;
  return { ...next, spec: { ...spec, ...Object.fromEntries(missing.map((it) => [it, before[it] as Json])) } };
}

/** Server-side apply: creates or changes, and knows who owns what (KEP-555). */
export function apply(cluster: Cluster, target: Target, body: Json, options: WriteOptions): Outcome {
  const { kind, namespace, name, subresource } = target;
  const live = cluster.store.get(kind, namespace, name);
  const isNew = live === null && subresource === null;
  const making = { operation: "Apply", body, ...target, strict: options.strict } as const;
  const known = isNew ? recalled(making, writerOf(cluster, target, options)) : null;
  if (known !== null) {
    mustAccept(cluster, target);
    return add(cluster, target, known, options);
  }
  const laid = laidOver(cluster, target, body, options);
  const outcome = finish(cluster, target, live, laid, options);
  if (isNew) remember(making, laid);
  return outcome;
}

/** A configuration laid over what is stored, shaped as its kind is. */
function laidOver(cluster: Cluster, target: Target, body: Json, options: WriteOptions): Managed {
  const config = decode(body, target);
  const { kind, subresource } = target;
  const live = cluster.store.get(kind, target.namespace, target.name);
  if (memberAt(config, "metadata", "managedFields") !== null)
    throw refusal("BadRequest", "metadata.managedFields must be nil");
  if (live === null && subresource !== null) throw notFound(subjectOf(target));
  if (live === null) mustAccept(cluster, target);
  mustBeMeant(config, live, target);
  const writer = { ...writerOf(cluster, target, options), force: options.force };
  const patch = identified(confinedPatch(config, kind, subresource));
  const { object, owners } = applied(inVersion(live ?? {}, kind), patch, target, writer);
  // Who conflicts with other owners hears of that first.
  mustBeCurrent(config, live, target);
  return { object: shaped(object, kind, options.strict), owners };
}

function applied(
  live: JsonObject,
  config: JsonObject,
  { kind, namespace, name }: Target,
  writer: Writer & { force: boolean },
): Managed {
  try {
    return applyTo(live, declared(config, kind), kind.shape, writer);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 500) throw error;
    const which = `${namespace === null ? "" : `${namespace}/`}${name}; ${apiVersionOf(kind)}, Kind=${kind.kind}`;
    throw new Refusal(500, "", `failed to create typed patch object (${which}): ${error.message}`);
  }
}

/** Refuses a configuration with fields that a custom resource's schema does not declare: nobody could own them. */
function declared(config: JsonObject, kind: Kind): JsonObject {
  const unknown = kind.custom === null ? [] : fitToSchema(config, kind.custom.schema).unknown;
  if (unknown.length > 0)
    throw new Refusal(500, "", unknown.map((it) => `.${it}: field not declared in schema`).join("\n"));
  return config;
}

/** A configuration says nothing about what only the server says. */
function identified(config: JsonObject): JsonObject {
  const {
    resourceVersion: _,
    uid: __,
    generation: ___,
    creationTimestamp: ____,
    ...metadata
  } = (config["metadata"] ?? {}) as JsonObject;
  return { ...config, metadata };
}

/** Stores what became of an object, unless nothing did; a dry run says what it would have stored. */
export function finish(
  cluster: Cluster,
  { kind }: Target,
  live: JsonObject | null,
  { object, owners }: Managed,
  { dryRun }: { readonly dryRun: boolean },
): Outcome {
  const ready = prepared(cluster, object, live, kind);
  validate(ready, live, kind);
  const code = live === null ? 201 : 200;
  if (live !== null && sameJson(bare(inVersion(live, kind)), ready) && sameOwners(ownersOf(live), owners))
    return { code, object: live };
  const result = owned(ready, owners);
  return { code, object: dryRun ? result : settleIn(cluster, kind, result) };
}

/** Stores a new object that is known to be valid. */
function add(cluster: Cluster, { kind }: Target, { object, owners }: Managed, { dryRun }: WriteOptions): Outcome {
  const result = owned(prepared(cluster, object, null, kind), owners);
  return { code: 201, object: dryRun ? result : cluster.store.put(kind, result) };
}

/** Stores an object, or lets it go if it was only waiting for its last finalizer; gives it as it was last. */
export function settleIn(cluster: Cluster, kind: Kind, object: JsonObject): JsonObject {
  if (!isFinished(object)) return cluster.store.put(kind, object);
  cluster.store.delete(kind, object);
  return object;
}

const isFinished = (object: JsonObject): boolean =>
  memberAt(object, "metadata", "deletionTimestamp") !== null &&
  memberAt(object, "metadata", "finalizers") === null &&
  memberAt(object, "spec", "finalizers") === null;

/** Who writes, as the owners of fields remember it. */
const writerOf = (
  cluster: Cluster,
  { kind, subresource }: Target,
  { manager }: { readonly manager: string },
): Writer => ({
  manager: manager === "" ? "unknown" : manager,
  apiVersion: apiVersionOf(kind),
  subresource,
  time: cluster.time(),
});

/** The body as an object of the target's kind and place, or a refusal that says what does not fit. */
function decode(body: Json, { kind, namespace, name }: Target): JsonObject {
  if (!isObject(body)) throw refusal("BadRequest", "the body of the request is not an object");
  const apiVersion = apiVersionOf(kind);
  const given = { apiVersion: body["apiVersion"] ?? apiVersion, kind: body["kind"] ?? kind.kind };
  if (given.apiVersion !== apiVersion || given.kind !== kind.kind) {
    throw refusal(
      "BadRequest",
      `${String(given.kind)} in version "${String(given.apiVersion)}" cannot be handled as a ${kind.kind} in version "${apiVersion}"`,
    );
  }
  const metadata = isObject(body["metadata"]) ? body["metadata"] : {};
  const inside = textOf(metadata["namespace"]) ?? "";
  if (kind.scope === "Namespaced" && inside !== "" && inside !== namespace) {
    throw refusal(
      "BadRequest",
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  }
  const called = textOf(metadata["name"]) ?? "";
  if (name !== "" && called !== "" && called !== name) {
    throw refusal("BadRequest", `the name of the object (${called}) does not match the name on the URL (${name})`);
  }
  const { namespace: _, ...rest } = metadata;
  const place = namespace === null ? {} : { namespace };
  return { ...body, ...given, metadata: { ...rest, name: called === "" ? name : called, ...place } };
}

function named(cluster: Cluster, object: JsonObject): JsonObject {
  const prefix = textOf(memberAt(object, "metadata", "generateName")) ?? "";
  if (nameOf(object) !== "" || prefix === "") return object;
  const suffix = cluster.serial().toString(36).padStart(5, "0").slice(-5);
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), name: prefix + suffix } };
}

/** Refuses a creation in a namespace that is not there, or going. */
function mustAccept(cluster: Cluster, target: Target): void {
  if (target.namespace === null) return;
  const kind = cluster.kinds.find("", "v1", "namespaces") as Kind;
  const namespace = cluster.store.get(kind, null, target.namespace);
  if (namespace === null)
    throw notFound({ group: "", resource: "namespaces", kind: "Namespace", name: target.namespace });
  if (memberAt(namespace, "metadata", "deletionTimestamp") === null) return;
  const because = `unable to create new content in namespace ${target.namespace} because it is being terminated`;
  const message = `namespace ${target.namespace} is being terminated`;
  throw forbidden(subjectOf(target), because, [
    { reason: "NamespaceTerminating", message, field: "metadata.namespace" },
  ]);
}

/** A uid in the body is a condition. */
function mustBeMeant(body: JsonObject, live: JsonObject | null, target: Target): void {
  const uid = textOf(memberAt(body, "metadata", "uid")) ?? "";
  const found = live === null ? "" : uidOf(live);
  if (uid === "" || uid === found) return;
  const stands = live === null ? "no existing object was found" : `and the existing object has uid ${found}`;
  throw conflict(subjectOf(target), `uid mismatch: the provided object specified uid ${uid}, and ${stands}`);
}

/** Optimistic locking: a version in the body is a condition, where something stands already. */
function mustBeCurrent(body: JsonObject, live: JsonObject | null, target: Target): void {
  const version = textOf(memberAt(body, "metadata", "resourceVersion")) ?? "";
  if (live === null || version === "" || version === memberAt(live, "metadata", "resourceVersion")) return;
  throw conflict(
    subjectOf(target),
    "the object has been modified; please apply your changes to the latest version and try again",
  );
}
