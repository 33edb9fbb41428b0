import type { GitHttpRequest, GitHttpResponse, HttpClient } from "isomorphic-git";
import { Fault } from "../../reconcile/fault.ts";
import { redact } from "../model/address.ts";
import { faultFromHttpStatus, repositoryFault } from "../model/repository-fault.ts";

/** Largest answer that is taken: isomorphic-git holds a pack in memory as a whole. */
const answerLimit = 512 << 20;

/** Thrown into isomorphic-git, and found again at the border: what the connection did, in our words. */
class ConnectionLost extends Error {}

/**
 * HTTP with a deadline and a bound on answers (`git/README.md#libraries`). `authorization` goes with the first request,
 * which saves the round trip of a 401, and to no other origin when the server redirects.
 */
export function isoHttp(authorization: string | null, deadlineMs: number): HttpClient {
  return { request: (request) => exchange(request, authorization, deadlineMs) };
}

/**
 * Answers are taken whole before isomorphic-git sees any of them: it reads a list of branches that broke off as a list
 * without the rest, and a state branch that only seems to be absent would be founded again.
 */
async function exchange(
  { url, method = "GET", headers = {}, body }: GitHttpRequest,
  authorization: string | null,
  deadlineMs: number,
): Promise<GitHttpResponse> {
  const signal = AbortSignal.timeout(deadlineMs);
  const authorized = authorization === null ? headers : { ...headers, authorization };
  try {
    const content = body === undefined ? null : Uint8Array.from(await gathered(body, Number.MAX_SAFE_INTEGER));
    const answer = await fetch(url, { method, headers: authorized, body: content, signal });
    const bytes = await gathered((answer.body ?? []) as AsyncIterable<Uint8Array>, answerLimit);
    if (isCutOff(answer, bytes)) throw new ConnectionLost("the server's answer is cut off");
    return {
      url: answer.url,
      method,
      headers: Object.fromEntries(answer.headers),
      statusCode: answer.status,
      statusMessage: answer.statusText,
      body: once(bytes),
    };
  } catch (error) {
    if (error instanceof ConnectionLost) throw error;
    throw new ConnectionLost(reasonOf(error, deadlineMs), { cause: error });
  }
}

/** Every answer of the smart protocol ends with a flush packet. */
const isCutOff = (answer: Response, bytes: Buffer): boolean =>
  answer.ok &&
  (answer.headers.get("content-type") ?? "").startsWith("application/x-git-") &&
  bytes.toString("latin1", Math.max(0, bytes.length - 4)) !== "0000";

async function gathered(body: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw new ConnectionLost(`the server sent more than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* once(bytes: Uint8Array): AsyncIterableIterator<Uint8Array> {
  yield bytes;
}

/** The cause of `fetch failed`: ECONNREFUSED, ENOTFOUND, an expired certificate. */
function reasonOf(error: unknown, deadlineMs: number): string {
  if (!(error instanceof Error)) return "the connection failed";
  if (error.name === "TimeoutError") return `no answer within ${Math.ceil(deadlineMs / 1000)} s`;
  const inner = error.cause instanceof Error ? error.cause : error;
  const code = (inner as NodeJS.ErrnoException).code;
  return code === undefined ? `the connection broke: ${inner.message}` : `the connection failed: ${code}`;
}

/** What a failure of isomorphic-git's, or under it, amounts to; `secrets` never show. */
export function isoFault(error: unknown, during: string, secrets: readonly string[]): Fault {
  if (error instanceof Fault) return error;
  const message = redact(error instanceof Error ? error.message : String(error), secrets);
  const more = { cause: error };
  if (error instanceof ConnectionLost) return repositoryFault("RepositoryUnreachable", during, message, more);
  switch (codeOf(error)) {
    case "HttpError": {
      const { statusCode, response } = (error as { data: { statusCode: number; response?: unknown } }).data;
      const text = typeof response === "string" ? redact(response.slice(0, 500).trim(), secrets) : "";
      return faultFromHttpStatus(during, statusCode, text);
    }
    case "SmartHttpError":
      return repositoryFault("RepositoryNotFound", during, "what answers there is no git server", more);
    case "GitPushError":
    case "PushRejectedError":
    case "UserCanceledError":
      return repositoryFault("RepositoryRefused", during, message, more);
    case "UnsafeFilepathError":
      return repositoryFault("RepositoryUnsupported", during, message, {
        fix: "rename that file, or install git: isomorphic-git takes no such name",
        cause: error,
      });
    case undefined:
      return repositoryFault("RepositoryUnreachable", during, message, more);
    default:
      return repositoryFault("RepositoryCorrupt", during, message, more);
  }
}

/** isomorphic-git's errors carry a code that ends in `Error`; what Node throws carries others. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : undefined;
}
