import { isObject, type Json, type JsonList, type JsonObject } from "../../../core/model/json.ts";
import type { Kind } from "../api/kinds.ts";
import { canonicalQuantity } from "./quantity.ts";

/** Members that are left out when they are empty, as Go's encoder leaves out empty maps. Empty structs stay: `emptyDir: {}`. */
const emptyMaps = new Set([
  ...["annotations", "binaryData", "data", "labels", "limits", "matchLabels", "nodeSelector", "parameters"],
  ...["requests", "stringData"],
]);

/** Members whose values are quantities. */
const quantityMaps = new Set([
  ...["allocatable", "capacity", "default", "defaultRequest", "hard", "limits", "max", "maxLimitRequestRatio", "min"],
  ...["overhead", "requests"],
]);

const quantities = new Set(["sizeLimit"]);

/** Free-form JSON, in which nothing is tidied. */
const opaque = new Set(["openAPIV3Schema"]);

/**
 * The object as it comes back from a server that decodes into types: without nulls, without empty lists and maps, with
 * canonical quantities. Custom resources have no types; only their metadata is tidied. Gives the same object when it is tidy.
 */
export function normalised(object: JsonObject, kind: Kind): JsonObject {
  if (kind.custom === null) return tidyObject(object, "");
  const metadata = object["metadata"];
  if (!isObject(metadata)) return object;
  const tidied = tidyObject(metadata, "metadata");
  return tidied === metadata ? object : { ...object, metadata: tidied };
}

function tidyObject(value: JsonObject, under: string): JsonObject {
  let out: Record<string, Json> | null = null;
  for (const [key, child] of Object.entries(value)) {
    const tidied = tidy(child, key, under);
    if (tidied === child) continue;
    out ??= { ...value };
    if (tidied === undefined) delete out[key];
    else out[key] = tidied;
  }
  return out ?? value;
}

function tidy(value: Json, key: string, under: string): Json | undefined {
  if (value === null) return undefined;
  if (opaque.has(key) || key === "managedFields") return value;
  if (Array.isArray(value)) return tidyList(value as JsonList, key);
  if (isObject(value)) {
    const tidied = tidyObject(value, key);
    return emptyMaps.has(key) && Object.keys(tidied).length === 0 ? undefined : tidied;
  }
  if (quantityMaps.has(under) || quantities.has(key)) return quantityOf(value);
  return value;
}

function tidyList(value: JsonList, key: string): JsonList | undefined {
  if (value.length === 0) return undefined;
  const tidied = value.map((it) => (isObject(it) ? tidyObject(it, key) : it));
  return tidied.every((it, at) => it === value[at]) ? value : tidied;
}

function quantityOf(value: Json): Json {
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" ? (canonicalQuantity(text) ?? value) : value;
}
