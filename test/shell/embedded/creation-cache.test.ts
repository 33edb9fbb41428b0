import { describe, expect, test } from "vitest";
import { type Json, type JsonObject, memberAt } from "../../../src/core/model/json.ts";
import type { Step } from "./requests.ts";
import { configMap, embeddedScene, place, workload } from "./scene.ts";

// Objects made from the same body share what it says. Whoever looks must not be able to tell.

const scene = embeddedScene();
const inShop = "/namespaces/shop";

const applying = (path: string, body: JsonObject): Step => ({
  method: "PATCH",
  path: `${path}?fieldManager=one`,
  type: "application/apply-patch+yaml",
  body,
});

const bodies: readonly (readonly [string, JsonObject])[] = [
  [`/api/v1${inShop}/configmaps/x`, { ...configMap("x", { labels: { a: "b" } }), data: { a: "1" } }],
  [`/apis/apps/v1${inShop}/deployments/web`, workload("Deployment")],
  [
    `/api/v1${inShop}/services/s`,
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "s", namespace: "shop" },
      spec: { clusterIP: "10.96.9.9", ports: [{ port: 80 }] },
    },
  ],
  [
    `/api/v1${inShop}/secrets/t`,
    { apiVersion: "v1", kind: "Secret", metadata: { name: "t", namespace: "shop" }, stringData: { a: "b" } },
  ],
];

/** Without what no two objects have in common. */
const content = (body: Json): Json => {
  const { uid: _, resourceVersion: __, ...metadata } = memberAt(body, "metadata") as JsonObject;
  return { ...(body as JsonObject), metadata };
};

describe("a body that was seen before", () => {
  test.each(bodies)("comes to the same as the first time, whatever became of that: %s", async (path, body) => {
    const first = await scene.send(applying(path, body));
    expect(first.code).toBe(201);
    await scene.send({
      method: "PATCH",
      path,
      type: "application/merge-patch+json",
      body: { metadata: { labels: { a: "meddled" } } },
    });
    scene.cluster.control({ reset: true });
    scene.cluster.create("test", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    const again = await scene.send(applying(path, body));
    expect(again.code).toBe(201);
    expect(content(again.body)).toEqual(content(first.body));
    expect(memberAt(again.body, "metadata", "uid")).not.toBe(memberAt(first.body, "metadata", "uid"));
  });

  test("is refused where it does not belong, and where it cannot be", async () => {
    const body = { ...configMap("x"), data: { a: "1" } };
    const path = (space: string, name: string): string => `/api/v1/namespaces/${space}/configmaps/${name}`;
    expect((await scene.send(applying(path("shop", "x"), body))).code).toBe(201);
    expect((await scene.send(applying(path("shop", "y"), body))).code).toBe(400);
    expect((await scene.send(applying(path("default", "x"), body))).code).toBe(400);
    scene.cluster.control({ reset: true });
    expect((await scene.send(applying(path("shop", "x"), body))).code).toBe(404);
  });

  test("and names no namespace makes an object in each", async () => {
    const body = { metadata: { name: "x" }, data: { a: "1" } };
    const posted = (space: string) =>
      scene.send({ method: "POST", path: `/api/v1/namespaces/${space}/configmaps?fieldManager=one`, body });
    const answers = [await posted("shop"), await posted("default"), await posted("default")];
    expect(answers.map(({ code, body: it }) => [code, memberAt(it, "metadata", "namespace")])).toEqual([
      [201, "shop"],
      [201, "default"],
      [409, null],
    ]);
  });

  test("is whose it is now", async () => {
    const body = { metadata: { name: "x" }, data: { a: "1" } };
    const managers = ["one", "two"].map(async (manager) => {
      const space = manager === "one" ? "shop" : "default";
      const path = `/api/v1/namespaces/${space}/configmaps/x?fieldManager=${manager}`;
      const { body: made } = await scene.send({ ...applying("", body), path });
      return memberAt(made, "metadata", "managedFields");
    });
    expect(await Promise.all(managers)).toMatchObject([[{ manager: "one" }], [{ manager: "two" }]]);
  });
});

test("what somebody hands over stays theirs: changing it afterwards changes nothing in a cluster", () => {
  const data: Record<string, Json> = { a: "1" };
  scene.cluster.create("test", { ...configMap("x"), data });
  data["a"] = "2";
  expect(memberAt(scene.cluster.get(place("", "ConfigMap", "x")) ?? {}, "data", "a")).toBe("1");
});
