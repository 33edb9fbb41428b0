import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { startApiServer } from "../kubernetes/api-server.ts";
import { eventually } from "../kubernetes/eventually.ts";
import { mergeKubeconfigs } from "../kubernetes/kubeconfig.ts";
import { startProgram, tailOfLog } from "../kubernetes/supervise.ts";
import { cpuOfGroups } from "./usage.ts";

/** The clusters that a bench runs against. */
export interface Members {
  /** What they are, for the head of the table. */
  readonly what: string;
  readonly names: readonly string[];
  /** Null: they live in the reconciler's own memory. */
  readonly kubeconfig: string | null;
  /** Seconds on a core of everything that serves them; null when nobody knows. */
  cpu(): number | null;
  stop(): Promise<void>;
}

const nothing = async (): Promise<void> => {};

/** Members in the reconciler's own memory: what is left is deciding and Git. */
export const noMembers = (names: readonly string[]): Members => ({
  what: `${names.length} members in the reconciler's own memory`,
  names,
  kubeconfig: null,
  cpu: () => null,
  stop: nothing,
});

/** Embedded clusters in a process of their own, as `flotilla embedded` serves them. */
export async function embeddedMembers(folder: string, program: string, names: readonly string[]): Promise<Members> {
  const kubeconfig = join(folder, "embedded.kubeconfig");
  const log = join(folder, "embedded.log");
  const options = ["--clusters", names.join(","), "--kubeconfig", kubeconfig];
  const server = startProgram([process.execPath, program, "embedded", ...options], log, folder);
  const isServing = async (): Promise<true | null> => {
    if (server.ended() !== null) throw new Error(`the embedded clusters ended: ${await tailOfLog(log)}`);
    return (await readFile(log, "utf8")).includes("serving") ? true : null;
  };
  await eventually("the embedded clusters are served", isServing, 60_000);
  const cpu = (): number | null => cpuOfGroups([server.pid]);
  return {
    what: `${names.length} embedded members in a process of their own`,
    names,
    kubeconfig,
    cpu,
    stop: server.stop,
  };
}

/** As many real API servers as are wanted, each with an etcd of its own. */
export async function realMembers(folder: string, names: readonly string[]): Promise<Members> {
  const servers = await Promise.all(names.map((name) => startApiServer({ name })));
  const kubeconfig = join(folder, "real.kubeconfig");
  await writeFile(kubeconfig, JSON.stringify(mergeKubeconfigs(servers.map((it) => it.kubeconfig()))), { mode: 0o600 });
  const pids = servers.flatMap((it) => it.pids);
  return {
    what: `${names.length} real API servers (kube-apiserver and etcd) on this machine`,
    names,
    kubeconfig,
    cpu: () => cpuOfGroups(pids),
    stop: async () => void (await Promise.all(servers.map((it) => it.stop()))),
  };
}

/** Real members that somebody else runs: all contexts of a kubeconfig. */
export async function givenMembers(kubeconfig: string): Promise<Members> {
  const { contexts = [] } = parse(await readFile(kubeconfig, "utf8")) as { contexts?: readonly { name: string }[] };
  const names = contexts.map((it) => it.name);
  if (names.length === 0) throw new Error(`${kubeconfig} has no contexts`);
  return { what: `${names.length} members of ${kubeconfig}`, names, kubeconfig, cpu: () => null, stop: nothing };
}
