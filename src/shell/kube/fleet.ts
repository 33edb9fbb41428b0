import { setMaxListeners } from "node:events";
import type { Observation } from "../../core/model/observation.ts";
import type { ClusterActions } from "../../core/model/plan.ts";
import type { Clock, Fleet, MemberAddress, Receipt } from "../reconcile/ports.ts";
import { actOn } from "./act.ts";
import { type Client, openClient } from "./client.ts";
import { type Discovery, discovery } from "./discovery.ts";
import { type Connection, openKubeconfig } from "./kubeconfig.ts";
import { lossOf, observeMember } from "./observe.ts";
import { contact } from "./scene.ts";

/** How members are reached, and for how long. */
export interface KubeFleetOptions {
  /** A file, or null for what kubectl would use. */
  readonly kubeconfig: string | null;
  readonly clock: Clock;
  /** How long one observation may take; default 30 seconds. */
  readonly deadlineMs?: number;
  /** How long all actions on one member may take in one pass; default 5 minutes. What is left over is next pass's. */
  readonly actDeadlineMs?: number;
}

/** Added to that for the record of what was done: were it lost each time, a slow member would never come to an end. */
const recordMs = 30_000;

/**
 * Members as real Kubernetes API servers, reached through the contexts of a kubeconfig.
 *
 * One client per context, whose connections and discovery outlive a pass; nothing that it remembers decides anything.
 * Rejects with a Fault `KubeconfigUnreadable`.
 */
export async function kubeFleet(options: KubeFleetOptions): Promise<Fleet> {
  const { clock, deadlineMs = 30_000, actDeadlineMs = 300_000 } = options;
  const kubeconfig = await openKubeconfig(options.kubeconfig);
  const members = new Map<string, Member>();

  const memberAt = async ({ context }: MemberAddress): Promise<Member | null> => {
    const connection = await kubeconfig.connection(context);
    const known = members.get(context);
    if (known !== undefined && known.connection === connection) return known;
    // The kubeconfig changed. What is under way on the old connections may end; idle ones keep no process alive.
    members.delete(context);
    if (connection === null) return null;
    const opened = { connection, client: openClient(connection), discovery: discovery() };
    members.set(context, opened);
    return opened;
  };

  return {
    async observe(address): Promise<Observation> {
      try {
        const member = await memberAt(address);
        if (member === null) return { kind: "unreachable", code: "NoConnection", message: noContext(address) };
        return await observeMember(member.client.until(timeout(deadlineMs)), member.discovery);
      } catch (error) {
        return { kind: "unreachable", ...lossOf(error) };
      }
    },
    async act(address, actions): Promise<Receipt> {
      try {
        const member = await memberAt(address);
        if (member === null) return untried(actions, noContext(address));
        return await actOn({
          client: member.client.until(timeout(actDeadlineMs)),
          recorder: member.client.until(timeout(actDeadlineMs + recordMs)),
          discovery: member.discovery,
          actions,
          now: clock.now(),
          contact: contact(),
        });
      } catch (error) {
        return untried(actions, lossOf(error).message);
      }
    },
    async close() {
      for (const { client } of members.values()) client.close();
      members.clear();
    },
  };
}

interface Member {
  readonly connection: Connection;
  readonly client: Client;
  readonly discovery: Discovery;
}

/** As many requests as there are may listen to it. */
function timeout(ms: number): AbortSignal {
  const signal = AbortSignal.timeout(ms);
  setMaxListeners(0, signal);
  return signal;
}

const noContext = ({ context }: MemberAddress): string => `the kubeconfig has no usable context ${context}`;

const untried = ({ cluster }: ClusterActions, interrupted: string): Receipt => ({
  cluster,
  created: 0,
  configured: 0,
  deleted: 0,
  released: 0,
  failed: 0,
  interrupted,
});
