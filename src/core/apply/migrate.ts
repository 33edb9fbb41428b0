import { isObject, type Json, type JsonObject, listAt, memberAt } from "../model/json.ts";
import type { Manifest } from "../model/manifest.ts";

/**
 * The JSON patch that transfers fields written by client-side apply to our apply; null when there are none.
 *
 * A field with two managers stays when one of them drops it. kubectl and KubeFleet's agent, which wrote the object
 * before us, will never drop theirs, so what leaves the manifest would stay on the member (`apply/README.md#c-15`).
 * Their fields are merged into ours, as Kubernetes' own `csaupgrade` does it. `before-first-apply` stands for fields of
 * unknown origin, which we must not remove, so that entry is only dropped.
 *
 * The patch contains the resourceVersion that was read, and applies to no other.
 */
export function migration(live: Manifest, manager: string): readonly JsonObject[] | null {
  const entries = listAt(live, "metadata", "managedFields").filter(isObject);
  const joined = entries.filter((it) => isClientSide(it));
  const dropped = entries.filter((it) => it["manager"] === unknownOrigin);
  if (joined.length + dropped.length === 0) return null;
  const kept = entries.filter((it) => !joined.includes(it) && !dropped.includes(it) && !isOurs(it, manager));
  const ours = [...entries.filter((it) => isOurs(it, manager)), ...joined];
  const after = ours.length === 0 ? kept : [...kept, joinedEntry(ours, manager)];
  return [
    { op: "replace", path: "/metadata/resourceVersion", value: memberAt(live, "metadata", "resourceVersion") ?? "" },
    { op: "replace", path: "/metadata/managedFields", value: after.length === 0 ? [{}] : after },
  ];
}

const unknownOrigin = "before-first-apply";

/** Entries of kubectl's client-side apply, and all of KubeFleet's agent, however it applied. */
const isClientSide = (entry: JsonObject): boolean =>
  isWhole(entry) &&
  ((entry["manager"] === "kubectl-client-side-apply" && entry["operation"] === "Update") ||
    entry["manager"] === "work-api-agent");

const isOurs = (entry: JsonObject, manager: string): boolean =>
  isWhole(entry) && entry["manager"] === manager && entry["operation"] === "Apply";

/** Not of a subresource such as status or scale. */
const isWhole = (entry: JsonObject): boolean => (entry["subresource"] ?? "") === "";

function joinedEntry(entries: readonly JsonObject[], manager: string): JsonObject {
  const fields = entries.map((it) => it["fieldsV1"] ?? {}).reduce<Json>(joinedFields, {});
  return { ...entries[0], manager, operation: "Apply", fieldsType: "FieldsV1", fieldsV1: fields };
}

/** The union of two trees of owned paths. */
function joinedFields(a: Json, b: Json): Json {
  if (!isObject(a) || !isObject(b)) return isObject(a) ? a : b;
  const both = new Map<string, Json>(Object.entries(a));
  for (const [step, below] of Object.entries(b)) {
    const there = both.get(step);
    both.set(step, there === undefined ? below : joinedFields(there, below));
  }
  return Object.fromEntries(both);
}
