import {
  canonicalJson,
  digestOfText,
  isObject,
  type Json,
  type JsonObject,
  keysInOrder,
  memberAt,
} from "../model/json.ts";
import type { Manifest } from "../model/manifest.ts";
import type { Digest } from "../model/value.ts";

/**
 * A digest of the live values at the paths that a field manager's apply owns; null when it owns none.
 *
 * Two fingerprints differ exactly when somebody changed, removed or took over one of our fields. What the server adds
 * or rewrites, such as defaults or `1000m` as `1`, is in the first fingerprint already and is no drift
 * (`apply/README.md#c-16`).
 */
export function liveFingerprint(live: Manifest, manager: string): Digest | null {
  const fields = ownedFields(live, manager);
  return fields === null ? null : digestOfText(textAt(fields, live));
}

/** The `fieldsV1` of the manager's apply on the object itself, not on its status or scale; null when there is none. */
function ownedFields(live: Manifest, manager: string): JsonObject | null {
  const entries = memberAt(live, "metadata", "managedFields");
  if (!Array.isArray(entries)) return null;
  const ours = entries.find(
    (it: Json) =>
      memberAt(it, "manager") === manager &&
      memberAt(it, "operation") === "Apply" &&
      (memberAt(it, "subresource") ?? "") === "",
  );
  const fields = memberAt(ours, "fieldsV1");
  return isObject(fields) && Object.keys(fields).length > 0 ? fields : null;
}

/** The owned paths as canonical JSON: owned leaves with their live values, the rest left out. */
function textAt(fields: JsonObject, value: Json | undefined): string {
  const into = stepsInto(value);
  let text = "";
  for (const step of keysInOrder(fields)) {
    const below = fields[step];
    text += `${text === "" ? "" : ","}${JSON.stringify(step)}:`;
    // A dot means that the element itself is owned: its presence, not its contents.
    if (step === ".") text += value !== undefined;
    else if (isObject(below) && Object.keys(below).length > 0) text += textAt(below, into(step));
    else text += leafText(into(step));
  }
  return `{${text}}`;
}

/** Absent and null differ. */
const leafText = (value: Json | undefined): string => (value === undefined ? "[]" : `[${canonicalJson(value)}]`);

/** Path elements of structured-merge-diff: `f:` field, `k:` keyed list item, `v:` set item, `i:` index. */
function stepsInto(value: Json | undefined): (step: string) => Json | undefined {
  if (!Array.isArray(value))
    return (step) => {
      const name = step.slice(2);
      return step.startsWith("f:") && isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    };
  const items = listItems(value as readonly Json[]);
  return (step) => {
    const rest = step.slice(2);
    if (step.startsWith("i:")) return (value as readonly Json[])[Number(rest)];
    const wanted = parsed(rest);
    if (step.startsWith("v:") && wanted !== undefined) return items.equal(wanted);
    return step.startsWith("k:") && isObject(wanted) ? items.keyed(wanted) : undefined;
  };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Finds the first matching item of a list, as field sets of structured-merge-diff name them. */
interface ListItems {
  /** By value, in a set: `v:`. */
  readonly equal: (value: Json) => Json | undefined;
  /** By keys: `k:`. An item may omit a key that has a default, so only the keys that it has must agree. */
  readonly keyed: (wanted: JsonObject) => Json | undefined;
}

/** List keys are at most three, any of which may be missing. Further combinations are ignored. */
const mostShapes = 8;

/** Indexed, since a list may have thousands of items and come from anybody. */
function listItems(items: readonly Json[]): ListItems {
  let values: ReadonlyMap<string, Json> | null = null;
  const byKeys = new Map<string, readonly Shape[]>();
  return {
    equal(value) {
      values ??= firsts(items, canonicalJson);
      return values.get(canonicalJson(value));
    },
    keyed(wanted) {
      const keys = Object.keys(wanted).sort();
      const name = JSON.stringify(keys);
      const shapes = byKeys.get(name) ?? shapesOf(items, keys);
      byKeys.set(name, shapes);
      let first = items.length;
      for (const { present, found } of shapes) first = Math.min(first, found.get(textOf(wanted, present)) ?? first);
      return items[first];
    },
  };
}

/** Items with the same keys present: the index of the first one, by their values. */
interface Shape {
  readonly present: readonly string[];
  readonly found: Map<string, number>;
}

function shapesOf(items: readonly Json[], keys: readonly string[]): readonly Shape[] {
  const shapes = new Map<string, Shape>();
  for (const [at, item] of items.entries()) {
    if (!isObject(item)) continue;
    const present = keys.filter((it) => Object.hasOwn(item, it));
    const name = JSON.stringify(present);
    const shape = shapes.get(name) ?? { present, found: new Map() };
    if (!shapes.has(name) && shapes.size >= mostShapes) continue;
    shapes.set(name, shape);
    const text = textOf(item, present);
    if (!shape.found.has(text)) shape.found.set(text, at);
  }
  return [...shapes.values()];
}

const textOf = (item: JsonObject, keys: readonly string[]): string =>
  keys.map((it) => canonicalJson(item[it] ?? null)).join();

function firsts(items: readonly Json[], textOf: (item: Json) => string): ReadonlyMap<string, Json> {
  const found = new Map<string, Json>();
  for (const item of items) {
    const text = textOf(item);
    if (!found.has(text)) found.set(text, item);
  }
  return found;
}
