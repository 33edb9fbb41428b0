import { Agent, type RequestOptions, request as send } from "node:https";
import { text } from "node:stream/consumers";

/** What is asked of an API server. */
export interface Request {
  /** GET when nothing is said. */
  readonly method?: string;
  readonly path: string;
  /** Sent as JSON; a string as it is. */
  readonly body?: unknown;
  readonly contentType?: string;
}

/** What it says. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Where an API server is and how to be let in. */
export interface Door {
  readonly url: string;
  /** PEM. */
  readonly certificate: string;
  readonly token: string;
}

const limitMs = 30_000;

/** Connections to one API server that are used again: to agree on keys costs both sides more than most requests do. */
export function connections(certificate: string): Agent {
  // An API server closes what is idle for longer.
  return new Agent({ ca: certificate, keepAlive: true, timeout: 60_000 });
}

/** Asks an API server once, over a connection of its own unless others are given, and gives whatever it answers. */
export async function request(
  door: Door,
  wanted: Request,
  agent = new Agent({ ca: door.certificate, keepAlive: false }),
): Promise<Answer> {
  const headers: Record<string, string> = { authorization: `Bearer ${door.token}` };
  if (wanted.body !== undefined) headers["content-type"] = wanted.contentType ?? "application/json";
  const options: RequestOptions = {
    method: wanted.method ?? "GET",
    headers,
    agent,
    signal: AbortSignal.timeout(limitMs),
  };
  return new Promise((resolve, reject) => {
    const sent = send(new URL(wanted.path, door.url), options, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, text: body }), reject);
    });
    sent.on("error", reject);
    sent.end(typeof wanted.body === "string" || wanted.body === undefined ? wanted.body : JSON.stringify(wanted.body));
  });
}
