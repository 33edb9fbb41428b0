import { isObject, type Json, type JsonObject, memberAt, textOf } from "../../../core/model/json.ts";
import type { ServedKind } from "../api/kinds.ts";
import { type FieldOwner, type FieldWriter, ownerBy, ownerKey } from "./field-owners.ts";
import { type FieldSet, internedFieldSet } from "./field-set.ts";
import type { ManagedObject } from "./server-side-apply.ts";

interface Creation {
  readonly operation: FieldOwner["operation"];
  readonly body: Json;
  readonly kind: ServedKind;
  readonly namespace: string | null;
  /** Empty: as the body says. */
  readonly name: string;
  readonly strict: boolean;
}

/** The cached result for a body, without what namespace and cluster add. */
interface CachedCreation {
  readonly kind: ServedKind;
  readonly strict: boolean;
  readonly object: JsonObject;
  /** What its author owns; null when that is nothing. */
  readonly fields: FieldSet | null;
}

const creations: Readonly<Record<FieldOwner["operation"], WeakMap<JsonObject, CachedCreation>>> = {
  Apply: new WeakMap(),
  Update: new WeakMap(),
};

/**
 * The cached result for the same body, kind and author, from any cluster; null when there is none. It was found valid,
 * and objects made from one body share what that says.
 */
export function cachedCreation(
  { operation, body, kind, namespace, name, strict }: Creation,
  writer: FieldWriter,
): ManagedObject | null {
  const known = isObject(body) ? creations[operation].get(body) : undefined;
  if (known === undefined || known.kind !== kind || known.strict !== strict) return null;
  const metadata = known.object["metadata"] as JsonObject;
  const named = metadata["namespace"] ?? null;
  if ((named !== null && named !== namespace) || (name !== "" && name !== metadata["name"])) return null;
  const { object, fields } = known;
  const author = ownerBy(writer, operation);
  return {
    object: named === namespace ? object : { ...object, metadata: { ...metadata, namespace } },
    owners: fields === null ? new Map() : new Map([[ownerKey(author), { ...author, time: writer.time, fields }]]),
  };
}

/** Caches the result for a valid body, as long as the body is referenced. A body without a name is not cached. */
export function cacheCreation({ operation, body, kind, strict }: Creation, { object, owners }: ManagedObject): void {
  if (!isObject(body) || owners.size > 1 || (textOf(memberAt(body, "metadata", "name")) ?? "") === "") return;
  const [author] = owners.values();
  const isPlaced = (textOf(memberAt(body, "metadata", "namespace")) ?? "") !== "";
  const { namespace: _, ...elsewhere } = object["metadata"] as JsonObject;
  creations[operation].set(body, {
    kind,
    strict,
    object: isPlaced ? object : { ...object, metadata: elsewhere },
    fields: author === undefined ? null : internedFieldSet(author.fields),
  });
}
