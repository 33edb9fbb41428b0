import { fingerprintOf } from "../../core/apply/fingerprint.ts";
import { healthOf } from "../../core/health/health.ts";
import type { Inventory, InventoryEntry } from "../../core/model/inventory.ts";
import { type Json, type JsonObject, memberAt, textOf } from "../../core/model/json.ts";
import { apiVersionOf, idOf, type ObjectKey, objectIdOf, objectKey } from "../../core/model/manifest.ts";
import { fieldManager, placementLabel, writeAnnotation } from "../../core/model/names.ts";
import type { LiveObject, Observation } from "../../core/model/observation.ts";
import { kindKey } from "../../core/model/scope.ts";
import { compareText } from "../../core/model/value.ts";
import { Fault } from "../reconcile/fault.ts";
import type { Answer, Client, Refused } from "./client.ts";
import { anyResourceOf, collectionPath, type Discovery, objectPath, type Resource, resourceOf } from "./discovery.ts";
import { readInventory } from "./inventory.ts";
import { Lost } from "./lost.ts";

/**
 * Asks one member which cluster it is, what it remembers of us, and how the objects are that it should carry.
 *
 * A member that carries nothing of ours is asked three questions; otherwise one list more per kind in the inventory.
 * Never rejects: a member that cannot be asked is an observation too.
 */
export async function observeMember(client: Client, discovery: Discovery): Promise<Observation> {
  try {
    const [identity, version, stored] = await Promise.all([
      client.request({ method: "GET", path: kubeSystem }),
      client.request({ method: "GET", path: "/version" }),
      readInventory(client),
    ]);
    const refused = [identity, version, stored].find((it): it is Refused => it.kind === "refused");
    if (refused !== undefined) return unreachableBy(refused);
    const { inventory } = stored as Exclude<typeof stored, Refused>;
    const { objects, unlisted } = await observeObjects({ client, discovery, inventory });
    return {
      kind: "reached",
      clusterUid: uidOf(identity),
      kubernetesVersion: (version.kind === "done" ? textOf(version.body["gitVersion"]) : null) ?? "",
      inventory,
      objects,
      unlisted,
    };
  } catch (error) {
    return { kind: "unreachable", ...lossOf(error) };
  }
}

/** Its UID tells which cluster this is, whatever its address says (`RULINGS.md` D 8). */
export const kubeSystem = "/api/v1/namespaces/kube-system";

/** The uid of an answered object; an object without one is not Kubernetes'. */
export function uidOf(answer: Answer): string {
  const uid = answer.kind === "done" ? textOf(memberAt(answer.body, "metadata", "uid")) : null;
  if (uid === null || uid === "") throw new Lost("Unintelligible", "its kube-system namespace has no uid");
  return uid;
}

/** Why a member was lost. What is neither its own loss nor the kubeconfig's is the fault of an answer of its. */
export function lossOf(error: unknown): { readonly code: Lost["code"]; readonly message: string } {
  if (error instanceof Lost) return { code: error.code, message: error.message.slice(0, 512) };
  if (error instanceof Fault) return { code: "NoConnection", message: error.message.slice(0, 512) };
  return { code: "Unintelligible", message: `its answer could not be read: ${String(error).slice(0, 200)}` };
}

function unreachableBy({ status, message }: Refused): Observation {
  const code = status === 403 ? "Forbidden" : status >= 500 || status === 429 ? "Unreachable" : "Unintelligible";
  return { kind: "unreachable", code, message: message.slice(0, 512) };
}

interface Asking {
  readonly client: Client;
  readonly discovery: Discovery;
  readonly inventory: Inventory;
}

interface Seen {
  readonly objects: ReadonlyMap<ObjectKey, LiveObject>;
  readonly unlisted: ReadonlySet<string>;
}

/** The objects of one kind that the inventory names. */
interface KindShare {
  readonly kind: { readonly group: string; readonly kind: string; readonly version: string };
  readonly keys: ReadonlySet<ObjectKey>;
}

async function observeObjects(asking: Asking): Promise<Seen> {
  const shares = sharesOf(asking.inventory);
  const seen = await Promise.all(shares.map(async (share) => ({ share, found: await observeKind(asking, share) })));
  const unlisted = seen.filter(({ found }) => found === null).map(({ share }) => kindKey(share.kind));
  // A list in one version holds the objects of all versions; each object is taken from the list in its own.
  const named = new Set(shares.flatMap(({ keys }) => [...keys]));
  const found = seen
    .flatMap(({ share, found: all }) => [...(all ?? [])].filter(([key]) => share.keys.has(key) || !named.has(key)))
    .sort(([a], [b]) => compareText(a, b));
  return { objects: new Map(found), unlisted: new Set(unlisted.sort(compareText)) };
}

