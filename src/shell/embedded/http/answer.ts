import type { ServerResponse } from "node:http";
import type { JsonObject } from "../../../core/model/json.ts";
import { type Refusal, statusOf } from "../api/status.ts";

/** What a request is answered with. */
export interface Answer {
  readonly code: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An object as an answer. */
export const jsonAnswer = (code: number, body: JsonObject): Answer => ({
  code,
  type: "application/json",
  text: JSON.stringify(body),
});

/** Plain words as an answer: health, and paths that lead nowhere. */
export const textAnswer = (code: number, text: string): Answer => ({ code, type: "text/plain", text });

/** A refusal as an answer, with `Retry-After` where it says when to come back. */
export function refusalAnswer(refusal: Refusal): Answer {
  const seconds = refusal.details?.["retryAfterSeconds"];
  const answer = jsonAnswer(refusal.code, statusOf(refusal));
  return typeof seconds === "number" ? { ...answer, headers: { "retry-after": String(seconds) } } : answer;
}

/** Writes an answer. */
export function send(response: ServerResponse, { code, type, text, headers }: Answer): void {
  response.writeHead(code, { "content-type": type, "content-length": Buffer.byteLength(text), ...headers });
  response.end(text);
}
