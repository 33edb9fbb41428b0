import type { ServerResponse } from "node:http";
import { parse as parseYaml } from "yaml";
import type { Json, JsonObject } from "../../../core/model/json.ts";
import { type StatusError, statusBody, statusError } from "../api/status.ts";

/** Characters of text in each half of what is remembered: enough for all that a thousand placements apply. */
const maxCharacters = 4_000_000;
/** Longer bodies hardly ever come twice. */
const longest = 16_000;

let recent = new Map<string, Json>();
let older: ReadonlyMap<string, Json> = new Map();
let characters = 0;

/**
 * A request's body as data; refuses what is neither JSON nor YAML. The same text gives the same value, as far as it is
 * remembered: a thousand clusters share what one of them was sent.
 */
export function parseBody(text: string): Json {
  if (text.length > longest) return parsed(text);
  const known = recent.get(text);
  if (known !== undefined) return known;
  const value = older.get(text) ?? parsed(text);
  recent.set(text, value);
  characters += text.length;
  if (characters > maxCharacters) [older, recent, characters] = [recent, new Map(), 0];
  return value;
}

function parsed(text: string): Json {
  try {
    // YAML is a superset, but a slow one; nearly every client sends JSON.
    return JSON.parse(text) as Json;
  } catch {
    try {
      return parseYaml(text) as Json;
    } catch {
      throw statusError("BadRequest", "the body of the request is neither JSON nor YAML");
    }
  }
}

export interface HttpResponse {
  readonly code: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const jsonResponse = (code: number, body: JsonObject): HttpResponse => ({
  code,
  type: "application/json",
  text: JSON.stringify(body),
});

/** Plain words as an answer: health, and paths that lead nowhere. */
export const textResponse = (code: number, text: string): HttpResponse => ({ code, type: "text/plain", text });

/** A refusal as an answer, with `Retry-After` where it says when to come back. */
export function errorResponse(refusal: StatusError): HttpResponse {
  const seconds = refusal.details?.["retryAfterSeconds"];
  const answer = jsonResponse(refusal.code, statusBody(refusal));
  return typeof seconds === "number" ? { ...answer, headers: { "retry-after": String(seconds) } } : answer;
}

export function send(response: ServerResponse, { code, type, text, headers }: HttpResponse): void {
  response.writeHead(code, { "content-type": type, "content-length": Buffer.byteLength(text), ...headers });
  response.end(text);
}
