import type { Json } from "../../../src/core/model/json.ts";

/** One request. `NS` in a path or a body stands for the case's own namespace, `$uid` for the last uid seen, `$rv` for the last resourceVersion. */
export interface Step {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: Json;
  readonly type?: string;
  readonly accept?: string;
  /** Repeated until this status is answered: what takes a server a moment. */
  readonly until?: number;
}

export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
}

export const core = "/api/v1/namespaces/NS";
export const apps = "/apis/apps/v1/namespaces/NS";

export const get = (path: string, accept?: string): Step => ({
  method: "GET",
  path,
  ...(accept === undefined ? {} : { accept }),
});
export const post = (path: string, body: Json): Step => ({ method: "POST", path, body });
export const put = (path: string, body: Json): Step => ({ method: "PUT", path, body });
export const drop = (path: string, options: object = {}): Step => ({
  method: "DELETE",
  path,
  body: { kind: "DeleteOptions", apiVersion: "v1", ...options } as Json,
});
export const patch = (path: string, type: string, body: Json): Step => ({
  method: "PATCH",
  path,
  body,
  type: `application/${type}`,
});
export const apply = (path: string, manager: string, body: Json, query = ""): Step =>
  patch(`${path}?fieldManager=${manager}${query}`, "apply-patch+yaml", body);

export const configMap = (data: Json, metadata: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "x", namespace: "NS", ...(metadata as object) },
  data,
});

export const container = { name: "web", image: "web:1" };
export const deployment = (spec: object, pod: object = {}, metadata: object = {}): Json => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "NS", ...metadata },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [container], ...pod } },
    ...spec,
  },
});
export const web = `${apps}/deployments/web`;
export const x = `${core}/configmaps/x`;

export const service = (ports: Json, spec: object = {}): Json => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "NS" },
  spec: { selector: { app: "web" }, ports, ...spec },
});
