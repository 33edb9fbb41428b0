import type { Json } from "../../core/model/json.ts";

// What stands at a place of an answer, or null: whatever a forge leaves out, or writes otherwise, is not known.

/** Follows the names into an answer. */
export function jsonAt(value: Json | undefined, ...names: readonly string[]): Json | null {
  let at: Json | undefined = value;
  for (const name of names) {
    if (at === null || typeof at !== "object" || Array.isArray(at)) return null;
    at = Object.hasOwn(at, name) ? (at as Readonly<Record<string, Json>>)[name] : undefined;
  }
  return at ?? null;
}

/** A text there. */
export function textAt(value: Json, ...names: readonly string[]): string | null {
  const found = jsonAt(value, ...names);
  return typeof found === "string" ? found : null;
}

/** A number that names something, as text: of an account, a pull request, a review. */
export function idAt(value: Json, ...names: readonly string[]): string | null {
  const found = jsonAt(value, ...names);
  return typeof found === "number" && Number.isSafeInteger(found) && found > 0 ? String(found) : null;
}

/** A number there. */
export function numberAt(value: Json, ...names: readonly string[]): number | null {
  const found = jsonAt(value, ...names);
  return typeof found === "number" ? found : null;
}

/** Whether there stands `true`. */
export const isTrueAt = (value: Json, ...names: readonly string[]): boolean => jsonAt(value, ...names) === true;

/** The elements of a list; null for what is none. */
export const listIn = (value: Json | null): readonly Json[] | null => (Array.isArray(value) ? (value as Json[]) : null);
