import type { ClusterTerm, PreferredTerm } from "../../model/placement.ts";
import { type LabelRequirement, type LabelSelector, type Labels, selects } from "../../model/value.ts";
import type { Extensions, Plugin, PluginInput } from "../framework/plugin.ts";

/** Terms and values that an explanation quotes; the rest is counted. */
const spelledOut = 3;

/**
 * Refuses clusters that no required term matches, and scores the rest by the preferred terms
 * (`schedule/README.md#clusteraffinity`). No required term at all means no restriction.
 */
export const clusterAffinity: Plugin = {
  name: "ClusterAffinity",
  judgesAlone: true,

  prepare({ policy }: PluginInput): Extensions {
    if (policy.kind === "PickFixed") return {};
    const { required } = policy;
    const preferred = policy.kind === "PickN" ? policy.preferred.filter((it) => it.weight !== 0) : [];
    return {
      filter({ cluster: { labels } }) {
        if (required.length === 0) return "fits";
        for (const it of required) if (matches(it, labels)) return "fits";
        return "unschedulable";
      },
      because: ({ cluster: { labels } }) => explainMismatch(required, labels),
      score: ({ cluster: { labels } }) => ({ affinity: affinityOf(preferred, labels) }),
    };
  },
};

const matches = ({ labelSelector }: ClusterTerm, labels: Labels): boolean =>
  labelSelector === null || selects(labelSelector, labels);

const affinityOf = (preferred: readonly PreferredTerm[], labels: Labels): number =>
  preferred.reduce((sum, { weight, preference }) => sum + (matches(preference, labels) ? weight : 0), 0);

function explainMismatch(required: readonly ClusterTerm[], labels: Labels): string {
  const unmet = required.flatMap(({ labelSelector }) => firstUnmet(labelSelector, labels) ?? []);
  const wishes = unmet.slice(0, spelledOut).map((it) => `${selectorText(it)} (it has ${labelText(it.key, labels)})`);
  const rest = unmet.length - wishes.length;
  return `no required term matches: ${wishes.join(" or ")}${rest > 0 ? ` or ${rest} more` : ""}`;
}

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