/** Fingerprints speak in the paths of one version, so a kind is listed in the version in which it was written. */
function sharesOf({ placements }: Inventory): readonly KindShare[] {
  const versions = new Map<ObjectKey, InventoryEntry>();
  for (const { entries } of placements.values()) {
    for (const [key, entry] of entries) if (!versions.has(key) || entry.uid !== null) versions.set(key, entry);
  }
  const shares = new Map<string, { kind: KindShare["kind"]; keys: Set<ObjectKey> }>();
  for (const [key, { version }] of versions) {
    const { group, kind } = objectIdOf(key);
    const name = `${group}/${version}/${kind}`;
    const share = shares.get(name) ?? { kind: { group, kind, version }, keys: new Set() };
    shares.set(name, share);
    share.keys.add(key);
  }
  return [...shares.values()];
}

type Found = ReadonlyMap<ObjectKey, LiveObject>;
const nothing: Found = new Map();

/** The marked objects of a kind and those of the inventory; null when the member would not tell. */
async function observeKind(asking: Asking, share: KindShare): Promise<Found | null> {
  const { client } = asking;
  const resource = await resourceFor(asking, share);
  if (resource === "gone") return nothing;
  if (resource === null) return null;
  const path = collectionPath(resource, null);
  const listing = await client.list({ path, labelSelector: placementLabel });
  if (listing.kind === "refused") return listing.status === 404 ? afterNotFound(asking, share) : null;
  const marked = reducedAll(listing.items, resource);
  const missing = [...share.keys].filter((it) => !marked.has(it));
  const unmarked = await observeUnmarked(client, resource, missing);
  return unmarked === null ? null : new Map([...marked, ...unmarked]);
}

/**
 * The kind as the member serves it. Gone: the member is certain that it does not serve it at all, and with a definition
 * its resources go. A group that the member cannot ask right now is not gone (`security.md` F-38).
 */
async function resourceFor({ client, discovery }: Asking, { kind }: KindShare): Promise<Resource | "gone" | null> {
  const known = await discovery.served(client);
  const exact = resourceOf(known, kind);
  if (exact !== null) return exact;
  const served = await discovery.refresh(client);
  const other = resourceOf(served, kind) ?? anyResourceOf(served, kind);
  if (other !== null) return other;
  return served.uncertainGroups.has(kind.group) ? null : "gone";
}

/** A kind that was served a moment ago: either discovery is old and the kind is gone, or something is wrong. */
async function afterNotFound(asking: Asking, share: KindShare): Promise<Found | null> {
  await asking.discovery.refresh(asking.client);
  return (await resourceFor(asking, share)) === "gone" ? nothing : null;
}

/** So many objects are asked for one by one; for more of them the whole kind is listed. */
const fewObjects = 16;

/** Objects of the inventory that no longer carry our label, or never did: taken off by hand, or never taken over. */
async function observeUnmarked(client: Client, resource: Resource, keys: readonly ObjectKey[]): Promise<Found | null> {
  if (keys.length === 0) return nothing;
  if (keys.length > fewObjects) {
    const listing = await client.list({ path: collectionPath(resource, null) });
    return listing.kind === "refused" ? null : reducedAll(listing.items, resource, new Set(keys));
  }
  const answers = await Promise.all(
    keys.map((key) => client.request({ method: "GET", path: objectPath(resource, objectIdOf(key)) })),
  );
  if (answers.some((it) => it.kind === "refused" && it.status !== 404)) return null;
  return reducedAll(
    answers.flatMap((it) => (it.kind === "done" ? [it.body] : [])),
    resource,
  );
}

/** Lists leave out the kind of their items, and health needs it. */
function reducedAll(items: readonly JsonObject[], resource: Resource, only?: ReadonlySet<ObjectKey>): Found {
  const { kind } = resource;
  const apiVersion = apiVersionOf(resource);
  const found = new Map<ObjectKey, LiveObject>();
  for (const item of items) {
    const live = { ...item, apiVersion, kind };
    const id = idOf(live);
    if (id === null) throw new Lost("Unintelligible", `its list of ${resource.plural} holds an object without a name`);
    const key = objectKey(id);
    if (only === undefined || only.has(key)) found.set(key, reduced(live));
  }
  return found;
}

function reduced(live: JsonObject): LiveObject {
  const metadata: Json = live["metadata"] ?? null;
  const generation = memberAt(metadata, "generation");
  return {
    uid: textOf(memberAt(metadata, "uid")) ?? "",
    generation: typeof generation === "number" ? generation : 0,
    fingerprint: fingerprintOf(live, fieldManager),
    health: healthOf(live),
    terminating: memberAt(metadata, "deletionTimestamp") !== null,
    mark: textOf(memberAt(metadata, "annotations", writeAnnotation)),
  };
}
