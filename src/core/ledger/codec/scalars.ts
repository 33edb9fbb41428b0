import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import { type ObjectId, type ObjectKey, objectIdOf, objectKey } from "../../model/manifest.ts";
import type { CountOrPercent } from "../../model/placement.ts";
import {
  type BlobId,
  type ClusterName,
  type Commit,
  compareText,
  type Digest,
  type DurationMs,
  exactInstantText,
  type Instant,
  instantOf,
  type Labels,
  type Sequence,
} from "../../model/value.ts";
import { type Codec, converted, oneOf, type ReadContext, reportProblem } from "./codec.ts";

export const string: Codec<string> = {
  write: (value) => value,
  read: (json, key, context) =>
    typeof json === "string" ? json : reportProblem(context, key, json === null ? "is missing" : "is not a string", ""),
};

export const stringOf = <T extends string>(): Codec<T> => string as unknown as Codec<T>;

export const clusterName = stringOf<ClusterName>();
export const commitHash = stringOf<Commit>();
export const blobHash = stringOf<BlobId>();
export const digest = stringOf<Digest>();

/** One of the texts of a union: all of them have to be named. */
export const choice = <const C extends readonly string[]>(...choices: C): Codec<C[number]> => oneOf<C[number]>(choices);

/** A whole number of at least 0, also where it stands as a text, as annotations and labels have it. */
export const integer: Codec<number> = {
  write: (value) => value,
  read(json, key, context) {
    const value = typeof json === "string" && /^\d{1,16}$/.test(json) ? Number(json) : json;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
    return reportProblem(context, key, json === null ? "is missing" : "is not a count", 0);
  },
};

export const integerOf = <T extends number>(): Codec<T> => integer as unknown as Codec<T>;

/** A count that is written as a text. */
export const integerText: Codec<number> = { write: String, read: integer.read };
const integerTextOf = <T extends number>(): Codec<T> => integerText as unknown as Codec<T>;

export const sequence = integerOf<Sequence>();
export const sequenceText = integerTextOf<Sequence>();

export const number: Codec<number> = {
  write: (value) => value,
  read: (json, key, context) =>
    typeof json === "number" ? json : reportProblem(context, key, json === null ? "is missing" : "is not a number", 0),
};

/** True or false; what is left out is false. */
export const boolean: Codec<boolean> = {
  write: (value) => value,
  read: (json, key, context) =>
    typeof json === "boolean" || json === null
      ? json === true
      : reportProblem(context, key, "is neither true nor false", false),
};

/** True, or left out: anything else is a slip, and no slip counts as false. */
export const flag: Codec<boolean> = {
  write: (value) => (value ? true : undefined),
  read: (json, key, context) =>
    json === null || json === true ? json === true : reportProblem(context, key, "is neither true nor left out", false),
};

/** The same as the text of an annotation. */
export const flagText: Codec<boolean> = {
  write: (value) => (value ? "true" : undefined),
  read: (json) => json === "true",
};

export const instant: Codec<Instant> = {
  write: exactInstantText,
  read(json, key, context) {
    const known = context.instants.get(json as string);
    if (known !== undefined) return known;
    const at = typeof json === "string" ? instantOf(json) : null;
    if (at === null)
      return reportProblem(context, key, json === null ? "is missing" : "is not a time in RFC 3339", 0 as Instant);
    context.instants.set(json as string, at);
    return at;
  },
};

/** As Go reads it, in the one unit that fits. */
export const duration: Codec<DurationMs> = {
  write: (value) => (value % 1000 === 0 ? `${value / 1000}s` : `${value}ms`),
  read(json, key, context) {
    const [, digits, unit] = /^(\d+)(ms|s)$/.exec(String(json)) ?? [];
    if (digits === undefined)
      return reportProblem(context, key, json === null ? "is missing" : "is not a duration", 0 as DurationMs);
    return (Number(digits) * (unit === "s" ? 1000 : 1)) as DurationMs;
  },
};

/** `3` or `"25%"`, as KubeFleet writes it. */
export const countOrPercentCodec: Codec<CountOrPercent> = {
  write: (value) => ("count" in value ? value.count : `${value.percent}%`),
  read(json, key, context) {
    const percent = /^(\d{1,3})%$/.exec(String(json));
    return percent === null ? { count: integer.read(json, key, context) } : { percent: Number(percent[1]) };
  },
};

/** A digest as KubeFleet's fields of type byte hold it: base64 of the hexadecimal digits. */
export const base64Of = <T extends string>(): Codec<T> => ({
  write: (value) => btoa(value),
  read(json, key, context) {
    try {
      return atob(string.read(json, key, context)) as T;
    } catch {
      return reportProblem(context, key, "is not base64", "" as T);
    }
  },
});

const noLabels: Labels = {};

/** Labels in the order of their keys; none are left out. */
export const labelsIfAny: Codec<Labels> = {
  write(labels) {
    const keys = Object.keys(labels).sort(compareText);
    return keys.length === 0 ? undefined : Object.fromEntries(keys.map((key) => [key, labels[key] as string]));
  },
  read(json, key, context) {
    if (json === null) return noLabels;
    if (isObject(json) && Object.values(json).every((it) => typeof it === "string")) return json as Labels;
    return reportProblem(context, key, "is not an object of strings", {});
  },
};

export const labels: Codec<Labels> = { ...labelsIfAny, write: (value) => labelsIfAny.write(value) ?? {} };

export const json: Codec<Json> = { write: (value) => value, read: (value) => value };

export const jsonObject: Codec<JsonObject> = {
  write: (value) => value,
  read: (value, key, context) =>
    isObject(value) ? value : value === null ? {} : reportProblem(context, key, "is not an object", {}),
};

/** `group/Kind/namespace/name`. */
export const objectId: Codec<ObjectId> = converted(stringOf<ObjectKey>(), objectKey, objectIdOf);

/** JSON in one text, for an annotation. */
export const embedded = <T, W = T>({ write, read }: Codec<T, W>): Codec<T, W> => ({
  write(value) {
    const json = write(value);
    return json === undefined ? undefined : JSON.stringify(json);
  },
  read(json, key, context) {
    if (json === null) return read(null, key, context);
    return read(
      typeof json === "string" ? parsed(json, key, context) : reportProblem(context, key, "is not a string", null),
      key,
      context,
    );
  },
});

function parsed(text: string, key: string, context: ReadContext): Json {
  try {
    return JSON.parse(text);
  } catch {
    return reportProblem(context, key, "is not JSON", null);
  }
}

/** A thousand objects say the same: their value is decoded once, and kept as one. */
export function decodedOnce<T extends object, W = T>({ write, read }: Codec<T, W>): Codec<T, W> {
  const known = new WeakMap<object, T>();
  return {
    write,
    read(json, key, context) {
      if (typeof json !== "object" || json === null) return read(json, key, context);
      const before = known.get(json);
      if (before !== undefined) return before;
      const value = read(json, key, context);
      if (context.problem === null) known.set(json, value);
      return value;
    },
  };
}
