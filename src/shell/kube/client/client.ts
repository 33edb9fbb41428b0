import { canonicalJson, isObject, type JsonObject, listAt, memberAt, textOf } from "../../../core/model/json.ts";
import type { ApiFailure, ApiRequest, ApiResponse, CollectionRequest, Listing, ListRequest } from "./api-request.ts";
import { parseBoundedJson } from "./bounded-json.ts";
import { type Limiter, limiter, socketsPerMember } from "./concurrency.ts";
import { type Access, authorized, type Connection } from "./connection.ts";
import { listPages } from "./list-pages.ts";
import { MemberUnreachable } from "./member-unreachable.ts";
import {
  type Deadlines,
  defaultDeadlines,
  httpNetwork,
  httpStreams,
  type Network,
  type StreamingResponse,
  type Streams,
  type WireRequest,
  type WireResponse,
} from "./transport.ts";

/** Raw JSON to and from one member: nothing is dropped or rewritten on the way (`kube/README.md#the-client`). */
export interface Client {
  request(request: ApiRequest): Promise<ApiResponse>;
  /** Every item of a list, page by page, or the refusal. Never a partial list (`kube/README.md#f-39`). */
  list(request: ListRequest): Promise<Listing | ApiFailure>;
  /** Watches a collection from a resourceVersion on, event by event, or gives the refusal. */
  watch(request: WatchRequest, onEvent: (event: WatchEvent) => void): Promise<OpenWatch | ApiFailure>;
  /** Waits, but not beyond its deadline: rejects with {@link MemberUnreachable} then. */
  pause(ms: number): Promise<void>;
  /** The same client, whose requests end when the signal aborts; a watch only until it has begun. */
  until(signal: AbortSignal): Client;
  close(): void;
}

interface WatchRequest extends CollectionRequest {
  readonly resourceVersion: string;
  /** The member ends the watch after so long. */
  readonly timeoutSeconds: number;
}

/** `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` with an object; `ERROR` with a Status; any other type is an error. */
interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

export interface OpenWatch {
  readonly kind: "watching";
  /** Fulfilled when it has ended: null when the member ended it, otherwise how it was lost. */
  readonly ended: Promise<MemberUnreachable | null>;
  stop(): void;
}

/** The content type of a server-side apply. */
export const applyPatch = "application/apply-patch+yaml";

/** The content type of a patch of RFC 6902. */
export const jsonPatch = "application/json-patch+json";

/** Only the metadata of objects; a server that does not support it sends whole objects, which contain the metadata too. */
export const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/** {@link metadataOnly}, of lists. */
export const metadataListOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/** Opens a client that keeps its connections, as many at once as there are sockets. */
export function openClient(
  connection: Connection,
  deadlines: Deadlines = defaultDeadlines,
  network: Network = httpNetwork,
  streams: Streams = httpStreams,
): Client {
  const slots = limiter(socketsPerMember);
  const session: Session = { connection, deadlines, network, streams, slots };
  return clientOf(session, null);
}

/** What the views of one client share. */
interface Session {
  readonly connection: Connection;
  readonly deadlines: Deadlines;
  readonly network: Network;
  readonly streams: Streams;
  readonly slots: Limiter;
}

function clientOf(session: Session, signal: AbortSignal | null): Client {
  const { slots, network } = session;
  const request = async (it: ApiRequest): Promise<ApiResponse> =>
    responseOf(
      await slots.run(() =>
        sendWithRetries(session, { request: it, signal }, (outgoing) => network.exchange(outgoing)),
      ),
    );
  return {
    request,
    list: (it) => listPages(request, it),
    watch: (it, onEvent) => openWatch(session, it, { signal, onEvent }),
    pause: (ms) => pause(network, ms, signal),
    until: (ending) => clientOf(session, ending),
    close: () => session.connection.close(),
  };
}

const maxAttempts = 5;

const maxRetryWaitMs = 10_000;

/**
 * Sends one request until it is answered, at most five times. Every request of ours is safe to repeat: reads, applies,
 * and writes that name a resourceVersion or a uid. Overload (429) also lowers how many run at once (`kube/README.md#f-33`).
 */
