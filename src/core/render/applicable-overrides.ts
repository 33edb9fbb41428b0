import { type ScopeTable, scopeOf, type VersionedId } from "../model/manifest.ts";
import { memberNameLabel } from "../model/names.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import { compareText, type Labels, type PlacementKey, selectorKeys, selects } from "../model/value.ts";
import { holdsVariable, namesCluster, stringsIn, variableLabels } from "./variables.ts";

const reachOf = new WeakMap<readonly OverrideSnapshot[], ReadonlyMap<string, readonly OverrideSnapshot[]>>();

/**
 * The overrides that apply to a placement on any cluster: they select one of its resources, and name this placement or
 * none. In the order of bindings: cluster-scoped by snapshot name, then namespaced by namespace and snapshot name, all
 * compared as texts (`render/README.md#which-overrides-apply`, `#o-20` to `#o-22`; `#c-27`, `#c-28`).
 */
export function overridesOf(
  placement: PlacementKey,
  resources: readonly { readonly id: VersionedId }[],
  latest: readonly OverrideSnapshot[],
  scopes: ScopeTable,
): readonly OverrideSnapshot[] {
  if (latest.length === 0) return [];
  const reach = reachIndex(latest);
  const found = new Set<OverrideSnapshot>();
  for (const { id } of resources)
    for (const key of overrideKeysOf(id, scopes))
      for (const it of reach.get(key) ?? [])
        if (it.spec.placement === null || it.spec.placement === placement) found.add(it);
  return [...found].sort(inBindingOrder);
}

/** Those that act on a cluster with these labels (`render/README.md#which-overrides-apply`, `#o-06`). */
export const overridesOn = (labels: Labels, candidates: readonly OverrideSnapshot[]): readonly OverrideSnapshot[] =>
  candidates.filter((it) => it.spec.rules.some((rule) => matchesRule(rule.clusters, labels)));

/** Whether a rule with these cluster selectors acts: none given matches no cluster, an empty list matches every one. */
export const matchesRule = (clusters: OverrideSnapshot["spec"]["rules"][number]["clusters"], labels: Labels): boolean =>
  clusters !== null && (clusters.length === 0 || clusters.some((it) => selects(it, labels)));

/**
 * The labels, sorted by key, that can change what these overrides do: also of those that do not apply now, so that a
 * relabelling is noticed (`render/README.md#c-22`). They give the same result as all labels.
 */
export function consultedLabels(overrides: readonly OverrideSnapshot[], labels: Labels): Labels {
  if (overrides.length === 0) return {};
  const keys = labelsLookedAt(overrides, labels[memberNameLabel] ?? "");
  const present = [...keys].filter((key) => Object.hasOwn(labels, key)).sort(compareText);
  return Object.fromEntries(present.map((key) => [key, labels[key] ?? ""]));
}

/** The label keys that these overrides look at, whether or not the cluster has them. */
export function labelsLookedAt(overrides: readonly OverrideSnapshot[], cluster: string): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const override of overrides) {
    const { selectors, texts } = lookups(override);
    for (const key of selectors) keys.add(key);
    for (const text of texts) for (const key of variableLabels(text, cluster)) keys.add(key);
  }
  return keys;
}

/** Whether an override acts differently on every cluster, whatever their labels. */
export const dependsOnName = (override: OverrideSnapshot): boolean =>
  lookups(override).selectors.includes(memberNameLabel) || lookups(override).texts.some(namesCluster);

interface Lookups {
  readonly selectors: readonly string[];
  /** Texts of patch values that hold variables. */
  readonly texts: readonly string[];
}

const lookupsBy = new WeakMap<OverrideSnapshot, Lookups>();

function lookups(override: OverrideSnapshot): Lookups {
  const known = lookupsBy.get(override);
  if (known !== undefined) return known;
  const { rules } = override.spec;
  const found: Lookups = {
    selectors: rules.flatMap((it) => (it.clusters ?? []).flatMap(selectorKeys)),
    texts: rules
      .flatMap((it) => (it.action.kind === "JSONPatch" ? it.action.operations : []))
      .flatMap((it) => [...stringsIn(it.value)].filter(holdsVariable)),
  };
  lookupsBy.set(override, found);
  return found;
}

function reachIndex(latest: readonly OverrideSnapshot[]): ReadonlyMap<string, readonly OverrideSnapshot[]> {
  const built = reachOf.get(latest);
  if (built !== undefined) return built;
  const index = new Map<string, OverrideSnapshot[]>();
  for (const override of latest)
    for (const key of new Set(selectorKeysOf(override))) {
      const others = index.get(key);
      if (others === undefined) index.set(key, [override]);
      else others.push(override);
    }
  reachOf.set(latest, index);
  return index;
}

const inBindingOrder = (a: OverrideSnapshot, b: OverrideSnapshot): number =>
  compareText(a.namespace ?? "", b.namespace ?? "") || compareText(a.name, b.name);

// By version, too: a selector of v1beta1 does not select a manifest of v1 (`render/README.md#o-20`).
const keyOf = (group: string, version: string, kind: string, namespace: string, name: string): string =>
  `${group}/${version}/${kind}/${namespace}/${name}`;

/** The keys that an override selects. A ResourceOverride selects in its own namespace. */
export const selectorKeysOf = ({ namespace, spec }: OverrideSnapshot): readonly string[] =>
  spec.selectors.map((it) => keyOf(it.group, it.version, it.kind, namespace ?? "", it.name));

/**
 * The keys by which a manifest is selected: its own when it is cluster-scoped; otherwise that of its Namespace, for
 * cluster-scoped overrides, and its own, for namespaced ones. So an override of a Namespace rewrites everything inside,
 * and no cluster-scoped override can name a namespaced object (`render/README.md#how-an-override-acts`, `#o-03`).
 */
export function overrideKeysOf(id: VersionedId, scopes: ScopeTable): readonly string[] {
  const { group, version, kind, namespace, name } = id;
  if (namespace === null || scopeOf(id, scopes) === "Cluster") return [keyOf(group, version, kind, "", name)];
  return [keyOf("", "v1", "Namespace", "", namespace), keyOf(group, version, kind, namespace, name)];
}
