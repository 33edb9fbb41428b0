import { readFile, writeFile } from "node:fs/promises";
import type { DurationMs } from "../../../core/model/value.ts";
import { type EmbeddedServer, startEmbedded } from "../../../shell/embedded/server.ts";
import { systemClock } from "../../../shell/host/system.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { nodesDeclaredIn } from "./declared-clusters.ts";

export interface ServeEmbeddedOptions {
  readonly clusters: string;
  readonly kubeconfig: string;
  readonly port: string;
  readonly availableAfter: DurationMs;
  /** A folder of MemberClusters; absent: each cluster has one node. */
  readonly declared?: string;
}

/** Serves simulated clusters until it is told to stop. */
export async function serveEmbedded(options: ServeEmbeddedOptions, terminal: Terminal): Promise<ExitCode> {
  const { kubeconfig } = options;
  const clusters = options.clusters.split(",").map((it) => it.trim());
  const port = Number(options.port);
  const objection = objectionTo(clusters, port) ?? (await objectionToFile(kubeconfig));
  if (objection !== null) return refused(objection, terminal);
  const { declared, availableAfter: availableAfterMs } = options;
  const nodes = declared === undefined ? {} : await nodesDeclaredIn(declared).catch(codeOf);
  if (typeof nodes === "string") return refused(`the folder ${declared} cannot be read (${nodes})`, terminal);
  let server: EmbeddedServer;
  try {
    server = await startEmbedded({ clusters, port, availableAfterMs, nodes, now: () => systemClock.now() });
  } catch (error) {
    return refused(`port ${port} of 127.0.0.1 cannot be used (${codeOf(error)}); 0 takes a free one`, terminal);
  }
  try {
    await writeFile(kubeconfig, server.kubeconfig(), { mode: 0o600 });
    terminal.out(`serving ${clusters.length} clusters; kubeconfig: ${kubeconfig}\n`);
    await new Promise<void>((resolve) => process.once("SIGINT", () => resolve()).once("SIGTERM", () => resolve()));
    return exitCodes.done;
  } catch (error) {
    return refused(`the kubeconfig cannot be written to ${kubeconfig} (${codeOf(error)})`, terminal);
  } finally {
    await server.close();
  }
}

function objectionTo(clusters: readonly string[], port: number): string | null {
  const bad = clusters.find((it) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(it));
  if (bad !== undefined) return `${JSON.stringify(bad)} is not a cluster name; --clusters takes comma-separated names`;
  const twice = clusters.find((it, at) => clusters.indexOf(it) !== at);
  if (twice !== undefined) return `the cluster ${twice} is named twice`;
  return Number.isInteger(port) && port >= 0 && port <= 65_535 ? null : "--port takes a number from 0 to 65535";
}

/** Refuses to overwrite a kubeconfig of real clusters: it may be the only copy. */
async function objectionToFile(path: string): Promise<string | null> {
  const text = await readFile(path, "utf8").catch(() => null);
  if (text === null) return null;
  const servers = [...text.matchAll(/^\s*server:(.*)$/gm)].map((it) => it[1] ?? "");
  const isOurs = servers.length > 0 && servers.every((it) => /^ http:\/\/127\.0\.0\.1:\d+\/clusters\//.test(it));
  return isOurs ? null : `${path} exists and was not written by flotilla embedded; give another file`;
}

function refused(message: string, { err }: Terminal): ExitCode {
  err(`error: ${message}\n`);
  return exitCodes.usage;
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);
