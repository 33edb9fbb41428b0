import { hash } from "node:crypto";
import type { Digest } from "./value.ts";

/** Everything a manifest can hold. Integers beyond 2^53 are `bigint`s, so none is rounded. */
export type Json = null | boolean | number | bigint | string | JsonList | JsonObject;
export type JsonList = readonly Json[];
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Whether a value is a JSON object: no list, and not null. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The member `key` of an object, or null when the value is no object or has no such member of its own. */
export const member = (value: Json | undefined, key: string): Json | null =>
  isObject(value) && Object.hasOwn(value, key) ? (value[key] ?? null) : null;

/** Follows `path` through nested objects; null where it ends early. */
export function memberAt(value: Json | undefined, ...path: readonly string[]): Json | null {
  let here: Json = value ?? null;
  for (const key of path) here = member(here, key);
  return here;
}

/** The list at `path`, as {@link memberAt} follows it; empty where there is none. */
export function listAt(value: Json | undefined, ...path: readonly string[]): JsonList {
  const list = memberAt(value, ...path);
  return Array.isArray(list) ? (list as JsonList) : [];
}

/** The value if it is a string, else null. */
export const textOf = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

/** The strings of a JSON object whose members are strings; members of other types are left out. */
export function textsOf(value: Json | undefined): Readonly<Record<string, string>> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((it): it is [string, string] => typeof it[1] === "string"));
}

/** Whether two JSON values are equal, whatever the order of their keys. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((it, at) => sameJson(it, b[at]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

/** A value's canonical text, for digests and for members: keys sorted by code unit, no spaces, big integers exact. */
export function canonicalJson(value: Json): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value as JsonList) text += `${text === "" ? "" : ","}${canonicalJson(item)}`;
    return `[${text}]`;
  }
  const object = value as JsonObject;
  for (const key of keysInOrder(object))
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(object[key] as Json)}`;
  return `{${text}}`;
}

/** The keys of an object, by their code units. Nearly always they come in order, and sorting them would copy them. */
export function keysInOrder(object: JsonObject): readonly string[] {
  const keys = Object.keys(object);
  for (let at = 1; at < keys.length; at++) if ((keys[at - 1] ?? "") > (keys[at] ?? "")) return keys.sort();
  return keys;
}

/** Digest of a JSON value by its content, independent of how it was built. */
export const digestOf = (value: Json): Digest => digestOfText(canonicalJson(value));

/** SHA-256 of a text, 64 hexadecimal digits. */
export const digestOfText = (text: string): Digest => hash("sha256", text, "hex") as Digest;
