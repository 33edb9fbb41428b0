import { memberAt, textsOf } from "../model/json.ts";
import {
  apiVersionOf,
  isNeverPlaced,
  kindKey,
  type ObjectKey,
  objectKey,
  objectText,
  type Scope,
  type SourcedManifest,
  scopeOf,
  type VersionedId,
} from "../model/manifest.ts";
import { isReservedNamespace } from "../model/names.ts";
import type { ResourceSelector } from "../model/placement.ts";
import { compareText, selectsIfAny } from "../model/value.ts";
import type { SelectionIndex } from "./object-index.ts";
import { isMadeByCluster } from "./placeable.ts";

/** Why nothing at all may be placed. */
export interface SelectionRefused {
  readonly kind: "refused";
  /** What a selector asks for, or what an envelope holds. */
  readonly because: "selector" | "contents";
  readonly message: string;
  /** What was picked nevertheless, wrapped or not, as far as it can be read: whoever else lets it go does not delete it. */
  readonly picked: ReadonlySet<ObjectKey>;
}

/** What one selector selects, each object once; warnings as in a selection. */
export interface Picked {
  readonly kind: "picked";
  readonly objects: readonly SourcedManifest[];
  readonly warnings: readonly string[];
}

/** What every selector of one placement is evaluated against. */
export interface SelectionContext {
  readonly index: SelectionIndex;
  readonly scope: Scope;
  /** Where namespaced objects are looked for; null when this placement may not select them directly. */
  readonly namespace: string | null;
}

/** The objects that one selector of a placement selects (`render/README.md#selection`, `#l1` to `#l12`). */
export function pick(selector: ResourceSelector, setting: SelectionContext): Picked | SelectionRefused {
  if (isNeverPlaced(selector))
    return picked([], [`the selector ${selectorText(selector)} selects nothing: ${selector.kind} is never placed`]);
  if (!selectsNamespaces(selector)) return pickObjects(selector, setting);
  if (setting.scope === "Namespaced")
    return selectionRefused("a ResourcePlacement cannot select a Namespace; use a ClusterResourcePlacement");
  return pickNamespaces(selector, setting);
}

function pickNamespaces(selector: ResourceSelector, setting: SelectionContext): Picked | SelectionRefused {
  if (selector.name !== null && isReservedNamespace(selector.name)) return reservedNamespaceRefused(selector.name);
  const found = matching(selector, null, setting);
  if (found.kind === "refused") return found;
  const reserved = found.objects.filter((it) => isReservedNamespace(it.id.name));
  const open = found.objects.filter((it) => !isReservedNamespace(it.id.name));
  const warnings = [
    ...found.warnings,
    ...homeless(selector, found, setting),
    ...listed("reserved namespaces are never placed, skipped", reserved),
  ];
  if (selector.selectionScope !== "NamespaceWithResources") return picked(open, warnings);
  const contents = open.map((it) => contentsOf(it.id.name, setting));
  return picked(
    [...open, ...contents.flatMap((it) => it.objects)],
    [...warnings, ...contents.flatMap((it) => it.warnings)],
  );
}

/** Warns of objects whose Namespace is not in the repository: otherwise selecting nothing would look like success. */
function homeless({ name }: ResourceSelector, found: Picked, { index }: SelectionContext): readonly string[] {
  const inside = name === null || found.objects.length > 0 ? 0 : (index.byNamespace.get(name)?.length ?? 0);
  return inside === 0
    ? []
    : [`the repository has objects in the namespace ${name} (${inside}), but not the Namespace itself`];
}

/** Everything in a namespace that may be placed. */
function contentsOf(namespace: string, { index }: SelectionContext): Picked {
  const inside = (index.byNamespace.get(namespace) ?? []).filter((it) => scopeOf(it.id, index.scopes) === "Namespaced");
  const skipped = inside.filter((it) => isNeverPlaced(it.id) || isMadeByCluster(it, index));
  const left = new Set(skipped);
  return picked(
    inside.filter((it) => !left.has(it)),
    listed(`never placed, left out of namespace ${namespace}`, skipped),
  );
}

function pickObjects(selector: ResourceSelector, setting: SelectionContext): Picked | SelectionRefused {
  const scope = kindScope(selector, setting);
  if (scope === null)
    return selectionRefused(
      `the kind ${kindText(selector)} is unknown: Kubernetes does not have it, ` +
        "and the repository has no CustomResourceDefinition for it; add that",
    );
  if (scope === "Cluster" && setting.scope === "Namespaced")
    return selectionRefused(
      `a ResourcePlacement cannot select the cluster-scoped kind ${kindText(selector)}; use a ClusterResourcePlacement`,
    );
  if (scope === "Namespaced" && setting.namespace === null)
    return selectionRefused(
      `a ClusterResourcePlacement cannot select the namespaced kind ${kindText(selector)} by itself; ` +
        "select its Namespace, or add a Namespace selector with selectionScope NamespaceWithResourceSelectors",
    );
  const found = matching(selector, scope === "Cluster" ? null : setting.namespace, setting);
  if (found.kind === "refused") return found;
  const skipped = found.objects.filter((it) => isMadeByCluster(it, setting.index));
  const left = new Set(skipped);
  return picked(
    found.objects.filter((it) => !left.has(it)),
    [...found.warnings, ...listed("never placed, left out", skipped)],
  );
}

