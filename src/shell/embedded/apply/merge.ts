import { isObject, type Json, type JsonList, type JsonObject, listAt, sameJson } from "../../../core/model/json.ts";
import { elementOf, isDeclared, isLeaf, memberShape, type Shape } from "../api/shape.ts";
import { StatusError } from "../api/status.ts";
import { type FieldSet, fieldsBelow, hasField, isEmpty, leafField, nodeOf } from "./field-set.ts";

// The algebra of server-side apply (structured-merge-diff). What a merge leaves alone stays the very same object.

/** What `live` becomes when `patch` is laid over it. Gives `live` itself when the patch says nothing new. */
export function mergeValue(live: Json, patch: Json, shape: Shape): Json {
  if (live === patch) return live;
  if (isObject(live) && (isObject(patch) || patch === null) && shape.kind !== "atomic") {
    return patch === null ? live : mergeObjects(live, patch, shape);
  }
  if (Array.isArray(live) && live.length > 0 && (shape.kind === "keyed" || shape.kind === "set")) {
    if (patch === null) return live;
    if (Array.isArray(patch)) return mergeLists(live, patch, shape);
  }
  return sameJson(live, patch) ? live : patch;
}

function mergeObjects(live: JsonObject, patch: JsonObject, shape: Shape): JsonObject {
  let out: Record<string, Json> | null = null;
  for (const [key, value] of Object.entries(patch)) {
    const before = Object.hasOwn(live, key) ? live[key] : undefined;
    const after = before === undefined ? value : mergeValue(before, value, memberShape(shape, key));
    if (after === before) continue;
    out ??= { ...live };
    out[key] = after;
  }
  return out ?? live;
}

interface Item {
  readonly element: string;
  readonly value: Json;
}

const itemsOf = (list: JsonList, shape: Shape): readonly Item[] =>
  list.map((value) => ({ element: elementOf(value, shape), value }));

/** Merges lists with identities, in the order of structured-merge-diff's walk: the order of containers is visible. */
function mergeLists(live: JsonList, patch: JsonList, shape: Shape): JsonList {
  const item = shape.kind === "keyed" ? shape.item : shape;
  const left = itemsOf(live, shape);
  const right = itemsOf(patch, shape);
  const lives = new Map(left.map((it) => [it.element, it.value]));
  const patches = new Set(right.map((it) => it.element));
  const shared = right.filter((it) => lives.has(it.element)).map((it) => it.element);
  const merged = new Set<string>();
  const out: Json[] = [];
  let [l, r, next] = [0, 0, 0];
  const take = ({ element, value }: Item): void => {
    const before = lives.get(element);
    out.push(before === undefined ? value : mergeValue(before, value, item));
    merged.add(element);
    r++;
    if (shared[next] === element) next++;
  };
  while (l < left.length || r < right.length) {
    const mine = left[l];
    const theirs = right[r];
    if (mine !== undefined && !patches.has(mine.element)) {
      out.push(mine.value);
      l++;
    } else if (mine !== undefined && theirs !== undefined && mine.element === theirs.element) {
      take(theirs);
      l++;
    } else if (mine !== undefined && (merged.has(mine.element) || shared[next] !== mine.element)) {
      l++;
    } else if (theirs !== undefined) {
      take(theirs);
    }
  }
  return out.length === live.length && out.every((it, at) => it === live[at]) ? live : out;
}

/** The fields a configuration speaks about: what its applier owns from then on. A key twice in one list is refused. */
export function fieldsOf(value: Json, shape: Shape): FieldSet {
  if (isLeaf(value, shape)) return {};
  const out: Record<string, FieldSet> = {};
  if (Array.isArray(value)) {
    for (const item of value as JsonList) {
      const element = elementOf(item, shape);
      if (out[element] !== undefined) throw new StatusError(500, "", `duplicate entries for key ${element}`);
      const below = shape.kind === "keyed" ? fieldsOf(item, shape.item) : {};
      out[element] = nodeOf(true, below) ?? {};
    }
    return out;
  }
  for (const [key, child] of Object.entries(value as JsonObject)) {
    const childShape = memberShape(shape, key);
    const node = nodeOf(isOwned(child, childShape) || !isDeclared(shape, key), fieldsOf(child, childShape));
    if (node !== null) out[`f:${key}`] = node;
  }
  return out;
}

const isOwned = (value: Json, shape: Shape): boolean =>
  isLeaf(value, shape) || (isObject(value) && isEmptyObject(value));

