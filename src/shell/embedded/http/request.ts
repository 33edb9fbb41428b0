import { type Json, member, memberAt, textOf } from "../../../core/model/json.ts";
import type { ServedKind } from "../api/kinds.ts";
import { statusError } from "../api/status.ts";
import type { DeleteOptions } from "../registry/deletion.ts";
import type { WriteOptions } from "../registry/objects.ts";
import { parseBody } from "./bodies.ts";

/** One request to a cluster, read as far as HTTP goes. */
export interface ServerRequest {
  readonly method: string;
  readonly route: Route;
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly contentType: string;
  readonly userAgent: string;
  readonly body: string;
  readonly now: number;
}

/** What a path below a cluster leads to. */
export type Route =
  /** `/version`, `/readyz`, `/api` and the like. */
  | { readonly kind: "discovery"; readonly path: string }
  | { readonly kind: "collection"; readonly of: ServedKind; readonly namespace: string | null }
  | {
      readonly kind: "object";
      readonly of: ServedKind;
      readonly namespace: string | null;
      readonly name: string;
      readonly subresource: string | null;
    };

/** Where a watch writes to, for as long as somebody listens. */
export interface WatchStream {
  begin(): void;
  send(text: string): void;
  end(): void;
  /** Calls back once nobody listens any more. */
  onClose(stop: () => void): void;
}

/** What a request does, in the words of Kubernetes' authorizers, with `apply` apart from other patches. */
export function verbOf({ method, route, query, contentType }: ServerRequest): string {
  const collection = route.kind === "collection";
  if (method === "POST") return "create";
  if (method === "PUT") return "update";
  if (method === "PATCH") return contentType.startsWith("application/apply-patch") ? "apply" : "patch";
  if (method === "DELETE") return collection ? "deletecollection" : "delete";
  if (!collection) return "get";
  return isTrueParameter(query.get("watch")) ? "watch" : "list";
}

/** A query parameter that is set. */
export const isTrueParameter = (text: string | null): boolean => text === "true" || text === "1";

/** Options of a deletion count from its body when it has one, and from the query only when it has none: as with kube-apiserver. */
export const isDryRun = ({ method, query, body }: ServerRequest): boolean =>
  method === "DELETE" && body !== "" ? isNonEmptyList(member(jsonOrNull(body), "dryRun")) : query.has("dryRun");

const isNonEmptyList = (value: Json): boolean => Array.isArray(value) && value.length > 0;

function jsonOrNull(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/** Refuses bodies in a binary form; a protobuf body that could be read is JSON by now. */
export function requireJson({ contentType }: ServerRequest): void {
  if (!contentType.includes("protobuf") && !contentType.includes("cbor")) return;
  const message =
    "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml";
  throw statusError("UnsupportedMediaType", message);
}

/** Field manager, force, dry run and strictness of a write, from its query. */
export function writeOptionsOf(request: ServerRequest): WriteOptions {
  const { query, userAgent } = request;
  return {
    manager: query.get("fieldManager") ?? userAgent.split("/")[0] ?? "",
    force: isTrueParameter(query.get("force")),
    dryRun: isDryRun(request),
    strict: query.get("fieldValidation") === "Strict",
  };
}

/** Preconditions and propagation of a deletion, from its body or its query. */
export function deleteOptionsOf(request: ServerRequest): DeleteOptions {
  const { body, query } = request;
  const options = body === "" ? {} : parseBody(body);
  const asked = body === "" ? query.get("propagationPolicy") : member(options, "propagationPolicy");
  return {
    uid: textOf(memberAt(options, "preconditions", "uid")),
    resourceVersion: textOf(memberAt(options, "preconditions", "resourceVersion")),
    propagation: asked === "Foreground" || asked === "Orphan" ? asked : "Background",
    dryRun: isDryRun(request),
  };
}
