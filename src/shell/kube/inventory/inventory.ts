import { emptyInventory, type Inventory } from "../../../core/model/inventory.ts";
import { isObject, type Json, type JsonObject, memberAt, sameJson, textOf } from "../../../core/model/json.ts";
import { fieldManager, flotillaGroup, systemNamespace } from "../../../core/model/names.ts";
import type { ApiFailure, ApiResponse } from "../client/api-request.ts";
import type { Client } from "../client/client.ts";
import { MemberUnreachable } from "../client/member-unreachable.ts";
import { decodeInventory, encodeInventory, placementTexts, type Shard, shardOf } from "./inventory-text.ts";

/** The inventory as it was read, with the versions that a write has to replace. */
export interface StoredInventory {
  readonly kind: "stored";
  readonly inventory: Inventory;
  readonly shards: ReadonlyMap<number, StoredShard>;
  /** The member's resourceVersion when it was read. */
  readonly asOf: string;
}

interface StoredShard {
  readonly resourceVersion: string;
  readonly data: Shard;
}

/** What became of writing the inventory. */
type InventoryWrite =
  | { readonly kind: "written"; readonly stored: StoredInventory }
  /** Somebody else wrote it in the meantime: read it again. Some shards may have been written already. */
  | { readonly kind: "conflict" }
  | { readonly kind: "refused"; readonly refusal: ApiFailure };

const inventoryLabel = `${flotillaGroup}/inventory`;
const namePrefix = "flotilla-inventory-";
const collection = `/api/v1/namespaces/${systemNamespace}/configmaps`;

/** Where the inventory is listed and watched. */
export const inventoryListing = { path: collection, labelSelector: `${inventoryLabel}=true` } as const;

/**
 * Reads the inventory on a member, complete and consistent, or gives the refusal. One that cannot be read is
 * {@link MemberUnreachable}, never an empty one: unreadable is never absent (`plan/README.md#d-2`).
 */
export async function readInventory(client: Client): Promise<StoredInventory | ApiFailure> {
  const listing = await client.list(inventoryListing);
  if (listing.kind === "refused") return listing;
  const { items, resourceVersion: asOf } = listing;
  const shards = new Map<number, StoredShard>();
  for (const item of items) {
    const name = textOf(memberAt(item, "metadata", "name")) ?? "";
    const number = /^flotilla-inventory-(\d{1,3})$/.exec(name)?.[1];
    if (number === undefined) continue;
    const resourceVersion = textOf(memberAt(item, "metadata", "resourceVersion")) ?? "";
    shards.set(Number(number), { resourceVersion, data: shardOf(dataOf(item)) });
  }
  if (shards.size === 0) return { kind: "stored", inventory: emptyInventory, shards, asOf };
  const data = new Map([...shards].map(([at, it]) => [at, it.data]));
  const inventory = decodeInventory(data, writtenInOrder(shards));
  if (inventory === null) {
    throw new MemberUnreachable(
      "Unintelligible",
      `its inventory (ConfigMaps in ${systemNamespace}) is incomplete or cannot be read; where all of them are deleted, it is made anew`,
    );
  }
  return { kind: "stored", inventory, shards, asOf };
}

/** Numbers of shards, those written first first: resourceVersions are the store's revisions, which grow with every write. */
const writtenInOrder = (shards: ReadonlyMap<number, StoredShard>): readonly number[] =>
  [...shards]
    .sort(([a, x], [b, y]) => Number(x.resourceVersion) - Number(y.resourceVersion) || a - b)
    .map(([at]) => at);

/**
 * Writes the shards that changed, each over exactly the version that was read. New shards come first and old ones go
 * last, so that a crash in between leaves every entry in at least one shard.
 */
export async function writeInventory(
  client: Client,
  before: StoredInventory,
  next: Inventory,
): Promise<InventoryWrite> {
  const data = [...before.shards.values()].map((it) => it.data);
  const shards = encodeInventory(next, undefined, placementTexts(data, before.inventory));
  const isGrowing = shards.length > before.shards.size;
  const order = shards.map((data, at) => ({ data, at }));
  const stored = new Map<number, StoredShard>();
  for (const { data, at } of isGrowing ? order.reverse() : order) {
    const old = before.shards.get(at);
    if (old !== undefined && sameJson(old.data, data)) {
      stored.set(at, old);
      continue;
    }
    const answer = await writeShard(client, at, data, old ?? null);
    // The shard is gone: somebody is deleting the inventory. It is read again, as after any other change.
    if (answer.kind === "refused" && answer.status === 404 && old !== undefined) return { kind: "conflict" };
    if (answer.kind === "refused") return refusedWrite(answer);
    stored.set(at, { resourceVersion: textOf(memberAt(answer.body, "metadata", "resourceVersion")) ?? "", data });
  }
  for (const at of [...before.shards.keys()].filter((it) => it >= shards.length)) {
    const answer = await deleteShard(client, at, before.shards.get(at)?.resourceVersion ?? "");
    if (answer.kind === "refused" && answer.status !== 404) return refusedWrite(answer);
  }
  return { kind: "written", stored: { ...before, inventory: next, shards: stored } };
}

const refusedWrite = (refusal: ApiFailure): InventoryWrite =>
  refusal.status === 409 ? { kind: "conflict" } : { kind: "refused", refusal };

const query = { fieldManager } as const;

async function writeShard(client: Client, at: number, data: Shard, old: StoredShard | null): Promise<ApiResponse> {
  const metadata: JsonObject = {
    name: `${namePrefix}${at}`,
    namespace: systemNamespace,
    labels: { [inventoryLabel]: "true", "app.kubernetes.io/managed-by": fieldManager },
  };
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data };
  if (old !== null) {
    const versioned = { ...body, metadata: { ...metadata, resourceVersion: old.resourceVersion } };
    return client.request({ method: "PUT", path: `${collection}/${namePrefix}${at}`, query, body: versioned });
  }
  const created = await client.request({ method: "POST", path: collection, query, body });
  if (created.kind !== "refused" || created.status !== 404) return created;
  const namespace = await createNamespace(client);
  if (namespace.kind === "refused" && namespace.status !== 409) return namespace;
  return client.request({ method: "POST", path: collection, query, body });
}

const createNamespace = (client: Client): Promise<ApiResponse> =>
  client.request({
    method: "POST",
    path: "/api/v1/namespaces",
    query,
    body: {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: systemNamespace, labels: { "app.kubernetes.io/managed-by": fieldManager } },
    },
  });

const deleteShard = (client: Client, at: number, resourceVersion: string): Promise<ApiResponse> =>
  client.request({
    method: "DELETE",
    path: `${collection}/${namePrefix}${at}`,
    body: { apiVersion: "v1", kind: "DeleteOptions", preconditions: { resourceVersion } },
  });

function dataOf(item: Json): JsonObject {
  const data = memberAt(item, "data");
  return isObject(data) ? data : {};
}
