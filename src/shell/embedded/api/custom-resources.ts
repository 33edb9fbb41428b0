import {
  isObject,
  type Json,
  type JsonList,
  type JsonObject,
  listAt,
  member,
  memberAt,
  sameJson,
  textOf,
} from "../../../core/model/json.ts";
import { type PrinterColumn, type ServedKind, tableKey } from "./kinds.ts";
import { metadataShape } from "./list-keys.ts";
import { atomic, free, keyed, plain, type Shape, set, struct } from "./shape.ts";
import type { StatusCause } from "./status.ts";

/** The kinds that a CustomResourceDefinition defines: one per served version, the stored one first. */
export function customKindsOf(definition: JsonObject): readonly ServedKind[] {
  const spec = member(definition, "spec");
  const names = member(spec, "names");
  const plural = textOf(member(names, "plural")) ?? "";
  const kind = textOf(member(names, "kind")) ?? "";
  const versions = listAt(spec, "versions").filter((it) => member(it, "served") === true);
  const ordered = [...versions].sort(
    (a, b) => Number(member(b, "storage") === true) - Number(member(a, "storage") === true),
  );
  const group = textOf(member(spec, "group")) ?? "";
  return ordered.map((version) => ({
    group,
    version: textOf(member(version, "name")) ?? "",
    kind,
    plural,
    table: tableKey({ group, plural }),
    singular: textOf(member(names, "singular")) ?? kind.toLowerCase(),
    shortNames: textsIn(member(names, "shortNames")),
    categories: textsIn(member(names, "categories")),
    scope: member(spec, "scope") === "Cluster" ? "Cluster" : "Namespaced",
    subresources: subresourcesOf(version),
    counts: true,
    shape: shapeOfRoot(schemaOf(version)),
    custom: { schema: schemaOf(version), columns: columnsOf(version) },
  }));
}

const textsIn = (value: Json): readonly string[] => listAt(value).filter((it) => typeof it === "string");

function subresourcesOf(version: Json): readonly string[] {
  const subresources = member(version, "subresources");
  return ["scale", "status"].filter((it) => isObject(subresources) && Object.hasOwn(subresources, it));
}

function schemaOf(version: Json): JsonObject | null {
  const schema = memberAt(version, "schema", "openAPIV3Schema");
  return isObject(schema) ? schema : null;
}

const columnsOf = (version: Json): readonly PrinterColumn[] =>
  listAt(version, "additionalPrinterColumns")
    .filter((it) => Number(member(it, "priority") ?? 0) === 0)
    .map((it) => ({
      name: textOf(member(it, "name")) ?? "",
      type: textOf(member(it, "type")) ?? "string",
      jsonPath: textOf(member(it, "jsonPath")) ?? "",
    }));

function shapeOfRoot(schema: JsonObject | null): Shape {
  const shape = schema === null ? free : shapeOf(schema);
  const members = shape.kind === "struct" ? shape.members : {};
  const rest = shape.kind === "struct" ? shape.rest : free;
  return struct({ apiVersion: plain, kind: plain, ...members, metadata: metadataShape }, rest);
}

/** How a structural schema merges: `x-kubernetes-list-type`, `-list-map-keys` and `-map-type`; lists without them are one. */
function shapeOf(schema: JsonObject): Shape {
  if (schema["x-kubernetes-map-type"] === "atomic") return atomic;
  if (schema["type"] === "array") return listShape(schema);
  if (schema["type"] !== "object") return schema["x-kubernetes-preserve-unknown-fields"] === true ? free : plain;
  const rest = schema["x-kubernetes-preserve-unknown-fields"] === true ? free : null;
  const properties = member(schema, "properties");
  if (isObject(properties)) {
    const shapes = Object.entries(properties).map(([key, it]): [string, Shape] => [
      key,
      isObject(it) ? shapeOf(it) : free,
    ]);
    return struct(Object.fromEntries(shapes), rest);
  }
  const values = schema["additionalProperties"];
  if (isObject(values)) return { kind: "map", value: shapeOf(values) };
  if (values === true) return free;
  if (schema["x-kubernetes-embedded-resource"] === true) return free;
  return struct({}, rest);
}

function listShape(schema: JsonObject): Shape {
  const items = member(schema, "items");
  const kind = schema["x-kubernetes-list-type"];
  if (kind === "set") return set;
  if (kind !== "map") return atomic;
  const defaults = Object.entries(
    isObject(member(items, "properties")) ? (member(items, "properties") as JsonObject) : {},
  )
    .map(([key, it]): [string, Json | null] => [key, member(it, "default")])
    .filter(([, it]) => it !== null);
  return keyed(
    textsIn(member(schema, "x-kubernetes-list-map-keys")),
    isObject(items) ? shapeOf(items) : free,
    Object.fromEntries(defaults),
  );
}

/** A custom resource as its schema lets it be, and what it does not know. */
interface Fitted {
  readonly value: Json;
  /** Paths that were dropped: `spec.nope`. */
  readonly unknown: readonly string[];
}

/** Drops what a structural schema does not declare and fills in its defaults; never in apiVersion, kind, metadata. */
export function pruneAndDefault(object: JsonObject, schema: JsonObject | null): Fitted {
  if (schema === null) return { value: object, unknown: [] };
  const unknown: string[] = [];
  const { apiVersion, kind, metadata, ...content } = object;
  const fitted = fitValue(content, schema, "", unknown);
  const own = Object.fromEntries(Object.entries({ apiVersion, kind, metadata }).filter(([, it]) => it !== undefined));
  return { value: { ...(own as JsonObject), ...(isObject(fitted) ? fitted : {}) }, unknown };
}

