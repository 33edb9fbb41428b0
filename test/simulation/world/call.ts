import { isObject, type JsonObject, memberAt } from "../../../src/core/model/json.ts";
import type { Commit } from "../../../src/core/model/value.ts";
import type { WireRequest } from "../../../src/shell/kube/client/transport.ts";

/** What a reconciler asks of the world, by what it is for. */
export type CallKind =
  | "heads"
  | "files"
  | "blobs"
  | "descends"
  | "history"
  | "commit"
  | "read"
  | "list"
  | "discover"
  /** A dry run: it changes nothing. */
  | "try"
  /** A write of the inventory, its namespace included. */
  | "note"
  | "apply"
  /** Takes marks off, or hands fields over. */
  | "patch"
  | "delete";

/** Calls that may change something. */
export const effects: ReadonlySet<CallKind> = new Set(["commit", "note", "apply", "patch", "delete"]);

/** One call of a reconciler. */
export interface Call {
  readonly kind: CallKind;
  /** Null for the repository. */
  readonly member: string | null;
  /** `apply ConfigMap shop/config` */
  readonly text: string;
}

/** An object as a path of the API names it. */
export interface ObjectPlace {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
}

/** A request to a member, read. */
export interface Request extends Call {
  readonly member: string;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Null where the path names no object. */
  readonly place: ObjectPlace | null;
  readonly body: JsonObject | null;
  /** It arrives when its sender has given up on it: what its sender had decided then. Null for all others. */
  readonly late: { readonly decision: Commit | null } | null;
}

const kindsByPlural: Readonly<Record<string, string>> = {
  namespaces: "Namespace",
  configmaps: "ConfigMap",
  secrets: "Secret",
  deployments: "Deployment",
};

/** Reads a request as it goes over the wire to the member that its host names. */
export function requestOf({ method, url, headers, body }: WireRequest): Request {
  const { pathname: path, searchParams: query } = url;
  const parsed: unknown = body === null ? null : JSON.parse(body);
  const content = isObject(parsed) ? parsed : null;
  const place = placeOf(path, content);
  const kind = kindOf({ method, path, query, type: headers["Content-Type"] ?? "" });
  const what =
    place === null ? path : `${place.kind} ${place.namespace === null ? "" : `${place.namespace}/`}${place.name}`;
  return {
    kind,
    member: url.hostname,
    text: `${kind} ${what}`,
    method,
    path,
    query,
    place,
    body: content,
    late: null,
  };
}

/** `/apis/apps/v1/namespaces/shop/deployments/web` as an object; of a collection, the object that is created there. */
function placeOf(path: string, body: JsonObject | null): ObjectPlace | null {
  const [, root, ...rest] = path.split("/");
  const [group, , ...below] = root === "api" ? ["", ...rest] : rest;
  const [first, second, third, fourth] = below;
  const isInside = first === "namespaces" && third !== undefined;
  const plural = isInside ? third : first;
  const named = isInside ? fourth : second;
  const kind = kindsByPlural[plural ?? ""];
  const name = named ?? (body === null ? undefined : String(memberAt(body, "metadata", "name")));
  if (kind === undefined || group === undefined || name === undefined) return null;
  return { group, kind, namespace: isInside ? (second ?? null) : null, name };
}

interface Shape {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly type: string;
}

function kindOf({ method, path, query, type }: Shape): CallKind {
  if (method === "GET") {
    if (path === "/api" || path === "/apis") return "discover";
    return query.has("limit") ? "list" : "read";
  }
  if (query.has("dryRun")) return "try";
  if (path.includes("/namespaces/flotilla-system/") || (method === "POST" && path.endsWith("/namespaces")))
    return "note";
  if (method === "DELETE") return "delete";
  return type.startsWith("application/apply-patch") ? "apply" : "patch";
}
