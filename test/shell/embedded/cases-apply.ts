import type { Json } from "../../../src/core/model/json.ts";
import {
  apply,
  type Case,
  configMap,
  container,
  core,
  deployment,
  drop,
  get,
  patch,
  post,
  put,
  service,
  web,
  x,
} from "./requests.ts";

const times = { lastTransitionTime: "2026-01-01T00:00:00Z", lastUpdateTime: "2026-01-01T00:00:00Z" };

/** Server-side apply. */
export const applying: readonly Case[] = [
  {
    name: "an apply creates, repeats without a trace, changes and drops",
    steps: [
      apply(x, "one", configMap({ a: "1", b: "2" }, { labels: { app: "x" } })),
      apply(x, "one", configMap({ a: "1", b: "2" }, { labels: { app: "x" } })),
      apply(x, "one", configMap({ a: "3" }, { labels: { app: "x" } })),
      apply(x, "one", configMap({}, {})),
      apply(x, "one", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", namespace: "NS" } }),
    ],
  },
  {
    name: "a second applier conflicts, shares equal values, takes by force",
    steps: [
      apply(x, "one", configMap({ a: "1", b: "2" })),
      apply(x, "two", configMap({ a: "1" })),
      apply(x, "two", configMap({ a: "9", b: "9" })),
      apply(x, "two", configMap({ a: "9", b: "9" }), "&force=true"),
      apply(x, "one", configMap({ a: "1" })),
      apply(x, "one", configMap({ b: "9" })),
      apply(x, "one", configMap({ c: "1" })),
      get(x),
    ],
  },
  {
    name: "an applier conflicts with who updated",
    steps: [
      post(`${core}/configmaps?fieldManager=creator`, configMap({ a: "1", b: "2" }, { labels: { l: "1" } })),
      apply(x, "one", configMap({ a: "2" })),
      apply(x, "one", configMap({ a: "1" }, { labels: { l: "1" } })),
      patch(`${x}?fieldManager=patcher`, "merge-patch+json", { data: { a: "5", b: null, c: "6" } }),
      apply(x, "one", configMap({ a: "1" }, { labels: { l: "1" } })),
      apply(x, "one", configMap({ a: "1" }), "&force=true"),
    ],
  },
  {
    name: "a deployment: lists by key, defaults without owner, fields that go",
    steps: [
      apply(
        web,
        "one",
        deployment({
          replicas: 2,
          template: {
            metadata: { labels: { app: "web" } },
            spec: {
              containers: [
                {
                  ...container,
                  ports: [{ containerPort: 80 }, { containerPort: 81, name: "b" }],
                  env: [
                    { name: "A", value: "1" },
                    { name: "B", valueFrom: { configMapKeyRef: { name: "x", key: "a" } } },
                  ],
                  resources: { requests: { cpu: "1000m", memory: "1024Mi" }, limits: { cpu: "2.5" } },
                  volumeMounts: [{ name: "v", mountPath: "/v" }],
                },
              ],
              volumes: [{ name: "v", emptyDir: {} }],
              tolerations: [{ key: "a", operator: "Exists" }],
            },
          },
        }),
      ),
      apply(web, "two", {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web", namespace: "NS" },
        spec: { template: { spec: { containers: [{ name: "side", image: "side:1" }] } } },
      }),
      apply(
        web,
        "one",
        deployment({
          replicas: 2,
          template: {
            metadata: { labels: { app: "web" } },
            spec: { containers: [{ ...container, ports: [{ containerPort: 81, name: "b" }] }] },
          },
        }),
      ),
      apply(web, "one", deployment({})),
    ],
  },
  {
    name: "a deployment's replicas, taken by an autoscaler",
    steps: [
      apply(web, "one", deployment({ replicas: 2 })),
      patch(`${web}?fieldManager=scaler`, "merge-patch+json", { spec: { replicas: 5 } }),
      apply(web, "one", deployment({ replicas: 2 })),
      apply(web, "one", deployment({})),
      get(web),
    ],
  },
  {
    name: "two appliers of one container: conflicts name the key",
    steps: [
      apply(web, "one", deployment({})),
      apply(
        web,
        "two",
        deployment({
          template: {
            metadata: { labels: { app: "web" } },
            spec: { containers: [{ name: "web", image: "web:2", ports: [{ containerPort: 80 }] }] },
          },
        }),
      ),
    ],
  },
  {
    name: "a dry run answers as if, and changes nothing",
    steps: [
      apply(x, "one", configMap({ a: "1" }), "&dryRun=All"),
      get(x),
      apply(x, "one", configMap({ a: "1" })),
      apply(x, "one", configMap({ a: "2" }), "&dryRun=All"),
      drop(`${x}?dryRun=All`),
      get(x),
    ],
  },
  {
    name: "a service: ports by port and protocol",
    steps: [
      apply(`${core}/services/web`, "one", service([{ port: 80 }])),
      apply(
        `${core}/services/web`,
        "one",
        service([
          { port: 80, name: "a" },
          { port: 53, protocol: "UDP", name: "b" },
        ]),
      ),
      apply(`${core}/services/web`, "two", service([{ port: 80, name: "z" }])),
      put(`${core}/services/web?fieldManager=putter`, {
        ...(service([{ port: 81 }]) as object),
        metadata: { name: "web", namespace: "NS" },
      } as Json),
    ],
  },
  {
    name: "finalizers are a set, owners are by uid",
    steps: [
      apply(x, "one", configMap({}, { finalizers: ["a.b/one"] })),
      apply(x, "two", configMap({}, { finalizers: ["a.b/two"] })),
      apply(x, "one", configMap({}, {})),
      apply(
        x,
        "one",
        configMap({}, { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u-1" }] }),
      ),
      apply(
        x,
        "two",
        configMap({}, { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "p", uid: "u-2" }] }),
      ),
      drop(x),
      get(x),
      apply(x, "two", configMap({}, {})),
      get(x),
    ],
  },
  {
    name: "status is applied apart, and by others",
    steps: [
      apply(web, "one", { ...(deployment({}) as object), status: { replicas: 3 } } as Json),
      patch(`${web}/status?fieldManager=controller`, "merge-patch+json", {
        status: { observedGeneration: 1, replicas: 1, conditions: [{ type: "Available", status: "True", ...times }] },
      }),
      apply(`${web}/status`, "other", {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web", namespace: "NS" },
        spec: { replicas: 9 },
        status: { readyReplicas: 1 },
      }),
      apply(web, "one", deployment({})),
    ],
  },
  {
    name: "a secret: stringData becomes data",
    steps: [
      apply(`${core}/secrets/s`, "one", {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "s", namespace: "NS" },
        stringData: { password: "hunter2" },
      }),
      apply(`${core}/secrets/s`, "one", {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "s", namespace: "NS" },
        stringData: { password: "hunter2" },
      }),
    ],
  },
  {
    name: "an object without owners: what stands in it was there before",
    steps: [
      post(`${core}/configmaps`, configMap({ a: "1", b: "2" })),
      put(x, configMap({ a: "1", b: "2" }, { managedFields: [] })),
      apply(x, "one", configMap({ a: "1" })),
      apply(x, "one", configMap({ a: "2" })),
      apply(x, "one", configMap({ a: "2" }), "&force=true"),
    ],
  },
  {
    name: "what two appliers share stays until both let go",
    steps: [
      apply(web, "one", deployment({}, { volumes: [{ name: "v", emptyDir: {} }], nodeSelector: { a: "b" } })),
      apply(web, "two", {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web", namespace: "NS", labels: { team: "a" } },
        spec: {
          template: {
            metadata: { labels: { app: "web" } },
            spec: {
              containers: [{ name: "web", env: [{ name: "A", value: "1" }] }],
              volumes: [{ name: "v", emptyDir: {} }],
            },
          },
        },
      }),
      apply(web, "one", deployment({})),
      apply(web, "two", { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "NS" } }),
      patch(`${web}?fieldManager=three`, "strategic-merge-patch+json", {
        spec: { template: { spec: { containers: [{ name: "web", image: "web:3" }] } } },
      }),
      apply(web, "one", deployment({}), "&force=true"),
    ],
  },
  {
    name: "an atomic list and an atomic map are taken whole",
    steps: [
      apply(web, "one", deployment({}, { tolerations: [{ key: "a" }], nodeSelector: { a: "b" } })),
      apply(
        web,
        "two",
        {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "web", namespace: "NS" },
          spec: { template: { spec: { tolerations: [{ key: "b" }], nodeSelector: { c: "d" } } } },
        },
        "&force=true",
      ),
    ],
  },
  {
    name: "what an apply refuses",
    steps: [
      apply(x, "one", { apiVersion: "v2", kind: "ConfigMap", metadata: { name: "x" } }),
      apply(x, "one", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "y" } }),
      apply(x, "one", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", namespace: "other" } }),
      patch(x, "apply-patch+yaml", configMap({})),
      apply(x, "one", configMap({}, { managedFields: [] })),
      apply(x, "one", configMap({}, { uid: "nope" })),
      apply("/api/v1/namespaces/absent-NS/configmaps/x", "one", {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "x" },
      }),
      patch(`${x}?fieldManager=one`, "merge-patch+json", { data: { a: "b" } }),
      apply("/apis/nope.io/v1/namespaces/NS/things/x", "one", {
        apiVersion: "nope.io/v1",
        kind: "Thing",
        metadata: { name: "x" },
      }),
    ],
  },
  {
    name: "an apply that names the version of nothing creates, and is refused where something stands",
    steps: [
      apply(x, "one", configMap({ a: "1" }, { resourceVersion: "1" }), "&force=true"),
      apply(x, "one", configMap({ a: "1" }, { resourceVersion: "1" }), "&force=true"),
      apply(x, "two", configMap({ a: "2" }, { resourceVersion: "1" }), "&force=true"),
      apply(x, "two", configMap({ a: "2" }, { resourceVersion: "1" })),
      get(x),
    ],
  },
];
