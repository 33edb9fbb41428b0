import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isObject, type Json, memberAt, textOf } from "../../src/core/model/json.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { startControlPlane } from "../kubernetes/control-plane.ts";
import { describeKubernetes } from "../kubernetes/describe-kubernetes.ts";
import { makeScratch, type Scratch } from "../kubernetes/supervise.ts";
import { type Desk, deskAt } from "./fleet.ts";
import { makeHub } from "./hub.ts";
import { configMap, deployment, file, memberCluster, namespace, openFleet, placement } from "./small-fleet.ts";

const collections = [
  "/api/v1/namespaces",
  "/api/v1/configmaps",
  "/apis/apps/v1/deployments",
  "/apis/apps/v1/replicasets",
  "/api/v1/pods",
];

await describeKubernetes("a placement that is renamed on a whole cluster", "control planes", () => {
  let cluster: ApiServer;
  let scratch: Scratch;
  let desk: Desk;
  beforeAll(async () => {
    cluster = await startControlPlane({ name: "member-a" });
    scratch = await makeScratch();
    const kubeconfig = join(scratch.path, "kubeconfig");
    await writeFile(kubeconfig, JSON.stringify(cluster.kubeconfig()), { mode: 0o600 });
    desk = deskAt(await makeHub(scratch.path), scratch.path, kubeconfig);
    const { hub } = desk;
    await hub.clear();
    await hub.write("fleet.yaml", file(openFleet));
    await hub.write("clusters/member-a.yaml", file(memberCluster("member-a", {})));
    const workload = deployment("shop/web", "example.com/web:1");
    await hub.write("resources/shop.yaml", file(namespace("shop"), configMap("shop/settings", { a: "1" }), workload));
    await hub.write("placements/shop.yaml", file(placement("shop")));
    hub.push("Place the shop");
  }, 400_000);
  afterAll(async () => {
    await cluster?.stop();
    await scratch?.stop();
  });

  const listed = async (path: string): Promise<Json> => {
    const { status, text } = await cluster.request({ path });
    if (status !== 200) throw new Error(`GET ${path} was answered ${status}: ${text}`);
    return JSON.parse(text) as Json;
  };
  const itemsOf = (list: Json): readonly Json[] => {
    const items = memberAt(list, "items");
    return Array.isArray(items) ? items : [];
  };

  /** Everything of the shop and who it is: kind by kind, pods with their restarts. */
  async function standing(): Promise<readonly string[]> {
    const lists = await Promise.all(collections.map(listed));
    return lists.flatMap((list, at) =>
      itemsOf(list).flatMap((it) => {
        const [name, space] = [memberAt(it, "metadata", "name"), memberAt(it, "metadata", "namespace")];
        if (space !== "shop" && name !== "shop") return [];
        const statuses = memberAt(it, "status", "containerStatuses");
        const restarts = Array.isArray(statuses) ? statuses.map((status) => memberAt(status, "restartCount")) : [];
        return [`${collections[at]} ${name} ${memberAt(it, "metadata", "uid")} ${restarts.join()}`];
      }),
    );
  }

  /** What a watch from a version on tells of the shop: `DELETED web`. The server ends it. */
  async function eventsSince(version: string, collection: string): Promise<readonly string[]> {
    const query = `watch=true&resourceVersion=${version}&timeoutSeconds=3`;
    const { status, text } = await cluster.request({ path: `${collection}?${query}` });
    if (status !== 200) throw new Error(`the watch of ${collection} was answered ${status}: ${text}`);
    return text
      .split("\n")
      .filter((it) => it !== "")
      .map((it) => JSON.parse(it) as Json)
      .filter((it) => isObject(it))
      .filter((it) =>
        [memberAt(it, "object", "metadata", "namespace"), memberAt(it, "object", "metadata", "name")].includes("shop"),
      )
      .map((it) => `${textOf(memberAt(it, "type"))} ${textOf(memberAt(it, "object", "metadata", "name"))}`);
  }

  test("keeps its objects: the same uids, no pod restarted, and no watch tells of a deletion", async () => {
    expect(await desk.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
    const before = await standing();
    // The Namespace, two ConfigMaps (one is the cluster's own), a Deployment, its ReplicaSet and its pod.
    expect(before.length).toBeGreaterThanOrEqual(5);
    expect(before.filter((it) => it.includes("/pods "))).toHaveLength(1);
    const version = textOf(memberAt(await listed("/api/v1/namespaces"), "metadata", "resourceVersion")) ?? "";

    await desk.hub.remove("placements/shop.yaml");
    const selectors = [{ group: "", version: "v1", kind: "Namespace", name: "shop" }];
    await desk.hub.write("placements/store.yaml", file(placement("store", { selectors })));
    desk.hub.push("Call the shop a store");
    expect(await desk.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });

    expect(await standing()).toEqual(before);
    const events = (await Promise.all(collections.map((it) => eventsSince(version, it)))).flat();
    expect(events.filter((it) => it.startsWith("DELETED"))).toEqual([]);
    expect(events).toContain("MODIFIED web");
    const owner = ["-n", "shop", "get", "deployment/web", "-o", "jsonpath={.metadata.labels.flotilla\\.dev/placement}"];
    expect(await cluster.kubectl(owner)).toBe("store");
    expect(desk.hub.statePaths().some((it) => it.startsWith("placements/shop/"))).toBe(false);
  }, 300_000);
});