function fitValue(value: Json, schema: JsonObject, path: string, unknown: string[]): Json {
  if (schema["x-kubernetes-embedded-resource"] === true) return value;
  if (Array.isArray(value)) {
    const items = member(schema, "items");
    return isObject(items)
      ? (value as JsonList).map((it, at) => fitValue(it, items, `${path}[${at}]`, unknown))
      : value;
  }
  return isObject(value) ? fitObject(value, schema, path, unknown) : value;
}

function fitObject(value: JsonObject, schema: JsonObject, path: string, unknown: string[]): JsonObject {
  const declared = member(schema, "properties");
  const properties = isObject(declared) ? declared : {};
  const values = schema["additionalProperties"];
  const keeps = schema["x-kubernetes-preserve-unknown-fields"] === true || values === true;
  const out: Record<string, Json> = {};
  for (const [key, child] of Object.entries(value)) {
    const at = path === "" ? key : `${path}.${key}`;
    const childSchema = Object.hasOwn(properties, key) ? properties[key] : isObject(values) ? values : null;
    if (isObject(childSchema)) {
      // Null stands for absent where the schema has a default for it.
      if (child === null && childSchema["default"] !== undefined && childSchema["nullable"] !== true) continue;
      out[key] = fitValue(child, childSchema, at, unknown);
    } else if (keeps) out[key] = child;
    else unknown.push(at);
  }
  for (const [key, it] of Object.entries(properties)) {
    const fallback = member(it, "default");
    if (fallback === null || Object.hasOwn(out, key) || !isObject(it)) continue;
    out[key] = fitValue(fallback, it, path === "" ? key : `${path}.${key}`, []);
  }
  return out;
}

/** What a structural schema finds wrong: types, required fields, enums, bounds and patterns. Not CEL rules. */
export function schemaCauses(object: JsonObject, schema: JsonObject | null): readonly StatusCause[] {
  if (schema === null) return [];
  const { apiVersion: _, kind: __, metadata: ___, ...content } = object;
  return checkObject(content, schema, "");
}

function check(value: Json, schema: JsonObject, field: string): readonly StatusCause[] {
  if (value === null && schema["nullable"] === true) return [];
  if (schema["x-kubernetes-int-or-string"] === true) {
    return typeof value === "string" || Number.isInteger(value) ? [] : [mistyped(value, "integer or string", field)];
  }
  const type = schema["type"];
  if (typeof type === "string" && !isOfType(value, type)) return [mistyped(value, type, field)];
  const own = [...checkScalar(value, schema, field)];
  if (Array.isArray(value)) {
    const items = member(schema, "items");
    if (isObject(items)) own.push(...(value as JsonList).flatMap((it, at) => check(it, items, `${field}[${at}]`)));
  }
  return isObject(value) ? [...own, ...checkObject(value, schema, field)] : own;
}

function checkObject(value: JsonObject, schema: JsonObject, field: string): readonly StatusCause[] {
  const below = (key: string): string => (field === "" ? key : `${field}.${key}`);
  const required = (schema["required"] ?? []) as readonly string[];
  const missing = required
    .filter((key) => !Object.hasOwn(value, key) && !["apiVersion", "kind", "metadata"].includes(key))
    .map((key) => ({ reason: "FieldValueRequired", message: "Required value", field: below(key) }));
  const properties = member(schema, "properties");
  const values = schema["additionalProperties"];
  const wrong = Object.entries(value).flatMap(([key, child]) => {
    const own = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : values;
    return isObject(own) ? check(child, own, below(key)) : [];
  });
  return [...missing, ...wrong];
}

function isOfType(value: Json, type: string): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return typeof value === "bigint" || Number.isInteger(value);
    case "number":
      return typeof value === "number" || typeof value === "bigint";
    default:
      return typeof value === type;
  }
}

function mistyped(value: Json, type: string, field: string): StatusCause {
  const is = JSON.stringify(value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
  return {
    reason: "FieldValueTypeInvalid",
    message: `Invalid value: ${is}: ${field} in body must be of type ${type}: ${is}`,
    field,
  };
}

function checkScalar(value: Json, schema: JsonObject, field: string): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  const wrong = (must: string): number =>
    causes.push({
      reason: "FieldValueInvalid",
      message: `Invalid value: ${JSON.stringify(value)}: ${field} in body should ${must}`,
      field,
    });
  const limit = (key: string): number | null => (typeof schema[key] === "number" ? (schema[key] as number) : null);
  const allowed = schema["enum"];
  if (Array.isArray(allowed) && !allowed.some((it) => sameJson(it as Json, value))) {
    causes.push({
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${allowed.map((it) => JSON.stringify(it)).join(", ")}`,
      field,
    });
  }
  const size = typeof value === "string" || Array.isArray(value) ? value.length : null;
  const unit = Array.isArray(value) ? "Items" : "Length";
  const [least, most, min, max] = [limit("minimum"), limit("maximum"), limit(`min${unit}`), limit(`max${unit}`)];
  if (typeof value === "number" && least !== null && value < least) wrong(`be greater than or equal to ${least}`);
  if (typeof value === "number" && most !== null && value > most) wrong(`be less than or equal to ${most}`);
  if (size !== null && min !== null && size < min) wrong(`have at least ${min} ${unit.toLowerCase()}`);
  if (size !== null && max !== null && size > max) wrong(`have at most ${max} ${unit.toLowerCase()}`);
  const pattern = schema["pattern"];
  if (typeof value === "string" && typeof pattern === "string" && !new RegExp(pattern).test(value)) {
    wrong(`match '${pattern}'`);
  }
  return causes;
}
