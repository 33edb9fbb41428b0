import type { ApiServer } from "./api-server.ts";

/** Requests of one sort that changed something, as the API server itself counted them. */
export interface Mutations {
  /** POST, PUT, PATCH, APPLY (a server-side apply), DELETE or DELETECOLLECTION. */
  readonly verb: string;
  /** API group, "" for the core. */
  readonly group: string;
  /** Plural, as in `deployments`. */
  readonly resource: string;
  readonly subresource: string;
  /** HTTP status that was answered. */
  readonly code: string;
  readonly count: number;
}

const mutating = new Set(["POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"]);

/**
 * Reads how many changing requests the server has answered since it started; dry runs don't count.
 *
 * It counts everybody's, its own housekeeping included: compare two readings, of the resources that the test is about.
 */
export async function readMutations(server: ApiServer): Promise<readonly Mutations[]> {
  const { text } = await server.request({ path: "/metrics" });
  const found: Mutations[] = [];
  for (const [, inner = "", value] of text.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const labels = new Map([...inner.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = "", it = ""]) => [name, it]));
    const label = (name: string) => labels.get(name) ?? "";
    if (label("dry_run") !== "" || !mutating.has(label("verb"))) continue;
    found.push({
      verb: label("verb"),
      group: label("group"),
      resource: label("resource"),
      subresource: label("subresource"),
      code: label("code"),
      count: Number(value),
    });
  }
  return found;
}

/** Sums the changing requests that were answered; of some resources only, where they are named. */
export async function countMutations(server: ApiServer, resources?: readonly string[]): Promise<number> {
  const rows = await readMutations(server);
  const wanted = rows.filter((row) => resources === undefined || resources.includes(row.resource));
  return wanted.reduce((sum, row) => sum + row.count, 0);
}
