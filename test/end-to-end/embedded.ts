import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { type Json, member as memberOf } from "../../src/core/model/json.ts";
import { eventually } from "../kubernetes/eventually.ts";
import type { Kubeconfig } from "../kubernetes/kubeconfig.ts";
import { startProgram } from "../kubernetes/supervise.ts";
import { lateOptimization } from "../late-optimization.ts";
import { bundle } from "./bundle.ts";
import { type Member, parsed } from "./member.ts";

/** Simulated clusters in a process of their own, as `flotilla embedded` serves them. */
export interface EmbeddedMembers {
  readonly names: readonly string[];
  /** Path of the kubeconfig that the process wrote. */
  readonly file: string;
  readonly kubeconfig: Kubeconfig;
  member(name: string): EmbeddedMember;
  stop(): Promise<void>;
}

export interface EmbeddedMember extends Member {
  /** Changes the cluster itself: its troubles, its delays. */
  control(change: { readonly [key: string]: Json }): Promise<void>;
  /** Requests that could change something, dry runs apart, since this was last asked. */
  mutations(): Promise<number>;
  /** The same, and the count goes on. */
  mutationsSoFar(): Promise<number>;
}

export interface EmbeddedSetting {
  /** Where its kubeconfig and its log stand. */
  readonly folder: string;
  readonly names: readonly string[];
  /** How long workloads take to become available. */
  readonly availableAfter?: string;
}

export async function startEmbeddedMembers(setting: EmbeddedSetting): Promise<EmbeddedMembers> {
  const { folder, names, availableAfter = "50ms" } = setting;
  const file = join(folder, "embedded.kubeconfig");
  const options = ["--clusters", names.join(","), "--kubeconfig", file, "--available-after", availableAfter];
  const command = [process.execPath, ...lateOptimization, await bundle(), "embedded", ...options];
  const log = join(folder, "embedded.log");
  const program = startProgram(command, log, folder);
  const kubeconfig = await eventually("the embedded clusters are served", async () => {
    if (program.ended() !== null) throw new Error(`they ended: ${await readFile(log, "utf8")}`);
    const text = await readFile(log, "utf8");
    return text.includes("serving") ? (parse(await readFile(file, "utf8")) as Kubeconfig) : null;
  });
  const members = new Map(
    kubeconfig.clusters.map((it) => [it.name, memberAt(it.name, it.cluster["server"] as string)]),
  );
  const member = (name: string): EmbeddedMember => {
    const found = members.get(name);
    if (found === undefined) throw new Error(`there is no embedded cluster ${name}`);
    return found;
  };
  return { names, file, kubeconfig, member, stop: () => program.stop() };
}

function memberAt(name: string, server: string): EmbeddedMember {
  const controlUrl = new URL(`/control/${name}`, server);
  const ask = async (method: string, url: URL | string, body?: Json, type = "application/json") => {
    const content = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": type } };
    const response = await fetch(url, { method, ...content });
    return { status: response.status, body: parsed(await response.text()) };
  };
  const control = async (change: { readonly [key: string]: Json }): Promise<void> => {
    const { status, body } = await ask("PATCH", controlUrl, change);
    if (status !== 200) throw new Error(`${name} cannot be controlled: ${JSON.stringify(body)}`);
  };
  const mutationsSoFar = async (): Promise<number> => {
    const { body } = await ask("GET", controlUrl);
    return Number(memberOf(body["counters"] ?? null, "mutating"));
  };
  return {
    name,
    request: (method, path, body, type) => ask(method, `${server}${path}`, body, type),
    control,
    mutationsSoFar,
    mutations: async () => {
      const count = await mutationsSoFar();
      await control({ resetCounters: true });
      return count;
    },
  };
}
