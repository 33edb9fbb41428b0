import { Refusal, refusal } from "../api/status.ts";
import type { Cluster } from "../storage/cluster.ts";
import { type Answer, refusalAnswer } from "./answer.ts";
import { isDryRun, type Request, type Stream, serve, verbOf } from "./handlers.ts";
import { type Route, routeOf } from "./route.ts";

/** One request as it comes off the wire, whatever the wire is. */
export interface Asked {
  readonly method: string;
  /** Below the cluster. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Answers one request, refusals included, by the cluster's own clock; counts it and logs it. Null when it became a watch, which answers on `stream`. */
export function answerTo(cluster: Cluster, asked: Asked, stream: Stream): Answer | null {
  const answer = answerOf(cluster, asked, stream);
  const { method, path, query } = asked;
  const shown = query.size === 0 ? path : `${path}?${query}`;
  cluster.record({ method, path: shown, code: answer?.code ?? 200 });
  return answer === null ? null : { ...answer, headers: { ...answer.headers, date: cluster.date() } };
}

function answerOf(cluster: Cluster, asked: Asked, stream: Stream): Answer | null {
  const { method, path, query, headers, body, now } = asked;
  try {
    mustBeWell(cluster);
    mustBeKnown(cluster, headerOf(headers, "authorization"));
    const request: Request = {
      method,
      route: routeOf(path, cluster.kinds),
      query,
      accept: headerOf(headers, "accept"),
      contentType: headerOf(headers, "content-type"),
      userAgent: headerOf(headers, "user-agent"),
      body,
      now,
    };
    cluster.tally.count(verbOf(request), resourceText(request.route), isDryRun(request));
    return serve(cluster, request, stream);
  } catch (error) {
    if (error instanceof Refusal) return refusalAnswer(error);
    return refusalAnswer(refusal("InternalError", `the simulated cluster failed: ${String(error)}`));
  }
}

const headerOf = (headers: Asked["headers"], name: string): string => String(headers[name] ?? "");

function resourceText(route: Route): string {
  if (route.kind === "discovery") return route.path;
  const part = route.kind === "object" && route.subresource !== null ? `/${route.subresource}` : "";
  return route.of.table + part;
}

function mustBeWell(cluster: Cluster): void {
  const { failWith, failures, retryAfterSeconds } = cluster.trouble;
  if (failWith === null || failures === 0) return;
  if (failures !== null) cluster.trouble = { ...cluster.trouble, failures: failures - 1 };
  const reasons: Readonly<Record<number, string>> = {
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
  };
  const details = retryAfterSeconds === null ? {} : { retryAfterSeconds };
  throw new Refusal(failWith, reasons[failWith] ?? "", `simulated trouble: ${failWith}`, details);
}

function mustBeKnown({ token, trouble }: Cluster, authorization: string): void {
  if (!trouble.unauthorized && (token === null || authorization === `Bearer ${token}`)) return;
  throw refusal("Unauthorized", "Unauthorized");
}