async function sendWithRetries<T extends WireResponse | StreamingResponse>(
  session: Session,
  { request, signal }: Sending,
  send: (outgoing: WireRequest) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await authorized(session.connection, signal, (access) =>
      send(outgoingOf(session, request, access, signal)),
    ).catch((error: unknown) => {
      if (attempt > 1 || !isConnectionReset(error)) throw error;
      return null;
    });
    // A keep-alive connection that the other side had closed: once more, on a new one.
    if (answer === null) continue;
    const status = "status" in answer ? answer.status : 200;
    const retryAfterMs = "status" in answer ? answer.retryAfterMs : null;
    const isBusy = status === 429;
    if (isBusy) session.slots.narrow();
    else session.slots.widen();
    const isPassing = isBusy || [500, 502, 503, 504].includes(status);
    if (!isPassing || attempt >= maxAttempts) return answer;
    if (status === 500 && retryAfterMs === null && attempt >= 2) return answer;
    await pause(session.network, Math.min(retryAfterMs ?? 100 * 2 ** attempt, maxRetryWaitMs), signal);
  }
}

const pause = (network: Network, ms: number, signal: AbortSignal | null): Promise<void> =>
  network.pause(ms, signal).catch(() => {
    throw new MemberUnreachable("Unreachable", "timed out");
  });

interface Sending {
  readonly request: ApiRequest;
  readonly signal: AbortSignal | null;
}

const isConnectionReset = (error: unknown): boolean =>
  error instanceof MemberUnreachable &&
  isObject(error.cause) &&
  ["ECONNRESET", "EPIPE"].includes(String(error.cause["code"]));

function outgoingOf(
  { connection, deadlines }: Session,
  request: ApiRequest,
  { agent, headers: identity }: Access,
  signal: AbortSignal | null,
): WireRequest {
  const url = new URL(connection.server);
  url.pathname = url.pathname.replace(/\/$/, "") + request.path;
  for (const [key, value] of Object.entries(request.query ?? {})) url.searchParams.set(key, value);
  const body = request.text ?? (request.body === undefined ? null : canonicalJson(request.body));
  const type = body === null ? {} : { "Content-Type": request.contentType ?? "application/json" };
  const headers = { Accept: request.accept ?? "application/json", "User-Agent": "flotilla", ...type, ...identity };
  return { method: request.method, url, agent, headers, body, deadlines, signal };
}

/** A watch that is still open so long after its agreed end is dead. */
const watchOverrunMs = 30_000;

async function openWatch(
  session: Session,
  { path, labelSelector, accept, resourceVersion, timeoutSeconds }: WatchRequest,
  { signal, onEvent }: { readonly signal: AbortSignal | null; readonly onEvent: (event: WatchEvent) => void },
): Promise<OpenWatch | ApiFailure> {
  const query: Record<string, string> = {
    watch: "1",
    allowWatchBookmarks: "true",
    resourceVersion,
    timeoutSeconds: String(timeoutSeconds),
  };
  if (labelSelector !== undefined) query["labelSelector"] = labelSelector;
  const request: ApiRequest = { method: "GET", path, query, ...(accept === undefined ? {} : { accept }) };
  const onLine = (line: string): void => {
    const event = parsed(line);
    const object = event?.["object"];
    onEvent({ type: textOf(event?.["type"] ?? null) ?? "", object: isObject(object) ? object : {} });
  };
  const longestMs = timeoutSeconds * 1000 + watchOverrunMs;
  const opened = await sendWithRetries(session, { request, signal }, (outgoing) =>
    session.streams.open(outgoing, longestMs, onLine),
  );
  if ("status" in opened) {
    const answer = responseOf(opened);
    if (answer.kind === "refused") return answer;
    throw new MemberUnreachable("Unintelligible", `its response to a watch is not a stream (${opened.status})`);
  }
  return { kind: "watching", ended: opened.ended, stop: () => opened.stop() };
}

function responseOf({ status, text }: WireResponse): ApiResponse {
  if (status >= 300 && status < 400)
    throw new MemberUnreachable("Unintelligible", `it responds with a redirect (${status})`);
  const body = parsed(text);
  if (status < 300) {
    if (body === null)
      throw new MemberUnreachable("Unintelligible", `its response is not a JSON object, or is too large (${status})`);
    return { kind: "done", status, body };
  }
  return failureOf(status, body);
}

function failureOf(status: number, body: JsonObject | null): ApiFailure {
  const causes = listAt(body, "details", "causes").slice(0, 20);
  return {
    kind: "refused",
    status,
    reason: textOf(memberAt(body, "reason")) ?? "",
    message: textOf(memberAt(body, "message")) ?? `HTTP ${status}`,
    about: textOf(memberAt(body, "details", "kind")) ?? "",
    causes: causes.map((it) => ({
      reason: textOf(memberAt(it, "reason")) ?? "",
      field: textOf(memberAt(it, "field")) ?? "",
      message: textOf(memberAt(it, "message")) ?? "",
    })),
  };
}

/** Numbers beyond 2^53 lose precision here; only what we compare is read, and what we send is exact. */
function parsed(text: string): JsonObject | null {
  const value = parseBoundedJson(text);
  return isObject(value) ? value : null;
}