/** The scope of a selector's kind, from the table or from its objects; null when some of them have no namespace. */
function kindScope(selector: ResourceSelector, { index }: SelectionContext): Scope | null {
  const known = index.scopes.get(kindKey(selector));
  if (known !== undefined) return known;
  const objects = index.byKind.get(kindKey(selector)) ?? [];
  return objects.length > 0 && objects.every((it) => it.id.namespace !== null) ? "Namespaced" : null;
}

/** The objects that a selector selects in its version: by name, by labels, or all of its kind. */
function matching(
  selector: ResourceSelector,
  namespace: string | null,
  { index }: SelectionContext,
): Picked | SelectionRefused {
  const candidates = candidatesOf(selector, namespace, index).filter(({ manifest }) =>
    selectsIfAny(selector.labelSelector, textsOf(memberAt(manifest, "metadata", "labels"))),
  );
  const objects = candidates.filter((it) => it.id.version === selector.version);
  const others = candidates.filter((it) => it.id.version !== selector.version);
  if (objects.length > 0) return picked(objects, listed(`not in version ${selector.version}, left out`, others));
  const [other] = others;
  if (other === undefined) return picked([], [`the selector ${selectorText(selector)} matches nothing`]);
  return selectionRefused(
    `the selector ${selectorText(selector)} asks for version ${selector.version}, ` +
      `but the repository has ${objectText(other.id)} in version ${other.id.version}; let them agree`,
  );
}

function candidatesOf(
  selector: ResourceSelector,
  namespace: string | null,
  index: SelectionIndex,
): readonly SourcedManifest[] {
  const { group, kind, name } = selector;
  if (name !== null) {
    const named = index.objects.get(objectKey({ group, kind, namespace, name }));
    return named === undefined ? [] : [named];
  }
  const key = kindKey(selector);
  return namespace === null
    ? (index.byKind.get(key) ?? []).filter((it) => it.id.namespace === null)
    : (index.byNamespace.get(namespace) ?? []).filter((it) => kindKey(it.id) === key);
}

// Enough to find the others by.
const shown = 5;

/** A warning that names the first of these objects and counts the rest; none when there are none. */
export function listed(what: string, objects: readonly SourcedManifest[]): readonly string[] {
  if (objects.length === 0) return [];
  const names = inSelectionOrder(objects)
    .slice(0, shown)
    .map((it) => objectText(it.id));
  const rest = objects.length > shown ? ` and ${objects.length - shown} more` : "";
  return [`${what}: ${names.join(", ")}${rest}`];
}

/** Whether it selects Namespaces, which includes their contents. */
export const selectsNamespaces = ({ group, kind }: ResourceSelector): boolean => group === "" && kind === "Namespace";

const kindText = ({ group, kind }: ResourceSelector): string => (group === "" ? kind : `${kind}.${group}`);

const selectorText = (selector: ResourceSelector): string =>
  `${kindText(selector)} ${selector.name ?? (selector.labelSelector === null ? "(all)" : "(by labels)")}`;

const picked = (objects: readonly SourcedManifest[], warnings: readonly string[]): Picked => ({
  kind: "picked",
  objects,
  warnings,
});

export const selectionRefused = (
  message: string,
  because: SelectionRefused["because"] = "selector",
): SelectionRefused => ({ kind: "refused", because, message, picked: nothing });

const nothing: ReadonlySet<ObjectKey> = new Set();

/** A selector names a namespace that is never placed (`render/README.md#a-13`, `plan/README.md#d-5`). */
export const reservedNamespaceRefused = (name: string): SelectionRefused =>
  selectionRefused(`the namespace ${name} is reserved and is never placed as a whole; select another one`);

const kinds = [
  ...["PriorityClass", "Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodDisruptionBudget"],
  ...["ServiceAccount", "Secret", "ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim"],
  ...["CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service", "DaemonSet"],
  ...["Pod", "ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet", "Job"],
  ...["CronJob", "IngressClass", "Ingress", "APIService", "MutatingWebhookConfiguration"],
  "ValidatingWebhookConfiguration",
];
const ranks: ReadonlyMap<string, number> = new Map(kinds.map((kind, rank) => [kind, rank]));

/**
 * KubeFleet's order of selection, for hashes and snapshots, not for applying: by kind without group, ties by joined
 * texts, so `a-b/c` comes before `a/z` (`render/README.md#the-order-of-what-is-selected`, `#l13`, `#l14`).
 */
export function inSelectionOrder<T extends { readonly id: VersionedId }>(objects: readonly T[]): readonly T[] {
  return objects
    .map((object) => ({ object, ...sortKey(object.id) }))
    .sort((a, b) => a.rank - b.rank || compareText(a.type, b.type) || compareText(a.name, b.name))
    .map((it) => it.object);
}

function sortKey(id: VersionedId): { rank: number; type: string; name: string } {
  const name = `${id.namespace ?? ""}/${id.name}`;
  const rank = ranks.get(id.kind);
  if (rank !== undefined) return { rank, type: apiVersionOf(id), name };
  return { rank: kinds.length, type: `${id.group}/${id.version}, Kind=${id.kind}`, name };
}
