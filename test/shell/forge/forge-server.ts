// A server that answers as a forge's API does, in the shapes that its documentation shows.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What stands at a path of the API; a number is a status without an answer, and a list is answered page by page. */
export type Pages = Readonly<Record<string, unknown>>;

export interface ForgeServer {
  readonly url: string;
  /** What is answered from now on. */
  pages: Pages;
  /** Every request as `path authorization`. */
  readonly asked: string[];
  /** What is done instead of answering; null: it answers. */
  instead: ((request: IncomingMessage, response: ServerResponse) => void) | null;
  close(): Promise<void>;
}

export async function forgeServer(): Promise<ForgeServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization ?? "-"}`);
    if (it.instead !== null) {
      it.instead(request, response);
      return;
    }
    const page = it.pages[(request.url ?? "").replace(/[?&](?:per_page|limit|page)=[^&]*/g, "")] ?? 404;
    response.writeHead(typeof page === "number" ? page : 200, { "content-type": "application/json" });
    response.end(typeof page === "number" ? '{"message":"so it is"}' : JSON.stringify(partOf(page, request.url ?? "")));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const it: ForgeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages: {},
    asked,
    instead: null,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return it;
}

/** Of a list, the page that is asked for; null in it stands for what the one who asks may not see. */
export function partOf(page: unknown, url: string): unknown {
  const { searchParams } = new URL(url, "http://forge");
  const number = searchParams.get("page");
  if (!Array.isArray(page) || number === null) return page;
  const size = Number(searchParams.get("per_page") ?? searchParams.get("limit"));
  return page.slice((Number(number) - 1) * size, Number(number) * size).filter((it) => it !== null);
}
