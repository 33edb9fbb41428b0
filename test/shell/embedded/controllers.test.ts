import { describe, expect, test } from "vitest";
import { type Json, type JsonObject, memberAt } from "../../../src/core/model/json.ts";
import type { ObjectPlace } from "../../../src/shell/embedded/handle.ts";
import { configMap, embeddedScene, place, pod, until, workload } from "./scene.ts";

const scene = embeddedScene();

const becomes: readonly (readonly [string, JsonObject, ObjectPlace, JsonObject])[] = [
  [
    "a deployment",
    workload("Deployment", { replicas: 3 }),
    place("apps", "Deployment", "web"),
    { observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 },
  ],
  [
    "a deployment of none",
    workload("Deployment", { replicas: 0 }),
    place("apps", "Deployment", "web"),
    { observedGeneration: 1 },
  ],
  [
    "a stateful set",
    workload("StatefulSet", { replicas: 2, serviceName: "web" }),
    place("apps", "StatefulSet", "web"),
    { observedGeneration: 1, replicas: 2, availableReplicas: 2, currentReplicas: 2, updatedReplicas: 2 },
  ],
  [
    "a daemon set",
    workload("DaemonSet"),
    place("apps", "DaemonSet", "web"),
    {
      observedGeneration: 1,
      desiredNumberScheduled: 1,
      currentNumberScheduled: 1,
      updatedNumberScheduled: 1,
      numberAvailable: 1,
    },
  ],
  [
    "a job",
    { apiVersion: "batch/v1", kind: "Job", metadata: { name: "web", namespace: "shop" }, spec: { template: pod() } },
    place("batch", "Job", "web"),
    { succeeded: 1 },
  ],
  [
    "a claim",
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "web", namespace: "shop" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
    place("", "PersistentVolumeClaim", "web"),
    { phase: "Bound", capacity: { storage: "1Gi" } },
  ],
  [
    "a load balancer",
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web", namespace: "shop" },
      spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
    },
    place("", "Service", "web"),
    { loadBalancer: { ingress: [{ ipMode: "VIP" }] } },
  ],
  [
    "a disruption budget",
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "web", namespace: "shop" },
      spec: { minAvailable: 1 },
    },
    place("policy", "PodDisruptionBudget", "web"),
    {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      conditions: [{ type: "DisruptionAllowed", status: "False", reason: "InsufficientPods" }],
    },
  ],
];

