import type { Observation } from "../../core/model/observation.ts";
import type { ClusterActions } from "../../core/model/plan.ts";
import type { Clock, Fleet, MemberAddress, Receipt } from "../reconcile/ports.ts";
import { actOn } from "./apply/act.ts";
import { trackContact } from "./apply/apply-context.ts";
import { type Client, openClient } from "./client/client.ts";
import { inSlot, limiter, type SlotPool } from "./client/concurrency.ts";
import type { Connection } from "./client/connection.ts";
import { type Discovery, newDiscovery } from "./client/discovery.ts";
import type { RunnerOptions } from "./client/exec-runner.ts";
import { type Kubeconfig, openKubeconfig } from "./client/kubeconfig.ts";
import { clockOffsetOf, type MemberTime, type TimedTransport, trackMemberTime } from "./client/member-time.ts";
import { contactFailureOf } from "./client/member-unreachable.ts";
import { defaultDeadlines, httpNetwork, httpStreams, type Network, type Streams } from "./client/transport.ts";
import { type ConfirmedWrite, recordingClient } from "./watch/confirmed-writes.ts";
import { Informer, type InformerOptions } from "./watch/informer.ts";
import { kubeSystem, observeMember } from "./watch/observe.ts";
import { reuseUnchanged } from "./watch/reuse-unchanged.ts";

/** How members are reached, and for how long. */
interface KubeconfigFleetOptions extends KubeFleetOptions {
  /** A file, or null for what kubectl would use. */
  readonly kubeconfig: string | null;
}

/** A fleet that never leaves an answer open: whoever cannot wait for it puts `withGrace` around it. */
export interface KubeFleet extends Fleet {
  observe(member: MemberAddress): Promise<Observation>;
  act(member: MemberAddress, actions: ClusterActions): Promise<Receipt>;
}

/** How members are asked and acted on, however they are reached. */
export interface KubeFleetOptions {
  readonly clock: Clock;
  /** How long one observation may take; default 30 seconds. */
  readonly deadlineMs?: number;
  /** How long all actions on one member may take in one pass; default 5 minutes. What is left over is next pass's. */
  readonly actDeadlineMs?: number;
  /** What lies between us and the members; HTTP unless it is given. */
  readonly network?: Network;
  readonly streams?: Streams;
  /** Watches members instead of listing them at every look: for a process that stays. */
  readonly watch?: WatchOptions;
}

/** How members are watched. */
interface WatchOptions {
  /** Told when a member changed. */
  readonly onChange: () => void;
  /** How often a member is asked whether it is still there; everything is listed again with every tenth time. */
  readonly heartbeatMs: number;
}

const defaultDeadlineMs = 30_000;

/** Added to that for the record of what was done: were it lost each time, a slow member would never come to an end. */
const recordMs = 30_000;

/** Members listed, or acted on, at the same time. */
const membersAtOnce = 64;

/** Objects in the hands of all actions under way, at best: what is held for long costs a fifth more, and goes no faster. */
const objectsAtOnce = 3_200;

/** Sockets that are kept for what may come, of all members together: files that may be open are few. */
const idleSockets = 2_000;

/**
 * Members as real Kubernetes API servers, reached through the contexts of a kubeconfig.
 *
 * One client per context, whose connections and discovery outlive a pass; nothing that it remembers decides anything.
 * Rejects with a Fault `KubeconfigUnreadable`.
 */
export const kubeFleet = async (options: KubeconfigFleetOptions): Promise<KubeFleet> =>
  kubeFleetOver(await openKubeconfig(options.kubeconfig, pluginsOf(options)), options);

/** No plugin outlives the look that waits for it. */
const pluginsOf = ({ clock, deadlineMs = defaultDeadlineMs }: KubeFleetOptions): RunnerOptions => ({
  now: () => clock.now(),
  deadlineMs: Math.min(deadlineMs, defaultDeadlineMs),
});

