import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { mergeKubeconfigs } from "../kubernetes/kubeconfig.ts";
import { makeScratch } from "../kubernetes/supervise.ts";
import { startEmbeddedMembers } from "./embedded.ts";
import { type Desk, deskAt, memberNames } from "./fleet.ts";
import { makeHub } from "./hub.ts";
import type { Member } from "./member.ts";
import { realMember } from "./real.ts";

/** examples-repo as a hub; some of its members are real, the others embedded in a process of their own, all in one kubeconfig. */
export interface MixedStage extends Desk {
  /** Every member, in the order of their names. */
  readonly members: readonly Member[];
  stop(): Promise<void>;
}

/** Real members are named like members of examples-repo. They are stopped with the stage. */
export async function setMixedStage(servers: readonly ApiServer[], availableAfter = "50ms"): Promise<MixedStage> {
  const scratch = await makeScratch();
  const names = memberNames.filter((name) => servers.every((it) => it.name !== name));
  const embedded = await startEmbeddedMembers({ folder: scratch.path, names, availableAfter });
  const file = join(scratch.path, "kubeconfig");
  const config = mergeKubeconfigs([embedded.kubeconfig, ...servers.map((it) => it.kubeconfig())]);
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  const hub = await makeHub(scratch.path);
  const real = new Map(servers.map((it) => [it.name, realMember(it)]));
  return {
    ...deskAt(hub, scratch.path, file),
    members: memberNames.map((it) => real.get(it) ?? embedded.member(it)),
    stop: async () => {
      await Promise.all([embedded.stop(), ...servers.map((it) => it.stop())]);
      await scratch.stop();
    },
  };
}
