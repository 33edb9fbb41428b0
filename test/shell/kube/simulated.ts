import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { type EmbeddedServer, startEmbedded } from "../../../src/shell/embedded/server.ts";
import type { TestCluster } from "./member-world.ts";

/** A simulated cluster `admin`, and the server that it lives in. */
export interface Simulated extends TestCluster {
  readonly server: EmbeddedServer;
}

/** Starts one. Its controllers act at once, so that they do not write while a test compares what somebody else wrote. */
export async function startSimulated(): Promise<Simulated> {
  const tokens = { admin: "secret" };
  const server = await startEmbedded({ clusters: ["admin"], availableAfterMs: 0, tokens, now: () => Date.now() });
  const folder = await mkdtemp(join(tmpdir(), "flotilla-fleet-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, withOthers(server.kubeconfig()), { mode: 0o600 });
  return {
    server,
    kubeconfig,
    contexts: { admin: "admin", limited: null, stranger: "stranger", dead: "dead" },
    close: async () => {
      await server.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Somebody whose token is not known, and a server that does not answer. */
function withOthers(kubeconfig: string): string {
  const config = parse(kubeconfig);
  const { cluster } = config.contexts[0].context;
  config.users.push({ name: "stranger", user: { token: "nobody-knows-this-token" } });
  config.clusters.push({ name: "dead", cluster: { server: "http://127.0.0.1:1" } });
  config.contexts.push({ name: "stranger", context: { cluster, user: "stranger" } });
  config.contexts.push({ name: "dead", context: { cluster: "dead", user: "stranger" } });
  return stringify(config);
}
