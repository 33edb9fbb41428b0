import { type Json, type JsonObject, memberAt, textOf } from "../../../core/model/json.ts";
import { isDeclared, memberShape, type Shape } from "../api/shape.ts";
import { statusError } from "../api/status.ts";
import {
  type FieldOwner,
  type FieldOwners,
  type FieldWriter,
  fieldOwnersOf,
  ownableFields,
  ownerBy,
  ownerKey,
  removeFromOwners,
  withoutManagedFields,
} from "./field-owners.ts";
import { difference, type FieldSet, fieldsBelow, intersection, isEmpty, nodeOf, pathsOf, union } from "./field-set.ts";
import { compareFields, fieldsOf, mergeValue, removeFields } from "./merge.ts";

/** An object and who owns what of it, kept apart until it is stored. */
export interface ManagedObject {
  readonly object: JsonObject;
  readonly owners: FieldOwners;
}

/**
 * Server-side apply (KEP-555): lays `patch` over `live`, drops what its applier no longer names and nobody else owns, and
 * says who owns what. A field that another owner has with another value is a conflict, refused unless `force`.
 *
 * `live` is the stored object, or the empty one of its kind. Defaults are the caller's to fill in afterwards: nobody owns them.
 */
export function applyConfiguration(
  live: JsonObject,
  patch: JsonObject,
  shape: Shape,
  by: FieldWriter & { readonly force: boolean },
): ManagedObject {
  const before = withoutManagedFields(live);
  const owners = knownOwners(live, before, shape, by);
  const applier = ownerBy(by, "Apply");
  const key = ownerKey(applier);
  const last = owners.get(key);
  const fields = fieldsOf(patch, shape);
  owners.set(key, { ...applier, time: last?.time ?? null, fields });
  const merged = mergeValue(before, patch, shape) as JsonObject;
  const object = last === undefined ? merged : prune(merged, last.fields, owners, shape);
  // Nobody else is there to be asked or disowned when an object is new.
  if (object !== before && owners.size > 1) resolveConflicts(owners, before, object, shape, { key, force: by.force });
  const kept = ownableFields(fields);
  if (isEmpty(kept)) owners.delete(key);
  else owners.set(key, { ...applier, time: object === before ? (last?.time ?? null) : by.time, fields: kept });
  return { object, owners };
}

/** Objects stored without owners: whatever stands in them was there before the first apply. */
function knownOwners(live: JsonObject, before: JsonObject, shape: Shape, by: FieldWriter): FieldOwners {
  const owners = fieldOwnersOf(live);
  if (owners.size > 0 || textOf(memberAt(live, "metadata", "uid")) === null) return owners;
  const fields = ownableFields(compareFields({}, before, shape).added);
  const manager = "before-first-apply";
  const owner: FieldOwner = { ...ownerBy({ ...by, manager, subresource: null }, "Update"), time: by.time, fields };
  if (!isEmpty(fields)) owners.set(ownerKey(owner), owner);
  return owners;
}

/** Removes what the applier named last time, not now, and nobody else claims. */
function prune(merged: JsonObject, last: FieldSet, owners: FieldOwners, shape: Shape): JsonObject {
  const claimed = [...owners.values()].map((it) => it.fields).reduce(union, {});
  if (isEmpty(difference(last, claimed))) return merged;
  const lastNamed = named(last, shape);
  const pruned = removeFields(merged, lastNamed, shape) ?? {};
  const all = named(fieldsOf(merged, shape), shape);
  const left = named(fieldsOf(pruned, shape), shape);
  const backed = removeFields(merged, difference(all, union(left, named(claimed, shape))), shape) ?? {};
  const gone = difference(all, named(fieldsOf(backed, shape), shape));
  return removeFields(merged, intersection(gone, lastNamed), shape) as JsonObject;
}

