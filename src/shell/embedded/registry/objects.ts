import { type Json, type JsonObject, memberAt, sameJson, textOf } from "../../../core/model/json.ts";
import { apiVersionOf } from "../../../core/model/manifest.ts";
import {
  admit,
  patchWithinSubresource,
  prepareForStorage,
  withinSubresource,
  zeroValueOf,
} from "../admission/admission.ts";
import { validateObject } from "../admission/validate.ts";
import { pruneAndDefault } from "../api/custom-resources.ts";
import type { ServedKind } from "../api/kinds.ts";
import { alreadyExists, invalid, notFound, StatusError, statusError } from "../api/status.ts";
import { cacheCreation, cachedCreation } from "../apply/creation-cache.ts";
import {
  type FieldWriter,
  fieldOwnersOf,
  sameOwners,
  withManagedFields,
  withoutManagedFields,
} from "../apply/field-owners.ts";
import { mergePatch, operationsPatch, strategicPatch } from "../apply/patch.ts";
import { applyConfiguration, type ManagedObject, updateOwners } from "../apply/server-side-apply.ts";
import type { Cluster } from "../storage/cluster.ts";
import { objectName } from "../storage/store.ts";
import {
  decodeBody,
  type RequestTarget,
  referenceTo,
  requireNamespace,
  requireSameUid,
  requireSameVersion,
  withGeneratedName,
} from "./preconditions.ts";

/** What a writer says besides the object. */
export interface WriteOptions {
  readonly manager: string;
  readonly force: boolean;
  readonly dryRun: boolean;
  /** `fieldValidation=Strict`: unknown fields of custom resources are refused. */
  readonly strict: boolean;
}

/** The object after a write; 201 when it is new. */
export interface WriteOutcome {
  readonly code: 200 | 201;
  readonly object: JsonObject;
}

/** The three patches that are older than apply: RFC 7386, RFC 6902, and Kubernetes' own. */
export type PatchType = "merge" | "operations" | "strategic";

/** The stored object, in the version that was asked for. */
export function read(cluster: Cluster, target: RequestTarget): JsonObject {
  const stored = cluster.store.get(target.kind, target.namespace, target.name);
  if (stored === null) throw notFound(referenceTo(target));
  return inVersion(stored, target.kind);
}

/** Versions of a kind differ in their name alone: contents are not converted. */
export function inVersion(object: JsonObject, kind: ServedKind): JsonObject {
  const apiVersion = apiVersionOf(kind);
  return object["apiVersion"] === apiVersion ? object : { ...object, apiVersion };
}

/** Creates an object. Its author owns every field of it, defaults included. */
export function create(cluster: Cluster, target: RequestTarget, body: Json, options: WriteOptions): WriteOutcome {
  const version = textOf(memberAt(body, "metadata", "resourceVersion")) ?? "";
  if (version !== "" && version !== "0")
    throw new StatusError(500, "", "resourceVersion should not be set on objects to be created");
  const making = { operation: "Update", body, ...target, name: "", strict: options.strict } as const;
  const known = cachedCreation(making, writerOf(cluster, target, options));
  const decoded = known === null ? withGeneratedName(cluster, decodeBody(body, { ...target, name: "" })) : known.object;
  const at = { ...target, name: objectName(decoded) };
  requireNamespace(cluster, at);
  if (at.name !== "" && cluster.store.get(at.kind, at.namespace, at.name) !== null)
    throw alreadyExists(referenceTo(at));
  if (known !== null) return add(cluster, at, known, options);
  const next = admit(withinSubresource(decoded, null, at.kind, null), at.kind, options.strict);
  // Nobody who creates an object owns its status.
  const zero =
    next["status"] === undefined ? zeroValueOf(at.kind) : { ...zeroValueOf(at.kind), status: next["status"] };
  const made = updateOwners(zero, next, at.kind.shape, writerOf(cluster, at, options));
  const outcome = finish(cluster, at, null, made, options);
  cacheCreation(making, made);
  return outcome;
}

/** Replaces an object, or only its status. A resourceVersion in the body is a condition. */
export function replace(cluster: Cluster, target: RequestTarget, body: Json, options: WriteOptions): WriteOutcome {
  const next = decodeBody(body, target);
  const live = read(cluster, target);
  const version = textOf(memberAt(next, "metadata", "resourceVersion"));
  if (version === null && isUnconditional(target.kind)) {
    const message = "Invalid value: 0: must be specified for an update";
    throw invalid(referenceTo(target), [{ reason: "FieldValueInvalid", message, field: "metadata.resourceVersion" }]);
  }
  return rewrite(cluster, target, live, next, options);
}

/** Kinds that are never replaced without saying which version is meant. */
const isUnconditional = (kind: ServedKind): boolean =>
  kind.custom !== null || ["CustomResourceDefinition", "Lease"].includes(kind.kind);

/** Patches an object: {@link replace} with what the patch makes of it. */
export function patch(
  cluster: Cluster,
  target: RequestTarget,
  body: Json,
  options: WriteOptions & { readonly type: PatchType },
): WriteOutcome {
  const live = read(cluster, target);
  const patched = patchedBy(options.type, live, body, target.kind);
  return rewrite(cluster, target, live, decodeBody(patched, target), options);
}