const isEmptyObject = (value: JsonObject): boolean => Object.keys(value).length === 0;

interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Says which fields a write added, modified and removed. A field that came or went is named with everything below it. */
export function compareFields(before: Json, after: Json, shape: Shape): Comparison {
  const { added, modified, removed } = walk(before, after, shape) ?? nothing;
  return { added: added ?? {}, modified: modified ?? {}, removed: removed ?? {} };
}

/** The three nodes of one place; null when nothing differs there. An empty node is a field that differs by itself. */
type Difference = { readonly [set in keyof Comparison]: FieldSet | null };

const nothing: Difference = { added: null, modified: null, removed: null };

function walk(before: Json | undefined, after: Json | undefined, shape: Shape): Difference | null {
  if (before === after) return null;
  const present = isContainer(before) ? before : after;
  const isWhole = present === undefined || isLeaf(present, shape) || (isBare(before) && isBare(after));
  if (isWhole || !(isBare(before) || isBare(after) || Array.isArray(before) === Array.isArray(after))) {
    if (before === undefined) return { added: leafField, modified: null, removed: null };
    if (after === undefined) return { added: null, modified: null, removed: leafField };
    return sameJson(before, after) ? null : { added: null, modified: leafField, removed: null };
  }
  const below = Array.isArray(present)
    ? walkLists(listAt(before), listAt(after), shape)
    : walkObjects(objectOf(before), objectOf(after), shape);
  return {
    added: nodeOf(before === undefined, below.added),
    modified: nodeOf(false, below.modified),
    removed: nodeOf(after === undefined, below.removed),
  };
}

const isContainer = (value: Json | undefined): boolean => isObject(value) || Array.isArray(value);

/** Absent, null or empty: with nothing on either side below it, the field itself is what is compared. */
const isBare = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && isEmptyObject(value));

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

type Growing = { readonly [set in keyof Comparison]: Record<string, FieldSet> };

function walkObjects(left: JsonObject, right: JsonObject, shape: Shape): Growing {
  const out: Growing = { added: {}, modified: {}, removed: {} };
  for (const key of Object.keys(left)) {
    const after = Object.hasOwn(right, key) ? right[key] : undefined;
    if (left[key] !== after) grow(out, `f:${key}`, walk(left[key], after, memberShape(shape, key)));
  }
  for (const key of Object.keys(right)) {
    if (!Object.hasOwn(left, key)) grow(out, `f:${key}`, walk(undefined, right[key], memberShape(shape, key)));
  }
  return out;
}

function walkLists(before: JsonList, after: JsonList, shape: Shape): Growing {
  const out: Growing = { added: {}, modified: {}, removed: {} };
  const item = shape.kind === "keyed" ? shape.item : shape;
  const left = new Map(before.map((it) => [elementOf(it, shape), it]));
  const right = new Map(after.map((it) => [elementOf(it, shape), it]));
  for (const [element, it] of left) grow(out, element, walk(it, right.get(element), item));
  for (const [element, it] of right) if (!left.has(element)) grow(out, element, walk(undefined, it, item));
  return out;
}

function grow(out: Growing, element: string, difference: Difference | null): void {
  if (difference === null) return;
  if (difference.added !== null) out.added[element] = difference.added;
  if (difference.modified !== null) out.modified[element] = difference.modified;
  if (difference.removed !== null) out.removed[element] = difference.removed;
}

/** A value without the fields of a set. What is emptied by it becomes null, so that "gone" and "never there" differ. */
export function removeFields(value: Json, fields: FieldSet, shape: Shape): Json {
  if (isEmpty(fields) || isLeaf(value, shape)) return value;
  if (Array.isArray(value)) {
    const item = shape.kind === "keyed" ? shape.item : shape;
    const kept = (value as JsonList)
      .map((it) => ({ it, element: elementOf(it, shape) }))
      .filter(({ element }) => !hasField(fields, element))
      .map(({ it, element }) => removeFields(it, fieldsBelow(fields, element), item));
    return kept.length === 0 ? null : kept;
  }
  const out: Record<string, Json> = {};
  for (const [key, child] of Object.entries(value as JsonObject)) {
    const element = `f:${key}`;
    if (!hasField(fields, element))
      out[key] = removeFields(child, fieldsBelow(fields, element), memberShape(shape, key));
  }
  return isEmptyObject(out) ? null : out;
}
