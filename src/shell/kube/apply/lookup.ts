import { scopeMismatch } from "../../../core/apply/failure.ts";
import { type JsonObject, memberAt, textOf } from "../../../core/model/json.ts";
import {
  apiVersionOf,
  idOf,
  type ObjectId,
  type ObjectKey,
  objectKey,
  type VersionedId,
} from "../../../core/model/manifest.ts";
import type { ApiFailure } from "../client/api-request.ts";
import { type Client, metadataListOnly, metadataOnly } from "../client/client.ts";
import {
  type ApiResource,
  anyResourceOf,
  collectionPath,
  objectPath,
  resourceOf,
  type ServedResources,
} from "../client/discovery.ts";

/** What exists on a member under the name of an object. */
export type LookupResult =
  | { readonly kind: "absent" }
  /** Its metadata at least, managed fields included. */
  | { readonly kind: "present"; readonly live: JsonObject }
  | { readonly kind: "unknown"; readonly refusal: ApiFailure };

export const absent: LookupResult = { kind: "absent" };

/** The uid of what was found; null where nothing was. */
export const uidIn = (found: LookupResult): string | null =>
  found.kind === "present" ? textOf(memberAt(found.live, "metadata", "uid")) : null;

/** More new objects of one kind than this are looked up by one list instead of one request each. */
const fewObjects = 10;

/** Which of these objects exist already; a missing namespace is looked up once for all that would be in it. */
export async function lookUpAll(
  client: Client,
  served: ServedResources,
  ids: readonly VersionedId[],
): Promise<ReadonlyMap<ObjectKey, LookupResult>> {
  const missing = await missingNamespaces(client, ids);
  const shares = new Map<ApiResource, VersionedId[]>();
  for (const id of ids) {
    // Identity is free of versions: an object may stand there in another one than it will be written in.
    const space = isNamespace(id) ? id.name : id.namespace;
    if (space !== null && missing.has(space)) continue;
    const resource = resourceOf(served, id) ?? anyResourceOf(served, id);
    // An object of its name in the other scope is another object.
    if (resource === null || scopeMismatch(resource, id) !== null) continue;
    const share = shares.get(resource);
    if (share === undefined) shares.set(resource, [id]);
    else share.push(id);
  }
  const found = await Promise.all([...shares].map(([resource, share]) => lookUpKind(client, resource, share)));
  const all = new Map(found.flat());
  return new Map(ids.map((id) => [objectKey(id), all.get(objectKey(id)) ?? absent]));
}

const isNamespace = ({ group, kind }: ObjectId): boolean => group === "" && kind === "Namespace";

async function missingNamespaces(client: Client, ids: readonly ObjectId[]): Promise<ReadonlySet<string>> {
  const names = [...new Set(ids.flatMap(({ namespace }) => (namespace === null ? [] : [namespace])))];
  if (names.length > fewObjects) {
    const listing = await client.list({ path: "/api/v1/namespaces", accept: metadataListOnly });
    if (listing.kind === "refused") return new Set();
    const present = new Set(listing.items.map((it) => textOf(memberAt(it, "metadata", "name"))));
    return new Set(names.filter((it) => !present.has(it)));
  }
  const answers = await Promise.all(
    names.map(async (name) => {
      const path = `/api/v1/namespaces/${encodeURIComponent(name)}`;
      const answer = await client.request({ method: "GET", path, accept: metadataOnly });
      return answer.kind === "refused" && answer.status === 404 ? [name] : [];
    }),
  );
  return new Set(answers.flat());
}

type Finding = readonly [ObjectKey, LookupResult];

async function lookUpKind(
  client: Client,
  resource: ApiResource,
  ids: readonly VersionedId[],
): Promise<readonly Finding[]> {
  if (ids.length > fewObjects) return lookUpByList(client, resource, ids);
  return Promise.all(
    ids.map(async (id): Promise<Finding> => [objectKey(id), await lookUpObject(client, resource, id)]),
  );
}

/** One object's metadata. */
export async function lookUpObject(client: Client, resource: ApiResource, id: ObjectId): Promise<LookupResult> {
  const answer = await client.request({ method: "GET", path: objectPath(resource, id), accept: metadataOnly });
  if (answer.kind === "done") return { kind: "present", live: answer.body };
  // A 404 that names nothing is about the path: the member serves the kind no more, or in other versions only.
  return answer.status === 404 && answer.about !== "" ? absent : { kind: "unknown", refusal: answer };
}

async function lookUpByList(
  client: Client,
  resource: ApiResource,
  ids: readonly VersionedId[],
): Promise<readonly Finding[]> {
  const namespaces = new Set(ids.map((it) => it.namespace));
  const [only = null] = namespaces.size === 1 ? namespaces : [];
  const listing = await client.list({ path: collectionPath(resource, only), accept: metadataListOnly });
  if (listing.kind === "refused")
    return ids.map((id): Finding => [objectKey(id), { kind: "unknown", refusal: listing }]);
  const { kind } = resource;
  const apiVersion = apiVersionOf(resource);
  return listing.items.flatMap((item): readonly Finding[] => {
    const live = { ...item, apiVersion, kind };
    const id = idOf(live);
    return id === null ? [] : [[objectKey(id), { kind: "present", live }]];
  });
}
