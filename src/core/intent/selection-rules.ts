import { kindKey, type ScopeTable } from "../model/manifest.ts";
import type { Override } from "../model/override.ts";
import type { Placement } from "../model/placement.ts";
import { nearest } from "../yaml/nearest.ts";
import { error, type JsonPath, type Remark, warning } from "../yaml/remark.ts";
import type { Content } from "./content.ts";
import { isNeverPlaced } from "./kinds/never-placed.ts";
import { isNamespaceKind } from "./kinds/placement-rules.ts";
import { fleetKindOf } from "./kinds.ts";

/** Checks the kinds that a placement or override selects, which depends on the definitions of the same commit. */
export function selectionRemarks(content: Content, scopes: ScopeTable): readonly Remark[] {
  if (content.kind === "placement") return placementRemarks(content.placement, scopes);
  return content.kind === "override" ? overrideRemarks(content.override, scopes) : [];
}

/** `intent/README.md#v-crp-05`, `#v-rp-03`, `#v-pl-09`: a kind must be known, and live where the placement looks. */
function placementRemarks(placement: Pick<Placement, "scope" | "spec">, scopes: ScopeTable): readonly Remark[] {
  const { resourceSelectors } = placement.spec;
  const looksInside = resourceSelectors.some(
    (it) => isNamespaceKind(it) && it.selectionScope === "NamespaceWithResourceSelectors",
  );
  return resourceSelectors.flatMap((selector, i): readonly Remark[] => {
    const at: JsonPath = ["spec", "resourceSelectors", i];
    const own = fleetKindOf(selector.group, selector.kind);
    if (own !== null && !isNeverPlaced(selector))
      return [
        error("FLT1901", at, `${own.kind} is not yet supported`, "leave it out until a later version supports it"),
      ];
    const scope = scopes.get(kindKey(selector));
    if (scope === undefined) return isNeverPlaced(selector) ? [] : [unknownKind(selector, at, scopes)];
    if (placement.scope === "Namespaced")
      return scope === "Cluster"
        ? [error("FLT1311", at, `${selector.kind} is cluster-scoped`, "use a ClusterResourcePlacement")]
        : [];
    return scope === "Namespaced" && !looksInside ? [namespacedKind(selector.kind, at)] : [];
  });
}

const namespacedKind = (kind: string, at: JsonPath): Remark =>
  error(
    "FLT1311",
    at,
    `${kind} is namespaced; this placement selects cluster-scoped objects and whole namespaces`,
    "select the Namespace, with selectionScope NamespaceWithResourceSelectors to narrow it down",
  );

function unknownKind({ group, kind }: { group: string; kind: string }, at: JsonPath, scopes: ScopeTable): Remark {
  const known = [...scopes.keys()];
  const near = nearest(
    kind,
    known.filter((it) => it.startsWith(`${group}/`)).map((it) => it.slice(group.length + 1)),
  );
  const elsewhere = known.find((it) => it.endsWith(`/${kind}`));
  const fix =
    near !== null
      ? `did you mean "${near}"?`
      : elsewhere === undefined
        ? "add its CustomResourceDefinition to the repository"
        : `did you mean group "${elsewhere.slice(0, -kind.length - 1)}"?`;
  return error("FLT1301", [...at, "kind"], `${kind} of group "${group}" is not known`, fix);
}

/** A cluster override names cluster-scoped objects; others it would never meet. */
function overrideRemarks({ scope, spec }: Pick<Override, "scope" | "spec">, scopes: ScopeTable): readonly Remark[] {
  if (scope === "Namespaced") return [];
  return spec.selectors.flatMap((selector, i) => {
    const at: JsonPath = ["spec", "clusterResourceSelectors", i];
    const found = scopes.get(kindKey(selector));
    if (found === "Cluster") return [];
    const why = found === undefined ? "is not known" : "is namespaced";
    return [
      warning("FLT1333", at, `${selector.kind} ${why}: this selector has no effect`, "name the object's Namespace"),
    ];
  });
}
