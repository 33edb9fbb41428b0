import { isObject, type Json, memberAt, textOf } from "../../model/json.ts";
import {
  builtInScopes,
  kindKey,
  type Manifest,
  type ObjectId,
  type Scope,
  type ScopeTable,
} from "../../model/manifest.ts";
import { placementGroup } from "../../model/names.ts";
import { compareText } from "../../model/value.ts";
import { error, type FieldProblems } from "../../yaml/problems.ts";

export const isDefinition = ({ group, kind }: Pick<ObjectId, "group" | "kind">): boolean =>
  group === "apiextensions.k8s.io" && kind === "CustomResourceDefinition";

/** Envelopes are selected like objects of Kubernetes. */
const knownScopes: ScopeTable = new Map<string, Scope>([
  ...builtInScopes,
  [`${placementGroup}/ClusterResourceEnvelope`, "Cluster"],
  [`${placementGroup}/ResourceEnvelope`, "Namespaced"],
]);

/** The scopes of Kubernetes' kinds and of those that these definitions add, which never change Kubernetes' own. */
export function scopesOf(definitions: Iterable<Manifest>): ScopeTable {
  const added = new Map<string, Scope>();
  for (const definition of definitions) {
    const defined = definedKind(definition);
    if (defined !== null && !knownScopes.has(kindKey(defined))) added.set(kindKey(defined), defined.scope);
  }
  const ordered = [...added].sort(([a], [b]) => compareText(a, b));
  return ordered.length === 0 ? knownScopes : new Map([...knownScopes, ...ordered]);
}

/** Checks that a CustomResourceDefinition defines a group, a kind and a scope. */
export function definitionProblems(definition: Json): FieldProblems {
  if (isObject(definition) && definedKind(definition) !== null) return [];
  const message = "must have group, names.kind, and scope Cluster or Namespaced";
  return [error("FLT1415", ["spec"], message, "complete the definition")];
}

function definedKind(definition: Manifest): { group: string; kind: string; scope: Scope } | null {
  const group = textOf(memberAt(definition, "spec", "group"));
  const kind = textOf(memberAt(definition, "spec", "names", "kind"));
  const scope = textOf(memberAt(definition, "spec", "scope"));
  if (group === null || kind === null || (scope !== "Cluster" && scope !== "Namespaced")) return null;
  return { group, kind, scope };
}
