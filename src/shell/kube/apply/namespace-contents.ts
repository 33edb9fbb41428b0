import { type ForeignObjects, maxForeignObjects } from "../../../core/model/deletion.ts";
import { type Json, type JsonObject, listAt, memberAt, textOf } from "../../../core/model/json.ts";
import { groupVersionOf, kindKey, objectKey } from "../../../core/model/manifest.ts";
import { compareText } from "../../../core/model/value.ts";
import { type Client, metadataListOnly } from "../client/client.ts";
import { type ApiResource, collectionPath, type Discovery, listableResources } from "../client/discovery.ts";

/** Whether deleting a namespace, or a definition, would delete objects of others. */
type Contents =
  | { readonly kind: "empty" }
  | { readonly kind: "holds"; readonly others: ForeignObjects }
  /** Not everything could be listed, so nothing is proven. */
  | { readonly kind: "unknown"; readonly text: string };

interface Held {
  readonly uid: string;
  readonly owners: readonly Owner[];
  readonly resource: ApiResource;
  readonly namespace: string | null;
  readonly name: string;
}

interface Owner {
  readonly uid: string;
  /** `group/Kind`. */
  readonly kind: string;
}

/**
 * Looks at everything in a namespace (`plan/README.md#d-4`, `apply/README.md#i-31`).
 *
 * Apart from what is `going` by its uid, things may stay that go by themselves: what is being deleted already, what has
 * no owner left but such objects (the pods of a Deployment), and what Kubernetes itself puts into every namespace.
 */
export async function namespaceContents(
  { client, discovery }: { readonly client: Client; readonly discovery: Discovery },
  namespace: string,
  going: ReadonlySet<string>,
): Promise<Contents> {
  const served = await discovery.refresh(client);
  const uncertain = [...served.uncertainGroups].filter((it) => !isVirtual(it));
  if (uncertain.length > 0)
    return { kind: "unknown", text: `API discovery fails on the member for ${uncertain.sort().join(", ")}` };
  const resources = listableResources(served).filter((it) => !isVirtual(it.group) && !ownKinds.has(kindKey(it)));
  return remainingContents(await Promise.all(resources.map((it) => heldOf(client, it, namespace))), going, resources);
}

/**
 * Looks at everything of the kind that a CustomResourceDefinition defines, by the definition's name (`widgets.example.com`):
 * all of it would go along, in every namespace. A kind that cannot be listed may exist all the same, so that proves nothing.
 */
export async function definitionInstances(
  { client, discovery }: { readonly client: Client; readonly discovery: Discovery },
  definition: string,
  going: ReadonlySet<string>,
): Promise<Contents> {
  const served = await discovery.refresh(client);
  const resource = served.resources.find((it) => `${it.plural}.${it.group}` === definition);
  if (resource === undefined) return { kind: "unknown", text: "the member does not serve its kind now" };
  return remainingContents([await heldOf(client, resource, null)], going, [resource]);
}

/** What would be deleted along, apart from what is being deleted anyway. */
function remainingContents(
  lists: readonly (readonly Held[] | string)[],
  going: ReadonlySet<string>,
  resources: readonly ApiResource[],
): Contents {
  const refused = lists.find((it): it is string => typeof it === "string");
  if (refused !== undefined) return { kind: "unknown", text: refused };
  const held = lists.flatMap((it) => (typeof it === "string" ? [] : it));
  const others = rootsOf(withoutGoing(held, going, new Set(resources.map(kindKey))))
    .map(({ resource: { group, kind }, namespace, name, uid }) => ({ group, kind, namespace, name, uid }))
    .sort((a, b) => compareText(objectKey(a), objectKey(b)) || compareText(a.uid, b.uid));
  if (others.length === 0) return { kind: "empty" };
  return { kind: "holds", others: { count: others.length, objects: others.slice(0, maxForeignObjects) } };
}