describe("controllers make it so", () => {
  test.each(becomes)("%s", async (_, object, where, want) => {
    scene.cluster.apply("test", object);
    const settled = (status: Json): boolean => {
      try {
        expect(status).toMatchObject(want);
        return true;
      } catch {
        return false;
      }
    };
    await until(() => scene.cluster.get(where)?.["status"] ?? null, settled);
  });

  test("an update takes half out of service, climbs, and is done", async () => {
    scene.cluster.apply("test", workload("Deployment", { replicas: 4 }));
    const where = place("apps", "Deployment", "web");
    const read = (): Json => scene.cluster.get(where)?.["status"] ?? null;
    await until(read, (it) => memberAt(it, "availableReplicas") === 4);
    const events = scene.watch("/apis/apps/v1/namespaces/shop/deployments", scene.cluster.resourceVersion);
    scene.cluster.apply("test", workload("Deployment", { replicas: 4 }, "web:2"));
    await until(read, (it) => memberAt(it, "observedGeneration") === 2 && memberAt(it, "availableReplicas") === 4);
    const seen = await until(
      () =>
        events.all.map(({ object }) => [
          memberAt(object, "status", "observedGeneration"),
          memberAt(object, "status", "updatedReplicas"),
          memberAt(object, "status", "availableReplicas"),
        ]),
      (it) => it.length === 4,
    );
    events.stop();
    expect(seen).toEqual([
      [1, 4, 4],
      [2, null, 2],
      [2, 2, 2],
      [2, 4, 4],
    ]);
  });

  test("an image that is broken never gets there, one that crashes is given up", async () => {
    const where = place("apps", "Deployment", "web");
    scene.cluster.apply("test", workload("Deployment", {}, "web:broken"));
    await until(
      () => scene.cluster.get(where),
      (it) => memberAt(it, "status", "updatedReplicas") === 1,
    );
    expect(memberAt(scene.cluster.get(where), "status", "availableReplicas")).toBeNull();
    scene.cluster.apply("test", workload("Deployment", { progressDeadlineSeconds: 0 }, "web:crash"));
    const failed = await until(
      () => scene.cluster.get(where),
      (it) => JSON.stringify(it).includes("ProgressDeadlineExceeded"),
    );
    expect(memberAt(failed, "status", "observedGeneration")).toBe(2);
  });

  test("frozen they do nothing, and afterwards what they missed", async () => {
    scene.cluster.control({ faults: { frozen: true }, availableAfterMs: 0 });
    scene.cluster.apply("test", workload("Deployment"));
    await scene.get("/readyz");
    expect(scene.cluster.get(place("apps", "Deployment", "web"))?.["status"]).toEqual({});
    scene.cluster.control({ faults: { frozen: false } });
    await until(
      () => scene.cluster.get(place("apps", "Deployment", "web")),
      (it) => memberAt(it, "status", "availableReplicas") === 1,
    );
  });

  test("frozen halfway through a rollout they finish it afterwards", async () => {
    const where = place("apps", "Deployment", "web");
    const available = (): Json => memberAt(scene.cluster.get(where), "status", "availableReplicas");
    scene.cluster.control({ availableAfterMs: 300 });
    scene.cluster.apply("test", workload("Deployment", { replicas: 2 }));
    const due = performance.now() + 320;
    await until(
      () => scene.cluster.get(where),
      (it) => memberAt(it, "status", "observedGeneration") === 1,
    );
    scene.cluster.control({ faults: { frozen: true } });
    await until(
      () => performance.now(),
      (it) => it > due,
    );
    expect(available()).toBeNull();
    scene.cluster.control({ faults: { frozen: false } });
    await until(available, (it) => it === 2);
  });

  test("a definition is served when it is established, and gone with its instances", async () => {
    const names = { plural: "widgets", kind: "Widget" };
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    const versions = [{ name: "v1", served: true, storage: true, schema }];
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.x.io" },
    };
    scene.cluster.apply("test", { ...definition, spec: { group: "x.io", scope: "Cluster", names, versions } });
    const where = place("apiextensions.k8s.io", "CustomResourceDefinition", "widgets.x.io", null);
    await until(
      () => scene.cluster.get(where),
      (it) => JSON.stringify(it).includes('"Established"'),
    );
    scene.cluster.apply("test", {
      apiVersion: "x.io/v1",
      kind: "Widget",
      metadata: { name: "w" },
      spec: { any: "thing" },
    });
    expect((await scene.get("/apis/x.io/v1/widgets")).code).toBe(200);
    const uid = memberAt(scene.cluster.get(place("x.io", "Widget", "w", null)), "metadata", "uid");
    const owner = { apiVersion: "x.io/v1", kind: "Widget", name: "w", uid };
    scene.cluster.create("test", configMap("child", { ownerReferences: [owner] }));
    scene.cluster.remove(where);
    await until(
      () => scene.cluster.get(where),
      (it) => it === null,
    );
    expect((await scene.get("/apis/x.io/v1/widgets")).code).toBe(404);
    // What its instances owned goes with them, although nobody can look for them any more.
    await until(
      () => scene.cluster.get(place("", "ConfigMap", "child")),
      (it) => it === null,
    );
  });
});

