import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Instant } from "../../../src/core/model/value.ts";
import { type EmbeddedServer, startEmbedded } from "../../../src/shell/embedded/server.ts";
import { openRepository } from "../../../src/shell/git/open.ts";
import { systemEntropy } from "../../../src/shell/host/system.ts";
import { kubeFleet } from "../../../src/shell/kube/fleet.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import { type PassResult, pass } from "../../../src/shell/reconcile/pass.ts";
import type { Clock, Ports, Repository, Settings } from "../../../src/shell/reconcile/ports.ts";
import { verifier } from "../../../src/shell/signature/verifier.ts";
import { memberNames } from "../../end-to-end/fleet.ts";
import { type Hub, makeHub } from "../../end-to-end/hub.ts";

/** A hub, its members in this process, and any number of reconcilers over them. The clock is an assignment. */
export interface Stage {
  readonly hub: Hub;
  readonly members: EmbeddedServer;
  now: Instant;
  /** A reconciler that remembers nothing yet. */
  reconciler(): Promise<Ports>;
  close(): Promise<void>;
}

export async function setStage(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "flotilla-reconcile-"));
  const hub = await makeHub(folder);
  const server = await startEmbedded({ clusters: memberNames, availableAfterMs: 0, now: () => Date.now() });
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, server.kubeconfig());
  const open: Ports[] = [];
  const stage: Stage = {
    hub,
    members: server,
    now: Date.parse("2026-11-21T12:00:00Z") as Instant,
    async reconciler() {
      const clock: Clock = { now: () => stage.now, sleepUntil: async () => {} };
      const repository = await openRepository({
        repo: hub.repo,
        branch: "main",
        stateBranch: "fleet/state",
        engine: "program",
        cacheFolder: join(folder, "cache"),
        token: null,
      });
      const ports = {
        repository,
        fleet: await kubeFleet({ kubeconfig, clock }),
        clock,
        verifier,
        entropy: systemEntropy,
      };
      open.push(ports);
      return ports;
    },
    async close() {
      for (const it of open) {
        await it.fleet.close();
        await it.repository.close();
      }
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return stage;
}

export const once: Settings = { members: "ask", patience: "none", acceptRewrite: null, trustAnchor: null };

/** One pass of a reconciler that remembers nothing. */
export const freshPass = (ports: Ports, settings: Settings = once): Promise<PassResult> =>
  pass(ports, settings, newMemory(), true);

/** Passes until one neither commits nor acts. */
export async function rest(ports: Ports, settings: Settings = once): Promise<Extract<PassResult, { kind: "passed" }>> {
  const memory = newMemory();
  for (let count = 0; count < 20; count++) {
    const result = await pass(ports, settings, memory, true);
    if (result.kind === "unsound") throw new Error(result.faults.map((it) => it.message).join("; "));
    if (result.kind === "passed" && result.committed === null && result.receipts.length === 0) return result;
  }
  throw new Error("not at rest after 20 passes");
}

/** The same reconciler with some of its repository's methods replaced. */
export function withRepository(ports: Ports, change: Partial<Repository>): Ports {
  const { repository } = ports;
  const same: Repository = {
    name: repository.name,
    heads: () => repository.heads(),
    files: (...it) => repository.files(...it),
    blobs: (...it) => repository.blobs(...it),
    descends: (...it) => repository.descends(...it),
    history: (...it) => repository.history(...it),
    commit: (it) => repository.commit(it),
    close: () => repository.close(),
  };
  return { ...ports, repository: { ...same, ...change } };
}

/** Mutating requests that all members have seen. */
export const mutations = ({ members: server }: Stage): number =>
  memberNames.reduce((sum, it) => sum + server.cluster(it).counters.mutating, 0);