/** What of others somebody has to know by name: not what belongs to another thing there, unless they own each other. */
function rootsOf(held: readonly Held[]): readonly Held[] {
  const present = new Set(held.map(({ uid }) => uid));
  const roots = held.filter(({ owners }) => owners.length === 0 || !owners.every((it) => present.has(it.uid)));
  return [...roots, ...withoutGoing(held, new Set(roots.map(({ uid }) => uid)), new Set())];
}

/** Groups whose objects are computed, not stored. */
const isVirtual = (group: string): boolean => group === "metrics.k8s.io" || group.endsWith(".metrics.k8s.io");

/** Kinds that Kubernetes creates by itself. */
const ownKinds: ReadonlySet<string> = new Set(["/Event", "events.k8s.io/Event", "coordination.k8s.io/Lease"]);

/** The objects of one kind that are not being deleted, or why they cannot be listed. */
async function heldOf(
  client: Client,
  resource: ApiResource,
  namespace: string | null,
): Promise<readonly Held[] | string> {
  const listing = await client.list({ path: collectionPath(resource, namespace), accept: metadataListOnly });
  if (listing.kind === "refused") {
    if (listing.status === 404 || listing.status === 405) return [];
    return `${resource.plural} cannot be listed: ${listing.message.slice(0, 200)}`;
  }
  return listing.items.flatMap((item): readonly Held[] => {
    const name = textOf(memberAt(item, "metadata", "name")) ?? "";
    if (memberAt(item, "metadata", "deletionTimestamp") !== null || isKubernetesOwn(resource, name, item)) return [];
    const owners = listAt(item, "metadata", "ownerReferences").map(ownerOf);
    const space = textOf(memberAt(item, "metadata", "namespace"));
    return [{ uid: textOf(memberAt(item, "metadata", "uid")) ?? "", owners, resource, namespace: space, name }];
  });
}

function ownerOf(reference: Json): Owner {
  const { group } = groupVersionOf(textOf(memberAt(reference, "apiVersion")) ?? "");
  const kind = textOf(memberAt(reference, "kind")) ?? "";
  return { uid: textOf(memberAt(reference, "uid")) ?? "", kind: kindKey({ group, kind }) };
}

function isKubernetesOwn({ group, kind }: ApiResource, name: string, item: JsonObject): boolean {
  // Those of a Service with a selector; what people write for one without is theirs.
  if (endpointKinds.has(kindKey({ group, kind }))) return isOfController(item);
  if (group !== "") return false;
  if (kind === "ServiceAccount") return name === "default";
  if (kind === "ConfigMap") return name === "kube-root-ca.crt";
  // The token that older versions made for the default account: whoever asks for one by the annotation chooses the name.
  const account = memberAt(item, "metadata", "annotations", "kubernetes.io/service-account.name");
  return kind === "Secret" && account === "default" && /^default-token-[a-z0-9]{5}$/.test(name);
}

const endpointKinds: ReadonlySet<string> = new Set(["/Endpoints", "discovery.k8s.io/EndpointSlice"]);

/** Whether Kubernetes' own controllers wrote an object, and nobody else. */
function isOfController(item: JsonObject): boolean {
  const managers = listAt(item, "metadata", "managedFields").map((it) => textOf(memberAt(it, "manager")));
  return managers.length > 0 && managers.every((it) => it === "kube-controller-manager");
}

/**
 * What neither goes nor has, at any depth, owners all of which go or are gone: as the garbage collector sees it. An owner of
 * a kind that was `looked` for and that is not among what is held has gone already, a moment before what it owns.
 */
function withoutGoing(held: readonly Held[], going: ReadonlySet<string>, looked: ReadonlySet<string>): readonly Held[] {
  const gone = new Set(going);
  const present = new Set(held.map(({ uid }) => uid));
  const isGone = ({ uid, kind }: Owner): boolean => gone.has(uid) || (looked.has(kind) && !present.has(uid));
  for (;;) {
    const next = held.filter(({ uid, owners }) => !gone.has(uid) && owners.length > 0 && owners.every(isGone));
    if (next.length === 0) return held.filter(({ uid }) => !gone.has(uid));
    for (const { uid } of next) gone.add(uid);
  }
}
