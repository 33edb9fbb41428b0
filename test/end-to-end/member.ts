import { isObject, type Json, type JsonObject, memberAt, textOf } from "../../src/core/model/json.ts";

/** One cluster as its owner sees it, past Flotilla. */
export interface Member {
  readonly name: string;
  request(method: string, path: string, body?: Json, contentType?: string): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

/** Everything that examples-repo consists of, and what stands beside it. */
const collections = [
  "api/v1/namespaces",
  "api/v1/configmaps",
  "api/v1/secrets",
  "api/v1/serviceaccounts",
  "api/v1/services",
  "api/v1/resourcequotas",
  "apis/apps/v1/deployments",
  "apis/networking.k8s.io/v1/networkpolicies",
  "apis/scheduling.k8s.io/v1/priorityclasses",
  "apis/rbac.authorization.k8s.io/v1/clusterroles",
];

/** The resources that Flotilla writes for examples-repo, its own inventory included. */
export const resourcesWritten: readonly string[] = collections.map((it) => it.slice(it.lastIndexOf("/") + 1));

/** What every namespace gets and loses by itself. */
const givenByKubernetes: ReadonlySet<string> = new Set(["configmaps kube-root-ca.crt", "serviceaccounts default"]);

/**
 * What a cluster holds: `configmaps shop/web` → uid and version. Flotilla's own namespace is left out, and what Kubernetes
 * puts into every namespace.
 */
export type Contents = ReadonlyMap<string, string>;

/** Lists what a cluster holds; of one placement only, when one is named. */
export async function contentsOf(member: Member, placement?: string): Promise<Contents> {
  const query = placement === undefined ? "" : `?labelSelector=flotilla.dev%2Fplacement%3D${placement}`;
  const lists = await Promise.all(collections.map((it) => itemsAt(member, `/${it}${query}`)));
  const rows = lists.flatMap((items, at) => items.flatMap((it) => rowOf(resourcesWritten[at] ?? "", it)));
  return new Map(rows);
}

async function itemsAt(member: Member, path: string): Promise<readonly Json[]> {
  const { status, body } = await member.request("GET", path);
  const { items } = body;
  if (status !== 200 || !Array.isArray(items)) throw new Error(`${member.name}: GET ${path} was answered ${status}`);
  return items;
}

function rowOf(resource: string, object: Json): readonly (readonly [string, string])[] {
  const text = (key: string): string => textOf(memberAt(object, "metadata", key)) ?? "";
  const namespace = text("namespace");
  if (namespace === "flotilla-system" || text("name") === "flotilla-system") return [];
  if (givenByKubernetes.has(`${resource} ${text("name")}`)) return [];
  const name = namespace === "" ? text("name") : `${namespace}/${text("name")}`;
  return [[`${resource} ${name}`, `${text("uid")} ${text("resourceVersion")}`]];
}

/** What became of a cluster's objects from one look to the next. */
export interface Difference {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export const noDifference: Difference = { added: [], changed: [], removed: [] };

function differenceOf(before: Contents, after: Contents): Difference {
  const keys = (of: Contents, test: (key: string) => boolean): readonly string[] => [...of.keys()].filter(test).sort();
  return {
    added: keys(after, (it) => !before.has(it)),
    changed: keys(after, (it) => before.has(it) && before.get(it) !== after.get(it)),
    removed: keys(before, (it) => !after.has(it)),
  };
}

/** What several clusters hold, by their names. */
export type FleetContents = ReadonlyMap<string, Contents>;

export async function contentsOfAll(members: readonly Member[], placement?: string): Promise<FleetContents> {
  return new Map(await Promise.all(members.map(async (it) => [it.name, await contentsOf(it, placement)] as const)));
}

/** Clusters on which something differs, each with what does. */
export function differencesOf(before: FleetContents, after: FleetContents): Readonly<Record<string, Difference>> {
  const rows = [...after].map(([name, it]) => [name, differenceOf(before.get(name) ?? new Map(), it)] as const);
  return Object.fromEntries(rows.filter(([, it]) => it.added.length + it.changed.length + it.removed.length > 0));
}

/** The objects alone, of clusters that hold any. */
export function objectsIn(contents: FleetContents): Readonly<Record<string, readonly string[]>> {
  const rows = [...contents].map(([name, it]) => [name, [...it.keys()].sort()] as const);
  return Object.fromEntries(rows.filter(([, keys]) => keys.length > 0));
}

/** Each cluster loses exactly what it held. */
export function lossOf(held: FleetContents): Readonly<Record<string, Difference>> {
  const rows = Object.entries(objectsIn(held));
  return Object.fromEntries(rows.map(([name, removed]) => [name, { ...noDifference, removed }]));
}

/** One object, or null when it is not there. */
export async function objectAt(member: Member, path: string): Promise<JsonObject | null> {
  const { status, body } = await member.request("GET", path);
  if (status === 404) return null;
  if (status !== 200) throw new Error(`${member.name}: GET ${path} was answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Writes as somebody else would, and fails when it is refused. */
export async function create(member: Member, path: string, object: JsonObject): Promise<JsonObject> {
  const { status, body } = await member.request("POST", path, object);
  if (status !== 201) throw new Error(`${member.name}: POST ${path} was answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

export function parsed(text: string): JsonObject {
  const value: unknown = text === "" ? {} : JSON.parse(text);
  return isObject(value as Json) ? (value as JsonObject) : {};
}
