import { remembered, rememberedPair } from "../model/identity.ts";
import type { Intent } from "../model/intent.ts";
import { member, memberAt, textsOf } from "../model/json.ts";
import { kindKey, type ObjectId, objectKey, type SourcedManifest } from "../model/manifest.ts";
import { isReservedNamespace, kubeFleetPrefix } from "../model/names.ts";
import type { Placement, ResourceSelector } from "../model/placement.ts";
import { selectsIfAny } from "../model/value.ts";

/**
 * What a placement selects now, as far as that is certain (`render/README.md#selection`). Where any selector might be
 * refused, where it meets objects that are not placed like all others, or where a document cannot be read, that is nothing.
 */
export const certainlySelected = rememberedPair((placement: Placement, intent: Intent): readonly ObjectId[] => {
  const home = homeOf(placement, intent.objects);
  if (intent.unusable.size > 0 || home === null) return none;
  const documents = new Set<SourcedManifest>();
  for (const selector of placement.spec.resourceSelectors) {
    const objects = matched(selector, { placement, home, intent });
    if (objects === null) return none;
    for (const it of objects) documents.add(it);
  }
  const parts: ObjectId[] = [];
  for (const document of documents) {
    const own = partsOf(document, intent);
    if (own === null) return none;
    parts.push(...own);
  }
  // Where anything stands there twice, nothing is placed.
  return new Set(parts.map(objectKey)).size === parts.length ? parts : none;
});

/** What a document has placed: itself, or what it wraps; null where that is not certain. */
function partsOf(document: SourcedManifest, { scopes }: Intent): readonly ObjectId[] | null {
  const { id, wraps } = document;
  if (wraps === undefined) return isOrdinary(document) ? [id] : null;
  const scope = id.kind === "ResourceEnvelope" ? "Namespaced" : "Cluster";
  const isSound = wraps.objects.every((it) => isOrdinary(it) && scopes.get(kindKey(it.id)) === scope);
  return isSound && wraps.defect === null ? wraps.objects.map((it) => it.id) : null;
}

const none: readonly never[] = [];

/** Where namespaced kinds are selected by name: nowhere (`""`), or in one namespace; null where that may be refused. */
function homeOf({ scope, namespace, spec }: Placement, objects: Intent["objects"]): string | null {
  if (scope === "Namespaced") return namespace === null || isReservedNamespace(namespace) ? null : namespace;
  const [first, ...more] = spec.resourceSelectors.filter(
    (it) => it.selectionScope === "NamespaceWithResourceSelectors" && isOfNamespaces(it),
  );
  if (first === undefined) return "";
  if (more.length > 0 || first.name === null || isReservedNamespace(first.name)) return null;
  return objects.has(objectKey({ group: "", kind: "Namespace", namespace: null, name: first.name }))
    ? first.name
    : null;
}

interface Scene {
  readonly placement: Placement;
  readonly home: string;
  readonly intent: Intent;
}

/** The objects of one selector; null where it might be refused. */
function matched(selector: ResourceSelector, { placement, home, intent }: Scene): readonly SourcedManifest[] | null {
  const scope = intent.scopes.get(kindKey(selector));
  if (scope === undefined || (scope === "Cluster" && placement.scope === "Namespaced")) return null;
  if (scope === "Namespaced" && home === "") return null;
  const isOfSpaces = isOfNamespaces(selector);
  if (isOfSpaces && selector.name !== null && isReservedNamespace(selector.name)) return null;
  const places = objectsByNamespace(intent.objects);
  const here = (places.get(scope === "Cluster" ? "" : home) ?? none).filter((it) => isMeant(it, selector));
  if (here.some((it) => it.id.version !== selector.version)) return null;
  const open = isOfSpaces ? here.filter((it) => !isReservedNamespace(it.id.name)) : here;
  if (!isOfSpaces || selector.selectionScope !== "NamespaceWithResources") return open;
  const inside = open.flatMap((it) => places.get(it.id.name) ?? none);
  return [...open, ...inside.filter((it) => intent.scopes.get(kindKey(it.id)) !== "Cluster")];
}

const isOfNamespaces = ({ group, kind }: ResourceSelector): boolean => group === "" && kind === "Namespace";

const isMeant = ({ id, manifest }: SourcedManifest, { group, kind, name, labelSelector }: ResourceSelector): boolean =>
  id.group === group &&
  id.kind === kind &&
  (name === null || id.name === name) &&
  selectsIfAny(labelSelector, textsOf(memberAt(manifest, "metadata", "labels")));

/** Cluster-scoped objects stand in `""`. */
const objectsByNamespace = remembered((objects: Intent["objects"]): ReadonlyMap<string, readonly SourcedManifest[]> => {
  const found = new Map<string, SourcedManifest[]>();
  for (const it of objects.values()) {
    const place = it.id.namespace ?? "";
    const list = found.get(place);
    if (list === undefined) found.set(place, [it]);
    else list.push(it);
  }
  return found;
});

/** Groups of which nothing, or not everything, is placed. */
const oddGroups =
  /(^|\.)(kubernetes-fleet\.io|fleet\.azure\.com|flotilla\.dev)$|^(coordination|events|metrics|discovery)\.k8s\.io$/;

const oddKinds: ReadonlySet<string> = new Set([
  "/Event",
  "/Node",
  "/Pod",
  "/Endpoints",
  "apps/ReplicaSet",
  "apps/ControllerRevision",
]);

const oddNames: ReadonlySet<string> = new Set(["/ConfigMap kube-root-ca.crt", "/ServiceAccount default"]);

/** Whether an object is placed by whoever selects it: neither the fleet's, nor made by clusters, nor an old envelope. */
const isOrdinary = ({ id, manifest }: Pick<SourcedManifest, "id" | "manifest">): boolean =>
  !oddGroups.test(id.group) &&
  !oddKinds.has(kindKey(id)) &&
  !oddNames.has(`${kindKey(id)} ${id.name}`) &&
  member(manifest, "type") !== "kubernetes.io/service-account-token" &&
  memberAt(manifest, "metadata", "annotations", `${kubeFleetPrefix}/envelope-configmap`) === null;
