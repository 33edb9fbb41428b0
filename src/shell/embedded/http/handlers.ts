import { isObject, type JsonObject, listAt, member, memberAt, textOf } from "../../../core/model/json.ts";
import { forbidden, invalid, statusError } from "../api/status.ts";
import { deleteObject, finalizeNamespace } from "../registry/deletion.ts";
import { list, watch } from "../registry/list-watch.ts";
import { apply, create, type PatchType, patch, read, replace, type WriteOutcome } from "../registry/objects.ts";
import { type RequestTarget, referenceTo } from "../registry/preconditions.ts";
import { isScalable, scaleOf, writeScale } from "../registry/scale.ts";
import { parseSelectors } from "../registry/selectors.ts";
import type { Cluster } from "../storage/cluster.ts";
import { objectName, objectNamespace } from "../storage/store.ts";
import { type HttpResponse, jsonResponse, parseBody, textResponse } from "./bodies.ts";
import { aggregatedType, discoveryOf, openApiOf, versionInfo, wantsAggregated } from "./discovery.ts";
import { represent, representationOf, representList, type View } from "./representation.ts";
import {
  deleteOptionsOf,
  isTrueParameter,
  type Route,
  requireJson,
  type ServerRequest,
  type WatchStream,
  writeOptionsOf,
} from "./request.ts";

/** Answers a request about discovery, a collection or an object. Null when it became a watch, which answers by itself. */
export function serve(cluster: Cluster, request: ServerRequest, stream: WatchStream): HttpResponse | null {
  const { route } = request;
  switch (route.kind) {
    case "discovery":
      return request.method === "POST"
        ? review(cluster, route.path, request.body)
        : discover(cluster, route.path, request);
    case "collection":
      return serveCollection(cluster, route, request, stream);
    case "object":
      return serveObject(cluster, { ...route, kind: route.of }, request);
  }
}

function discover(cluster: Cluster, path: string, { accept }: ServerRequest): HttpResponse {
  if (path === "/version") return jsonResponse(200, versionInfo);
  if (["/readyz", "/healthz", "/livez"].includes(path)) return textResponse(200, "ok");
  const aggregated = wantsAggregated(accept);
  const found = discoveryOf(cluster.kinds.all, path.replace(/\/$/, ""), aggregated);
  if (found === null) {
    const schema = openApiOf(cluster.kinds.all, path);
    return schema === null
      ? textResponse(404, "404 page not found\n")
      : { code: 200, type: "application/json", text: schema };
  }
  const isRoot = path === "/api" || path === "/apis";
  return { code: 200, type: aggregated && isRoot ? aggregatedType : "application/json", text: found };
}