function patchedBy(type: PatchType, live: JsonObject, body: Json, kind: ServedKind): Json {
  switch (type) {
    case "merge":
      return mergePatch(live, body);
    case "operations":
      return operationsPatch(live, body);
    case "strategic":
      return strategicPatch(live, body, kind.shape);
  }
}

function rewrite(
  cluster: Cluster,
  target: RequestTarget,
  live: JsonObject,
  next: JsonObject,
  options: WriteOptions,
): WriteOutcome {
  requireSameUid(next, live, target);
  requireSameVersion(next, live, target);
  const fitted = admit(withinSubresource(next, live, target.kind, target.subresource), target.kind, options.strict);
  const kept = withAllocated(fitted, live, target);
  return finish(
    cluster,
    target,
    live,
    updateOwners(live, kept, target.kind.shape, writerOf(cluster, target, options)),
    options,
  );
}

/** An update that leaves out what a service was given does not give it back. */
function withAllocated(next: JsonObject, live: JsonObject, { kind }: RequestTarget): JsonObject {
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
export function apply(cluster: Cluster, target: RequestTarget, body: Json, options: WriteOptions): WriteOutcome {
  const { kind, namespace, name, subresource } = target;
  const live = cluster.store.get(kind, namespace, name);
  const isNew = live === null && subresource === null;
  const making = { operation: "Apply", body, ...target, strict: options.strict } as const;
  const known = isNew ? cachedCreation(making, writerOf(cluster, target, options)) : null;
  if (known !== null) {
    requireNamespace(cluster, target);
    return add(cluster, target, known, options);
  }
  const laid = appliedTo(cluster, target, body, options);
  const outcome = finish(cluster, target, live, laid, options);
  if (isNew) cacheCreation(making, laid);
  return outcome;
}

/** A configuration laid over what is stored, shaped as its kind is. */
function appliedTo(cluster: Cluster, target: RequestTarget, body: Json, options: WriteOptions): ManagedObject {
  const config = decodeBody(body, target);
  const { kind, subresource } = target;
  const live = cluster.store.get(kind, target.namespace, target.name);
  if (memberAt(config, "metadata", "managedFields") !== null)
    throw statusError("BadRequest", "metadata.managedFields must be nil");
  if (live === null && subresource !== null) throw notFound(referenceTo(target));
  if (live === null) requireNamespace(cluster, target);
  requireSameUid(config, live, target);
  const writer = { ...writerOf(cluster, target, options), force: options.force };
  const patch = withoutServerMetadata(patchWithinSubresource(config, kind, subresource));
  const { object, owners } = applyWithContext(inVersion(live ?? {}, kind), patch, target, writer);
  // Who conflicts with other owners hears of that first.
  requireSameVersion(config, live, target);
  return { object: admit(object, kind, options.strict), owners };
}

function applyWithContext(
  live: JsonObject,
  config: JsonObject,
  { kind, namespace, name }: RequestTarget,
  writer: FieldWriter & { force: boolean },
): ManagedObject {
  try {
    return applyConfiguration(live, requireDeclared(config, kind), kind.shape, writer);
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 500) throw error;
    const which = `${namespace === null ? "" : `${namespace}/`}${name}; ${apiVersionOf(kind)}, Kind=${kind.kind}`;
    throw new StatusError(500, "", `failed to create typed patch object (${which}): ${error.message}`);
  }
}

/** Refuses a configuration with fields that a custom resource's schema does not declare: nobody could own them. */
function requireDeclared(config: JsonObject, kind: ServedKind): JsonObject {
  const unknown = kind.custom === null ? [] : pruneAndDefault(config, kind.custom.schema).unknown;
  if (unknown.length > 0)
    throw new StatusError(500, "", unknown.map((it) => `.${it}: field not declared in schema`).join("\n"));
  return config;
}

/** A configuration says nothing about what only the server says. */
function withoutServerMetadata(config: JsonObject): JsonObject {
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
function finish(
  cluster: Cluster,
  { kind }: RequestTarget,
  live: JsonObject | null,
  { object, owners }: ManagedObject,
  { dryRun }: { readonly dryRun: boolean },
): WriteOutcome {
  const ready = prepareForStorage(cluster, object, live, kind);
  validateObject(ready, live, kind);
  const code = live === null ? 201 : 200;
  if (
    live !== null &&
    sameJson(withoutManagedFields(inVersion(live, kind)), ready) &&
    sameOwners(fieldOwnersOf(live), owners)
  )
    return { code, object: live };
  const result = withManagedFields(ready, owners);
  return { code, object: dryRun ? result : storeOrDelete(cluster, kind, result) };
}

/** Stores a new object that is known to be valid. */
function add(
  cluster: Cluster,
  { kind }: RequestTarget,
  { object, owners }: ManagedObject,
  { dryRun }: WriteOptions,
): WriteOutcome {
  const result = withManagedFields(prepareForStorage(cluster, object, null, kind), owners);
  return { code: 201, object: dryRun ? result : cluster.store.put(kind, result) };
}

/** Stores an object, or lets it go if it was only waiting for its last finalizer; gives it as it was last. */
export function storeOrDelete(cluster: Cluster, kind: ServedKind, object: JsonObject): JsonObject {
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
  { kind, subresource }: RequestTarget,
  { manager }: { readonly manager: string },
): FieldWriter => ({
  manager: manager === "" ? "unknown" : manager,
  apiVersion: apiVersionOf(kind),
  subresource,
  time: cluster.time(),
});