/** The set with every declared field on the way to a member as a member too, so that an emptied object goes as well. */
function named(fields: FieldSet, shape: Shape): FieldSet {
  const out: Record<string, FieldSet> = {};
  for (const [element, node] of Object.entries(fields)) {
    if (element === ".") continue;
    const key = element.slice(2);
    const field = element.startsWith("f:");
    const below = shape.kind === "keyed" ? shape.item : shape;
    const deeper = named(fieldsBelow(fields, element), field ? memberShape(shape, key) : below);
    const member = isEmpty(node) || node["."] !== undefined || (field && isDeclared(shape, key));
    out[element] = nodeOf(member, deeper) ?? {};
  }
  return out;
}

/** Takes from the other owners what this write changed under them, or refuses. */
function resolveConflicts(
  owners: FieldOwners,
  before: JsonObject,
  after: JsonObject,
  shape: Shape,
  { key, force }: { readonly key: string; readonly force: boolean },
): void {
  const { added, modified, removed } = compareFields(before, after, shape);
  const changed = union(modified, added);
  const conflicts = [...owners]
    .filter(([it]) => it !== key)
    .map(([, owner]) => ({ owner, fields: intersection(owner.fields, changed) }))
    .filter((it) => !isEmpty(it.fields));
  if (!force && conflicts.length > 0) throw conflictOf(conflicts);
  removeFromOwners(owners, union(changed, removed), key);
}

interface Conflict {
  readonly owner: FieldOwner;
  readonly fields: FieldSet;
}

function conflictOf(conflicts: readonly Conflict[]): Error {
  const all = conflicts.flatMap(({ owner, fields }) =>
    pathsOf(fields).map((path) => ({ who: ownerText(owner), path })),
  );
  const causes = all.map(({ who, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${who}`,
    field: path,
  }));
  return statusError("Conflict", conflictText(all), { causes: causes as unknown as Json });
}

function conflictText(all: readonly { readonly who: string; readonly path: string }[]): string {
  const [first] = all;
  if (all.length === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${first.who}: ${first.path}`;
  }
  const lines = [...new Set(all.map((it) => it.who))].flatMap((who) => [
    `conflicts with ${who}:`,
    ...all.filter((it) => it.who === who).map((it) => `- ${it.path}`),
  ]);
  return `Apply failed with ${all.length} conflicts: ${lines.join("\n")}`;
}

function ownerText({ manager, operation, apiVersion, subresource }: FieldOwner): string {
  const text =
    subresource === null ? JSON.stringify(manager) : `${JSON.stringify(manager)} with subresource "${subresource}"`;
  return operation === "Update" ? `${text} using ${apiVersion}` : text;
}

/**
 * What a create, replace or patch means for the owners: who changed a field owns it, whoever had it before.
 *
 * `live` is the stored object, or the zero value of its kind for a create. `next` may carry `managedFields` of its own, which
 * then count, an empty list forgetting them all; objects that never had owners get none by an update.
 */
export function updateOwners(live: JsonObject, next: JsonObject, shape: Shape, by: FieldWriter): ManagedObject {
  const object = withoutManagedFields(next);
  const stored = textOf(memberAt(live, "metadata", "uid")) !== null;
  const told = by.subresource === null ? memberAt(next, "metadata", "managedFields") : null;
  if (Array.isArray(told) && told.length === 0 && stored) return { object, owners: new Map() };
  const written = by.subresource === null ? fieldOwnersOf(next) : new Map<string, FieldOwner>();
  const owners = written.size > 0 ? written : fieldOwnersOf(live);
  if (owners.size === 0 && stored) return { object, owners };
  const { added, modified, removed } = compareFields(withoutManagedFields(live), object, shape);
  const changed = union(modified, added);
  removeFromOwners(owners, union(changed, removed), null);
  const updater = ownerBy(by, "Update");
  const key = ownerKey(updater);
  const gained = ownableFields(changed);
  if (isEmpty(gained)) return { object, owners };
  owners.set(key, { ...updater, time: by.time, fields: union(gained, owners.get(key)?.fields ?? {}) });
  return { object, owners };
}