/** The same over connections that are open already. */
export function kubeFleetOver(kubeconfig: Kubeconfig, options: KubeFleetOptions): KubeFleet {
  const { clock, deadlineMs = defaultDeadlineMs, actDeadlineMs = 300_000, network = httpNetwork } = options;
  // After a loss of the network, all members have to be listed.
  const [listing, acting] = [limiter(membersAtOnce), limiter(objectsAtOnce)];
  const watching = options.watch === undefined ? null : { network, deadlineMs, limiter: listing, ...options.watch };
  const members = new Map<string, Member>();
  const ways = { network, streams: options.streams ?? httpStreams };
  const memberAt = membership(kubeconfig, members, (name, connection) =>
    openMember({ name, connection }, ways, watching),
  );
  const soon = (): AbortSignal => network.deadline(deadlineMs);

  return {
    async observe(address) {
      try {
        const member = await memberAt(address);
        if (member === null) return { kind: "unreachable", code: "NoConnection", message: noContext(address) };
        if (member.informer !== null) return await member.informer.observe();
        const seen = await listing.run(() => observeMember(member.client.until(soon()), member.discovery));
        member.last = reuseUnchanged(member.last, seen);
        return member.last;
      } catch (error) {
        return { kind: "unreachable", ...contactFailureOf(error) };
      }
    },
    async act(address, actions) {
      try {
        const member = await memberAt(address);
        if (member === null) return notAttempted(actions, noContext(address));
        const loss = await contactLossOf(member, { network, limiter: listing }, soon);
        if (loss !== null) return notAttempted(actions, loss);
        const receipt = await acting.run(
          () =>
            actVia(member, {
              client: member.client.until(network.deadline(actDeadlineMs)),
              recorder: member.client.until(network.deadline(actDeadlineMs + recordMs)),
              discovery: member.discovery,
              actions,
              now: clock.now(),
              contact: trackContact(),
            }),
          weightOf(actions),
        );
        member.connection.trim(Math.ceil(idleSockets / members.size));
        return receipt;
      } catch (error) {
        return notAttempted(actions, contactFailureOf(error).message);
      }
    },
    clockOffsets: () => [...members.values()].flatMap(({ time }) => clockOffsetOf(clock.now(), time()) ?? []),
    async close() {
      for (const { client, informer } of members.values()) {
        informer?.close();
        client.close();
      }
      members.clear();
      kubeconfig.close();
    },
  };
}

/** Finds the member behind a context, or opens it; null when there is none. */
function membership(
  kubeconfig: Kubeconfig,
  members: Map<string, Member>,
  open: (name: string, connection: Connection) => Member,
) {
  return async ({ context }: MemberAddress): Promise<Member | null> => {
    const connection = await kubeconfig.connection(context);
    const known = members.get(context);
    if (known !== undefined && known.connection === connection) return known;
    // The kubeconfig changed. What is under way on the old connections may end; idle ones keep no process alive.
    known?.informer?.close();
    known?.connection.trim(0);
    members.delete(context);
    if (connection === null) return null;
    const opened = open(context, connection);
    members.set(context, opened);
    return opened;
  };
}

interface Member {
  readonly connection: Connection;
  readonly client: Client;
  readonly discovery: Discovery;
  readonly time: MemberTime;
  /** Null where members are listed at every look. */
  readonly informer: Informer | null;
  /** What was last listed. */
  last: Observation | null;
}

function openMember(
  { name, connection }: { readonly name: string; readonly connection: Connection },
  ways: Pick<TimedTransport, "network" | "streams">,
  watching: InformerOptions | null,
): Member {
  const { network, streams, time } = trackMemberTime(ways.network, ways.streams);
  const client = openClient(connection, defaultDeadlines, network, streams);
  const known = newDiscovery();
  const informer = watching === null ? null : new Informer({ client, discovery: known, name }, watching);
  return { connection, client, discovery: known, time, informer, last: null };
}

/**
 * Why a watched member cannot be acted on, or null: watches say nothing about one that went silent, and an action, which
 * may take long, would find out late.
 */
async function contactLossOf(
  { informer, client }: Member,
  turns: SlotPool,
  soon: () => AbortSignal,
): Promise<string | null> {
  if (informer === null) return null;
  return inSlot(turns, async () => {
    try {
      await client.until(soon()).request({ method: "GET", path: kubeSystem });
      return null;
    } catch (error) {
      informer.expect(null);
      return contactFailureOf(error).message;
    }
  });
}

/** Acts, and lets who watches know what has to be seen next time. */
async function actVia({ informer }: Member, opening: Parameters<typeof actOn>[0]): Promise<Receipt> {
  if (informer === null) return actOn(opening);
  const writes: ConfirmedWrite[] = [];
  const note = (written: ConfirmedWrite): void => void writes.push(written);
  const { client, recorder } = opening;
  const receipt = await actOn({
    ...opening,
    client: recordingClient(client, note),
    recorder: recordingClient(recorder, note),
  });
  const isClear = receipt.interrupted === null && writes.every((it) => it.kind !== "unclear");
  informer.expect(isClear ? writes : null);
  return receipt;
}

/** What an action weighs among others: its objects, and enough that no more than so many members are acted on at once. */
const weightOf = ({ placements }: ClusterActions): number =>
  placements.reduce((sum, it) => sum + it.apply.length + it.remove.length, objectsAtOnce / membersAtOnce);

const noContext = ({ context }: MemberAddress): string => `the kubeconfig has no usable context ${context}`;

const notAttempted = ({ cluster }: ClusterActions, interrupted: string): Receipt => ({
  cluster,
  created: 0,
  configured: 0,
  deleted: 0,
  released: 0,
  failed: 0,
  interrupted,
});
