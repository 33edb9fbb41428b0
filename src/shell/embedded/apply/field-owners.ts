import {
  isObject,
  type Json,
  type JsonList,
  type JsonObject,
  listAt,
  member,
  sameJson,
  textOf,
} from "../../../core/model/json.ts";
import { difference, type FieldSet, internedFieldSet, isEmpty } from "./field-set.ts";

/** Who owns fields of an object: one entry of `metadata.managedFields`. */
export interface FieldOwner {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string | null;
  /** RFC 3339; null for an applier that has not changed anything yet. */
  readonly time: string | null;
  readonly fields: FieldSet;
}

/** The owners of one object by identity: appliers by name, updaters by name and version, both by subresource. */
export type FieldOwners = Map<string, FieldOwner>;

export interface FieldWriter {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource: string | null;
  /** RFC 3339. */
  readonly time: string;
}

/** A writer as an owner, of nothing yet. */
export const ownerBy = (
  { manager, apiVersion, subresource }: Omit<FieldWriter, "time">,
  operation: FieldOwner["operation"],
) => ({
  manager,
  operation,
  apiVersion,
  subresource,
});

/** What makes two entries the same owner. */
export const ownerKey = ({
  manager,
  operation,
  apiVersion,
  subresource,
}: Omit<FieldOwner, "time" | "fields">): string =>
  `${operation}\n${operation === "Apply" ? "" : apiVersion}\n${subresource ?? ""}\n${manager}`;

/** The owners an object records. Entries that are not Kubernetes' own form make all of them unknown. */
export function fieldOwnersOf(object: JsonObject): FieldOwners {
  const owners: FieldOwners = new Map();
  for (const entry of listAt(object, "metadata", "managedFields")) {
    const owner = ownerOf(entry);
    if (owner === null) return new Map();
    owners.set(ownerKey(owner), owner);
  }
  return owners;
}

function ownerOf(entry: Json): FieldOwner | null {
  const operation = member(entry, "operation");
  const fields = member(entry, "fieldsV1") ?? {};
  const apiVersion = textOf(member(entry, "apiVersion"));
  if ((operation !== "Apply" && operation !== "Update") || !isObject(fields) || apiVersion === null) return null;
  return {
    manager: textOf(member(entry, "manager")) ?? "",
    operation,
    apiVersion,
    subresource: textOf(member(entry, "subresource")),
    time: textOf(member(entry, "time")),
    fields: fields as unknown as FieldSet,
  };
}

/** `managedFields` as an API server lists it: appliers first, then by time, then by name. */
function managedFieldsOf(owners: FieldOwners): JsonList {
  const all = [...owners.values()];
  return (all.length > 1 ? all.sort(byOperationTimeAndName) : all).map((it) => ({
    manager: it.manager,
    operation: it.operation,
    apiVersion: it.apiVersion,
    ...(it.time === null ? {} : { time: it.time }),
    fieldsType: "FieldsV1",
    fieldsV1: internedFieldSet(it.fields) as unknown as JsonObject,
    ...(it.subresource === null ? {} : { subresource: it.subresource }),
  }));
}

function byOperationTimeAndName(a: FieldOwner, b: FieldOwner): number {
  const left = [a.operation, a.time ?? "", a.manager, a.apiVersion, a.subresource ?? ""];
  const right = [b.operation, b.time ?? "", b.manager, b.apiVersion, b.subresource ?? ""];
  for (const [at, text] of left.entries()) {
    const other = right[at] as string;
    if (text !== other) return text < other ? -1 : 1;
  }
  return 0;
}

/** Whether two owner lists say the same about ownership, whatever they say about time. */
export function sameOwners(a: FieldOwners, b: FieldOwners): boolean {
  if (a.size !== b.size) return false;
  for (const [key, owner] of a) {
    const other = b.get(key);
    if (other === undefined || other.apiVersion !== owner.apiVersion) return false;
    if (owner.fields !== other.fields && !sameFields(owner.fields, other.fields)) return false;
  }
  return true;
}

const sameFields = (a: FieldSet, b: FieldSet): boolean => sameJson(a as unknown as Json, b as unknown as Json);

/** What identifies an object or is the server's own is never anybody's field. */
const unowned: FieldSet = {
  "f:apiVersion": {},
  "f:kind": {},
  "f:metadata": {
    ".": {},
    "f:name": {},
    "f:namespace": {},
    "f:creationTimestamp": {},
    "f:selfLink": {},
    "f:uid": {},
    "f:generation": {},
    "f:managedFields": {},
    "f:resourceVersion": {},
    "f:deletionTimestamp": {},
    "f:deletionGracePeriodSeconds": {},
  },
};

/** The fields of a set that somebody can own. */
export const ownableFields = (fields: FieldSet): FieldSet => difference(fields, unowned);

/** Takes fields from every owner but one; who is left with none is no owner any more. */
export function removeFromOwners(owners: FieldOwners, fields: FieldSet, except: string | null): void {
  if (isEmpty(fields)) return;
  for (const [key, owner] of owners) {
    if (key === except) continue;
    const rest = difference(owner.fields, fields);
    if (isEmpty(rest)) owners.delete(key);
    else owners.set(key, { ...owner, fields: rest });
  }
}

/** An object without its `managedFields`: they are not part of what is merged and compared. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = object["metadata"];
  if (!isObject(metadata) || !Object.hasOwn(metadata, "managedFields")) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** An object with these owners written into it. */
export function withManagedFields(object: JsonObject, owners: FieldOwners): JsonObject {
  const metadata = object["metadata"];
  const managedFields = owners.size === 0 ? {} : { managedFields: managedFieldsOf(owners) };
  return { ...object, metadata: { ...(isObject(metadata) ? metadata : {}), ...managedFields } };
}
