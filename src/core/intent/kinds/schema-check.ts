import type { SchemaDocuments } from "#schemas/index";
import type { Json, JsonObject } from "../../model/json.ts";
import { didYouMean } from "../../yaml/nearest.ts";
import {
  error,
  type FieldProblem,
  type FieldProblems,
  type JsonPath,
  maxProblems,
  valueAt,
} from "../../yaml/problems.ts";
import { type SchemaName, schemas } from "./known-kinds.ts";
import { type SchemaError, validators } from "./validators.ts";

/** A document that its schema has passed, or one problem per place that is wrong, in our own words. */
type SchemaCheck<Kind extends SchemaName> =
  | { readonly isValid: true; readonly document: SchemaDocuments[Kind] }
  | { readonly isValid: false; readonly problems: FieldProblems };

/** Checks a document against the schema of its kind. */
export function checkSchema<Kind extends SchemaName>(kind: Kind, value: JsonObject): SchemaCheck<Kind> {
  const errors = validators[kind](value);
  // The type is made from the schema.
  if (errors.length === 0) return { isValid: true, document: value as unknown as SchemaDocuments[Kind] };
  const seen = new Set<string>();
  const problems = errors.slice(0, 10 * maxProblems).flatMap((it) => {
    const problem = schemaProblem(kind, value, it);
    const place = `${problem.at.join("/")} ${problem.on}`;
    if (seen.has(place)) return [];
    seen.add(place);
    return [problem];
  });
  return { isValid: false, problems };
}

function schemaProblem(
  kind: SchemaName,
  value: JsonObject,
  { instancePath, keyword, params }: SchemaError,
): FieldProblem {
  const at = pathOf(instancePath, value);
  const here = valueAt(value, at);
  switch (keyword) {
    case "additionalProperties":
      return unknownField(kind, at, String(params["additionalProperty"]));
    case "required":
      return error("FLT1300", [...at, String(params["missingProperty"])], "is required and missing", "add it");
    case "type":
      return {
        ...wrong(at, here, `must be ${typeText(params["type"])}, not ${typeOf(here)}`),
        fix: typeFix(params["type"], here),
      };
    case "enum":
      return oneOf(at, here, { allowed: params["allowedValues"], isRequired: isRequiredAt(kind, at) });
    case "minimum":
    case "maximum":
      return wrong(at, here, `must be ${String(params["comparison"])} ${String(params["limit"])}`);
    case "minItems":
      return wrong(at, null, `must have at least ${entries(params["limit"])}`);
    case "maxItems":
      return wrong(at, null, `must have at most ${entries(params["limit"])}`);
    default:
      return wrong(at, here, `breaks the schema's rule "${keyword}"`);
  }
}

function unknownField(kind: SchemaName, at: JsonPath, name: string): FieldProblem {
  const elsewhere = placesOf(kind, name);
  const otherwise = "remove it; a misspelt field would be lost silently";
  const fix =
    elsewhere.length === 1 || elsewhere.length === 2
      ? `it belongs ${elsewhere.map((it) => (it === "" ? "at the top" : `under ${it}`)).join(" or ")}`
      : didYouMean(name, fieldsAt(kind, at), otherwise);
  return { ...error("FLT1301", [...at, name], "unknown field", fix), on: "key" };
}

function wrong(at: JsonPath, value: Json | undefined, message: string): FieldProblem {
  const shown = typeof value === "object" || value === undefined ? null : shortText(value);
  return error("FLT1302", at, message, "correct it", shown);
}

function oneOf(
  at: JsonPath,
  value: Json | undefined,
  { allowed, isRequired }: { readonly allowed: unknown; readonly isRequired: boolean },
): FieldProblem {
  const values = (Array.isArray(allowed) ? allowed : []).map(String);
  const otherwise = isRequired ? "" : ", or leave the field out for its default";
  const fix = didYouMean(String(value), values, `choose one of them${otherwise}`);
  return { ...wrong(at, value, `must be ${values.length === 1 ? "" : "one of "}${values.join(", ")}`), fix };
}

/** The most common mistake: a number or a boolean where Kubernetes wants a string. */
const typeFix = (type: unknown, value: Json | undefined): string =>
  type === "string" && typeof value !== "object" ? "put the value in quotes" : "correct it";

const entries = (count: unknown): string => (count === 1 ? "one entry" : `${String(count)} entries`);

const shortText = (value: Json): string => (typeof value === "string" ? JSON.stringify(value) : String(value));

/** The fields that the schema has at a path. */
const fieldsAt = (kind: SchemaName, at: JsonPath): readonly string[] =>
  Object.keys(schemaAt(kind, at)?.properties ?? {});

/** Whether a field cannot be left out; of an item of a list, whether the item can does not matter. */
const isRequiredAt = (kind: SchemaName, at: JsonPath): boolean =>
  schemaAt(kind, at.slice(0, -1))?.required?.includes(String(at.at(-1))) === true || typeof at.at(-1) === "number";

function schemaAt(kind: SchemaName, at: JsonPath): Schema | undefined {
  const root = schemas[kind] as Schema;
  let here: Schema | undefined = root;
  for (const step of at) {
    const schema: Schema | undefined = resolved(root, here);
    here =
      typeof step === "number"
        ? schema?.items
        : (schema?.properties?.[step] ?? schema?.additionalProperties ?? undefined);
    if (typeof here !== "object") return undefined;
  }
  return resolved(root, here);
}

/** Where a field of that name belongs in a document of a kind; an item of a list is `[]`. */
function placesOf(kind: SchemaName, name: string): readonly string[] {
  const root = schemas[kind] as Schema;
  const places: string[] = [];
  const visit = (schema: Schema | undefined, path: string, depth: number): void => {
    const here = resolved(root, schema);
    if (typeof here !== "object" || depth > maxSchemaDepth) return;
    if (Object.hasOwn(here.properties ?? {}, name)) places.push(path);
    for (const [step, it] of Object.entries(here.properties ?? {}))
      visit(it, path === "" ? step : `${path}.${step}`, depth + 1);
    visit(here.items, `${path}[]`, depth + 1);
  };
  visit(root, "", 0);
  return places;
}

const maxSchemaDepth = 12;

interface Schema {
  readonly $ref?: string;
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
}

const resolved = (root: Schema, schema: Schema | undefined): Schema | undefined =>
  schema?.$ref === undefined ? schema : root.definitions?.[schema.$ref.replace("#/definitions/", "")];

/** A JSON pointer as a path. Whether a step is a list index depends on the value, not on how it looks. */
function pathOf(pointer: string, value: JsonObject): JsonPath {
  const path: (string | number)[] = [];
  let here: Json | undefined = value;
  for (const step of pointer.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(Array.isArray(here) ? Number(name) : name);
    here = valueAt(value, path);
  }
  return path;
}

function typeText(type: unknown): string {
  const names: Readonly<Record<string, string>> = {
    object: "a mapping",
    array: "a list",
    string: "a string",
    integer: "a whole number",
    number: "a number",
    boolean: "true or false",
  };
  return (Array.isArray(type) ? type : [type]).map((it) => names[String(it)] ?? String(it)).join(" or ");
}

function typeOf(value: Json | undefined): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "string") return "a string";
  return typeof value === "boolean" ? "a boolean" : "a number";
}
