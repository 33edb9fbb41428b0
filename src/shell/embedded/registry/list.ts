import { type Json, type JsonObject, member } from "../../../core/model/json.ts";
import type { Kind } from "../api/kinds.ts";
import { refusal } from "../api/status.ts";
import type { Cluster } from "../storage/cluster.ts";
import { nameOf, namespaceOf } from "../storage/store.ts";
import { inVersion } from "./objects.ts";
import type { Selects } from "./selectors.ts";

/** What is to be listed, and how much of it. */
export interface ListRequest {
  readonly kind: Kind;
  /** Null for all namespaces, and for kinds without. */
  readonly namespace: string | null;
  readonly selects: Selects;
  /** Whether `selects` leaves anything out; then nobody knows how many remain. */
  readonly isSelective: boolean;
  /** 0 for everything at once. */
  readonly limit: number;
  readonly continue: string;
  /** The version that the list must have seen; 0 for any. */
  readonly atLeast: number;
}

/** One page, with the list's own metadata. */
export interface Page {
  readonly objects: readonly JsonObject[];
  readonly metadata: JsonObject;
}

/**
 * One page of a list. All pages carry the version of the first; later pages show what is there now, so that a watch from
 * that version tells whatever happened in between. A token whose version is forgotten is 410, and the list starts over.
 */
export function list(cluster: Cluster, request: ListRequest): Page {
  const token = request.continue === "" ? null : tokenOf(request.continue);
  const version = token?.version ?? cluster.store.version;
  if (request.atLeast > cluster.store.version) throw tooLarge(request.atLeast, cluster.store.version);
  if (token !== null && !cluster.store.remembers(version)) throw expired();
  const all = cluster.store.list(request.kind, request.namespace, token?.after ?? null);
  const objects: JsonObject[] = [];
  let at = 0;
  for (; at < all.length; at++) {
    if (request.limit > 0 && objects.length === request.limit) break;
    const object = all[at] as JsonObject;
    if (request.selects(object)) objects.push(inVersion(object, request.kind));
  }
  const last = objects.at(-1);
  const more = at < all.length && all.slice(at).some(request.selects) && last !== undefined;
  const rest = more
    ? { continue: textOfToken({ version, after: keyOf(last) }) }
    : request.kind.custom === null
      ? {}
      : { continue: "" };
  const remaining = more && !request.isSelective ? { remainingItemCount: all.length - at } : {};
  return { objects, metadata: { resourceVersion: String(version), ...rest, ...remaining } };
}

/** What a client meets whose cluster was reset behind its back. */
const tooLarge = (wanted: number, current: number): Error =>
  refusal("Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });

const keyOf = (object: JsonObject): string => {
  const namespace = namespaceOf(object);
  return namespace === null ? nameOf(object) : `${namespace}/${nameOf(object)}`;
};

interface Token {
  readonly version: number;
  readonly after: string;
}

const textOfToken = ({ version, after }: Token): string =>
  Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: version, start: after })).toString("base64url");

function tokenOf(text: string): Token {
  try {
    const token = JSON.parse(Buffer.from(text, "base64url").toString()) as Json;
    const version = member(token, "rv");
    const after = member(token, "start");
    if (typeof version === "number" && typeof after === "string") return { version, after };
  } catch {
    // Falls through to the refusal.
  }
  throw refusal("BadRequest", "invalid continue token: continue key is not valid");
}

const expired = (): Error =>
  refusal(
    "Expired",
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter",
  );
