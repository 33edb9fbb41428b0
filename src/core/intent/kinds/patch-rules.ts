import type { Json } from "../../model/json.ts";
import type { ProblemCode } from "../../yaml/problem-codes.ts";
import { error, type JsonPath, type Remark, warning } from "../../yaml/remark.ts";
import type { WrittenOperation } from "./written.ts";

/**
 * Checks one JSON Patch operation: where it points, and what it carries (`intent/README.md#v-ov-08` … `#v-ov-15`,
 * `yaml/README.md#b-83` … `#b-86`).
 */
export function operationRemarks(operation: WrittenOperation, at: JsonPath): readonly Remark[] {
  return [
    ...pathRemarks(operation.path, [...at, "path"]),
    ...valueRemarks(operation, at),
    ...(operation.value === undefined ? [] : variableRemarks(operation.value, [...at, "value"])),
    ...wholeMapRemarks(operation, at),
  ];
}

/** The first rule that a path breaks: form, then reserved names, then fields that nobody may override. */
function pathRemarks(path: string, at: JsonPath): readonly Remark[] {
  const complain = (code: ProblemCode, message: string, fix: string): readonly Remark[] => [
    { ...error(code, at, message, fix), got: JSON.stringify(path) },
  ];
  if (!path.startsWith("/"))
    return complain("FLT1320", "must begin with a slash", "write a JSON pointer such as /spec/replicas");
  const segments = path.slice(1).split("/");
  if (segments.some((it) => it.trim() === ""))
    return complain("FLT1320", "has an empty segment", "remove the spare slash");
  if (segments.some((it) => /~(?![01])/.test(it)))
    return complain("FLT1320", "has a stray ~", "write ~0 for ~ and ~1 for a slash in a key");
  if (segments.some((it) => /^0[0-9]+$/.test(it)))
    return complain("FLT1320", "has an index with a leading zero", "remove the zero");
  if (segments.some((it) => reservedNames.has(unescaped(it))))
    return complain("FLT1321", "has a reserved name", "choose another");
  const [first, second] = segments.map(unescaped);
  if (first === "apiVersion" || first === "kind")
    return complain("FLT1330", "what an object is cannot be overridden", "change the object itself");
  if (first === "status") return complain("FLT1330", "status cannot be overridden", "remove the operation");
  if (first === "metadata" && second !== "labels" && second !== "annotations")
    return complain("FLT1330", "of metadata only labels and annotations can be overridden", "remove the operation");
  return [];
}

const reservedNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

const unescaped = (segment: string): string => segment.replaceAll("~1", "/").replaceAll("~0", "~");

function valueRemarks({ op, value }: WrittenOperation, at: JsonPath): readonly Remark[] {
  if (op === "remove" && value !== undefined)
    return [error("FLT1325", [...at, "value"], "remove takes no value", "remove the value")];
  if (op !== "remove" && value === undefined) return [error("FLT1325", at, `${op} needs a value`, "add the value")];
  return [];
}

/** Checks the variables in every text of a value; what does not begin like one of ours is left alone. */
function variableRemarks(value: Json, at: JsonPath): readonly Remark[] {
  if (typeof value === "string") return variableRemarksOf(value, at);
  if (typeof value !== "object" || value === null) return [];
  const entries: readonly (readonly [string | number, Json])[] = Array.isArray(value)
    ? [...(value as readonly Json[]).entries()]
    : Object.entries(value);
  return entries.flatMap(([step, it]) => variableRemarks(it, [...at, step]));
}

function variableRemarksOf(text: string, at: JsonPath): readonly Remark[] {
  const remarks: Remark[] = [];
  for (const match of text.matchAll(/\$\{MEMBER-CLUSTER-([^}]*)(\}?)/g)) {
    const [whole, name = "", end] = match;
    if (end === "") remarks.push(error("FLT1332", at, "a variable has no closing brace", "add }"));
    else if (name !== "NAME" && !/^LABEL-KEY-[^${\s]+$/.test(name))
      remarks.push({ ...error("FLT1332", at, "unknown variable", knownVariables), got: whole });
  }
  return remarks;
}

const knownVariables = "use ${MEMBER-CLUSTER-NAME} or ${MEMBER-CLUSTER-LABEL-KEY-<label>}";

/** Replacing labels or annotations as a whole loses what stood there (`render/README.md#c-35`). */
function wholeMapRemarks({ op, path }: WrittenOperation, at: JsonPath): readonly Remark[] {
  if (op === "remove" || !/\/metadata\/(?:labels|annotations)$/.test(path)) return [];
  const message = "replaces the whole map: keys that the object already has are lost";
  return [warning("FLT1339", [...at, "path"], message, `name one key: ${path}/example.com~1key`)];
}
