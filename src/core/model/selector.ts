import type { Labels } from "./value.ts";

/** Kubernetes' label selector. Empty selects everything; what an absent one means depends on the field. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelRequirement[];
}

/** One expression of a selector. `values` belong to `In` and `NotIn` only. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** Kubernetes' semantics: all parts ANDed; `NotIn` holds for an absent key (`schedule/README.md#clusteraffinity`). */
export function selects({ matchLabels, matchExpressions }: LabelSelector, labels: Labels): boolean {
  // Asked a million times by a cold scheduler: nothing is made here.
  for (const key in matchLabels) if (labels[key] !== matchLabels[key]) return false;
  return matchExpressions === undefined || matchExpressions.every((it) => meets(it, labels));
}

function meets({ key, operator, values = [] }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
  }
}

/** The label keys a selector looks at. */
export const selectorKeys = (selector: LabelSelector): readonly string[] => [
  ...Object.keys(selector.matchLabels ?? {}),
  ...(selector.matchExpressions ?? []).map((it) => it.key),
];
