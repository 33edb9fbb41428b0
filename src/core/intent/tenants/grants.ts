import { isOfTenant, type Tenant, type TenantGrant } from "../../model/fleet.ts";
import { isObject, member, memberAt } from "../../model/json.ts";
import { isEnvelope, type Manifest, type ObjectId, objectText, wrappedIds } from "../../model/manifest.ts";
import type { OverrideRule } from "../../model/override.ts";
import { error, type FieldProblem, type JsonPath } from "../../yaml/problems.ts";
import type { DocumentContent } from "../kinds/kind.ts";
import { isGrantedKind } from "./granted-kinds.ts";

/** Whether a grant covers an object: its kind, and the namespace that it is in or, of a Namespace, that it is. */
const covers = (grant: TenantGrant, id: ObjectId): boolean =>
  isGrantedKind(grant, id) && isGrantedNamespace(grant, spaceOf(id));

/** A Namespace belongs to itself. Null: in none, so that its kind alone decides. */
const spaceOf = ({ group, kind, namespace, name }: ObjectId): string | null =>
  group === "" && kind === "Namespace" ? name : namespace;

const isGrantedNamespace = ({ namespaces }: TenantGrant, namespace: string | null): boolean =>
  namespace === null ||
  namespaces.some((it) => (it.endsWith("*") ? namespace.startsWith(it.slice(0, -1)) : namespace === it));

/** What a document says it is, and what it defines; null where it cannot be used. */
interface Claim {
  readonly id: ObjectId;
  readonly content: DocumentContent | null;
}

/** Why a document is beyond one of the grants that it has to keep to; null when it is not (`intent/README.md#tenants`). */
export function beyondGrants(claim: Claim, grants: readonly Tenant[]): FieldProblem | null {
  for (const grant of grants) {
    const found = beyond(claim, grant);
    if (found !== null) {
      const [at, what] = found;
      const message = `${what}, which ${grant.folder}** is not granted (${grant.place})`;
      return error("FLT1404", at, message, `have it granted there first, or keep it out of ${grant.folder}`);
    }
  }
  return null;
}

type Excess = readonly [at: JsonPath, what: string];

function beyond({ id, content }: Claim, grant: Tenant): Excess | null {
  if (!isGrantedKind(grant, id)) return [["kind"], `defines ${objectText(id)}`];
  if (!covers(grant, id)) {
    const isOwn = id.group === "" && id.kind === "Namespace";
    return [["metadata", isOwn ? "name" : "namespace"], `defines ${objectText(id)}`];
  }
  switch (content?.kind) {
    case "placement":
      return beyondBySelection(content.placement.spec.resourceSelectors, ["spec", "resourceSelectors"], grant);
    case "override": {
      const field = content.override.scope === "Cluster" ? "clusterResourceSelectors" : "resourceSelectors";
      const { selectors, rules } = content.override.spec;
      return beyondBySelection(selectors, ["spec", field], grant) ?? beyondByPatch(rules);
    }
    case "manifest":
      return privilegedLabel(content.manifest, []);
    case "envelope":
      return beyondInside(content.manifest, grant);
    default:
      return null;
  }
}

/** What an override would add: a label that the document itself may not have. */
function beyondByPatch(rules: readonly OverrideRule[]): Excess | null {
  for (const { action } of rules)
    for (const { path, value } of action.kind === "JSONPatch" ? action.operations : []) {
      const [, , , label = ""] = path.split("/").map((it) => it.replaceAll("~1", "/").replaceAll("~0", "~"));
      const keys = label === "" && isObject(value) ? Object.keys(value) : [label];
      // A variable in a key, which may stand for nothing at all, makes another key of it on every cluster.
      const isBeyond = (it: string): boolean => isPrivilegedLabel(it) || (label === "" && variable.test(it));
      const key = path.startsWith("/metadata/labels") ? keys.find(isBeyond) : undefined;
      if (key !== undefined) return [["spec", "policy", "overrideRules"], `sets the label ${key}`];
    }
  return null;
}

const variable = /\$\{MEMBER-CLUSTER-/;

interface Selecting {
  readonly group: string;
  readonly kind: string;
  readonly name: string | null;
}

/** What is selected has to be of granted kinds too, and Namespaces are named. */
function beyondBySelection(selectors: readonly Selecting[], at: JsonPath, grant: Tenant): Excess | null {
  for (const [i, { group, kind, name }] of selectors.entries()) {
    if (!isGrantedKind(grant, { group, kind })) return [[...at, i, "kind"], `selects the kind ${kind}`];
    if (group !== "" || kind !== "Namespace") continue;
    if (name === null || name === "") return [[...at, i], "selects Namespaces without naming them"];
    if (!isGrantedNamespace(grant, name)) return [[...at, i, "name"], `selects the Namespace ${name}`];
  }
  return null;
}

function beyondInside(envelope: Manifest, grant: Tenant): Excess | null {
  const other = wrappedIds(envelope).find((it) => isEnvelope(it) || !covers(grant, it));
  if (other !== undefined) return [["data"], `wraps ${objectText(other)}`];
  const entries = member(envelope, "data");
  if (!isObject(entries)) return null;
  for (const [key, it] of Object.entries(entries)) {
    const found = isObject(it) ? privilegedLabel(it, ["data", key]) : null;
    if (found !== null) return found;
  }
  return null;
}

/** Labels by which an object changes what others may do: no grant covers them. */
const isPrivilegedLabel = (key: string): boolean =>
  /^(?:pod-security\.kubernetes\.io\/|rbac\.authorization\.k8s\.io\/aggregate-to-)/.test(key);

function privilegedLabel(manifest: Manifest, base: JsonPath): Excess | null {
  const labels = memberAt(manifest, "metadata", "labels");
  const key = isObject(labels) ? Object.keys(labels).find(isPrivilegedLabel) : undefined;
  return key === undefined ? null : [[...base, "metadata", "labels", key], `sets the label ${key}`];
}

/**
 * Whether a document of which nobody knows what it is may be an object, where it stands in a folder with these grants:
 * what all of them cover, or what was accepted from there; without any, everything.
 */
export const mayDefine = (grants: readonly Tenant[], { id, source }: Standing): boolean =>
  grants.every((it) => covers(it, id)) || grants.some((it) => isOfTenant(source.path, it));

interface Standing {
  readonly id: ObjectId;
  readonly source: { readonly path: string };
}
