import { describe, expect, test } from "vitest";
import { memberAt } from "../../../src/core/model/json.ts";
import type { ClusterHandle } from "../../../src/shell/embedded/handle.ts";
import type { Step } from "./requests.ts";
import { configMap, embeddedScene } from "./scene.ts";

const scene = embeddedScene();

const troubles: readonly (readonly [string, Parameters<ClusterHandle["control"]>[0], Step, number, string])[] = [
  [
    "too many requests",
    { faults: { failWith: 429, retryAfterSeconds: 3 } },
    { method: "GET", path: "/version" },
    429,
    "TooManyRequests",
  ],
  ["a server error", { faults: { failWith: 500 } }, { method: "GET", path: "/version" }, 500, "InternalError"],
  ["nobody is let in", { faults: { unauthorized: true } }, { method: "GET", path: "/version" }, 401, "Unauthorized"],
  [
    "a kind that may not be written",
    { faults: { readOnly: ["/ConfigMap"] } },
    { method: "POST", path: "/api/v1/namespaces/shop/configmaps", body: { metadata: { name: "x" } } },
    403,
    "Forbidden",
  ],
];

describe("trouble on demand", () => {
  test.each(troubles)("%s", async (_, change, step, code, reason) => {
    scene.cluster.control(change);
    const answer = await scene.send(step);
    expect(answer).toMatchObject({ code, body: { kind: "Status", reason, code } });
  });

  test("failures can be counted out", async () => {
    scene.cluster.control({ faults: { failWith: 503, failures: 2 } });
    const codes = [await scene.get("/version"), await scene.get("/version"), await scene.get("/version")].map(
      (it) => it.code,
    );
    expect(codes).toEqual([503, 503, 200]);
  });

  test("down, a connection is destroyed", async () => {
    scene.cluster.control({ faults: { down: true } });
    await expect(scene.get("/version")).rejects.toThrow("socket hang up");
  });

  test("hanging, there is no answer, and late ones are late", async () => {
    scene.cluster.control({ faults: { hang: true } });
    const silent = await Promise.race([
      scene.get("/version").catch(() => "cut off"),
      new Promise((resolve) => setTimeout(resolve, 50, "silent")),
    ]);
    expect(silent).toBe("silent");
    scene.cluster.control({ faults: { hang: false, latencyMs: 40 } });
    const asked = performance.now();
    await scene.get("/version");
    expect(performance.now() - asked).toBeGreaterThan(38);
  });

  test("a token is asked for where one is set", async () => {
    expect((await scene.get("/version", "locked")).code).toBe(401);
    expect(
      (await scene.send({ method: "GET", path: "/version" }, { authorization: "Bearer key" }, "locked")).code,
    ).toBe(200);
  });

  test("all of it through the control endpoint as well", async () => {
    const changed = await scene.control("PATCH", "/one", {
      faults: { failWith: 503 },
      availableAfterMs: 7,
      log: true,
    });
    expect(changed).toMatchObject({
      code: 200,
      body: { availableAfterMs: 7, faults: { failWith: 503, frozen: false } },
    });
    await scene.get("/version");
    const told = await scene.control("GET", "/one");
    expect(memberAt(told.body, "log")).toEqual([{ method: "GET", path: "/version", code: 503 }]);
    expect((await scene.control("PATCH", "/one", { faults: { nonsense: true } })).code).toBe(400);
    expect((await scene.control("PATCH", "/one", { faults: { latencyMs: "soon" } })).code).toBe(400);
    expect((await scene.control("POST", "", { name: "later" })).code).toBe(201);
    expect((await scene.get("/readyz", "later")).code).toBe(200);
    expect((await scene.control("POST", "", { name: "later" })).code).toBe(400);
    expect((await scene.control("GET", "/absent")).code).toBe(404);
  });
});

describe("what was asked is counted", () => {
  test("by verb and resource, dry runs apart", async () => {
    const path = "/api/v1/namespaces/shop/configmaps/x?fieldManager=test";
    const type = "application/apply-patch+yaml";
    await scene.send({ method: "PATCH", path: `${path}&dryRun=All`, type, body: configMap("x") });
    await scene.send({ method: "PATCH", path, type, body: configMap("x") });
    await scene.get("/api/v1/configmaps");
    await scene.get("/api/v1/namespaces/shop/configmaps/x");
    expect(scene.cluster.counters).toEqual({
      total: 4,
      mutating: 1,
      dryRun: 1,
      requests: {
        "apply /configmaps": 1,
        "apply /configmaps (dry run)": 1,
        "get /configmaps": 1,
        "list /configmaps": 1,
      },
    });
  });
});
