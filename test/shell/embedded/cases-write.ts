import type { Json } from "../../../src/core/model/json.ts";
import {
  apply,
  apps,
  type Case,
  configMap,
  core,
  deployment,
  drop,
  get,
  patch,
  post,
  put,
  type Step,
  service,
  web,
  x,
} from "./requests.ts";

/** Creating, replacing, patching. */
export const writing: readonly Case[] = [
  {
    name: "create, create again, read, replace with a stale version, delete",
    steps: [
      post(`${core}/configmaps`, configMap({ a: "1" })),
      post(`${core}/configmaps`, configMap({ a: "1" })),
      get(x),
      put(x, configMap({ a: "2" }, { resourceVersion: "1" })),
      put(x, configMap({ a: "2" })),
      put(x, configMap({ a: "2" })),
      drop(x, { preconditions: { uid: "nope" } }),
      drop(x, { preconditions: { resourceVersion: "1" } }),
      drop(x, { preconditions: { uid: "$uid" } }),
      drop(x),
      get(x),
      put(x, configMap({ a: "2" })),
    ],
  },
  {
    name: "the three older patches",
    steps: [
      post(`${core}/configmaps`, configMap({ a: "1", b: "2" })),
      patch(x, "merge-patch+json", { data: { a: null, c: "3" } }),
      patch(x, "json-patch+json", [
        { op: "test", path: "/data/b", value: "2" },
        { op: "replace", path: "/data/b", value: "4" },
        { op: "add", path: "/metadata/labels", value: { l: "m" } },
      ]),
      patch(x, "json-patch+json", [{ op: "test", path: "/data/b", value: "nope" }]),
      patch(x, "json-patch+json", [{ op: "remove", path: "/data/nope" }]),
      patch(x, "strategic-merge-patch+json", { data: { d: "5" } }),
      patch(x, "merge-patch+json", { metadata: { resourceVersion: "1" } }),
      patch(x, "merge-patch+json", { metadata: { name: "other" } }),
      patch(x, "nonsense", {}),
      patch(x, "merge-patch+json", { data: { d: "5" } }),
    ],
  },
  {
    name: "a strategic patch merges lists by key",
    steps: [
      post(`${apps}/deployments`, deployment({})),
      patch(web, "strategic-merge-patch+json", {
        spec: { template: { spec: { containers: [{ name: "side", image: "side:1" }] } } },
      }),
      patch(web, "strategic-merge-patch+json", {
        spec: { template: { spec: { containers: [{ name: "side", $patch: "delete" }] } } },
      }),
      patch(web, "strategic-merge-patch+json", {
        spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } },
      }),
    ],
  },
  {
    name: "a deployment: generation counts spec alone; immutable and invalid are 422",
    steps: [
      post(`${apps}/deployments`, deployment({ replicas: 1 })),
      patch(web, "merge-patch+json", { metadata: { labels: { a: "b" } } }),
      patch(web, "merge-patch+json", { spec: { replicas: 2 } }),
      patch(web, "merge-patch+json", { spec: { selector: { matchLabels: { app: "other" } } } }),
      post(`${apps}/deployments`, { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "Web_1" }, spec: {} }),
      drop(web),
    ],
  },
  {
    name: "what a service, a claim and an immutable config map will not change",
    steps: [
      post(`${core}/services`, service([{ port: 80 }], { clusterIP: "None" })),
      patch(`${core}/services/web`, "merge-patch+json", {
        spec: { clusterIP: "10.0.0.77", clusterIPs: ["10.0.0.77"] },
      }),
      post(`${core}/persistentvolumeclaims`, {
        metadata: { name: "c" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } },
      }),
      patch(`${core}/persistentvolumeclaims/c`, "merge-patch+json", { spec: { storageClassName: "fast" } }),
      post(`${core}/configmaps`, { ...(configMap({ a: "1" }) as object), immutable: true } as Json),
      patch(x, "merge-patch+json", { data: { a: "2" } }),
    ],
  },
  {
    name: "no namespace, no kind, no body, wrong names",
    steps: [
      post("/api/v1/namespaces/absent-NS/configmaps", {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "x" },
      }),
      get("/api/v1/namespaces/absent-NS/configmaps"),
      get("/api/v1/namespaces/NS/nopes"),
      get("/apis/nope.io/v1/things"),
      post(`${core}/configmaps`, { apiVersion: "v1", kind: "ConfigMap", metadata: {} }),
      post(`${core}/configmaps`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "Nope_1" } }),
      post(`${core}/configmaps`, { apiVersion: "v1", kind: "Secret", metadata: { name: "x" } }),
      post(`${core}/configmaps`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", namespace: "other" } }),
      put(x, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "y" } }),
      { method: "DELETE", path: `${core}/configmaps/absent` },
      { method: "PUT", path: `${core}/configmaps` },
    ],
  },
  {
    name: "roles, bindings and their kin",
    steps: [
      post("/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles", {
        metadata: { name: "r" },
        rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
      }),
      post("/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings", {
        metadata: { name: "r" },
        roleRef: { kind: "Role", name: "r", apiGroup: "rbac.authorization.k8s.io" },
        subjects: [{ kind: "ServiceAccount", name: "default", namespace: "NS" }],
      }),
      patch("/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings/r", "merge-patch+json", {
        roleRef: { name: "other" },
      }),
      post(`${core}/serviceaccounts`, { metadata: { name: "sa" } }),
    ],
  },
  {
    name: "workloads as they are defaulted",
    steps: [
      post(`${apps}/statefulsets`, {
        metadata: { name: "s" },
        spec: {
          serviceName: "s",
          selector: { matchLabels: { a: "b" } },
          template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
        },
      }),
      post("/apis/batch/v1/namespaces/NS/cronjobs", {
        metadata: { name: "cj" },
        spec: {
          schedule: "* * * * *",
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i:1" }] } } },
          },
        },
      }),
      post("/apis/policy/v1/namespaces/NS/poddisruptionbudgets", {
        metadata: { name: "p" },
        spec: { minAvailable: 1 },
      }),
      post("/apis/networking.k8s.io/v1/namespaces/NS/networkpolicies", {
        metadata: { name: "n" },
        spec: { podSelector: {} },
      }),
      post("/apis/networking.k8s.io/v1/namespaces/NS/ingresses", {
        metadata: { name: "i" },
        spec: {
          rules: [
            {
              host: "a.b",
              http: {
                paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "w", port: { number: 80 } } } }],
              },
            },
          ],
        },
      }),
    ],
  },
];

