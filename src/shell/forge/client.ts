import type { ReviewQuestion } from "../../core/model/history.ts";
import { type Json, memberAt, textOf } from "../../core/model/json.ts";

/** The forge is unavailable, or its response cannot be read. Caught in this room. */
export class ForgeUnavailable extends Error {}

/** A response is too large: its size is up to the author of a pull request, and a retry does not help. */
export class ResponseTooLarge extends ForgeUnavailable {}

interface ClientOptions {
  readonly api: string;
  /** Names the repository, for messages. */
  readonly name: string;
  /** Value of the `Authorization` header; null: nobody says who asks. */
  readonly authorization: string | null;
  /** Ends every question. */
  readonly signal: AbortSignal;
}

/** A GET of a forge's API: the response's JSON, or null for 404. Rejects with {@link ForgeUnavailable}. */
export type ForgeGet = (path: string) => Promise<Json | null>;

/** More than an answer that matters has. */
const longestAnswer = 4 << 20;
const mostRedirects = 3;

/** Only reads, bounded in time and size, and follows no redirect: the token would go along (`trust/README.md#t-25`). */
export function forgeClient(options: ClientOptions): ForgeGet {
  return async (path) => {
    try {
      return await answerTo(`${options.api}${path}`, options, mostRedirects);
    } catch (error) {
      if (error instanceof ForgeUnavailable) throw error;
      throw unanswered(options, reasonOf(error));
    }
  };
}

async function answerTo(url: string, options: ClientOptions, redirects: number): Promise<Json | null> {
  const { authorization, signal } = options;
  const headers = {
    accept: "application/json",
    "user-agent": "flotilla",
    ...(authorization === null ? {} : { authorization }),
  };
  const answer = await fetch(url, { headers, signal, redirect: "manual" });
  if (answer.ok) return parsed(await gathered(answer, options), options);
  await answer.body?.cancel();
  if (answer.status === 404) return null;
  const target = answer.status >= 300 && answer.status < 400 ? answer.headers.get("location") : null;
  if (target === null) throw unanswered(options, refusal(answer, authorization !== null));
  const next = new URL(target, url);
  if (next.origin !== new URL(url).origin || redirects === 0)
    throw unanswered(options, "it redirects to another address; give the repository's current URL with --forge");
  return answerTo(next.href, options, redirects - 1);
}

/** The response's text may be anybody's, and is not quoted. */
function refusal({ status, headers }: Response, isKnown: boolean): string {
  if (status === 429 || headers.get("x-ratelimit-remaining") === "0") return "its rate limit is exceeded";
  if (status === 401 || status === 403)
    return isKnown
      ? `forbidden (${status}): the token in FLOTILLA_FORGE_TOKEN needs read access`
      : `forbidden (${status}): set FLOTILLA_FORGE_TOKEN to a token with read access`;
  return `HTTP status ${status}`;
}

async function gathered(answer: Response, options: ClientOptions): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > longestAnswer)
      throw new ResponseTooLarge(`${options.name} sent a response of more than ${longestAnswer >> 20} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string, options: ClientOptions): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw unanswered(options, "its response is not JSON");
  }
}

const unanswered = ({ name }: ClientOptions, why: string): ForgeUnavailable =>
  new ForgeUnavailable(`cannot read the reviews on ${name}: ${why}`);

/** The cause of `fetch failed`: ECONNREFUSED, ENOTFOUND, an expired certificate. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "the connection failed";
  if (error.name === "TimeoutError" || error.name === "AbortError") return "it timed out";
  const code = error.cause instanceof Error && "code" in error.cause ? String(error.cause.code) : null;
  return code === null ? "the connection failed" : `the connection failed: ${code}`;
}

/** What differs between forges. */
export interface ForgeApi {
  /** As trust files name it. */
  readonly forge: string;
  /** So many things fit on a page, by this parameter. */
  readonly page: { readonly size: number; readonly parameter: string };
  /** Whether a review stands when its pull request is given another base, whose difference nobody looked at. */
  readonly keepsReviewsOnNewBase: boolean;
  authorization(token: string): string;
  /** What the rules of a branch do not ask for and have to, in words that name the switches; empty when nothing is missing. */
  missing(ask: ForgeGet, repository: string, branch: string): Promise<readonly string[]>;
  /** The pull requests that may have brought a file. */
  pulls(ask: ForgeGet, repository: string, question: ReviewQuestion): Promise<readonly Json[]>;
  /** Whether a review approves, says something else in place of an earlier one, or is no more than a remark. */
  opinion(review: Json): "approved" | "otherwise" | "remark";
}

// What stands at a place of an answer, or null: whatever a forge leaves out, or writes otherwise, is not known.

export const stringAt = (value: Json, ...names: readonly string[]): string | null => textOf(memberAt(value, ...names));

/** A number that names something, as text: of an account, a pull request, a review. */
export function idAt(value: Json, ...names: readonly string[]): string | null {
  const found = memberAt(value, ...names);
  return typeof found === "number" && Number.isSafeInteger(found) && found > 0 ? String(found) : null;
}

export function numericAt(value: Json, ...names: readonly string[]): number | null {
  const found = memberAt(value, ...names);
  return typeof found === "number" ? found : null;
}

export const isTrueAt = (value: Json, ...names: readonly string[]): boolean => memberAt(value, ...names) === true;

/** The elements of a list; null for what is none. */
export const listIn = (value: Json | null): readonly Json[] | null => (Array.isArray(value) ? (value as Json[]) : null);
