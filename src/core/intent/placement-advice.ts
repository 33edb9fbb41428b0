import { remembered } from "../model/identity.ts";
import type { Intent } from "../model/intent.ts";
import { memberAt, textsOf } from "../model/json.ts";
import { kindKey, objectKey, type SourcedManifest } from "../model/manifest.ts";
import type { Placement, ResourceSelector } from "../model/placement.ts";
import {
  type LabelRequirement,
  type LabelSelector,
  type Labels,
  nameList,
  selects,
  selectsIfAny,
} from "../model/value.ts";
import { didYouMean, nearest } from "../yaml/nearest.ts";
import { type FieldProblems, type JsonPath, warning } from "../yaml/problems.ts";
import { propertyAdvice } from "./property-advice.ts";

type AdviceContext = Pick<Intent, "clusters" | "objects" | "scopes" | "unusable">;

/**
 * Warns of a placement that no cluster matches, and of selectors that select nothing: KubeFleet calls both a success.
 *
 * Taints are left to the scheduler. No warnings while a document cannot be used, or where there are only placements, as
 * when a single file is validated: what is missing may exist.
 */
export function placementAdvice(
  placement: Pick<Placement, "spec" | "namespace">,
  context: AdviceContext,
): FieldProblems {
  if (context.unusable.size > 0) return [];
  const resourceSelectors = context.objects.size === 0 ? [] : placement.spec.resourceSelectors;
  return [
    ...clusterProblems(placement, context),
    ...propertyAdvice(placement, context),
    ...resourceSelectors.flatMap((it, i) =>
      selectorProblems(it, placement, { context, at: ["spec", "resourceSelectors", i] }),
    ),
  ];
}

const termsPath = [
  ...["spec", "policy", "affinity", "clusterAffinity"],
  ...["requiredDuringSchedulingIgnoredDuringExecution", "clusterSelectorTerms"],
];

function clusterProblems({ spec: { policy } }: Pick<Placement, "spec">, { clusters }: AdviceContext): FieldProblems {
  if (policy.kind === "PickFixed" || clusters.size === 0 || policy.required.length === 0) return [];
  const selectors = policy.required.map((it) => it.labelSelector ?? {});
  for (const { labels } of clusters.values()) if (selectors.some((it) => selects(it, labels))) return [];
  const [first = {}] = selectors;
  const all = [...clusters.values()].map((it) => it.labels);
  const hint = hintOf(first, all);
  const message = `matches none of ${all.length === 1 ? "one cluster" : `${all.length} clusters`}${because(hint)}`;
  return [warning("FLT1340", [...termsPath, 0], message, hint.fix ?? "correct the selector, or label a cluster")];
}

function selectorProblems(
  selector: ResourceSelector,
  placement: Pick<Placement, "spec" | "namespace">,
  { context, at }: { readonly context: AdviceContext; readonly at: JsonPath },
): FieldProblems {
  const namespace = namespaceOf(selector, placement, context);
  // What cannot be selected at all is refused elsewhere.
  if (namespace === undefined) return [];
  const { group, kind, name, labelSelector } = selector;
  if (name !== null && context.objects.has(objectKey({ group, kind, namespace, name }))) return [];
  const candidates = (byKind(context.objects).get(kindKey(selector)) ?? []).filter(
    (it) => it.id.namespace === namespace,
  );
  if (name !== null) {
    const names = candidates.map((it) => it.id.name);
    const fix = didYouMean(name, names, "add it, or correct the name");
    return [
      warning("FLT1341", [...at, "name"], `selects nothing: there is no ${kind} ${name}${inside(namespace)}`, fix),
    ];
  }
  const labels = candidates.map(({ manifest }) => textsOf(memberAt(manifest, "metadata", "labels")));
  if (labels.some((it) => selectsIfAny(labelSelector, it))) return [];
  if (labels.length === 0 || labelSelector === null)
    return [
      warning(
        "FLT1341",
        at,
        `selects nothing: there is no ${kind}${inside(namespace)}`,
        "add one, or remove the selector",
      ),
    ];
  const hint = hintOf(labelSelector, labels);
  const message = `selects nothing${because(hint, `no ${kind}${inside(namespace)}`)}`;
  return [
    warning("FLT1341", [...at, "labelSelector"], message, hint.fix ?? "correct the selector, or label an object"),
  ];
}

/** In which namespace a selector selects; null for a cluster-scoped kind, undefined where it cannot select anything. */
function namespaceOf(
  selector: ResourceSelector,
  { spec, namespace }: Pick<Placement, "spec" | "namespace">,
  { scopes }: AdviceContext,
): string | null | undefined {
  const scope = scopes.get(kindKey(selector));
  if (scope === undefined) return undefined;
  if (scope === "Cluster") return namespace === null ? null : undefined;
  if (namespace !== null) return namespace;
  const around = spec.resourceSelectors.find((it) => it.selectionScope === "NamespaceWithResourceSelectors");
  return around?.kind === "Namespace" && around.name !== null ? around.name : undefined;
}

const inside = (namespace: string | null): string => (namespace === null ? "" : ` in the namespace ${namespace}`);

const byKind = remembered((objects: AdviceContext["objects"]) => {
  const found = new Map<string, SourcedManifest[]>();
  for (const it of objects.values()) {
    const key = kindKey(it.id);
    const others = found.get(key);
    if (others === undefined) found.set(key, [it]);
    else others.push(it);
  }
  return found;
});

/** Which part of a selector nothing meets, and what was perhaps meant; null for what cannot be context. */
interface Hint {
  readonly missing: string | null;
  readonly fix: string | null;
}

const because = ({ missing }: Hint, subject = "none"): string =>
  missing === null ? "" : `: ${subject} has the label ${missing}`;

/** The first requirement that nothing matches by itself. */
function hintOf(selector: LabelSelector, all: readonly Labels[]): Hint {
  const matched = Object.entries(selector.matchLabels ?? {});
  const exact = matched.map(([key, value]): LabelRequirement => ({ key, operator: "In", values: [value] }));
  for (const requirement of [...exact, ...(selector.matchExpressions ?? [])]) {
    const { key, operator, values = [] } = requirement;
    if (operator !== "In" && operator !== "Exists") continue;
    const there = new Set(all.flatMap((it) => (Object.hasOwn(it, key) ? [it[key] ?? ""] : [])));
    if (there.size === 0) return { missing: key, fix: meantBy([key], new Set(all.flatMap((it) => Object.keys(it)))) };
    if (operator === "In" && !values.some((it) => there.has(it)))
      return { missing: values.map((it) => `${key}=${it}`).join(" or "), fix: meantBy(values, there) };
  }
  return { missing: null, fix: null };
}

/** What was perhaps meant, or what there is. */
function meantBy(words: readonly string[], known: ReadonlySet<string>): string | null {
  const meant = words.map((it) => nearest(it, known)).find((it) => it !== null);
  if (meant !== undefined && meant !== null) return `did you mean "${meant}"?`;
  return known.size === 0 ? null : `there are: ${nameList([...known])}`;
}
