import type { ClusterTerm, PropertyRequirement } from "../../model/placement.ts";
import { type LabelRequirement, type LabelSelector, type Labels, selects } from "../../model/value.ts";
import type { Candidate } from "../framework/cycle.ts";

/** Terms and values that an explanation quotes; the rest is counted. */
const spelledOut = 3;

/** Why none of the terms matches a cluster: the first part of each that does not hold, and what the cluster has instead. */
export function explainMismatch(
  required: readonly ClusterTerm[],
  candidate: Candidate,
  isMet: (requirement: PropertyRequirement) => boolean,
): string {
  const unmet = required.flatMap((it) => unmetText(it, candidate, isMet) ?? []);
  const wishes = unmet.slice(0, spelledOut);
  const rest = unmet.length - wishes.length;
  return `no required term matches: ${wishes.join(" or ")}${rest > 0 ? ` or ${rest} more` : ""}`;
}

function unmetText(
  { labelSelector, properties }: ClusterTerm,
  { facts: { labels, properties: known } }: Candidate,
  isMet: (requirement: PropertyRequirement) => boolean,
): string | null {
  const label = mismatchText(labelSelector, labels);
  if (label !== null) return label;
  const property = properties.find((it) => !isMet(it));
  if (property === undefined) return null;
  const { name, operator, value } = property;
  const has = known.get(name)?.value;
  return `${name} ${signs[operator]} ${value} (it has ${has === undefined ? "no such property" : has})`;
}

/** The first part of a label selector that a cluster does not meet, and what it has instead; null if it meets all. */
export const selectorMismatch = (selector: LabelSelector, { facts: { labels } }: Candidate): string | null =>
  mismatchText(selector, labels);

function mismatchText(selector: LabelSelector | null, labels: Labels): string | null {
  const label = firstUnmet(selector, labels);
  return label === null ? null : `${selectorText(label)} (it has ${labelText(label.key, labels)})`;
}

const signs: Readonly<Record<PropertyRequirement["operator"], string>> = {
  Gt: ">",
  Ge: ">=",
  Lt: "<",
  Le: "<=",
  Eq: "=",
  Ne: "!=",
};

function firstUnmet(selector: LabelSelector | null, labels: Labels): LabelRequirement | null {
  const requirements: readonly LabelRequirement[] = [
    ...Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({
      key,
      operator: "In" as const,
      values: [value],
    })),
    ...(selector?.matchExpressions ?? []),
  ];
  return requirements.find((it) => !selects({ matchExpressions: [it] }, labels)) ?? null;
}

/** A requirement as kubectl's `--selector` writes it. */
function selectorText({ key, operator, values = [] }: LabelRequirement): string {
  const listed = values.slice(0, spelledOut).join(", ") + (values.length > spelledOut ? ", …" : "");
  switch (operator) {
    case "In":
      return values.length === 1 ? `${key}=${listed}` : `${key} in (${listed})`;
    case "NotIn":
      return values.length === 1 ? `${key}!=${listed}` : `${key} notin (${listed})`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
  }
}

const labelText = (key: string, labels: Labels): string =>
  Object.hasOwn(labels, key) ? `${key}=${labels[key]}` : `no ${key}`;
