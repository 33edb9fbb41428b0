import {
  isObject,
  type Json,
  type JsonList,
  type JsonObject,
  member,
  memberAt,
  textOf,
} from "../../../core/model/json.ts";
import { type Kind, tableKey } from "./kinds.ts";
import { metadataShape } from "./list-keys.ts";
import { atomic, free, keyed, plain, type Shape, set, struct } from "./shape.ts";

/** What a CustomResourceDefinition says about one version. */
export interface CustomSchema {
  /** `openAPIV3Schema`; null where the definition has none. */
  readonly schema: JsonObject | null;
  readonly columns: readonly PrinterColumn[];
}

/** A column that a definition adds to `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
}

/** The kinds that a CustomResourceDefinition defines: one per served version, the stored one first. */
export function customKindsOf(definition: JsonObject): readonly Kind[] {
  const spec = member(definition, "spec");
  const names = member(spec, "names");
  const plural = textOf(member(names, "plural")) ?? "";
  const kind = textOf(member(names, "kind")) ?? "";
  const versions = listOf(member(spec, "versions")).filter((it) => member(it, "served") === true);
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

const listOf = (value: Json): JsonList => (Array.isArray(value) ? (value as JsonList) : []);
const textsIn = (value: Json): readonly string[] => listOf(value).filter((it) => typeof it === "string");

function subresourcesOf(version: Json): readonly string[] {
  const subresources = member(version, "subresources");
  return ["scale", "status"].filter((it) => isObject(subresources) && Object.hasOwn(subresources, it));
}

function schemaOf(version: Json): JsonObject | null {
  const schema = memberAt(version, "schema", "openAPIV3Schema");
  return isObject(schema) ? schema : null;
}

const columnsOf = (version: Json): readonly PrinterColumn[] =>
  listOf(member(version, "additionalPrinterColumns"))
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
