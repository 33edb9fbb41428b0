import jsonPatch, { type Operation } from "fast-json-patch";
import { isObject, type Json, type JsonList, type JsonObject, listAt, sameJson } from "../../../core/model/json.ts";
import { memberShape, type Shape } from "../api/shape.ts";
import { statusError } from "../api/status.ts";

/** RFC 7386: objects merge, null removes, everything else replaces. */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const out: Record<string, Json> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else out[key] = mergePatch(out[key] ?? null, value);
  }
  return out;
}

/** RFC 6902, all or nothing. */
export function operationsPatch(target: JsonObject, patch: Json): Json {
  if (!Array.isArray(patch)) throw statusError("BadRequest", "a JSON patch is a list of operations");
  try {
    const document = structuredClone(target) as object;
    return jsonPatch.applyPatch(document, structuredClone(patch) as unknown as Operation[], true).newDocument as Json;
  } catch {
    throw statusError("Invalid", "the server rejected our request due to an error in our request", {});
  }
}

const directive = "$patch";
const orderPrefix = "$setElementOrder/";
const deletePrefix = "$deleteFromPrimitiveList/";

/** What `kubectl apply` and `edit` send: lists with identities merge by key; new items first, then as they were. */
export function strategicPatch(target: Json, patch: Json, shape: Shape): Json {
  if (!isObject(patch)) return patch;
  if (patch[directive] === "replace") return without(patch, directive);
  const out: Record<string, Json> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (key === directive || key === "$retainKeys" || key.startsWith(orderPrefix)) continue;
    if (key.startsWith(deletePrefix)) {
      const name = key.slice(deletePrefix.length);
      out[name] = listAt(out[name]).filter((it) => !listAt(value).some((gone) => sameJson(gone, it)));
    } else if (value === null) delete out[key];
    else {
      const order = patch[orderPrefix + key];
      const merged = strategicMember(out[key] ?? null, value, memberShape(shape, key), order);
      if (merged === null) delete out[key];
      else out[key] = merged;
    }
  }
  const retained = patch["$retainKeys"];
  if (!Array.isArray(retained)) return out;
  return Object.fromEntries(Object.entries(out).filter(([key]) => retained.includes(key)));
}

function strategicMember(target: Json, patch: Json, shape: Shape, order: Json | undefined): Json {
  if (isObject(patch)) return patch[directive] === "delete" ? null : strategicPatch(target, patch, shape);
  if (!Array.isArray(patch)) return patch;
  if (shape.kind === "set") return [...new Set([...listAt(target), ...(patch as JsonList)])];
  const key = mergeKeyOf(shape);
  return key === null ? (patch as JsonList) : strategicList(listAt(target), patch as JsonList, key, shape, order);
}

/** The one key by which a strategic patch tells items apart, where server-side apply may use two. */
const mergeKeyOf = (shape: Shape): string | null =>
  shape.kind === "keyed" ? (shape.keys.find((it) => it !== "protocol") ?? null) : null;

function strategicList(live: JsonList, patch: JsonList, key: string, shape: Shape, order: Json | undefined): JsonList {
  const idOf = (item: Json): string => JSON.stringify(isObject(item) ? (item[key] ?? null) : item);
  if (patch.some((it) => isObject(it) && it[directive] === "replace" && !Object.hasOwn(it, key))) {
    return patch.filter((it) => !(isObject(it) && Object.hasOwn(it, directive)));
  }
  const item = shape.kind === "keyed" ? shape.item : shape;
  const gone = new Set(patch.filter((it) => isObject(it) && it[directive] === "delete").map(idOf));
  const wanted = patch.filter((it) => !gone.has(idOf(it)));
  const before = new Map(live.map((it) => [idOf(it), it]));
  const merged = new Map(wanted.map((it) => [idOf(it), strategicPatch(before.get(idOf(it)) ?? null, it, item)]));
  const places = new Map(live.map((it, at) => [idOf(it), at]));
  const asked = Array.isArray(order) ? (order as JsonList).map(idOf) : wanted.map(idOf);
  const left = asked.filter((it) => merged.has(it) || (before.has(it) && !gone.has(it)));
  const right = live.map(idOf).filter((it) => !gone.has(it) && !left.includes(it));
  const ids: string[] = [];
  while (left.length > 0 && right.length > 0) {
    const mine = places.get(left[0] as string);
    const theirs = places.get(right[0] as string) ?? 0;
    ids.push((mine === undefined || mine < theirs ? left.shift() : right.shift()) as string);
  }
  return [...ids, ...left, ...right].map((it) => merged.get(it) ?? before.get(it) ?? null);
}

function without(object: JsonObject, key: string): JsonObject {
  const { [key]: _, ...rest } = object;
  return rest;
}