describe("what is deleted goes in order", () => {
  test("a namespace after its content, which may be held", async () => {
    scene.cluster.create("test", configMap("held", { finalizers: ["x.io/hold"] }));
    scene.cluster.create("test", configMap("free"));
    scene.cluster.remove(place("", "Namespace", "shop", null));
    await until(
      () => scene.cluster.get(place("", "ConfigMap", "free")),
      (it) => it === null,
    );
    expect(memberAt(scene.cluster.get(place("", "Namespace", "shop", null)), "status", "phase")).toBe("Terminating");
    scene.cluster.patch("test", place("", "ConfigMap", "held"), { metadata: { finalizers: null } });
    await until(
      () => scene.cluster.get(place("", "Namespace", "shop", null)),
      (it) => it === null,
    );
  });

  const owned = (name: string, owner: string): JsonObject => {
    const uid = memberAt(scene.cluster.get(place("", "ConfigMap", owner)), "metadata", "uid");
    return configMap(name, { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: owner, uid }] });
  };

  test.each(["Background", "Foreground"])("%s: owners take along what is theirs", async (propagationPolicy) => {
    scene.cluster.create("test", configMap("owner"));
    scene.cluster.create("test", owned("child", "owner"));
    scene.cluster.create("test", owned("grandchild", "child"));
    const body = { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy };
    await scene.send({ method: "DELETE", path: "/api/v1/namespaces/shop/configmaps/owner", body });
    await until(
      () => scene.cluster.list("", "ConfigMap", "shop"),
      (it) => it.length === 1,
    );
  });

  test("Orphan: owners let go", async () => {
    scene.cluster.create("test", configMap("owner"));
    scene.cluster.create("test", owned("child", "owner"));
    await scene.send({ method: "DELETE", path: "/api/v1/namespaces/shop/configmaps/owner?propagationPolicy=Orphan" });
    await until(
      () => scene.cluster.get(place("", "ConfigMap", "owner")),
      (it) => it === null,
    );
    expect(memberAt(scene.cluster.get(place("", "ConfigMap", "child")), "metadata", "ownerReferences")).toBeNull();
  });

  test("Foreground: what somebody else owns as well stays theirs, and keeps nobody waiting", async () => {
    for (const it of ["owner", "other"]) scene.cluster.create("test", configMap(it));
    const references = ["owner", "other"].map((name) => {
      const uid = memberAt(scene.cluster.get(place("", "ConfigMap", name)), "metadata", "uid");
      return { apiVersion: "v1", kind: "ConfigMap", name, uid, blockOwnerDeletion: true };
    });
    scene.cluster.create("test", configMap("child", { ownerReferences: references }));
    const path = "/api/v1/namespaces/shop/configmaps/owner?propagationPolicy=Foreground";
    await scene.send({ method: "DELETE", path });
    await until(
      () => scene.cluster.get(place("", "ConfigMap", "owner")),
      (it) => it === null,
    );
    const child = scene.cluster.get(place("", "ConfigMap", "child"));
    expect(memberAt(child, "metadata", "ownerReferences")).toEqual(references.slice(1));
  });

  test("an object whose owner cannot be looked up stays: of a kind that is not served, or in a namespace and it in none", async () => {
    const unserved = { apiVersion: "example.com/v1", kind: "AppliedWork", name: "work", uid: "none" };
    scene.cluster.create("test", configMap("child", { ownerReferences: [unserved] }));
    const within = { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "none" };
    const space = { apiVersion: "v1", kind: "Namespace", metadata: { name: "owned", ownerReferences: [within] } };
    scene.cluster.create("test", space);
    // Whoever collects these two comes to the third one after them.
    scene.cluster.create("test", configMap("last", { ownerReferences: [within] }));
    await until(
      () => scene.cluster.get(place("", "ConfigMap", "last")),
      (it) => it === null,
    );
    expect(scene.cluster.get(place("", "ConfigMap", "child"))).not.toBeNull();
    expect(
      memberAt(scene.cluster.get(place("", "Namespace", "owned", null)), "metadata", "deletionTimestamp"),
    ).toBeNull();
  });

  test("an object whose owner never was is collected", async () => {
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "none" };
    scene.cluster.create("test", configMap("child", { ownerReferences: [reference] }));
    await until(
      () => scene.cluster.get(place("", "ConfigMap", "child")),
      (it) => it === null,
    );
  });
});
