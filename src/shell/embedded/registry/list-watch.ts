import { setMaxListeners } from "node:events";
import { type Json, type JsonObject, member } from "../../../core/model/json.ts";
import { apiVersionOf } from "../../../core/model/manifest.ts";
import type { ServedKind } from "../api/kinds.ts";
import { statusBody, statusError } from "../api/status.ts";
import type { Cluster } from "../storage/cluster.ts";
import { objectName, objectNamespace, type StoreChange } from "../storage/store.ts";
import { inVersion } from "./objects.ts";
import type { ObjectFilter } from "./selectors.ts";

interface ListRequest {
  readonly kind: ServedKind;
  /** Null for all namespaces, and for kinds without. */
  readonly namespace: string | null;
  readonly selects: ObjectFilter;
  /** Whether `selects` leaves anything out; then nobody knows how many remain. */
  readonly isSelective: boolean;
  /** 0 for everything at once. */
  readonly limit: number;
  readonly continue: string;
  /** The version that the list must have seen; 0 for any. */
  readonly atLeast: number;
}

/** One page, with the list's own metadata. */
interface Page {
  readonly objects: readonly JsonObject[];
  readonly metadata: JsonObject;
}

/** One page of a list, all under the version of the first, so that a watch from there tells all; 410 when forgotten. */
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
  statusError("Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });

const keyOf = (object: JsonObject): string => {
  const namespace = objectNamespace(object);
  return namespace === null ? objectName(object) : `${namespace}/${objectName(object)}`;
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
  throw statusError("BadRequest", "invalid continue token: continue key is not valid");
}

const expired = (): Error =>
  statusError(
    "Expired",
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter",
  );

interface WatchRequest {
  readonly kind: ServedKind;
  readonly namespace: string | null;
  readonly selects: ObjectFilter;
  /** Empty or `0`: begin with what is there. */
  readonly resourceVersion: string;
  readonly bookmarks: boolean;
  /** `sendInitialEvents`: what is there first, then a bookmark that says so (KEP-3157). */
  readonly initialEvents: boolean;
  /** Ends the watch after this many seconds; 0 for never. */
  readonly timeoutSeconds: number;
  readonly represent: (object: JsonObject) => JsonObject;
}

interface Sink {
  readonly send: (event: JsonObject) => void;
  readonly end: () => void;
}

/** As often as a server tells a quiet watcher how far it has seen. */
const bookmarkMs = 30_000;

/** Tells what happens to objects of a kind from a version on, or 410 when that is forgotten; gives what stops it. */
export function watch(cluster: Cluster, request: WatchRequest, sink: Sink): () => void {
  const { store } = cluster;
  const from = Number(request.resourceVersion || "0");
  if (!Number.isInteger(from) || from < 0)
    throw statusError("BadRequest", `invalid resource version: "${request.resourceVersion}"`);
  if (from === 0 || request.initialEvents) sendPresent(cluster, request, sink);
  else {
    const missed = store.since(request.kind, from);
    if (missed === null) {
      sink.send({
        type: "ERROR",
        object: statusBody(statusError("Expired", `too old resource version: ${from} (${store.version})`)),
      });
      sink.end();
      return () => {};
    }
    for (const change of missed) tell(change, request, sink);
  }
  return follow(cluster, request, sink);
}

function sendPresent({ store }: Cluster, request: WatchRequest, sink: Sink): void {
  const { kind, namespace, selects, represent, initialEvents, bookmarks } = request;
  for (const object of store.list(kind, namespace)) {
    if (selects(object)) sink.send({ type: "ADDED", object: represent(inVersion(object, kind)) });
  }
  if (initialEvents && bookmarks) sink.send(bookmark(kind, store.version, { "k8s.io/initial-events-end": "true" }));
}

const bookmark = (kind: ServedKind, version: number, annotations: JsonObject | null): JsonObject => ({
  type: "BOOKMARK",
  object: {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata: { resourceVersion: String(version), ...(annotations === null ? {} : { annotations }) },
  },
});

function follow(cluster: Cluster, request: WatchRequest, sink: Sink): () => void {
  const { signal } = cluster.life;
  // A version that is yet to come is waited for, silently: what a watcher of a cluster meets that was reset.
  const from = Number(request.resourceVersion || "0");
  const unwatch = cluster.store.watch(request.kind, (change) => {
    if (change.version > from) tell(change, request, sink);
  });
  const mark = (): void => sink.send(bookmark(request.kind, cluster.store.version, null));
  const bookmarks = request.bookmarks ? setInterval(mark, bookmarkMs).unref() : null;
  const stop = (): void => {
    unwatch();
    if (bookmarks !== null) clearInterval(bookmarks);
    if (timeout !== null) clearTimeout(timeout);
    signal.removeEventListener("abort", finish);
  };
  const finish = (): void => {
    stop();
    sink.end();
  };
  const timeout = request.timeoutSeconds > 0 ? setTimeout(finish, request.timeoutSeconds * 1000).unref() : null;
  // As many watches as there are may listen to it.
  setMaxListeners(0, signal);
  signal.addEventListener("abort", finish);
  return stop;
}

/**
 * What a change means for one watcher: an object that enters or leaves its selection is added or deleted for it. One that
 * leaves is told as it was, under the version of the change.
 */
function tell(change: StoreChange, { kind, namespace, selects, represent }: WatchRequest, sink: Sink): void {
  if (namespace !== null && objectNamespace(change.object) !== namespace) return;
  const was = change.before !== null && selects(change.before);
  const is = change.type !== "DELETED" && selects(change.object);
  if (!was && !is) return;
  const type = !is ? "DELETED" : was ? "MODIFIED" : "ADDED";
  const hasLeft = !is && change.type !== "DELETED" && change.before !== null;
  const object = hasLeft ? { ...change.before, metadata: metadataAt(change) } : change.object;
  sink.send({ type, object: represent(inVersion(object, kind)) });
}

const metadataAt = ({ before, version }: StoreChange): JsonObject => ({
  ...((before?.["metadata"] ?? {}) as JsonObject),
  resourceVersion: String(version),
});
