import http from "node:http";
import https from "node:https";
import { collect, connectTimer, type Incoming, lostBy, type Outgoing } from "./exchange.ts";
import { Lost } from "./member-unreachable.ts";

/** Answers that go on: what a watch needs besides a `Network`. */
export interface Streams {
  /**
   * Sends a request and gives its answer while it goes on, line by line; or the whole of it when it is no success. Rejects
   * with {@link Lost} only. It ends after `longestMs` whatever the other side does.
   */
  open(outgoing: Outgoing, longestMs: number, onLine: (line: string) => void): Promise<Incoming | Streaming>;
}

/** An answer that goes on. */
export interface Streaming {
  readonly kind: "streaming";
  /** As {@link Incoming} has it. */
  readonly date: string | null;
  /** Fulfilled when it has ended: null when the other side was done, otherwise how it was lost. */
  readonly ended: Promise<Lost | null>;
  stop(): void;
}

/** A connection through which nothing comes is probed by the system after so long. */
const probeAfterMs = 15_000;

/** The real ones. The outgoing signal only counts until the answer begins: afterwards `stop` ends it. */
export const streamsOverHttp: Streams = {
  open: (outgoing, longestMs, onLine) =>
    new Promise((resolve, reject) => {
      const { deadlines, signal } = outgoing;
      const request = requestOf(outgoing);
      const stop = (lost: Lost): void => {
        request.destroy();
        reject(lost);
      };
      const abort = (): void => stop(new Lost("Unreachable", "out of time"));
      const late = (): void => stop(new Lost("Unreachable", `no answer within ${deadlines.requestMs} ms`));
      const timers = [setTimeout(late, deadlines.requestMs), connectTimer(request, deadlines.connectMs, stop)];
      const begun = (): void => {
        for (const timer of timers) clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      };
      signal?.addEventListener("abort", abort, { once: true });
      request.once("close", begun);
      request.on("error", (error: NodeJS.ErrnoException) => reject(lostBy(error)));
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

function requestOf({ url, method, agent, headers }: Outgoing): http.ClientRequest {
  const { request } = url.protocol === "http:" ? http : https;
  try {
    return request(url, { method, agent, headers });
  } catch (error) {
    // Such as a token with a line break in it, which is no header.
    throw lostBy(error as NodeJS.ErrnoException);
  }
}

/** What is done with the lines of an answer. */
interface Reading {
  readonly longestMs: number;
  readonly largest: number;
  readonly onLine: (line: string) => void;
}

function follow(request: http.ClientRequest, response: http.IncomingMessage, reading: Reading): Streaming {
  const { longestMs, largest, onLine } = reading;
  let lost: Lost | null = null;
  const stop = (why: Lost | null): void => {
    lost ??= why;
    request.destroy();
  };
  const timer = setTimeout(() => stop(new Lost("Unreachable", "a watch went silent")), longestMs);
  response.socket.setKeepAlive(true, probeAfterMs);
  const take = lines(largest, onLine);
  response.on("data", (chunk: Buffer) => {
    if (!take(chunk)) stop(new Lost("Unintelligible", `a line of a watch is longer than ${largest} bytes`));
  });
  response.on("error", (error: NodeJS.ErrnoException) => {
    lost ??= lostBy(error);
  });
  const ended = new Promise<Lost | null>((resolve) => {
    response.once("close", () => {
      clearTimeout(timer);
      resolve(lost ?? (response.complete ? null : new Lost("Unreachable", "the connection broke off")));
    });
  });
  return { kind: "streaming", date: response.headers.date ?? null, ended, stop: () => stop(null) };
}

/** Cuts bytes into lines, whose characters may be cut by the chunks; gives false when a line grows too long. */
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
