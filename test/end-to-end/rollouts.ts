import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { eventually } from "../kubernetes/eventually.ts";
import { type Kubeconfig, mergeKubeconfigs } from "../kubernetes/kubeconfig.ts";
import { makeScratch } from "../kubernetes/supervise.ts";
import { startEmbeddedMembers } from "./embedded.ts";
import { type Desk, deskAt } from "./fleet.ts";
import { type Hub, makeHub } from "./hub.ts";
import type { Member } from "./member.ts";
import { realMember } from "./real.ts";

const placementApi = "placement.kubernetes-fleet.io/v1beta1";

/** Everything in the namespace of its own name on all members; nothing moves but by update runs. */
export const externalPlacement = (name: string, annotations: { readonly [key: string]: string } = {}): JsonObject => ({
  apiVersion: placementApi,
  kind: "ClusterResourcePlacement",
  metadata: { name, annotations },
  spec: {
    resourceSelectors: [{ group: "", version: "v1", kind: "Namespace", name }],
    policy: { placementType: "PickAll" },
    strategy: { type: "External" },
  },
});

/** Stages, each of the members whose label `env` is its name. */
export const updateStrategy = (name: string, stages: { readonly [env: string]: JsonObject }): JsonObject => ({
  apiVersion: placementApi,
  kind: "ClusterStagedUpdateStrategy",
  metadata: { name },
  spec: {
    stages: Object.entries(stages).map(([env, tasks]) => ({
      name: env,
      labelSelector: { matchLabels: { env } },
      ...tasks,
    })),
  },
});

/** A run; without an index it brings what the placement selects. */
export const updateRun = (
  name: string,
  placement: string,
  strategy: string,
  { state = "Run", index }: { readonly state?: "Initialize" | "Run" | "Stop"; readonly index?: string } = {},
): JsonObject => ({
  apiVersion: placementApi,
  kind: "ClusterStagedUpdateRun",
  metadata: { name },
  spec: {
    placementName: placement,
    stagedRolloutStrategyName: strategy,
    ...(index === undefined ? {} : { resourceSnapshotIndex: index }),
    state,
  },
});

export const eviction = (name: string, placement: string, cluster: string): JsonObject => ({
  apiVersion: placementApi,
  kind: "ClusterResourcePlacementEviction",
  metadata: { name },
  spec: { placementName: placement, clusterName: cluster },
});

export const disruptionBudget = (placement: string, spec: JsonObject): JsonObject => ({
  apiVersion: placementApi,
  kind: "ClusterResourcePlacementDisruptionBudget",
  metadata: { name: placement },
  spec,
});

/** A hub of a few files, with real members and embedded ones in one kubeconfig. */
export interface SmallStage extends Desk {
  member(name: string): Member;
  stop(): Promise<void>;
}

/** Sets a stage on which the hub holds these files and nothing else. The servers are stopped with it. */
export async function setSmallStage(
  files: Readonly<Record<string, string>>,
  { servers, embedded }: { readonly servers: readonly ApiServer[]; readonly embedded: readonly string[] },
): Promise<SmallStage> {
  const scratch = await makeScratch();
  const others = embedded.length === 0 ? null : await startEmbeddedMembers({ folder: scratch.path, names: embedded });
  const configs: readonly Kubeconfig[] = [
    ...servers.map((it) => it.kubeconfig()),
    ...(others === null ? [] : [others.kubeconfig]),
  ];
  const file = join(scratch.path, "kubeconfig");
  await writeFile(file, JSON.stringify(mergeKubeconfigs(configs)), { mode: 0o600 });
  const hub = await makeHub(scratch.path);
  await replaceAll(hub, files);
  const real = new Map(servers.map((it) => [it.name, realMember(it)]));
  const member = (name: string): Member => {
    const found = real.get(name) ?? others?.member(name);
    if (found === undefined) throw new Error(`there is no member ${name}`);
    return found;
  };
  const stop = async (): Promise<void> => {
    await Promise.all([others?.stop(), ...servers.map((it) => it.stop())]);
    await scratch.stop();
  };
  return { ...deskAt(hub, scratch.path, file), member, stop };
}

/** Lets the hub hold these files and nothing else, and pushes that. */
async function replaceAll(hub: Hub, files: Readonly<Record<string, string>>): Promise<void> {
  await hub.clear();
  for (const [path, text] of Object.entries(files)) await hub.write(path, text);
  hub.push("Ask for something small");
}

/** A condition as KubeFleet writes it. */
export interface ConditionText {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** The conditions of an object on the state branch; none while it is not there. */
export function conditionsAt(hub: Hub, path: string): readonly ConditionText[] {
  const text = hub.stateFile(path);
  if (text === null) return [];
  const { status } = parse(text) as { readonly status?: { readonly conditions?: readonly ConditionText[] } };
  return status?.conditions ?? [];
}

/** Waits until an object on the state branch has a condition of this type that is not Unknown, and gives it. */
export const condition = (hub: Hub, path: string, type: string, limitMs = 180_000): Promise<ConditionText> =>
  eventually(
    `${path} says ${type}`,
    async () => conditionsAt(hub, path).find((it) => it.type === type && it.status !== "Unknown") ?? null,
    limitMs,
    200,
  );
