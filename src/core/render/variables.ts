import { isObject, type Json } from "../model/json.ts";
import type { ClusterName, Labels } from "../model/value.ts";

/** The member that a value is written for. */
export interface VariableValues {
  readonly cluster: ClusterName;
  readonly labels: Labels;
}

const clusterVariable = "${MEMBER-CLUSTER-NAME}";
// The key runs to the next brace; the brace itself may be missing.
const labelVariable = /\$\{MEMBER-CLUSTER-LABEL-KEY-([^}]*)(\}?)/g;
// Only valid label keys are quoted: with a missing brace in a Secret's value the rest of it would end up in a message.
const labelKey = /^[A-Za-z0-9./_-]{1,317}$/;

/**
 * A patch value with its variables replaced, in strings and keys, or why they cannot be.
 *
 * The cluster's name first, then labels. An empty label gives the empty string; what is not exactly a variable stays.
 * The results are strings, never numbers (`render/README.md#how-an-override-acts`, `#o-10` to `#o-13`, `#o-25`).
 */
export function substitute(
  value: Json,
  member: VariableValues,
): { readonly kind: "value"; readonly value: Json } | { readonly kind: "unknown"; readonly reason: string } {
  const texts = [...stringsIn(value)];
  if (!texts.some(holdsVariable)) return { kind: "value", value };
  for (const text of texts) {
    const reason = unknownIn(named(text, member.cluster), member.labels);
    if (reason !== null) return { kind: "unknown", reason };
  }
  return { kind: "value", value: replaced(value, member) };
}

/** Every string of a value, keys included. */
export function* stringsIn(value: Json): Generator<string> {
  if (typeof value === "string") yield value;
  if (Array.isArray(value)) for (const item of value as readonly Json[]) yield* stringsIn(item);
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    yield key;
    yield* stringsIn(item);
  }
}

/** Whether a string may hold a variable at all. */
export const holdsVariable = (text: string): boolean => text.includes("${MEMBER-CLUSTER-");

/** Whether a variable stands in a key of a value, so that paths in it differ from cluster to cluster. */
export function hasVariableKey(value: Json): boolean {
  if (Array.isArray(value)) return (value as readonly Json[]).some(hasVariableKey);
  return isObject(value) && Object.entries(value).some(([key, it]) => holdsVariable(key) || hasVariableKey(it));
}

/** Whether a string uses the cluster's name, so that no two clusters get the same. */
export const namesCluster = (text: string): boolean => text.includes(clusterVariable);

/** The label keys that the variables of a string look up on `cluster`. */
export const variableLabels = (text: string, cluster: string): readonly string[] =>
  [...named(text, cluster).matchAll(labelVariable)].map((it) => it[1] ?? "");

const named = (text: string, cluster: string): string => text.replaceAll(clusterVariable, () => cluster);

function unknownIn(text: string, labels: Labels): string | null {
  for (const [, key = "", brace] of text.matchAll(labelVariable)) {
    if (brace === "") return "a label variable is not closed with }";
    if (key === "") return "a label variable names no label";
    if (!Object.hasOwn(labels, key))
      return `the member cluster has no label ${labelKey.test(key) ? key : "of such a name"}`;
  }
  return null;
}

function replaced(value: Json, member: VariableValues): Json {
  if (typeof value === "string") return replacedText(value, member);
  if (Array.isArray(value)) return (value as readonly Json[]).map((it) => replaced(it, member));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [replacedText(key, member), replaced(item, member)]),
  );
}

const replacedText = (text: string, { cluster, labels }: VariableValues): string =>
  named(text, cluster).replace(labelVariable, (_, key: string) => labels[key] ?? "");
