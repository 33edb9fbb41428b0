import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Json, type JsonObject, memberAt } from "../../../src/core/model/json.ts";
import { startEmbedded } from "../../../src/shell/embedded/server.ts";
import { configMap, embeddedScene, place, workload } from "./scene.ts";

const scene = embeddedScene();

describe("a cluster is born", () => {
  test("with four namespaces and one node, the same in every run, and new after a reset", async () => {
    const names = scene.cluster.list("", "Namespace").map((it) => memberAt(it, "metadata", "name"));
    expect(names).toEqual(["default", "kube-node-lease", "kube-public", "kube-system", "shop"]);
    expect(scene.cluster.list("", "ConfigMap", "default").map((it) => memberAt(it, "metadata", "name"))).toEqual([
      "kube-root-ca.crt",
    ]);
    expect(scene.cluster.list("", "Node")).toHaveLength(1);
    const twin = await startEmbedded({ clusters: ["locked"], now: () => scene.now });
    expect(twin.cluster("locked").uid).toBe(scene.server.cluster("locked").uid);
    await twin.close();
    const before = scene.cluster.uid;
    scene.cluster.control({ reset: true });
    expect(scene.cluster.uid).not.toBe(before);
    expect(scene.cluster.get(place("", "Namespace", "shop", null))).toBeNull();
  });

  test("behind a path of its own, to which the kubeconfig leads", () => {
    const config = parse(scene.server.kubeconfig()) as JsonObject;
    expect(memberAt(config, "current-context")).toBe("one");
    expect(config["clusters"]).toContainEqual({ name: "locked", cluster: { server: scene.server.url("locked") } });
    expect(config["users"]).toContainEqual({ name: "locked", user: { token: "key" } });
  });

  test("and says what it serves, all at once or piece by piece", async () => {
    const whole = await scene.send({
      method: "GET",
      path: "/apis",
      accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    });
    expect(memberAt(whole.body, "kind")).toBe("APIGroupDiscoveryList");
    const groups = await scene.get("/apis");
    expect(JSON.stringify(groups.body)).toContain('"groupVersion":"apps/v1"');
    const apps = await scene.get("/apis/apps/v1");
    expect(apps.body).toMatchObject({ kind: "APIResourceList", groupVersion: "apps/v1" });
    expect(JSON.stringify(apps.body)).toContain('"deployments/status"');
    expect((await scene.get("/version")).body).toMatchObject({ gitVersion: "v1.36.3" });
    expect([await scene.get("/readyz"), await scene.get("/apis/nope.io/v1")].map((it) => it.code)).toEqual([200, 404]);
  });
});

test("somebody else's writes are somebody else's fields", () => {
  scene.cluster.apply("one", { ...configMap("x"), data: { a: "1" } });
  const changed = scene.cluster.patch("meddler", place("", "ConfigMap", "x"), { data: { a: "2" } });
  expect(
    (memberAt(changed, "metadata", "managedFields") as readonly Json[]).map((it) => memberAt(it, "manager")),
  ).toEqual(["meddler"]);
});

test("kubectl's tables have names, ages and what matters", async () => {
  scene.cluster.apply("test", workload("Deployment", { replicas: 2 }));
  const table = await scene.send({
    method: "GET",
    path: "/apis/apps/v1/namespaces/shop/deployments",
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
  });
  expect(table.body).toMatchObject({ kind: "Table", rows: [{ cells: ["web", "0/2", 0, 0, "0s"] }] });
});

test("a client that sends Kubernetes' binary form is told which forms there are", async () => {
  const answer = await scene.send({
    method: "POST",
    path: "/api/v1/namespaces",
    type: "application/vnd.kubernetes.protobuf",
    body: "k8s",
  });
  expect(answer).toMatchObject({ code: 415, body: { reason: "UnsupportedMediaType" } });
});

test("nobody says under which version an object is made", async () => {
  const path = "/api/v1/namespaces/shop/configmaps";
  const made = (resourceVersion: string) =>
    scene.send({ method: "POST", path, body: configMap(`at-${resourceVersion}`, { resourceVersion }) });
  expect(await made("5")).toMatchObject({
    code: 500,
    body: { message: "resourceVersion should not be set on objects to be created" },
  });
  expect((await made("0")).code).toBe(201);
});
