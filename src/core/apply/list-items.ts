import { canonicalJson, isObject, type Json, type JsonObject } from "../model/json.ts";

/** Finds items of one list as field sets of structured-merge-diff name them, the first of several. */
export interface ListItems {
  /** By value, in a set: `v:`. */
  readonly equal: (value: Json) => Json | undefined;
  /** By keys: `k:`. An item may leave out a key that has a default, so only the keys that it does have must agree. */
  readonly keyed: (wanted: JsonObject) => Json | undefined;
}

/** Lists have three keys at most, of which an item has all, or some. What is beyond so many ways is not looked for. */
const mostShapes = 8;

/** Every item is looked at a few times, however many are asked for: a list may have thousands, and come from anybody. */
export function listItems(items: readonly Json[]): ListItems {
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

/** Items that have the same of the keys: the place of the first one, by what it has there. */
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
