import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Json, type JsonObject, memberAt, textOf } from "../../src/core/model/json.ts";
import { type ApiServer, startApiServer } from "../kubernetes/api-server.ts";
import { eventually } from "../kubernetes/eventually.ts";
import { mergeKubeconfigs } from "../kubernetes/kubeconfig.ts";
import { makeScratch } from "../kubernetes/supervise.ts";
import { endNamespaces } from "./namespace-end.ts";

/** Objects of one member, by collection, namespace and name: `configmaps shop/web`. */
export type Objects = ReadonlyMap<string, JsonObject>;

/** Real API servers as members. Nobody else changes anything there; namespaces end as soon as they are deleted. */
export interface RealFleet {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly names: readonly string[];
  /** What each member holds that was not there from the start, Flotilla's own namespace included. */
  objects(): Promise<ReadonlyMap<string, Objects>>;
  /** Makes the members what they were at the start. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

const collections = [
  "api/v1/namespaces",
  "api/v1/configmaps",
  "api/v1/serviceaccounts",
  "apis/rbac.authorization.k8s.io/v1/clusterroles",
];

export async function startRealFleet(names: readonly string[]): Promise<RealFleet> {
  const scratch = await makeScratch();
  const servers = await Promise.all(names.map((name) => startApiServer({ name })));
  const ends = servers.map(endNamespaces);
  const kubeconfig = join(scratch.path, "kubeconfig");
  const config = mergeKubeconfigs(servers.map((it) => it.kubeconfig()));
  await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  const given = new Map(await Promise.all(servers.map(async (it) => [it.name, await objectsOn(it)] as const)));
  const ownOf = async (server: ApiServer): Promise<Objects> => {
    const known = given.get(server.name) ?? new Map();
    return new Map([...(await objectsOn(server))].filter(([key]) => !known.has(key)));
  };
  return {
    folder: scratch.path,
    kubeconfig,
    names,
    objects: async () => new Map(await Promise.all(servers.map(async (it) => [it.name, await ownOf(it)] as const))),
    clear: async () => void (await Promise.all(servers.map((it) => clearServer(it, () => ownOf(it))))),
    stop: async () => {
      for (const it of ends) it.stop();
      await Promise.all(servers.map((it) => it.stop()));
      await scratch.stop();
    },
  };
}

async function objectsOn(server: ApiServer): Promise<Objects> {
  const lists = await Promise.all(collections.map((it) => itemsAt(server, `/${it}`)));
  return new Map(lists.flatMap((items, at) => items.flatMap((it) => rowOf(collections[at] ?? "", it))));
}

async function itemsAt(server: ApiServer, path: string): Promise<readonly JsonObject[]> {
  const { status, text } = await server.request({ path });
  if (status !== 200) throw new Error(`${server.name}: GET ${path} was answered ${status}: ${text}`);
  return (JSON.parse(text) as { readonly items: readonly JsonObject[] }).items;
}

/** What the API server itself keeps up while it runs is left out. */
function rowOf(collection: string, object: Json): readonly (readonly [string, JsonObject])[] {
  const text = (key: string): string => textOf(memberAt(object, "metadata", key)) ?? "";
  if (text("namespace").startsWith("kube-") || text("name").startsWith("kube-")) return [];
  const name = text("namespace") === "" ? text("name") : `${text("namespace")}/${text("name")}`;
  return [[`${collection.slice(collection.lastIndexOf("/") + 1)} ${name}`, object as JsonObject]];
}

/** Namespaces take along what is in them. */
async function clearServer(server: ApiServer, left: () => Promise<Objects>): Promise<void> {
  for (const key of (await left()).keys()) {
    const [resource = "", name = ""] = key.split(" ");
    const collection = collections.find((it) => it.endsWith(`/${resource}`));
    if (!name.includes("/")) await server.request({ method: "DELETE", path: `/${collection}/${name}` });
  }
  await eventually(`${server.name} is empty`, async () => ((await left()).size === 0 ? true : null));
}
