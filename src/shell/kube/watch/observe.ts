import { observedProperties, propertyPaths } from "../../../core/members/providers.ts";
import { type JsonObject, memberAt, textOf } from "../../../core/model/json.ts";
import { type ObjectKey, objectIdOf } from "../../../core/model/manifest.ts";
import { placementLabel } from "../../../core/model/names.ts";
import type { MemberProperties, Observation } from "../../../core/model/observation.ts";
import type { ApiFailure, ApiResponse } from "../client/api-request.ts";
import type { Client } from "../client/client.ts";
import {
  type ApiResource,
  anyResourceOf,
  collectionPath,
  type Discovery,
  objectPath,
  resourceOf,
} from "../client/discovery.ts";
import { contactFailureOf, MemberUnreachable, unreachableObservation } from "../client/member-unreachable.ts";
import { readInventory, type StoredInventory } from "../inventory/inventory.ts";
import type { Collector } from "./collect.ts";
import { type InventoryKind, inventoryKinds, type LiveObjects, observedObjects, reduceAll } from "./live-objects.ts";
import type { PlacedNamespaces } from "./namespaces.ts";

/**
 * Reads one member: its identity, our inventory, the objects it should have, and now and then its nodes and pods. Three
 * requests, one list for each kind in the inventory, and one of namespaces where placements live in any. Never rejects: an
 * unreachable member is an observation too.
 */
export async function observeMember(
  client: Client,
  { discovery, collector }: { readonly discovery: Discovery; readonly collector: Collector },
  placed: PlacedNamespaces,
): Promise<Observation> {
  try {
    const asking = { client, discovery };
    const basics = await readIdentityAndInventory(client);
    if (basics.kind === "refused") return unreachableObservation(basics);
    const { clusterUid } = basics;
    const properties = collector.steady(basics.properties);
    const { inventory } = basics.stored;
    const kinds = [...inventoryKinds(inventory).values()];
    const [collected, namespaces, ...seen] = await Promise.all([
      collector.collect(),
      placed.size === 0
        ? null
        : collector.namespaces.list().then(({ found }) => collector.namespaces.steady(found, placed)),
      ...kinds.map(async (kind) => ({ kind, found: await observeKind(asking, kind) })),
    ]);
    return {
      kind: "reached",
      clusterUid,
      properties,
      collected,
      ...(namespaces === null ? {} : { namespaces }),
      inventory,
      ...observedObjects(seen),
    };
  } catch (error) {
    return { kind: "unreachable", ...contactFailureOf(error) };
  }
}

/** Which cluster a member is, and what it is like. */
export interface MemberIdentity {
  readonly kind: "known";
  readonly clusterUid: string;
  readonly properties: MemberProperties;
}

export async function readIdentity(client: Client): Promise<MemberIdentity | ApiFailure> {
  const [namespace, ...responses] = await Promise.all([
    client.request({ method: "GET", path: kubeSystem }),
    ...propertyPaths.map((path) => client.request({ method: "GET", path })),
  ]);
  if (namespace.kind === "refused") return namespace;
  const bodies: JsonObject[] = [];
  for (const it of responses) {
    if (it.kind === "refused") return it;
    bodies.push(it.body);
  }
  return {
    kind: "known",
    clusterUid: clusterUidOf(namespace),
    properties: observedProperties(bodies),
  };
}

export async function readIdentityAndInventory(
  client: Client,
): Promise<(MemberIdentity & { readonly stored: StoredInventory }) | ApiFailure> {
  const [identity, stored] = await Promise.all([readIdentity(client), readInventory(client)]);
  if (identity.kind === "refused") return identity;
  return stored.kind === "refused" ? stored : { ...identity, stored };
}

/** The UID of this namespace identifies the cluster, whatever its address (`plan/README.md#d-8`). */
export const kubeSystem = "/api/v1/namespaces/kube-system";

