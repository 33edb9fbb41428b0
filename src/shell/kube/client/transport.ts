import { setMaxListeners } from "node:events";
import http from "node:http";
import https from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { MemberUnreachable } from "./member-unreachable.ts";

/** The network to a member, and its time. A simulation replaces both. */
export interface Network {
  /** One request and its answer; rejects with {@link MemberUnreachable} only. */
  exchange(outgoing: WireRequest): Promise<WireResponse>;
  /** Waits before a retry; rejects when the signal aborts. */
  pause(ms: number, signal: AbortSignal | null): Promise<void>;
  /** A signal that aborts after so many milliseconds. */
  deadline(ms: number): AbortSignal;
  /** Monotonic milliseconds: unaffected by changes of the clock. */
  elapsed(): number;
}

/** The real network: HTTP and TLS, and real time. */
export const httpNetwork: Network = {
  exchange: (outgoing) => exchange(outgoing),
  pause: (ms, signal) => sleep(ms, undefined, signal === null ? {} : { signal }),
  deadline(ms) {
    const signal = AbortSignal.timeout(ms);
    // Any number of requests may listen to it.
    setMaxListeners(0, signal);
    return signal;
  },
  elapsed: () => performance.now(),
};

export interface WireRequest {
  readonly method: string;
  readonly url: URL;
  readonly agent: http.Agent;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly deadlines: Deadlines;
  /** Aborted when the whole observation or action has run out of time. */
  readonly signal: AbortSignal | null;
}

/** How long an exchange may take, and how large a response may be. */
export interface Deadlines {
  /** Until the connection stands, TLS included. */
  readonly connectMs: number;
  /** From the first byte sent to the last byte received, even if the body trickles. */
  readonly requestMs: number;
  readonly largestBody: number;
}

/** A member that needs longer counts as lost for this pass. The largest body allows 130 kB for each object of a page of 500. */
export const defaultDeadlines: Deadlines = { connectMs: 5_000, requestMs: 30_000, largestBody: 64 * 1024 * 1024 };

export interface WireResponse {
  readonly status: number;
  readonly retryAfterMs: number | null;
  /** The `Date` header as it was sent: when the response began, by the member's clock. */
  readonly date: string | null;
  readonly text: string;
}

/**
 * One HTTP exchange that ends by its deadlines whatever the other side does: refuses, hangs, trickles or floods
 * (`kube/README.md#f-34`, `#f-35`, `#f-46`). Rejects with {@link MemberUnreachable} only. Redirects are
 * never followed.
 */
function exchange(outgoing: WireRequest): Promise<WireResponse> {
  const { method, url, agent, headers, body, deadlines } = outgoing;
  return new Promise((resolve, reject) => {
    const { request: open } = url.protocol === "http:" ? http : https;
    const length = body === null ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
    let request: http.ClientRequest;
    try {
      request = open(url, { method, agent, headers: { ...headers, ...length } });
    } catch (error) {
      // Such as a token with a line break in it; the message names the header, not its value.
      reject(unreachableError(error as NodeJS.ErrnoException));
      return;
    }
    const stop = (lost: MemberUnreachable): void => {
      request.destroy();
      reject(lost);
    };
    const timers = [
      setTimeout(
        () => stop(new MemberUnreachable("Unreachable", `no response within ${deadlines.requestMs} ms`)),
        deadlines.requestMs,
      ),
      connectTimer(request, deadlines.connectMs, stop),
    ];
    const abort = (): void => stop(new MemberUnreachable("Unreachable", "timed out"));
    outgoing.signal?.addEventListener("abort", abort, { once: true });
    request.once("close", () => {
      for (const timer of timers) clearTimeout(timer);
      outgoing.signal?.removeEventListener("abort", abort);
    });
    request.on("error", (error: NodeJS.ErrnoException) => reject(unreachableError(error)));
    request.once("response", (response) => collect(response, deadlines.largestBody).then(resolve, stop));
    if (outgoing.signal?.aborted === true) abort();
    else request.end(body ?? undefined);
  });
}

/** Stops a request whose socket does not connect in time; a reused one is connected already. */
function connectTimer(
  request: http.ClientRequest,
  ms: number,
  stop: (lost: MemberUnreachable) => void,
): NodeJS.Timeout {
  const timer = setTimeout(() => stop(new MemberUnreachable("Unreachable", `no connection within ${ms} ms`)), ms);
  request.once("socket", (socket) => {
    const ready = "encrypted" in socket ? "secureConnect" : "connect";
    if (socket.connecting) socket.once(ready, () => clearTimeout(timer));
    else clearTimeout(timer);
  });
  return timer;
}

/** Reads a response to its end; rejects with {@link MemberUnreachable} when it is cut off or too large. */
function collect(response: http.IncomingMessage, largest: number): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > largest)
        reject(new MemberUnreachable("Unintelligible", `its response is larger than ${largest} bytes`));
      else chunks.push(chunk);
    });
    response.on("error", (error) => reject(unreachableError(error)));
    response.once("aborted", () => reject(new MemberUnreachable("Unreachable", "the connection was closed")));
    response.once("end", () => {
      const seconds = Number(response.headers["retry-after"] ?? Number.NaN);
      const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : null;
      const { statusCode: status = 0, headers } = response;
      resolve({ status, retryAfterMs, date: headers.date ?? null, text: Buffer.concat(chunks).toString("utf8") });
    });
  });
}

