import type { Kinds } from "../api/kinds.ts";
import { StatusError, statusError } from "../api/status.ts";
import type { Cluster } from "../storage/cluster.ts";
import { errorResponse, type HttpResponse } from "./bodies.ts";
import { serve } from "./handlers.ts";
import { isDryRun, type Route, type ServerRequest, verbOf, type WatchStream } from "./request.ts";

/** One request as it comes off the wire, whatever the wire is. */
interface IncomingRequest {
  readonly method: string;
  /** Below the cluster. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Answers one request, refusals included, by the cluster's own clock; counts it and logs it. Null when it became a watch, which answers on `stream`. */
export function dispatch(cluster: Cluster, asked: IncomingRequest, stream: WatchStream): HttpResponse | null {
  const answer = respond(cluster, asked, stream);
  const { method, path, query } = asked;
  const shown = query.size === 0 ? path : `${path}?${query}`;
  cluster.record({ method, path: shown, code: answer?.code ?? 200 });
  return answer === null ? null : { ...answer, headers: { ...answer.headers, date: cluster.date() } };
}

function respond(cluster: Cluster, asked: IncomingRequest, stream: WatchStream): HttpResponse | null {
  const { method, path, query, headers, body, now } = asked;
  try {
    failIfInjected(cluster);
    requireToken(cluster, headerOf(headers, "authorization"));
    const request: ServerRequest = {
      method,
      route: routeOf(path, cluster.kinds),
      query,
      accept: headerOf(headers, "accept"),
      contentType: headerOf(headers, "content-type"),
      userAgent: headerOf(headers, "user-agent"),
      body,
      now,
    };
    cluster.counters.count(verbOf(request), resourceText(request.route), isDryRun(request));
    return serve(cluster, request, stream);
  } catch (error) {
    if (error instanceof StatusError) return errorResponse(error);
    return errorResponse(statusError("InternalError", `the simulated cluster failed: ${String(error)}`));
  }
}

const headerOf = (headers: IncomingRequest["headers"], name: string): string => String(headers[name] ?? "");

function resourceText(route: Route): string {
  if (route.kind === "discovery") return route.path;
  const part = route.kind === "object" && route.subresource !== null ? `/${route.subresource}` : "";
  return route.of.table + part;
}

function failIfInjected(cluster: Cluster): void {
  const { failWith, failures, retryAfterSeconds } = cluster.faults;
  if (failWith === null || failures === 0) return;
  if (failures !== null) cluster.faults = { ...cluster.faults, failures: failures - 1 };
  const reasons: Readonly<Record<number, string>> = {
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
  };
  const details = retryAfterSeconds === null ? {} : { retryAfterSeconds };
  throw new StatusError(failWith, reasons[failWith] ?? "", `injected fault: ${failWith}`, details);
}

function requireToken({ token, faults }: Cluster, authorization: string): void {
  if (!faults.unauthorized && (token === null || authorization === `Bearer ${token}`)) return;
  throw statusError("Unauthorized", "Unauthorized");
}

/** Subresources of a namespace; anything else below one is a resource in it. */
const namespaceParts = new Set(["status", "finalize"]);

/** Reads a path; refuses a resource that is not served. */
function routeOf(path: string, kinds: Kinds): Route {
  const [, root, ...rest] = path.split("/");
  const [group = "", version = "", ...below] = root === "api" ? ["", ...rest] : rest;
  const isResource = (root === "api" || root === "apis") && below.length > 0 && below[0] !== "";
  if (!isResource) return { kind: "discovery", path };
  const parts = path.includes("%") ? below.map(decodeURIComponent) : below;
  const inNamespace = parts[0] === "namespaces" && parts.length > 2 && !namespaceParts.has(parts[2] ?? "");
  const namespace = inNamespace ? (parts[1] ?? "") : null;
  const [plural = "", name, subresource, ...more] = inNamespace ? parts.slice(2) : parts;
  if (!kinds.serves(group, version)) return { kind: "discovery", path };
  const of = kinds.find(group, version, plural);
  const fits = of !== null && more.length === 0 && (namespace === null || of.scope === "Namespaced");
  if (!fits) throw missing();
  if (name === undefined || name === "") return { kind: "collection", of, namespace };
  if (of.scope === "Namespaced" && namespace === null) throw missing();
  return { kind: "object", of, namespace, name, subresource: subresource ?? null };
}

const missing = (): Error => statusError("NotFound", "the server could not find the requested resource", {});