/** Lists and pages. */
export const listing: readonly Case[] = [
  {
    name: "lists: pages, selectors, partial objects",
    steps: [
      ...["a", "b", "c", "d", "e"].map((name, at) =>
        post(`${core}/configmaps`, {
          metadata: { name, labels: { n: String(at), odd: String(at % 2) } },
          data: { at: String(at) },
        }),
      ),
      get(`${core}/configmaps?limit=2&labelSelector=odd`),
      get(`${core}/configmaps?limit=2&continue=$continue&labelSelector=odd`),
      get(`${core}/configmaps?limit=2&continue=$continue&labelSelector=odd`),
      get(`${core}/configmaps?labelSelector=odd%3D1,n!%3D3`),
      get(`${core}/configmaps?labelSelector=n%20in%20(0,4),odd`),
      get(`${core}/configmaps?labelSelector=odd,n%20notin%20(0,4)`),
      get(`${core}/configmaps?labelSelector=odd,!n`),
      get(`${core}/configmaps?labelSelector=a%3D%3D%3Db`),
      get(`${core}/configmaps?fieldSelector=metadata.name%3Dc`),
      get(`${core}/configmaps?fieldSelector=nope%3Dc`),
      get(`${core}/configmaps?limit=2&continue=garbage`),
      get(
        `${core}/configmaps?fieldSelector=metadata.name%3Dc`,
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
      ),
      get(`${core}/configmaps/c`, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"),
      get(`${core}/configmaps/c`, "application/yaml2"),
      { method: "DELETE", path: `${core}/configmaps?labelSelector=odd%3D1` },
      get(`${core}/configmaps?labelSelector=odd`),
    ],
  },
];

/** Deleting. */
export const removing: readonly Case[] = [
  {
    name: "finalizers hold an object; nothing new may hold one that goes",
    steps: [
      post(`${core}/configmaps`, configMap({ a: "1" }, { finalizers: ["a.b/hold"] })),
      drop(x),
      drop(x),
      patch(x, "merge-patch+json", { data: { a: "2" } }),
      patch(x, "merge-patch+json", { metadata: { finalizers: ["a.b/hold", "a.b/more"] } }),
      patch(x, "merge-patch+json", { metadata: { finalizers: null } }),
      get(x),
    ],
  },
  {
    name: "propagation leaves its finalizers where nobody collects",
    steps: [
      post(`${apps}/deployments`, deployment({})),
      drop(web, { propagationPolicy: "Foreground" }),
      post(`${core}/configmaps`, configMap({})),
      drop(x, { propagationPolicy: "Orphan" }),
      post(`${core}/configmaps`, configMap({}, { name: "y" })),
      drop(`${core}/configmaps/y`, { propagationPolicy: "Background" }),
    ],
  },
  {
    name: "a namespace terminates and takes nothing new",
    steps: [
      post("/api/v1/namespaces", { metadata: { name: "gone-NS" } }),
      post("/api/v1/namespaces/gone-NS/configmaps", { metadata: { name: "x" } }),
      drop("/api/v1/namespaces/gone-NS"),
      post("/api/v1/namespaces/gone-NS/configmaps", { metadata: { name: "y" } }),
      get("/api/v1/namespaces/gone-NS"),
      put("/api/v1/namespaces/gone-NS/finalize", { metadata: { name: "gone-NS" }, spec: { finalizers: [] } }),
      get("/api/v1/namespaces/gone-NS"),
    ],
  },
];

const wait: Step = { ...get("/apis/example.com/v1/widgets"), until: 200 };

/** Definitions and custom resources. */
export const extending: readonly Case[] = [
  {
    name: "a custom resource: pruned, defaulted, listed by its schema's keys",
    steps: [
      post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        metadata: { name: "widgets.example.com" },
        spec: {
          group: "example.com",
          scope: "Namespaced",
          names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              subresources: { status: {} },
              schema: {
                openAPIV3Schema: {
                  type: "object",
                  properties: {
                    spec: {
                      type: "object",
                      properties: {
                        size: { type: "integer", default: 3 },
                        atoms: { type: "array", items: { type: "string" } },
                        names: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
                        parts: {
                          type: "array",
                          "x-kubernetes-list-type": "map",
                          "x-kubernetes-list-map-keys": ["id"],
                          items: {
                            type: "object",
                            required: ["id"],
                            properties: { id: { type: "string" }, n: { type: "integer" } },
                          },
                        },
                        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                        tags: { type: "object", additionalProperties: { type: "string" } },
                      },
                    },
                    status: { type: "object", properties: { phase: { type: "string" } } },
                  },
                },
              },
            },
          ],
        },
      }),
      wait,
      apply("/apis/example.com/v1/namespaces/NS/widgets/w", "one", {
        apiVersion: "example.com/v1",
        kind: "Widget",
        metadata: { name: "w", namespace: "NS" },
        spec: {
          atoms: ["a", "b"],
          names: ["n", "m"],
          parts: [
            { id: "p", n: 1 },
            { id: "q", n: 2 },
          ],
          free: { deep: { er: [1] } },
          tags: { t: "1" },
        },
      }),
      apply("/apis/example.com/v1/namespaces/NS/widgets/w", "two", {
        apiVersion: "example.com/v1",
        kind: "Widget",
        metadata: { name: "w", namespace: "NS" },
        spec: { size: 4, names: ["o"], parts: [{ id: "r", n: 1 }], tags: { u: "1" } },
      }),
      apply("/apis/example.com/v1/namespaces/NS/widgets/w", "one", {
        apiVersion: "example.com/v1",
        kind: "Widget",
        metadata: { name: "w", namespace: "NS" },
        spec: { atoms: ["a"], names: ["m"], parts: [{ id: "p", n: 1 }] },
      }),
      post("/apis/example.com/v1/namespaces/NS/widgets", {
        apiVersion: "example.com/v1",
        kind: "Widget",
        metadata: { name: "v" },
        spec: { nope: 1, free: { yes: 1 } },
        status: { phase: "x" },
      }),
      patch("/apis/example.com/v1/namespaces/NS/widgets/v/status", "merge-patch+json", {
        spec: { size: 9 },
        status: { phase: "Ready" },
      }),
      patch("/apis/example.com/v1/namespaces/NS/widgets/v", "merge-patch+json", {
        spec: { size: 9 },
        status: { phase: "Other" },
      }),
      patch("/apis/example.com/v1/namespaces/NS/widgets/v", "strategic-merge-patch+json", { spec: { size: 9 } }),
      apply("/apis/example.com/v1/namespaces/NS/widgets/w", "one", {
        apiVersion: "example.com/v1",
        kind: "Widget",
        metadata: { name: "w", namespace: "NS" },
        spec: { unknown: 1 },
      }),
      post("/apis/example.com/v1/namespaces/NS/widgets", {
        apiVersion: "example.com/v1",
        kind: "Widget",
        metadata: { name: "bad" },
        spec: { size: "big" },
      }),
    ],
  },
];
