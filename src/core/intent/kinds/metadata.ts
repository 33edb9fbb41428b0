import { isObject, type Json, memberAt } from "../../model/json.ts";
import { flotillaGroup, placementLabel, writeAnnotation } from "../../model/names.ts";
import type { LabelRequirement, LabelSelector } from "../../model/value.ts";
import { didYouMean } from "../../yaml/nearest.ts";
import { error, type FieldProblem, type FieldProblems, type JsonPath, warning } from "../../yaml/problems.ts";

/** The largest sum of annotation keys and values that Kubernetes stores. */
const maxAnnotationBytes = 256 * 1024;

/** Checks labels and annotations as an API server would (`yaml/README.md#b-74`, `#b-94`, `#b-96`). */
export function metadataProblems(value: Json): FieldProblems {
  const labels = memberAt(value, "metadata", "labels");
  const annotations = memberAt(value, "metadata", "annotations");
  return [
    ...stringMapProblems(labels, ["metadata", "labels"]),
    ...labelProblems(labels, ["metadata", "labels"]),
    ...stringMapProblems(annotations, ["metadata", "annotations"]),
    ...annotationSizeProblems(annotations),
    ...markProblems(labels, annotations),
  ];
}

/** Checks the keys and values of labels, or of a selector's `matchLabels`. */
function labelProblems(labels: Json | undefined, at: JsonPath): FieldProblems {
  if (!isObject(labels)) return [];
  return Object.entries(labels).flatMap(([key, value]) => [
    ...(isQualifiedName(key) ? [] : [malformedProblem("label key", [...at, key], key)]),
    ...(typeof value !== "string" || isLabelValue(value) ? [] : [malformedProblem("label value", [...at, key], value)]),
  ]);
}

/** A malformed label key or value, or one of a taint. */
export function malformedProblem(what: string, at: JsonPath, got: string): FieldProblem {
  const fix = "use letters, digits, - _ . and at most 63 characters";
  return error("FLT1305", at, `is not a valid ${what}`, fix, JSON.stringify(got));
}

/** The name of a placement or member cluster: a DNS label, since names are built from it (`intent/README.md#e-3`). */
export function dnsLabelProblems(name: string, at: JsonPath = ["metadata", "name"]): FieldProblems {
  const fix = "use lower-case letters, digits and -, at most 63 characters";
  return isDnsLabel(name) ? [] : [error("FLT1309", at, "must be a DNS label", fix, JSON.stringify(name))];
}

/** The name of an object of any other kind: with dots, and at most `limit` characters. */
export function dnsSubdomainProblems(
  name: string,
  at: JsonPath = ["metadata", "name"],
  limit: 253 | 63 = 253,
): FieldProblems {
  if (isDnsSubdomain(name) && name.length <= limit) return [];
  const fix = `use lower-case letters, digits, - and ., at most ${limit} characters`;
  return [error("FLT1309", at, "must be a DNS subdomain", fix, JSON.stringify(name))];
}

/** What kinds have in common whose names are DNS subdomains. */
interface CommonFields {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly status?: Json;
}

/** Checks the name, our annotations (`known` ones exist), and the status. */
export const commonProblems = (
  { metadata, status }: CommonFields,
  { known = [], maxName = 253 }: { known?: string[]; maxName?: 253 | 63 } = {},
): FieldProblems => [
  ...dnsSubdomainProblems(metadata.name, ["metadata", "name"], maxName),
  ...annotationProblems(metadata.annotations, known),
  ...statusProblems(status),
];

/** Fields that a hub silently drops from a v1 document (`intent/README.md#kinds`). */
export const newerFieldProblems = (
  apiVersion: string,
  at: JsonPath,
  fields: Readonly<Record<string, unknown>>,
): FieldProblems =>
  Object.entries(fields)
    .filter(([, it]) => it !== undefined && apiVersion.endsWith("/v1"))
    .map(([field]) => {
      const fix = `change apiVersion to ${apiVersion}beta1`;
      return { ...error("FLT1301", [...at, field], "exists in v1beta1 only", fix), on: "key" };
    });

