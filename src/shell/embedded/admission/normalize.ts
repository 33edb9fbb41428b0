import { isObject, type Json, type JsonList, type JsonObject } from "../../../core/model/json.ts";
import type { ServedKind } from "../api/kinds.ts";

/** Members that are left out when they are empty, as Go's encoder leaves out empty maps. Empty structs stay: `emptyDir: {}`. */
const emptyMaps = new Set([
  ...["annotations", "binaryData", "data", "labels", "limits", "matchLabels", "nodeSelector", "parameters"],
  ...["requests", "stringData"],
]);

/** Members whose values are quantities. */
const quantityMaps = new Set([
  ...["allocatable", "capacity", "default", "defaultRequest", "hard", "limits", "max", "maxLimitRequestRatio", "min"],
  ...["overhead", "requests"],
]);

const quantities = new Set(["sizeLimit"]);

/** Free-form JSON, in which nothing is tidied. */
const opaque = new Set(["openAPIV3Schema"]);

/** As typed servers give it back: no nulls, no empty lists or maps, canonical quantities; of custom ones, metadata. */
export function normalize(object: JsonObject, kind: ServedKind): JsonObject {
  if (kind.custom === null) return tidyObject(object, "");
  const metadata = object["metadata"];
  if (!isObject(metadata)) return object;
  const tidied = tidyObject(metadata, "metadata");
  return tidied === metadata ? object : { ...object, metadata: tidied };
}

function tidyObject(value: JsonObject, under: string): JsonObject {
  let out: Record<string, Json> | null = null;
  for (const [key, child] of Object.entries(value)) {
    const tidied = tidy(child, key, under);
    if (tidied === child) continue;
    out ??= { ...value };
    if (tidied === undefined) delete out[key];
    else out[key] = tidied;
  }
  return out ?? value;
}

function tidy(value: Json, key: string, under: string): Json | undefined {
  if (value === null) return undefined;
  if (opaque.has(key) || key === "managedFields") return value;
  if (Array.isArray(value)) return tidyList(value as JsonList, key);
  if (isObject(value)) {
    const tidied = tidyObject(value, key);
    return emptyMaps.has(key) && Object.keys(tidied).length === 0 ? undefined : tidied;
  }
  if (quantityMaps.has(under) || quantities.has(key)) return quantityOf(value);
  return value;
}

function tidyList(value: JsonList, key: string): JsonList | undefined {
  if (value.length === 0) return undefined;
  const tidied = value.map((it) => (isObject(it) ? tidyObject(it, key) : it));
  return tidied.every((it, at) => it === value[at]) ? value : tidied;
}

function quantityOf(value: Json): Json {
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" ? (canonicalQuantity(text) ?? value) : value;
}

/** Powers of ten of the decimal suffixes, largest first. */
const decimals: readonly (readonly [string, number])[] = [
  ["E", 18],
  ["P", 15],
  ["T", 12],
  ["G", 9],
  ["M", 6],
  ["k", 3],
  ["", 0],
  ["m", -3],
  ["u", -6],
  ["n", -9],
];

const binaries = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

const form = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE][+-]?\d{1,3})|([KMGTPE]i|[numkMGTPE]))?$/;

/** A nanounit: nothing smaller can be said. */
const nano = 9;

/**
 * A quantity as Kubernetes writes it: `1000m` is `1`, `1024Mi` is `1Gi`, `0.5` is `500m`; null for none. Suffixes keep
 * their family; a binary one below 1024 becomes decimal (`Quantity.CanonicalizeBytes`).
 */
export function canonicalQuantity(text: string): string | null {
  const match = form.exec(text.trim());
  if (match === null) return null;
  const [, sign = "", whole = "", fraction = "", exponent = "", suffix = ""] = match;
  if (whole === "" && fraction === "") return null;
  const nanos = nanosOf(whole, fraction, exponent, suffix);
  if (nanos === null) return null;
  const minus = sign === "-" && nanos !== 0n ? "-" : "";
  const unit = 10n ** BigInt(nano);
  if (suffix.endsWith("i") && nanos % unit === 0n && nanos / unit >= 1024n) return minus + binaryText(nanos / unit);
  return minus + (exponent === "" ? decimalText(nanos) : exponentText(nanos));
}

function nanosOf(whole: string, fraction: string, exponent: string, suffix: string): bigint | null {
  const binary = suffix.endsWith("i") ? binaries.indexOf(suffix) : 0;
  const power = exponent === "" ? (decimals.find(([it]) => it === suffix)?.[1] ?? 0) : Number(exponent.slice(1));
  const scale = nano + power - fraction.length;
  const digits = BigInt(whole + fraction || "0") * 1024n ** BigInt(binary);
  if (scale >= 0) return scale > 60 ? null : digits * 10n ** BigInt(scale);
  // Below a nanounit Kubernetes rounds up.
  const divisor = 10n ** BigInt(-scale);
  return (digits + divisor - 1n) / divisor;
}

function decimalText(nanos: bigint): string {
  if (nanos === 0n) return "0";
  for (const [suffix, power] of decimals) {
    const unit = 10n ** BigInt(nano + power);
    if (nanos % unit === 0n) return `${nanos / unit}${suffix}`;
  }
  return `${nanos}n`;
}

function exponentText(nanos: bigint): string {
  const text = decimalText(nanos);
  const suffix = /[a-zA-Z]$/.exec(text)?.[0] ?? "";
  const power = decimals.find(([it]) => it === suffix)?.[1] ?? 0;
  return power === 0 ? text : `${text.slice(0, -1)}e${power}`;
}

function binaryText(bytes: bigint): string {
  let rest = bytes;
  let at = 0;
  while (at < binaries.length - 1 && rest % 1024n === 0n) {
    rest /= 1024n;
    at++;
  }
  return `${rest}${binaries[at]}`;
}
