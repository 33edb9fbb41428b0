import { isObject, type Json, type JsonList, type JsonObject, member } from "../model/json.ts";
import type { Labels } from "../model/value.ts";
import { compareText, type Instant, instantOf } from "../model/value.ts";

/**
 * What is wrong with the file that is being read: the first finding, null while there is none.
 *
 * Reading goes on with a stand-in, so that decoders stay straight lines; whoever began asks once, at the end.
 */
export interface Findings {
  first: string | null;
  /** Moments read so far: the documents of a file repeat them. */
  readonly moments: Map<string, Instant>;
}

export function find(findings: Findings, key: string, wrong: string): void {
  findings.first ??= `"${key}" ${wrong}`;
}

/** The object at `key`, empty where there is none: what it should hold is missed when it is read. */
export function partAt(object: JsonObject, key: string): JsonObject {
  const value = member(object, key);
  return isObject(value) ? value : {};
}

/** The list at `key`, empty where there is none. */
export function listAt(findings: Findings, object: JsonObject, key: string): JsonList {
  const value = member(object, key);
  if (Array.isArray(value)) return value;
  if (value !== null) find(findings, key, "is no list");
  return [];
}

/** The objects in the list at `key`, empty where there is none. */
export const objectsAt = (findings: Findings, object: JsonObject, key: string): readonly JsonObject[] =>
  listAt(findings, object, key).map((it) => (isObject(it) ? it : wrongItem(findings, key, {})));

/** The strings in the list at `key`, empty where there is none. */
export const textsAt = (findings: Findings, object: JsonObject, key: string): readonly string[] =>
  listAt(findings, object, key).map((it) => (typeof it === "string" ? it : wrongItem(findings, key, "")));

function wrongItem<T>(findings: Findings, key: string, instead: T): T {
  find(findings, key, "holds what does not belong there");
  return instead;
}

export function textAt(findings: Findings, object: JsonObject, key: string): string {
  const value = member(object, key);
  if (typeof value === "string") return value;
  find(findings, key, value === null ? "is missing" : "is no text");
  return "";
}

/** The text at `key`, or null when there is none. */
export const textOrNull = (findings: Findings, object: JsonObject, key: string): string | null =>
  member(object, key) === null ? null : textAt(findings, object, key);

/** A text that is one of `choices`; the first of them stands in for any other. */
export function choiceAt<T extends string>(
  findings: Findings,
  object: JsonObject,
  key: string,
  choices: readonly [T, ...T[]],
): T {
  const value = textAt(findings, object, key);
  const choice = choices.find((it) => it === value);
  if (choice === undefined) find(findings, key, `is none of ${choices.join(", ")}`);
  return choice ?? choices[0];
}

/** A whole number of at least 0, also when it stands as a text, as annotations and labels have it. */
export function countAt(findings: Findings, object: JsonObject, key: string): number {
  const value = member(object, key);
  const count = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value;
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0) return count;
  find(findings, key, value === null ? "is missing" : "is no count");
  return 0;
}

export function numberAt(findings: Findings, object: JsonObject, key: string): number {
  const value = member(object, key);
  if (typeof value === "number") return value;
  find(findings, key, value === null ? "is missing" : "is no number");
  return 0;
}

export function instantAt(findings: Findings, object: JsonObject, key: string): Instant {
  const text = textAt(findings, object, key);
  const known = findings.moments.get(text);
  if (known !== undefined) return known;
  const moment = instantOf(text);
  if (moment === null) find(findings, key, "is no moment in RFC 3339");
  findings.moments.set(text, moment ?? (0 as Instant));
  return moment ?? (0 as Instant);
}

/** The moment at `key`, or null when there is none. */
export const instantOrNull = (findings: Findings, object: JsonObject, key: string): Instant | null =>
  member(object, key) === null ? null : instantAt(findings, object, key);

/** The object of strings at `key`, empty where there is none. */
export function labelsAt(findings: Findings, object: JsonObject, key: string): Labels {
  const part = partAt(object, key);
  if (Object.values(part).some((it) => typeof it !== "string")) find(findings, key, "holds what is no text");
  return part as Labels;
}

/** The JSON value that the text at `key` holds, as annotations have it; null where there is none. */
export function embeddedAt(findings: Findings, object: JsonObject, key: string): Json {
  const text = textOrNull(findings, object, key);
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    find(findings, key, "holds no JSON");
    return null;
  }
}

/** An object of the members that are not null: how optional fields are left out. */
export function given(members: { readonly [key: string]: Json | undefined }): JsonObject {
  const object: Record<string, Json> = {};
  for (const key in members) if (members[key] !== null && members[key] !== undefined) object[key] = members[key];
  return object;
}

/** The list, or null when it is empty: KubeFleet leaves empty lists out. */
export const filled = <T extends Json>(list: readonly T[]): readonly T[] | null => (list.length === 0 ? null : list);

/** Labels in the order of their keys, or null when there are none. */
export function sortedLabels(labels: Labels): JsonObject | null {
  const keys = Object.keys(labels).sort(compareText);
  return keys.length === 0 ? null : Object.fromEntries(keys.map((key) => [key, labels[key] as string]));
}