/** OpenSSL's error text: all but the reason differ between processes, and messages are recorded. */
const opensslError = /(?:\w+ EPROTO )?[0-9A-F]{8,}:error:[0-9A-F]+:[^:]*:[^:]*:([^:]*):.*/s;

/** What errors of sockets, and of certificates for another name, say of where the member is. */
const whereabouts = /(?<=^\w+ E[A-Z_]+|certificate's altnames)(?: |: ).*$/s;

/**
 * The message begins with the error code of the socket or of TLS (`ECONNREFUSED`, `CERT_HAS_EXPIRED`). It names no address:
 * it is recorded, whether or not addresses are to be (`members/README.md#access`).
 */
function unreachableError(error: NodeJS.ErrnoException): MemberUnreachable {
  if (error instanceof MemberUnreachable) return error;
  const message = error.message.replace(opensslError, "$1").replace(whereabouts, "");
  return new MemberUnreachable("Unreachable", error.code === undefined ? message : `${error.code}: ${message}`, error);
}

/** Streaming responses: what a watch needs besides a `Network`. */
export interface Streams {
  /**
   * Sends a request and gives its response line by line as it arrives; or the whole response when it is no success. Rejects
   * with {@link MemberUnreachable} only. It ends after `longestMs` whatever the other side does.
   */
  open(
    outgoing: WireRequest,
    longestMs: number,
    onLine: (line: string) => void,
  ): Promise<WireResponse | StreamingResponse>;
}

/** A response that is still arriving. */
export interface StreamingResponse {
  readonly kind: "streaming";
  /** As {@link WireResponse} has it. */
  readonly date: string | null;
  /** Fulfilled when it has ended: null when the other side ended it, otherwise how it was lost. */
  readonly ended: Promise<MemberUnreachable | null>;
  stop(): void;
}

/** TCP keep-alive probes begin after a connection was idle for so long. */
const probeAfterMs = 15_000;

/** The real streams. The request's signal counts until the response begins; from then on `stop` ends it. */
export const httpStreams: Streams = {
  open: (outgoing, longestMs, onLine) =>
    new Promise((resolve, reject) => {
      const { deadlines, signal } = outgoing;
      const request = requestOf(outgoing);
      const stop = (lost: MemberUnreachable): void => {
        request.destroy();
        reject(lost);
      };
      const abort = (): void => stop(new MemberUnreachable("Unreachable", "timed out"));
      const late = (): void =>
        stop(new MemberUnreachable("Unreachable", `no response within ${deadlines.requestMs} ms`));
      const timers = [setTimeout(late, deadlines.requestMs), connectTimer(request, deadlines.connectMs, stop)];
      const begun = (): void => {
        for (const timer of timers) clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      };
      signal?.addEventListener("abort", abort, { once: true });
      request.once("close", begun);
      request.on("error", (error: NodeJS.ErrnoException) => reject(unreachableError(error)));
      request.once("response", (response) => {
        if (response.statusCode === 200) {
          begun();
          resolve(follow(request, response, { longestMs, largest: deadlines.largestBody, onLine }));
        } else collect(response, deadlines.largestBody).then(resolve, stop);
      });
      if (signal?.aborted === true) abort();
      else request.end();
    }),
};

function requestOf({ url, method, agent, headers }: WireRequest): http.ClientRequest {
  const { request } = url.protocol === "http:" ? http : https;
  try {
    return request(url, { method, agent, headers });
  } catch (error) {
    // Such as a token with a line break in it.
    throw unreachableError(error as NodeJS.ErrnoException);
  }
}

interface Reading {
  readonly longestMs: number;
  readonly largest: number;
  readonly onLine: (line: string) => void;
}

function follow(request: http.ClientRequest, response: http.IncomingMessage, reading: Reading): StreamingResponse {
  const { longestMs, largest, onLine } = reading;
  let lost: MemberUnreachable | null = null;
  const stop = (why: MemberUnreachable | null): void => {
    lost ??= why;
    request.destroy();
  };
  const timer = setTimeout(() => stop(new MemberUnreachable("Unreachable", "a watch fell silent")), longestMs);
  response.socket.setKeepAlive(true, probeAfterMs);
  const take = lines(largest, onLine);
  response.on("data", (chunk: Buffer) => {
    if (!take(chunk))
      stop(new MemberUnreachable("Unintelligible", `a line of a watch is longer than ${largest} bytes`));
  });
  response.on("error", (error: NodeJS.ErrnoException) => {
    lost ??= unreachableError(error);
  });
  const ended = new Promise<MemberUnreachable | null>((resolve) => {
    response.once("close", () => {
      clearTimeout(timer);
      resolve(lost ?? (response.complete ? null : new MemberUnreachable("Unreachable", "the connection was closed")));
    });
  });
  return { kind: "streaming", date: response.headers.date ?? null, ended, stop: () => stop(null) };
}

/** Splits chunks of bytes into lines; gives false when a line grows too long. */
function lines(longest: number, onLine: (line: string) => void): (chunk: Buffer) => boolean {
  let begun: Buffer[] = [];
  let size = 0;
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const last = chunk.subarray(from, end);
      const whole = begun.length === 0 ? last : Buffer.concat([...begun, last]);
      [begun, size, from] = [[], 0, end + 1];
      if (whole.length > 0) onLine(whole.toString("utf8"));
    }
    if (from < chunk.length) {
      begun.push(from === 0 ? chunk : Buffer.from(chunk.subarray(from)));
      size += chunk.length - from;
    }
    return size <= longest;
  };
}
