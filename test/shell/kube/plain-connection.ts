import http from "node:http";
import type { Access, Connection } from "../../../src/shell/kube/client/connection.ts";

/** A connection over HTTP whose headers come from the test: asked for with the first access and with each renewal. */
export function plainConnection(
  server: URL,
  headers: () => Promise<Access["headers"]> = async () => ({}),
  agent = new http.Agent({ keepAlive: true }),
): Connection {
  let current: Promise<Access> | null = null;
  const ask = (): Promise<Access> => {
    const asking = headers().then((it) => ({ agent, headers: it }));
    current = asking;
    asking.catch(() => {
      current = null;
    });
    return asking;
  };
  return {
    server,
    authority: () => null,
    access: () => current ?? ask(),
    renewed: async (used) => ((await current) === used ? ask() : (current ?? ask())),
    trim: () => {},
    close: () => agent.destroy(),
  };
}
