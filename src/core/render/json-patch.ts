import jsonPatch from "fast-json-patch";
import { isObject, type Json } from "../model/json.ts";
import type { Manifest } from "../model/manifest.ts";
import type { PatchOperation } from "../model/override.ts";

/** The patched document, or which operation failed (from 0) and why. Reasons hold paths, never values. */
type Patched =
  | { readonly kind: "patched"; readonly document: Manifest }
  | { readonly kind: "failed"; readonly operation: number; readonly reason: string };

/**
 * Applies JSON Patch operations to a copy of `document`: all of them or none (RFC 6902;
 * `render/README.md#how-an-override-acts`, `#o-09`, `#o-14`, `#o-15`).
 *
 * The path is resolved here first, because the library takes leading zeros and inherited members, and because its own
 * errors quote the whole document: a Secret must not end in a message.
 */
export function applyOperations(document: Manifest, operations: readonly PatchOperation[]): Patched {
  let here: Manifest = structuredClone(document);
  for (const [operation, { op, path, value }] of operations.entries()) {
    const place = locate(here, op, path);
    if (place.kind === "nowhere") return { kind: "failed", operation, reason: place.reason };
    // The library would share the value with the document; a later operation must not reach into the override.
    const step = op === "remove" ? { op, path: place.path } : { op, path: place.path, value: structuredClone(value) };
    try {
      here = jsonPatch.applyOperation(here, step, true, true, true).newDocument;
    } catch {
      return { kind: "failed", operation, reason: "the operation cannot be carried out on this document" };
    }
  }
  return { kind: "patched", document: here };
}

type Place = { readonly kind: "place"; readonly path: string } | Nowhere;

interface Nowhere {
  readonly kind: "nowhere";
  readonly reason: string;
}

/** Where an operation acts, its path with real indices instead of negative ones; or why there is no such place. */
function locate(document: Json, op: PatchOperation["op"], path: string): Place {
  const segments = segmentsOf(path);
  if (segments === null) return nowhere("the path is no JSON pointer to a part of the object");
  let here: Json = document;
  let resolved = "";
  for (const [at, segment] of segments.entries()) {
    const last = at === segments.length - 1;
    const step = last && op === "add" ? placeFor(here, segment, resolved) : existing(here, segment, resolved);
    if (step.kind === "nowhere") return step;
    if (!last) here = (here as Record<string, Json>)[step.key] as Json;
    resolved += `/${step.key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  }
  return { kind: "place", path: resolved };
}

/** RFC 6901, without the empty pointer and empty segments: neither is something an override may touch. */
function segmentsOf(path: string): readonly string[] | null {
  const raw = path.split("/").slice(1);
  const sound = path.startsWith("/") && raw.every((it) => it !== "" && !/~(?![01])/.test(it));
  return sound ? raw.map((it) => it.replaceAll("~1", "/").replaceAll("~0", "~")) : null;
}

type Step = { readonly kind: "step"; readonly key: string } | Nowhere;

function existing(parent: Json, segment: string, path: string): Step {
  if (Array.isArray(parent)) return element(segment, path, parent.length, parent.length - 1);
  if (!isObject(parent)) return noContainer(path);
  return Object.hasOwn(parent, segment) ? step(segment) : nowhere(`${path}/${segment} does not exist`);
}

/** The place of a member or element to come. `-` and the index after the last one append. */
function placeFor(parent: Json, segment: string, path: string): Step {
  if (Array.isArray(parent)) {
    if (segment === "-") return step(String(parent.length));
    return element(segment, path, parent.length + 1, parent.length);
  }
  return isObject(parent) ? step(segment) : noContainer(path);
}

/** As in KubeFleet's library, negative indices count from the end of `places`; leading zeros are none (RFC 6901 §4). */
function element(segment: string, path: string, places: number, highest: number): Step {
  if (!/^(?:0|-?[1-9]\d*)$/.test(segment)) return nowhere(`${segment} is no index of the list ${path}`);
  const index = Number(segment) < 0 ? places + Number(segment) : Number(segment);
  if (index < 0 || index > highest) return nowhere(`index ${segment} is outside of the list ${path}`);
  return step(String(index));
}

const step = (key: string): Step => ({ kind: "step", key });
const nowhere = (reason: string): Nowhere => ({ kind: "nowhere", reason });
const noContainer = (path: string): Nowhere => nowhere(`${path} is neither an object nor a list`);