/** The uid in a response; a kube-system without one is not Kubernetes'. */
export function clusterUidOf(answer: ApiResponse): string {
  const uid = answer.kind === "done" ? textOf(memberAt(answer.body, "metadata", "uid")) : null;
  if (uid === null || uid === "") throw new MemberUnreachable("Unintelligible", "its kube-system namespace has no uid");
  return uid;
}

export interface MemberApi {
  readonly client: Client;
  readonly discovery: Discovery;
}

const nothing: LiveObjects = new Map();

/** The labelled objects of a kind and those of the inventory; null when the member would not list them. */
async function observeKind(asking: MemberApi, wanted: InventoryKind): Promise<LiveObjects | null> {
  const listed = await listKind(asking, wanted.kind);
  if (listed === "gone") return nothing;
  if (listed === null) return null;
  const { resource, labelled } = listed;
  const unmarked = await observeUnlabelled(asking.client, resource, missingKeys(wanted, labelled));
  return unmarked === null ? null : new Map([...labelled, ...unmarked]);
}

/** What the inventory names and the list of labelled objects does not have. */
export const missingKeys = ({ keys }: Pick<InventoryKind, "keys">, marked: LiveObjects): readonly ObjectKey[] =>
  [...keys].filter((it) => !marked.has(it));

/** The objects of a kind with our label, at one moment. */
interface ListedKind {
  readonly resource: ApiResource;
  readonly labelled: LiveObjects;
  /** The member's, at that moment. */
  readonly resourceVersion: string;
}

/** Lists the objects with our label. Gone: the member does not serve the kind; null: it would not list it. */
export async function listKind(asking: MemberApi, kind: InventoryKind["kind"]): Promise<ListedKind | "gone" | null> {
  const resource = await resourceFor(asking, kind);
  if (resource === "gone" || resource === null) return resource;
  const path = collectionPath(resource, null);
  const listing = await asking.client.list({ path, labelSelector: placementLabel });
  if (listing.kind === "refused") return listing.status === 404 ? afterNotFound(asking, kind) : null;
  return { resource, labelled: reduceAll(listing.items, resource), resourceVersion: listing.resourceVersion };
}

/** The kind as served; gone: it certainly is not. A failed discovery is not gone (`kube/README.md#f-38`). */
async function resourceFor(
  { client, discovery }: MemberApi,
  kind: InventoryKind["kind"],
): Promise<ApiResource | "gone" | null> {
  const known = await discovery.served(client);
  const exact = resourceOf(known, kind);
  if (exact !== null) return exact;
  const served = await discovery.refresh(client);
  const other = resourceOf(served, kind) ?? anyResourceOf(served, kind);
  if (other !== null) return other;
  return served.uncertainGroups.has(kind.group) ? null : "gone";
}

/** A kind that was served a moment ago: either discovery is old and the kind is gone, or something is wrong. */
async function afterNotFound(asking: MemberApi, kind: InventoryKind["kind"]): Promise<"gone" | null> {
  await asking.discovery.refresh(asking.client);
  return (await resourceFor(asking, kind)) === "gone" ? "gone" : null;
}

/** Up to so many objects are read one by one; for more, the whole kind is listed. */
const fewObjects = 16;

/** Objects of the inventory without our label: it was removed by hand, or they were never taken over. */
export async function observeUnlabelled(
  client: Client,
  resource: ApiResource,
  keys: readonly ObjectKey[],
): Promise<LiveObjects | null> {
  if (keys.length === 0) return nothing;
  if (keys.length > fewObjects) {
    const listing = await client.list({ path: collectionPath(resource, null) });
    return listing.kind === "refused" ? null : reduceAll(listing.items, resource, new Set(keys));
  }
  const answers = await Promise.all(
    keys.map((key) => client.request({ method: "GET", path: objectPath(resource, objectIdOf(key)) })),
  );
  if (answers.some((it) => it.kind === "refused" && it.status !== 404)) return null;
  const present = answers.flatMap((it) => (it.kind === "done" ? [it.body] : []));
  return reduceAll(present, resource);
}