/** Warns of unknown `flotilla.dev/` annotations: a misspelt one would be ignored silently. */
export function annotationProblems(annotations: Json | undefined, known: readonly string[]): FieldProblems {
  if (!isObject(annotations)) return [];
  return Object.keys(annotations)
    .filter((it) => it.startsWith(`${flotillaGroup}/`) && !known.includes(it))
    .map((it) => ({
      ...warning("FLT1301", ["metadata", "annotations", it], "unknown setting", didYouMean(it, known, "remove it")),
      on: "key" as const,
    }));
}

/** A status in a file of the source branch is ignored: the reconciler writes it to the state branch. */
export const statusProblems = (status: unknown): FieldProblems =>
  status === undefined ? [] : [warning("FLT1405", ["status"], "status in a file is ignored", "remove it")];

/** Checks that a field, where there is one, is a map of strings, and maybe of many (`yaml/README.md#limits`). */
export function stringMapProblems(map: Json, at: JsonPath): FieldProblems {
  if (map === null) return [];
  if (!isObject(map)) return [error("FLT1302", at, "must be a map of strings", "correct it")];
  return Object.keys(map)
    .filter((key) => typeof map[key] !== "string")
    .map((key) => error("FLT1302", [...at, key], "must be a string", "put the value in quotes"));
}

function annotationSizeProblems(annotations: Json): FieldProblems {
  if (!isObject(annotations)) return [];
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) size += key.length + String(value).length;
  if (size <= maxAnnotationBytes) return [];
  return [error("FLT1407", ["metadata", "annotations"], `have more than ${maxAnnotationBytes} bytes`, "shorten them")];
}

/** Our marks say what we own in a member: a manifest must not bring its own. */
function markProblems(labels: Json, annotations: Json): FieldProblems {
  const mark = (at: JsonPath): FieldProblem => error("FLT1414", at, "is set by Flotilla only", "remove it");
  return [
    ...(isObject(labels) && placementLabel in labels ? [mark(["metadata", "labels", placementLabel])] : []),
    ...(isObject(annotations) && writeAnnotation in annotations
      ? [mark(["metadata", "annotations", writeAnnotation])]
      : []),
  ];
}

/** Checks that a label selector is one Kubernetes would take: `intent/README.md#v-pl-04`, `#v-pl-31`, `#v-ov-04`. */
export function labelSelectorProblems(selector: LabelSelector | undefined, at: JsonPath): FieldProblems {
  if (selector === undefined) return [];
  return [
    ...labelProblems(selector.matchLabels, [...at, "matchLabels"]),
    ...(selector.matchExpressions ?? []).flatMap((it, i) => requirementProblems(it, [...at, "matchExpressions", i])),
  ];
}

function requirementProblems({ key, operator, values }: LabelRequirement, at: JsonPath): FieldProblems {
  const takesValues = operator === "In" || operator === "NotIn";
  const count = values?.length ?? 0;
  const malformedValues = (values ?? []).flatMap((it, i) =>
    isLabelValue(it) ? [] : [malformedProblem("label value", [...at, "values", i], it)],
  );
  return [
    ...(isQualifiedName(key) ? [] : [malformedProblem("label key", [...at, "key"], key)]),
    ...(takesValues && count === 0
      ? [error("FLT1305", at, `${operator} needs values`, "list at least one value")]
      : []),
    ...(!takesValues && count > 0 ? [error("FLT1305", at, `${operator} takes no values`, "remove the values")] : []),
    ...malformedValues,
  ];
}

// The forms of names and labels that Kubernetes accepts.

/** `web-1`: 63 characters, lower case, no dots. */
export const isDnsLabel = (text: string): boolean => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text);

/** `web.example-1.com`: 253 characters, DNS labels of any length between dots. */
export const isDnsSubdomain = (text: string): boolean =>
  text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text);

/** `app.kubernetes.io/name`: a label key, also the key of a taint. */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash >= 0 && !isDnsSubdomain(text.slice(0, slash))) return false;
  const name = text.slice(slash + 1);
  return name.length <= 63 && /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(name);
}

/** A label value: empty, or 63 characters that begin and end with a letter or digit. */
export const isLabelValue = (text: string): boolean =>
  text.length <= 63 && /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(text);
