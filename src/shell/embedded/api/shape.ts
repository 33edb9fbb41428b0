import { isObject, type Json, type JsonObject } from "../../../core/model/json.ts";
import { StatusError } from "./status.ts";

/**
 * How a value merges and who can own which part of it, as server-side apply asks (KEP-555). `plain` is the rule:
 * objects field by field, everything else as one; the others are what departs from it.
 */
export type Shape =
  | { readonly kind: "plain" }
  /** An object with fields of its own shapes; others have the shape `rest`, or do not exist where that is null. */
  | { readonly kind: "struct"; readonly members: Readonly<Record<string, Shape>>; readonly rest: Shape | null }
  /** An object whose keys are data. */
  | { readonly kind: "map"; readonly value: Shape }
  /** Undeclared content: objects whose keys are data, all the way down. */
  | { readonly kind: "free" }
  /** Owned and replaced as a whole. */
  | { readonly kind: "atomic" }
  /** A list of scalars, each owned by itself. */
  | { readonly kind: "set" }
  /** A list of objects, told apart by some of their fields. Keys are sorted; a key that is absent has its default. */
  | { readonly kind: "keyed"; readonly keys: readonly string[]; readonly defaults: JsonObject; readonly item: Shape };

export const plain: Shape = { kind: "plain" };
export const atomic: Shape = { kind: "atomic" };
export const set: Shape = { kind: "set" };

export const free: Shape = { kind: "free" };

/** An object in which some members depart from the rule. */
export const struct = (members: Readonly<Record<string, Shape>>, rest: Shape | null = plain): Shape => ({
  kind: "struct",
  members,
  rest,
});

/** A list whose items are told apart by keys. */
export const keyed = (keys: readonly string[], item: Shape = plain, defaults: JsonObject = {}): Shape => ({
  kind: "keyed",
  keys: [...keys].sort(),
  item,
  defaults,
});

export function memberShape(shape: Shape, key: string): Shape {
  if (shape.kind === "struct") return (Object.hasOwn(shape.members, key) ? shape.members[key] : shape.rest) ?? plain;
  if (shape.kind === "map") return shape.value;
  return shape.kind === "free" ? free : plain;
}

/** Whether a member is a declared field and not a key of data: only a field may vanish with the last thing in it. */
export const isDeclared = (shape: Shape, key: string): boolean =>
  shape.kind === "plain" || (shape.kind === "struct" && (shape.rest === plain || Object.hasOwn(shape.members, key)));

/** Whether a value is owned as a whole under this shape. */
export function isLeaf(value: Json, shape: Shape): boolean {
  if (shape.kind === "atomic") return true;
  if (Array.isArray(value)) return shape.kind !== "keyed" && shape.kind !== "set";
  return !isObject(value);
}

/** The element under which an item of a list is owned: `k:{"name":"web"}`, `v:"a"`. An item without its keys is refused. */
export function elementOf(item: Json, shape: Shape): string {
  if (shape.kind !== "keyed") return `v:${JSON.stringify(item)}`;
  if (!isObject(item)) throw new StatusError(500, "", "associative list with keys may not have non-map elements");
  const keys: Record<string, Json> = {};
  for (const key of shape.keys) {
    const value = item[key] ?? shape.defaults[key];
    if (value !== undefined) keys[key] = value;
  }
  if (Object.keys(keys).length === 0) {
    throw new StatusError(500, "", "associative list with keys has an element that omits all key fields");
  }
  return `k:${JSON.stringify(keys)}`;
}