/** `kubectl auth can-i`: everything but what `readOnly` forbids. */
function review(cluster: Cluster, path: string, body: string): HttpResponse {
  if (path !== "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
    return textResponse(404, "404 page not found\n");
  const asked = parseBody(body);
  const attributes = memberAt(asked, "spec", "resourceAttributes");
  const group = textOf(member(attributes, "group")) ?? "";
  const plural = textOf(member(attributes, "resource")) ?? "";
  const kind = cluster.kinds.all.find((it) => it.group === group && it.plural === plural);
  const writes = !["get", "list", "watch"].includes(String(member(attributes, "verb")));
  const allowed = !(writes && isReadOnly(cluster, group, kind?.kind ?? ""));
  return jsonResponse(201, { ...(isObject(asked) ? asked : {}), status: { allowed } });
}

const isReadOnly = (cluster: Cluster, group: string, kind: string): boolean =>
  cluster.faults.readOnly.some((it) => it === "*" || it === `${group}/${kind}`);

function requireWritable(cluster: Cluster, target: RequestTarget, verb: string): void {
  const { kind } = target;
  if (!isReadOnly(cluster, kind.group, kind.kind)) return;
  const where = target.namespace === null ? "at the cluster scope" : `in the namespace "${target.namespace}"`;
  const because = `User "simulated" cannot ${verb} resource "${kind.plural}" in API group "${kind.group}" ${where}`;
  throw forbidden(referenceTo(target), because);
}

function serveCollection(
  cluster: Cluster,
  route: Route & { readonly kind: "collection" },
  request: ServerRequest,
  stream: WatchStream,
): HttpResponse | null {
  const target: RequestTarget = { kind: route.of, namespace: route.namespace, name: "", subresource: null };
  const placed = route.of.scope === "Cluster" || route.namespace !== null;
  switch (request.method) {
    case "GET":
      if (!isTrueParameter(request.query.get("watch"))) return serveList(cluster, target, request);
      serveWatch(cluster, target, request, stream);
      return null;
    case "POST": {
      if (!placed) throw notAllowed();
      requireJson(request);
      requireWritable(cluster, target, "create");
      return written(create(cluster, target, parseBody(request.body), writeOptionsOf(request)), target, request);
    }
    case "DELETE":
      if (!placed || route.of.kind === "Namespace") throw notAllowed();
      requireWritable(cluster, target, "deletecollection");
      return removeMany(cluster, target, request);
    default:
      throw notAllowed();
  }
}

const notAllowed = (): Error =>
  statusError("MethodNotAllowed", "the server does not allow this method on the requested resource", {});

const viewOf = ({ kind }: RequestTarget, { accept, now }: ServerRequest): View => ({
  representation: representationOf(accept),
  kind,
  now,
});

function selecting(
  { kind }: RequestTarget,
  { query }: ServerRequest,
): { selects: (object: JsonObject) => boolean; isSelective: boolean } {
  const [labels, fields] = [query.get("labelSelector"), query.get("fieldSelector")];
  return { selects: parseSelectors(labels, fields, kind), isSelective: Boolean(labels) || Boolean(fields) };
}

function serveList(cluster: Cluster, target: RequestTarget, request: ServerRequest): HttpResponse {
  const view = viewOf(target, request);
  const { query } = request;
  const page = list(cluster, {
    kind: target.kind,
    namespace: target.namespace,
    ...selecting(target, request),
    atLeast: Number(query.get("resourceVersion") ?? "0") || 0,
    limit: Number(query.get("limit") ?? "0") || 0,
    continue: query.get("continue") ?? "",
  });
  return jsonResponse(200, representList(page.objects, page.metadata, view));
}

function serveWatch(cluster: Cluster, target: RequestTarget, request: ServerRequest, stream: WatchStream): void {
  const view = viewOf(target, request);
  const { query } = request;
  const { selects } = selecting(target, request);
  const stop = watch(
    cluster,
    {
      kind: target.kind,
      namespace: target.namespace,
      selects,
      resourceVersion: query.get("resourceVersion") ?? "",
      bookmarks: isTrueParameter(query.get("allowWatchBookmarks")),
      initialEvents: isTrueParameter(query.get("sendInitialEvents")),
      timeoutSeconds: Number(query.get("timeoutSeconds") ?? "0") || 0,
      represent: (object) => represent(object, view),
    },
    {
      send: (event) => {
        stream.begin();
        stream.send(`${JSON.stringify(event)}\n`);
      },
      end: () => stream.end(),
    },
  );
  stream.begin();
  stream.onClose(stop);
}

function removeMany(cluster: Cluster, target: RequestTarget, request: ServerRequest): HttpResponse {
  const { selects, isSelective } = selecting(target, request);
  const options = deleteOptionsOf(request);
  const page = list(cluster, {
    kind: target.kind,
    namespace: target.namespace,
    selects,
    isSelective,
    limit: 0,
    continue: "",
    atLeast: 0,
  });
  for (const it of page.objects)
    deleteObject(cluster, { ...target, name: objectName(it), namespace: objectNamespace(it) }, options);
  return jsonResponse(200, representList(page.objects, page.metadata, viewOf(target, request)));
}

function serveObject(cluster: Cluster, target: RequestTarget, request: ServerRequest): HttpResponse {
  const part = target.subresource;
  if (part === "finalize" && target.kind.kind === "Namespace") return finalize(cluster, target, request);
  if (part !== null && !target.kind.subresources.includes(part)) {
    throw statusError("NotFound", "the server could not find the requested resource", {});
  }
  if (part === "scale" && !isScalable(target))
    throw statusError("NotFound", "the server could not find the requested resource", {});
  switch (request.method) {
    case "GET": {
      const object = read(cluster, target);
      return jsonResponse(200, part === "scale" ? scaleOf(object) : represent(object, viewOf(target, request)));
    }
    case "PUT":
      requireJson(request);
      requireWritable(cluster, target, "update");
      return part === "scale"
        ? written(writeScale(cluster, target, parseBody(request.body), writeOptionsOf(request)), null, request)
        : written(replace(cluster, target, parseBody(request.body), writeOptionsOf(request)), target, request);
    case "PATCH":
      requireWritable(cluster, target, "patch");
      return servePatch(cluster, target, request);
    case "DELETE": {
      if (part !== null) throw notAllowed();
      requireWritable(cluster, target, "delete");
      return jsonResponse(200, deleteObject(cluster, target, deleteOptionsOf(request)));
    }
    default:
      throw notAllowed();
  }
}

function finalize(cluster: Cluster, target: RequestTarget, request: ServerRequest): HttpResponse {
  if (request.method !== "PUT") throw notAllowed();
  requireWritable(cluster, target, "update");
  const finalizers = listAt(parseBody(request.body), "spec", "finalizers");
  return jsonResponse(200, finalizeNamespace(cluster, read(cluster, target), finalizers));
}

const patchTypes: Readonly<Record<string, PatchType>> = {
  "application/merge-patch+json": "merge",
  "application/json-patch+json": "operations",
  "application/strategic-merge-patch+json": "strategic",
};

function servePatch(cluster: Cluster, target: RequestTarget, request: ServerRequest): HttpResponse {
  const contentType = request.contentType.split(";")[0] ?? "";
  const options = writeOptionsOf(request);
  if (contentType === "application/apply-patch+yaml") {
    if (!request.query.get("fieldManager")) throw managerMissing();
    return written(apply(cluster, target, parseBody(request.body), options), target, request);
  }
  const type = patchTypes[contentType];
  if (type === undefined || (type === "strategic" && target.kind.custom !== null)) throw unknownFormat(target, type);
  const body = parseBody(request.body);
  if (target.subresource === "scale") return written(writeScale(cluster, target, body, options), null, request);
  return written(patch(cluster, target, body, { ...options, type }), target, request);
}

const unknownFormat = ({ kind }: RequestTarget, type: PatchType | undefined): Error => {
  const accepted = Object.keys(patchTypes).filter((it) => kind.custom === null || !it.includes("strategic"));
  const types = [...accepted, "application/apply-patch+yaml"].join(", ");
  return statusError(
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${types}`,
    type === undefined ? {} : null,
  );
};

const managerMissing = (): Error =>
  invalid({ group: "meta.k8s.io", resource: "patchoptions", kind: "PatchOptions", name: "" }, [
    { reason: "FieldValueRequired", message: "Required value: is required for apply patch", field: "fieldManager" },
  ]);

/** Null for what is no object of the target's kind: it is answered as it is. */
function written({ code, object }: WriteOutcome, target: RequestTarget | null, request: ServerRequest): HttpResponse {
  return jsonResponse(code, target === null ? object : represent(object, viewOf(target, request)));
}
