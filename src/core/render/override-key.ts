import type { ScopeTable, VersionedId } from "../model/manifest.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import { scopeOf } from "./scope-of.ts";

// How overrides and manifests meet. The version counts: a selector of v1beta1 does not touch a manifest of v1
// (`render/README.md#o-20`).
const keyOf = (group: string, version: string, kind: string, namespace: string, name: string): string =>
  `${group}/${version}/${kind}/${namespace}/${name}`;

/** What the selectors of an override reach. Those of a ResourceOverride look in its own namespace. */
export const selectorKeysOf = ({ namespace, spec }: OverrideSnapshot): readonly string[] =>
  spec.selectors.map((it) => keyOf(it.group, it.version, it.kind, namespace ?? "", it.name));

/**
 * The keys under which a manifest can be reached: its own when it is cluster-scoped; its Namespace's, for
 * cluster-scoped overrides, and its own, for namespaced ones, when it is not. So an override of a Namespace rewrites
 * everything inside, and no cluster-scoped override can name a namespaced object
 * (`render/README.md#how-an-override-acts`, `#o-03`).
 */
export function overrideKeysOf(id: VersionedId, scopes: ScopeTable): readonly string[] {
  const { group, version, kind, namespace, name } = id;
  if (namespace === null || scopeOf(id, scopes) === "Cluster") return [keyOf(group, version, kind, "", name)];
  return [keyOf("", "v1", "Namespace", "", namespace), keyOf(group, version, kind, namespace, name)];
}
