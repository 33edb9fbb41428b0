import { isObject, type JsonObject, listAt, memberAt, textOf } from "../../../core/model/json.ts";
import type { ObjectId, VersionedId } from "../../../core/model/manifest.ts";
import type { Client } from "./client.ts";
import { MemberUnreachable } from "./member-unreachable.ts";

/** One kind in one version, as a member serves it. */
export interface ApiResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** The kinds that a member serves, at one moment. */
export interface ServedResources {
  /** In the member's order: within a group, its preferred version first. */
  readonly resources: readonly ApiResource[];
  /** Groups whose discovery failed on the member: their kinds are unknown, not absent. */
  readonly uncertainGroups: ReadonlySet<string>;
}

/** The kinds of one member: discovered on first use, cached, and discovered again on request. */
export interface Discovery {
  served(client: Client): Promise<ServedResources>;
  refresh(client: Client): Promise<ServedResources>;
}

/** An empty cache. A discovery that failed is not kept. */
export function newDiscovery(): Discovery {
  let known: Promise<ServedResources> | null = null;
  const refresh = (client: Client): Promise<ServedResources> => {
    const asking = discover(client);
    known = asking;
    asking.catch(() => {
      if (known === asking) known = null;
    });
    return asking;
  };
  return { served: (client) => known ?? refresh(client), refresh };
}

/** The kind in exactly that version, or null. */
export const resourceOf = (
  { resources }: ServedResources,
  id: Pick<VersionedId, "group" | "version" | "kind">,
): ApiResource | null =>
  resources.find((it) => it.kind === id.kind && it.group === id.group && it.version === id.version) ?? null;

/** The kind in any version, the member's preferred one first, or null. */
export const anyResourceOf = (
  { resources }: ServedResources,
  id: Pick<ObjectId, "group" | "kind">,
): ApiResource | null => resources.find((it) => it.kind === id.kind && it.group === id.group) ?? null;

/** Every namespaced kind that can be listed, once, in the version that the member prefers. */
export function listableResources({ resources }: ServedResources): readonly ApiResource[] {
  const seen = new Set<string>();
  return resources.filter((it) => {
    const key = `${it.group}/${it.plural}`;
    if (!it.namespaced || !it.verbs.includes("list") || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** `/apis/apps/v1/namespaces/shop/deployments`; without a namespace, that of all namespaces or of the cluster. */
export function collectionPath({ group, version, plural, namespaced }: ApiResource, namespace: string | null): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const inside = namespaced && namespace !== null ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${root}${inside}/${plural}`;
}

/** `/apis/apps/v1/namespaces/shop/deployments/web`. */
export const objectPath = (resource: ApiResource, { namespace, name }: Pick<ObjectId, "namespace" | "name">): string =>
  `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;

const aggregated = ["v2", "v2beta1"]
  .map((it) => `application/json;g=apidiscovery.k8s.io;v=${it};as=APIGroupDiscoveryList`)
  .concat("application/json")
  .join();

/** Two requests where the server aggregates (KEP-3352, on by default since 1.27), one per group version elsewhere. */
async function discover(client: Client): Promise<ServedResources> {
  const parts = await Promise.all(["/api", "/apis"].map((path) => discoverUnder(client, path)));
  return {
    resources: parts.flatMap((it) => it.resources),
    uncertainGroups: new Set(parts.flatMap((it) => [...it.uncertainGroups])),
  };
}

async function discoverUnder(client: Client, path: string): Promise<ServedResources> {
  const answer = await client.request({ method: "GET", path, accept: aggregated });
  if (answer.kind === "refused")
    throw new MemberUnreachable("Unintelligible", `API discovery failed: ${answer.message}`);
  const kind = answer.body["kind"];
  if (kind === "APIGroupDiscoveryList") return aggregatedOf(answer.body);
  if (kind === "APIVersions" || kind === "APIGroupList") return classic(client, groupVersionsOf(answer.body));
  // Read as an empty list, it would make everything on the member count as gone.
  throw new MemberUnreachable("Unintelligible", `its response to ${path} is not API discovery`);
}

function aggregatedOf(body: JsonObject): ServedResources {
  const uncertain = new Set<string>();
  const resources = objectsAt(body, "items").flatMap((item) => {
    const group = textOf(memberAt(item, "metadata", "name")) ?? "";
    return objectsAt(item, "versions").flatMap((it) => {
      if (it["freshness"] === "Stale") uncertain.add(group);
      const version = textOf(it["version"]) ?? "";
      return objectsAt(it, "resources").flatMap((resource): readonly ApiResource[] => {
        const kind = textOf(memberAt(resource, "responseKind", "kind"));
        const plural = textOf(resource["resource"]);
        if (kind === null || plural === null) return [];
        const namespaced = resource["scope"] === "Namespaced";
        return [{ group, version, kind, plural, namespaced, verbs: textsAt(resource, "verbs") }];
      });
    });
  });
  return { resources, uncertainGroups: uncertain };
}

/** The group versions of an APIVersions or APIGroupList, each group's preferred one first. */
function groupVersionsOf(body: JsonObject): readonly { group: string; version: string }[] {
  if (body["kind"] === "APIVersions") return textsAt(body, "versions").map((version) => ({ group: "", version }));
  return objectsAt(body, "groups").flatMap((it) => {
    const group = textOf(it["name"]) ?? "";
    const preferred = textOf(memberAt(it, "preferredVersion", "version"));
    const versions = objectsAt(it, "versions").map((version) => textOf(version["version"]) ?? "");
    const first = versions.filter((version) => version === preferred);
    return [...first, ...versions.filter((version) => version !== preferred)].map((version) => ({ group, version }));
  });
}

async function classic(
  client: Client,
  groupVersions: readonly { readonly group: string; readonly version: string }[],
): Promise<ServedResources> {
  const uncertain = new Set<string>();
  const lists = await Promise.all(
    groupVersions.map(async ({ group, version }) => {
      const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
      const answer = await client.request({ method: "GET", path });
      if (answer.kind === "done")
        return objectsAt(answer.body, "resources").flatMap((it) => classicOf(it, group, version));
      uncertain.add(group);
      return [];
    }),
  );
  return { resources: lists.flat(), uncertainGroups: uncertain };
}

function classicOf(item: JsonObject, group: string, version: string): readonly ApiResource[] {
  const plural = textOf(item["name"]) ?? "";
  const kind = textOf(item["kind"]);
  if (kind === null || plural.includes("/")) return [];
  return [{ group, version, kind, plural, namespaced: item["namespaced"] === true, verbs: textsAt(item, "verbs") }];
}

const objectsAt = (value: JsonObject, key: string): readonly JsonObject[] => listAt(value, key).filter(isObject);
const textsAt = (value: JsonObject, key: string): readonly string[] =>
  listAt(value, key).filter((it): it is string => typeof it === "string");
